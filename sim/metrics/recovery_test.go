package metrics

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/mockprovider/wire"
)

// One call arrives each second; the first of the ten seconds in a row whose
// useful answers reach 95 % of what they could be is when service recovered.
func TestRecoveryByHand(t *testing.T) {
	for _, test := range []struct {
		name string
		lost func(second int) bool // whose calls fail at once
		want float64
	}{
		{"at once", func(second int) bool { return second < 20 }, 0},
		// The call of second 25 is answered after half a second, so the window may
		// begin with anything after the failure at 24 and end with the answer at 34.5.
		{"after five seconds", func(second int) bool { return second < 25 }, 4.5},
		{"a relapse starts the count afresh", func(second int) bool { return second < 25 || second == 30 }, 10.5},
		{"never", func(int) bool { return true }, Never},
	} {
		r := NewRecorder(Plan{FaultBegin: 10 * s, FaultEnd: 20 * s, Horizon: 60 * s, Capacity: 5})
		for i := range 60 {
			now := time.Duration(i) * s
			r.CallBegan(now)
			attempt(r, now, 1)
			if test.lost(i) {
				r.Replied(wire.Overloaded, 0)
				r.AttemptEnded(Refused)
				r.CallSettled(now, Settlement{Born: now})
			} else {
				answer(r, now, now+s/2)
			}
		}
		rep := r.Finish(60*s, 0, nil)
		require.NoError(t, rep.Check(), test.name)
		assert.Equal(t, test.want, rep.Recovery(), test.name)
	}
}

// What follows the end of a run that ended with nothing pending is quiet; what
// follows its cut is unknown, and so is what follows while somebody waits.
func TestRecoveryAtTheEndOfARun(t *testing.T) {
	for _, test := range []struct {
		name    string
		end     time.Duration
		waiting bool // a call of the time before the fault has not been answered
		want    float64
	}{
		{"it was over", 21*s + s/2, false, 0},
		{"it was over, but for one", 21*s + s/2, true, Never},
		{"it was cut before ten seconds had passed", 25 * s, false, Never},
		{"it was cut when ten seconds had passed", 30 * s, false, 0},
	} {
		plan := Plan{FaultBegin: 10 * s, FaultEnd: 20 * s, Horizon: 60 * s, Capacity: 5}
		if test.end != 21*s+s/2 {
			plan.Horizon = test.end
		}
		r := NewRecorder(plan)
		if test.waiting {
			r.CallBegan(5 * s)
		}
		call(r, 21*s, 21*s+s/2)
		if test.end == plan.Horizon {
			call(r, test.end-1, test.end-1) // it would have gone on
		}
		rep := r.Finish(test.end, 0, nil)
		require.NoError(t, rep.Check(), test.name)
		assert.Equal(t, test.want, rep.Recovery(), test.name)
	}
}

// A fleet that a fault does not touch has recovered when it ends, however long
// a healthy answer takes, and if nobody calls at all.
func TestRecoveryOfTheUntouchedIsAtOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := plans(t)
		p.OneShot, p.FaultEnd = false, max(p.FaultEnd, s)
		p.Service = time.Duration(rapid.IntRange(0, 90_000).Draw(t, "long service")) * time.Millisecond
		window := max(10*s, 2*p.Service)
		p.Horizon = p.FaultEnd + window + time.Duration(rapid.IntRange(0, 60_000).Draw(t, "more"))*time.Millisecond
		wishes := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) wish {
			born := time.Duration(rapid.Int64Range(0, int64(p.Horizon)).Draw(t, "born"))
			return answered(born, born+p.Service)
		}), 0, 60).Draw(t, "wishes")
		rep := record(t, p, wishes)
		require.Zero(t, rep.Recovery(), "ended at %v", rep.End)
		for i := range wishes { // and where all was over before
			wishes[i].born %= p.FaultEnd
			wishes[i] = answered(wishes[i].born, min(wishes[i].settled, p.FaultEnd-1))
		}
		require.Zero(t, record(t, p, wishes).Recovery())
	})
}

// steady are calls that arrive at equal distances and are answered as fast as
// can be.
func steady(from, to, every, service time.Duration) (wishes []wish) {
	for at := from; at < to; at += every {
		wishes = append(wishes, answered(at, at+service))
	}
	return wishes
}

// backlog are n calls from before the fault ends, answered some at a time from
// then on.
func backlog(n, atATime int, from, every time.Duration) (wishes []wish) {
	for i := range n {
		wishes = append(wishes, answered(time.Duration(i)*s/2, from+time.Duration(i/atATime)*every))
	}
	return wishes
}

// Recoveries that can be reckoned by hand; the fault ends at 100 s.
func TestRecoveryOfABacklog(t *testing.T) {
	for _, test := range []struct {
		name     string
		capacity float64
		service  time.Duration
		wishes   []wish
		want     float64
	}{
		// 6 slots of 2 s: answers at 2, 4, 6, … s. Ten seconds hold five of
		// them, and so all that 3 per second can be, unless they begin at 0.
		{"at capacity from the first answer on", 3, 2 * s, backlog(60, 6, 102*s, 2*s), 0},
		{"the backlog comes back after half a minute", 3, 2 * s, backlog(60, 6, 132*s, 2*s), 30},
		// One a second, of three: not before no backlog is left.
		{"a trickle", 3, s, backlog(60, 1, 101*s, s), 50},
		// Then one of 21 may be left when ten seconds are over.
		{"a trickle beside calls that are well", 3, s, append(backlog(60, 1, 101*s, s), steady(0, 300*s, s, s)...), 49},
		// A service time of 20 s makes the window 40 s: the last of the backlog
		// must be answered within it.
		{"long service", 0, 20 * s, append(backlog(10, 1, 200*s, 0), steady(0, 400*s, s, 20*s)...), 60},
		{"long service, but for a call in twenty", 0, 20 * s, append(backlog(2, 1, 300*s, 0), steady(0, 400*s, s, 20*s)...), 0},
	} {
		p := Plan{FaultEnd: 100 * s, Horizon: 500 * s, Bin: s, Capacity: test.capacity, Service: test.service}
		assert.Equal(t, test.want, record(t, p, test.wishes).Recovery(), test.name)
	}
}

// Calls that fail are not young: one in ten that fails is more than one in
// twenty, in whichever bins.
func TestNoRecoveryWhileATenthFails(t *testing.T) {
	for _, service := range []time.Duration{0, s / 10, s, 29 * s} {
		wishes := steady(0, 1000*s, s/2, service)
		for i := range wishes {
			if i%10 == 3 {
				wishes[i].how = abandoned
			}
		}
		p := Plan{FaultBegin: 10 * s, FaultEnd: 20 * s, Horizon: 300 * s, Bin: s, Service: service}
		assert.Equal(t, Never, record(t, p, wishes).Recovery(), "service of %v", service)
	}
}

// A window lasts 10 s, or two service times if that is longer, whatever the bins;
// one that is cut does not count.
func TestWindowsDoNotDependOnBins(t *testing.T) {
	for _, test := range []struct{ bin, service, window time.Duration }{
		{s, 0, 10 * s},
		{s, s / 10, 10 * s},
		{4 * s, 0, 10 * s},
		{60 * s, 0, 10 * s},
		{7 * s, 8 * s, 16 * s},
		{s, 29*s - 1, 58*s - 2},
	} {
		p := Plan{FaultEnd: 84 * s, Bin: test.bin, Service: test.service}
		p.Horizon = p.FaultEnd + test.window
		wishes := steady(0, 200*s, s, test.service)
		assert.Zero(t, record(t, p, wishes).Recovery())
		p.Horizon--
		assert.Equal(t, Never, record(t, p, wishes).Recovery(), "a window that was cut does not count")
	}
}
