package metrics

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// served are calls that arrive at equal distances and stand in one line for so
// many slots.
func served(to, every time.Duration, slots int, service time.Duration) (wishes []wish) {
	free := make([]time.Duration, slots)
	for i, at := 0, time.Duration(0); at < to; i, at = i+1, at+every {
		start := max(at, free[i%slots])
		free[i%slots] = start + service
		wishes = append(wishes, answered(at, free[i%slots]))
	}
	return wishes
}

// circles are clients that call again as soon as they are answered, in turns
// that take so long.
func circles(clients int, turn, to time.Duration) (wishes []wish) {
	for c := range clients {
		for at := turn * time.Duration(c) / time.Duration(clients); at < to; at += turn {
			wishes = append(wishes, answered(at, at+turn))
		}
	}
	return wishes
}

// Who is pending when a run is cut is not lost for that; a backlog that grows
// is.
func TestOverdueCalls(t *testing.T) {
	const fiveMinutes = 300 * s
	for _, test := range []struct {
		name             string
		plan             Plan
		wishes           []wish
		pending, overdue float64
	}{
		{"60 clients, 60 slots, 29 s", Plan{Service: 29 * s, Supply: Endless}, circles(60, 29*s, fiveMinutes), 60, 0},
		{"60 clients that come together", Plan{Service: 29 * s, Supply: Endless}, func() []wish {
			w := circles(1, 29*s, fiveMinutes)
			for range 59 {
				w = append(w, circles(1, 29*s, fiveMinutes)...)
			}
			return w
		}(), 60, 0},
		{"60 clients, 6 slots, 2 s: all wait, none is lost", Plan{Service: 2 * s, Supply: Endless}, circles(60, 20*s, fiveMinutes), 60, 0},
		{"open at half the capacity", Plan{Service: 29 * s, Supply: Open}, served(fiveMinutes, s, 58, 29*s), 29, 0},
		{"open, and shorter than a service time", Plan{Service: 400 * s, Supply: Open}, served(fiveMinutes, s, 1000, 400*s), 300, 300}, // without an answer, nothing says that one would come
		// 2 per second arrive, 1 is served.
		{"open at twice the capacity", Plan{Service: s, Supply: Open}, served(fiveMinutes, s/2, 1, s), 301, 301},
		{"the same after an outage", Plan{Service: s, Supply: Open, FaultBegin: 10 * s, FaultEnd: 60 * s}, served(fiveMinutes, s/2, 1, s), 301, 301},
		{"longer than ten times the longest wait", Plan{FaultEnd: 100 * s}, append(circles(60, s, fiveMinutes), wish{born: 99 * s, settled: ever}), 61, 1},
		{"not as long", Plan{FaultEnd: 160 * s}, append(circles(60, 20*s, fiveMinutes), wish{born: 150 * s, settled: ever}), 61, 0},
		{"one more than there were", Plan{Supply: Open}, append(circles(60, 20*s, fiveMinutes), wish{born: 250 * s, settled: ever}), 61, 0},
		{"slow since the fault, but no slower", Plan{Service: s, Supply: Open, FaultEnd: 200 * s},
			append(steady(0, 180*s, s/2, s), steady(180*s, fiveMinutes, s/2, 20*s)...), 40, 0},
		{"of a one-shot fleet", Plan{OneShot: true}, []wish{answered(0, s), {born: 299 * s, settled: ever}, answered(299*s, 400*s)}, 2, 2},
		{"nothing happens to it any more", Plan{Supply: Open}, []wish{answered(0, s), {born: s, settled: ever}}, 1, 1},
	} {
		test.plan.Horizon = fiveMinutes
		v := record(t, test.plan, test.wishes).Values()
		assert.Equal(t, test.pending, v[PendingCalls], test.name)
		assert.Equal(t, test.overdue, v[OverdueCalls], test.name)
		assert.Equal(t, test.name == "nothing happens to it any more", v[HungCalls] == test.overdue && test.overdue > 0, test.name)
	}
}

// Nobody gains goodput by giving a call up: neither at once nor later, and
// however soon the run is over then.
func TestGivingUpNeverPays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := plans(t)
		wishes := wishesOf(t, p)
		before := record(t, p, wishes)
		lazy := append([]wish(nil), wishes...)
		for i := range lazy {
			if rapid.Bool().Draw(t, "gives up") {
				lazy[i] = answered(lazy[i].born, lazy[i].born+p.Service)
				lazy[i].how = abandoned
			}
		}
		after := record(t, p, lazy)
		if p.Supply == Counted {
			require.NotEqual(t, after.Goodput(), after.Goodput(), "undefined")
			return
		}
		if before.LastCall > 0 || p.Supply == Endless {
			require.LessOrEqual(t, after.Goodput(), before.Goodput())
		}
	})
}

// Six calls of sixty answered within 0.1 s were once worth more than all.
func TestGoodputOfThoseWhoGiveUp(t *testing.T) {
	patient := steady(0, 60*s, s, 9*s)
	hasty := steady(0, 60*s, s, s/10)
	for i := range hasty {
		if i >= 6 {
			hasty[i].how = abandoned
		}
	}
	goodput := func(supply Supply, wishes []wish) float64 {
		return record(t, Plan{Supply: supply, Horizon: 100 * s}, wishes).Values()[Goodput]
	}
	assert.Equal(t, 50.0/59, goodput(Open, patient), "50 are answered when the last one calls, at 59 s")
	assert.Equal(t, 6.0/59, goodput(Open, hasty))
	assert.Equal(t, 60.0/100, goodput(Endless, patient))
	assert.Equal(t, 6.0/100, goodput(Endless, hasty))
}

// How early a run ends by itself is no figure: nothing depends on it.
func TestTheEndOfARunIsNoFigure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := plans(t)
		p.Horizon = 1000 * s
		wishes := wishesOf(t, p)
		last := time.Duration(0)
		for i := range wishes {
			if wishes[i].settled == ever {
				wishes[i].settled = wishes[i].born + s
				wishes[i].tries = wishes[i].tries[:1]
			}
			last = max(last, wishes[i].settled)
		}
		rep := record(t, p, wishes)
		require.Equal(t, last, rep.End, "the last thing that happened")
		want := rep.Values()
		rep.End += time.Duration(rapid.Int64Range(0, int64(1000*s-last)-1).Draw(t, "later"))
		for m, x := range rep.Values() {
			if x == x || want[m] == want[m] {
				require.Equal(t, want[m], x, Metric(m).Info().Name)
			}
		}
	})
}
