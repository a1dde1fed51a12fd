package metrics

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// happening is a call that begins, or one that is settled.
type happening struct {
	at, born time.Duration
	settled  bool
	useful   bool
}

// drawHappenings draws the calls of a run that is cut off at horizon, in order of
// time.
func drawHappenings(t *rapid.T, horizon time.Duration) (all []happening) {
	for range rapid.IntRange(0, 40).Draw(t, "calls") {
		born := time.Duration(rapid.IntRange(0, int(horizon/time.Second)-1).Draw(t, "born")) * time.Second
		all = append(all, happening{at: born, born: born})
		wait := time.Duration(rapid.IntRange(0, 30).Draw(t, "wait")) * time.Second
		if at := born + wait; at < horizon && rapid.IntRange(0, 9).Draw(t, "settled") > 0 {
			all = append(all, happening{at: at, born: born, settled: true, useful: rapid.IntRange(0, 3).Draw(t, "useful") > 0})
		}
	}
	slices.SortStableFunc(all, func(a, b happening) int { return cmp.Compare(a.at, b.at) })
	return all
}

func TestDrainAgreesWithItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const horizon = 100 * time.Second
		var ends []time.Duration
		for range rapid.IntRange(0, 4).Draw(t, "faults") {
			ends = append(ends, time.Duration(rapid.IntRange(1, 99).Draw(t, "end"))*time.Second)
		}
		slices.Sort(ends)
		ends = slices.Compact(ends)
		oneShot := rapid.Bool().Draw(t, "one shot")
		all := drawHappenings(t, horizon)
		least := rapid.SampledFrom([]float64{0, 0.5, 0.75, 1}).Draw(t, "least success")
		d := newDrainClock(ends, oneShot, least)
		for _, h := range all {
			if h.settled {
				d.settled(h.at, h.born, h.useful)
			} else {
				d.began(h.at)
			}
		}
		got := secondsOf(d.finish(horizon))

		// drained returns when the last call that arrived before limit was settled.
		drained := func(limit time.Duration) (at time.Duration, ok bool) {
			open, calls, lost := 0, 0.0, 0.0
			for _, h := range all {
				if h.born >= limit {
					continue
				}
				if h.settled {
					open--
					at = h.at
					if !h.useful {
						lost++
					}
				} else {
					open++
					calls++
				}
			}
			return at, open == 0 && lost <= (1-least)*calls
		}
		want := Undefined
		judge := func(end, limit time.Duration) {
			at, ok := drained(limit)
			if !(want >= 0) {
				want = 0
			}
			if !ok {
				want = Never
				return
			}
			want = max(want, (at - end).Seconds())
		}
		if oneShot && len(ends) == 0 {
			judge(0, horizon)
		}
		for i, end := range ends {
			limit := end
			if oneShot && i == len(ends)-1 {
				limit = horizon
			}
			judge(end, limit)
		}
		if want != want {
			require.True(t, got != got)
			return
		}
		require.Equal(t, want, got)
	})
}
