package metrics

import (
	"cmp"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// naive draws the figures of open and closed fleets straight from the wishes,
// without bins where the definitions have none.
type naive struct {
	Plan
	wishes []wish
	end    time.Duration
}

// count counts the moments in [from, to) that happened.
func (n *naive) count(from, to time.Duration, moments func(*wish) []time.Duration) (c float64) {
	for i := range n.wishes {
		for _, at := range moments(&n.wishes[i]) {
			if from <= at && at < to && at < n.Horizon {
				c++
			}
		}
	}
	return c
}

func births(w *wish) []time.Duration   { return []time.Duration{w.born} }
func arrivals(w *wish) []time.Duration { return w.tries }
func settlings(w *wish) []time.Duration {
	return []time.Duration{w.settled}
}
func answers(w *wish) []time.Duration {
	if w.how == well {
		return []time.Duration{w.settled}
	}
	return nil
}

// pending is how many calls are not settled at a time.
func (n *naive) pending(at time.Duration) float64 {
	return n.count(0, at, births) - n.count(0, at, settlings)
}

// happenings are the beginnings and ends of calls within the run, in order of time.
func (n *naive) happenings() (all []happening) {
	for _, w := range n.wishes {
		if w.born < n.Horizon {
			all = append(all, happening{at: w.born, born: w.born})
		}
		if w.settled < n.Horizon {
			all = append(all, happening{at: w.settled, born: w.born, settled: true, useful: w.how == well})
		}
	}
	slices.SortStableFunc(all, func(a, b happening) int { return cmp.Compare(a.at, b.at) })
	return all
}

func (n *naive) recovery() float64 {
	quiet := n.end < n.Horizon && n.pending(ever) == 0
	if n.grows() {
		return Never
	}
	return naiveRecovery(n.happenings(), n.FaultEnd, ever, max(n.end, n.FaultEnd), &n.Plan, quiet)
}

// grows applies the definition of a growing backlog to whole thousandths of the
// horizon.
func (n *naive) grows() bool {
	cell := (n.Horizon + 999) / 1000
	whole := func(at time.Duration) time.Duration { return max(at, 0) / cell * cell }
	middle := whole(min(n.FaultEnd, n.end)/2 + n.end/2)
	arrived := n.count(middle, ever, births)
	grown := arrived - n.count(middle, ever, settlings)
	young := n.count(whole(n.end-max(10*s, 2*n.Service)), ever, births)
	return grown > 0.05*arrived && n.pending(ever) > young
}

// peak is the most attempts in a bin that does not begin before from.
func (n *naive) peak(from time.Duration) (most float64, at time.Duration) {
	edge := n.FaultEnd
	for edge > 0 {
		edge -= n.Bin
	}
	for ; edge <= n.end; edge += n.Bin {
		if c := n.count(edge, edge+n.Bin, arrivals); edge >= from && c > most {
			most, at = c, edge
		}
	}
	return most, at
}

func (n *naive) goodput() float64 {
	last := time.Duration(-1)
	for i := range n.wishes {
		if n.wishes[i].born < n.Horizon {
			last = max(last, n.wishes[i].born)
		}
	}
	switch {
	case n.Supply == Endless:
		return n.count(0, ever, answers) / n.Horizon.Seconds()
	case n.Supply == Open && last > 0:
		return n.count(0, last, answers) / last.Seconds()
	}
	return Undefined
}

// outcomes counts the calls by the definitions of Outcomes.
func (n *naive) outcomes() (o Outcomes) {
	cell := (n.Horizon + 999) / 1000
	var longest time.Duration
	answered := false
	for _, w := range n.wishes {
		if w.how == well && w.settled < n.Horizon {
			longest, answered = max(longest, w.settled-w.born), true
		}
	}
	o.Wait = min(longest, n.end/2)
	pending := n.pending(ever)
	all := n.OneShot || !answered || pending == 0 || n.end < n.Horizon && pending > 0 ||
		n.grows() && pending > 0.05*n.count(0, ever, births)
	limit := n.Horizon
	if !all && o.Wait > 0 {
		limit = (n.end - o.Wait) / cell * cell
	}
	for _, w := range n.wishes {
		switch waits := w.settled >= n.Horizon; {
		case w.born >= n.Horizon:
		case w.born >= limit:
			o.Young++
		case waits && (all || (n.end-w.born)/10 > o.Wait):
			o.Failed++
			o.Stuck++
		case waits:
			o.Undetermined++
		case w.how == well:
			o.Useful++
		default:
			o.Failed++
		}
	}
	return o
}

// drain applies the definition to the end of the only fault.
func (n *naive) drain() float64 {
	if n.FaultEnd == 0 && !n.OneShot {
		return Undefined
	}
	var drained time.Duration
	var calls, lost float64
	for _, w := range n.wishes {
		if w.born >= n.Horizon || !n.OneShot && w.born >= n.FaultEnd {
			continue
		}
		if w.settled >= n.Horizon {
			return Never
		}
		if calls++; w.how != well {
			lost++
		}
		drained = max(drained, w.settled)
	}
	if lost > 0.001*calls {
		return Never
	}
	return max(0, drained-n.FaultEnd).Seconds()
}

// values are the naive figures, in no order.
func (n *naive) values() map[Metric]float64 {
	o := n.outcomes()
	v := map[Metric]float64{
		Goodput: n.goodput(), OverdueCalls: float64(o.Stuck), UndeterminedCalls: float64(o.Undetermined),
		SuccessLower: ratio(float64(o.Useful), float64(o.calls())), SuccessUpper: ratio(float64(o.Useful+o.Undetermined), float64(o.calls())),
		DrainTime: n.drain(),
	}
	peak, _ := n.peak(math.MinInt64)
	perBin := float64(n.Capacity * n.Bin.Seconds())
	v[Peak], v[PeakOfCapacity] = peak, ratio(peak, perBin)
	for _, m := range []Metric{PeakAfter, PeakAfterOfCapacity, SecondPeak, SecondPeakTime, RecoveryTime} {
		v[m] = Undefined
	}
	v[AttemptsInFault] = n.count(n.FaultBegin, n.FaultEnd, arrivals)
	if n.FaultEnd == 0 {
		return v
	}
	after, at := n.peak(n.FaultEnd)
	v[PeakAfter], v[PeakAfterOfCapacity] = after, ratio(after, perBin)
	if perBin > 0 && after > 2*perBin {
		v[SecondPeak], v[SecondPeakTime] = after, (at - n.FaultEnd).Seconds()
	}
	if !n.OneShot {
		v[RecoveryTime] = n.recovery()
	}
	return v
}

// The figures of a run are what their definitions make of its calls, one by
// one.
func TestFiguresBesideNaiveOnes(t *testing.T) {
	recovered := map[float64]bool{}
	rapid.Check(t, func(t *rapid.T) {
		p := plans(t)
		wishes := wishesOf(t, p)
		rep := record(t, p, wishes)
		v := rep.Values()
		n := naive{p, wishes, rep.End}
		for m, want := range n.values() {
			if math.IsNaN(want) {
				require.True(t, math.IsNaN(v[m]), "%s is %v, not undefined", m.Info().Name, v[m])
				continue
			}
			require.Equal(t, want, v[m], m.Info().Name)
		}
		recovered[v[RecoveryTime]] = true
	})
	require.Greater(t, len(recovered), 5, "the wishes do not get to the point")
}

// Recovery has more ways to go wrong than a run of any kind meets: here the
// calls of an outage wait, come back in waves, and are answered in bursts.
func TestRecoveryBesideANaiveOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seconds := func(label string, most int) time.Duration {
			return time.Duration(rapid.IntRange(0, most).Draw(t, label)) * s
		}
		p := Plan{
			Bin: rapid.SampledFrom([]time.Duration{s, 2 * s, 3 * s}).Draw(t, "bin"), FaultEnd: s + seconds("fault", 20),
			Horizon: 120 * s, Service: seconds("service", 9), Capacity: rapid.SampledFrom([]float64{0, 1}).Draw(t, "capacity"),
		}
		var wishes []wish
		for range rapid.IntRange(1, 12).Draw(t, "waves") {
			born := seconds("born", 80)
			again := born + p.Service
			if born < p.FaultEnd || rapid.Bool().Draw(t, "late") {
				again = max(again, p.FaultEnd+seconds("again", 60))
			}
			for range rapid.IntRange(1, 8).Draw(t, "calls") {
				wishes = append(wishes, answered(born, again+seconds("spread", 2)))
			}
		}
		rep := record(t, p, wishes)
		n := naive{p, wishes, rep.End}
		require.Equal(t, n.recovery(), rep.Recovery())
	})
}
