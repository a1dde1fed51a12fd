package metrics

import (
	"math"
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

// spans are the window of recovery and how much of it is too late, in whole
// bins.
func (n *naive) spans() (window, late time.Duration) {
	for late < n.Service {
		late += n.Bin
	}
	for window < 10*s || window < 2*late {
		window += n.Bin
	}
	return window, late
}

func (n *naive) recovery() float64 {
	window, late := n.spans()
	quiet := n.end < n.Horizon && n.pending(ever) == 0
	for from := n.FaultEnd; quiet || from+window <= n.end; from += n.Bin {
		to := from + window
		there := n.pending(from) + n.count(from, to, births)
		there -= min(n.pending(to), n.count(to-late, to, births))
		if n.Capacity > 0 {
			there = min(there, n.Capacity*window.Seconds())
		}
		if n.count(from, to, answers) >= 0.95*there {
			return (from - n.FaultEnd).Seconds()
		}
	}
	return Never
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

func (n *naive) overdue() float64 {
	pending := n.pending(ever)
	if n.OneShot || n.end < n.Horizon {
		return pending
	}
	early := 0.0
	for _, w := range n.wishes {
		if w.born < min(n.FaultEnd, n.Horizon) && w.settled >= n.Horizon {
			early++
		}
	}
	// Everything is in whole bins from the end of the last fault; the last of
	// them is cut, and what it has is new.
	last := n.FaultEnd - (n.FaultEnd/n.Bin+1)*n.Bin
	for last+n.Bin <= n.end {
		last += n.Bin
	}
	first := min(n.FaultEnd, last)
	start := first
	for start > 0 {
		start -= n.Bin
	}
	middle := start + ((first-start)/n.Bin+(last-start)/n.Bin)/2*n.Bin
	growth, arrived := pending-n.pending(middle), n.count(middle, ever, births)
	if growth <= 0.05*arrived {
		return early
	}
	window, _ := n.spans()
	return max(early, pending-min(pending, n.count(last-window, ever, births)))
}

// values are the naive figures, in no order.
func (n *naive) values() map[Metric]float64 {
	v := map[Metric]float64{Goodput: n.goodput(), OverdueCalls: n.overdue()}
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
