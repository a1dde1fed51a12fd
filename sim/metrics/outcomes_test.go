package metrics

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// call is one call of a list that the naive account counts.
type listedCall struct {
	born    time.Duration
	settled bool
	useful  bool
	wait    time.Duration // of a settled call
}

// The account agrees with the definition applied to the list of all calls.
func TestOutcomesAgreeWithTheirDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const horizon = 1000 * time.Second
		b := newArrivalGrid(horizon)
		e := ending{at: horizon, all: rapid.IntRange(0, 9).Draw(t, "all") == 0}
		var all []listedCall
		for range rapid.IntRange(0, 60).Draw(t, "calls") {
			c := listedCall{born: time.Duration(rapid.Int64Range(0, int64(horizon)-1).Draw(t, "born"))}
			if rapid.IntRange(0, 4).Draw(t, "settled") > 0 {
				c.wait = min(time.Duration(rapid.Int64Range(0, int64(20*time.Second)).Draw(t, "wait")), horizon-c.born)
				c.settled, c.useful = true, rapid.IntRange(0, 3).Draw(t, "useful") > 0
			}
			all = append(all, c)
			b.calls[b.of(c.born)]++
			if c.useful {
				b.useful[b.of(c.born)]++
				e.longest = max(e.longest, c.wait)
			}
		}
		got := b.outcomes(e, func(yield func(time.Duration)) {
			for _, c := range all {
				if !c.settled {
					yield(c.born)
				}
			}
		})

		a := min(e.longest, horizon/2)
		limit := (horizon - a) / time.Second * time.Second // cells of 1 s
		if a == 0 || e.all {
			limit = horizon
		}
		var want Outcomes
		want.Wait = a
		for _, c := range all {
			stuck := !c.settled && (e.all || c.born < limit && horizon-c.born >= 10*a+10)
			switch {
			case stuck:
				want.Stuck++
				want.Failed++
			case c.born >= limit:
				want.Young++
			case !c.settled:
				want.Undetermined++
			case c.useful:
				want.Useful++
			default:
				want.Failed++
			}
		}
		require.Equal(t, want, got)
		require.Equal(t, uint64(len(all)), got.Useful+got.Failed+got.Undetermined+got.Young)
		if len(all) > int(got.Young) {
			require.LessOrEqual(t, got.Lower(), got.Upper())
		}
	})
}
