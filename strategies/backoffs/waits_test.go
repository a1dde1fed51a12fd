package backoffs

import (
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
	"herdlab/strategies"
	"herdlab/strategies/layers"
	"herdlab/strategies/strategytest"
)

// requireBounds checks that the k-th wait lies in [low[k], high[k]), that the
// waits of many calls come near both ends, and that they differ unless the two
// are equal.
func requireBounds(t *testing.T, b strategies.Backoff, low, high []time.Duration) {
	t.Helper()
	const calls = 2000
	x := strategytest.NewRetrier(t, layers.Retry{Backoff: b})
	least, most := x.Waits(0, len(low)), x.Waits(0, len(low))
	for id := range uint64(calls) {
		for k, w := range x.Waits(id, len(low)) {
			if low[k] == high[k] {
				require.Equal(t, low[k], w, "wait %d of call %d", k+1, id)
				continue
			}
			require.GreaterOrEqual(t, w, low[k], "wait %d of call %d", k+1, id)
			require.Less(t, w, high[k], "wait %d of call %d", k+1, id)
			least[k], most[k] = min(least[k], w), max(most[k], w)
		}
	}
	for k := range low {
		// The smallest of 2,000 uniform draws is above 1 % of the width with a
		// probability of 10⁻⁸ or less. Decorrelated jitter is not uniform, but its
		// smallest wait passes this check too.
		near := max(1, (high[k]-low[k])/100)
		require.LessOrEqual(t, least[k]-low[k], near, "shortest wait %d", k+1)
		if _, uneven := b.(strategies.Remembering); !uneven {
			require.LessOrEqual(t, high[k]-most[k], near, "longest wait %d", k+1)
		}
	}
}

// total is the expected sum of the first n waits, in seconds: its mean, its standard
// deviation if known, and its bounds.
type total struct {
	n          int
	mean, sd   float64
	least, max float64
}

// requireTotals compares the sums of the first waits of many calls with closed
// forms. slack is the uncertainty of an expected mean that has no closed form, in
// seconds.
func requireTotals(t *testing.T, b strategies.Backoff, slack float64, totals []total) {
	t.Helper()
	const calls = 40_000
	longest := totals[len(totals)-1].n
	sums := make([][]float64, longest+1)
	x := strategytest.NewRetrier(t, layers.Retry{Backoff: b})
	for id := range uint64(calls) {
		sum := time.Duration(0)
		for k, w := range x.Waits(id, longest) {
			sum += w
			sums[k+1] = append(sums[k+1], sum.Seconds())
		}
	}
	for _, want := range totals {
		mean, sd, fourth, least, most := moments(sums[want.n])
		require.InDelta(t, want.mean, mean, slack+4.5*sd/math.Sqrt(calls)+1e-9, "mean of %d waits", want.n)
		if want.sd > 0 || slack == 0 {
			// The error of a standard deviation, from the fourth moment.
			se := 0.0
			if sd > 0 {
				se = math.Sqrt((fourth-sd*sd*sd*sd)/calls) / (2 * sd)
			}
			require.InDelta(t, want.sd, sd, 4.5*se+1e-9, "standard deviation of %d waits", want.n)
		}
		require.GreaterOrEqual(t, least+1e-9, want.least, "shortest sum of %d waits", want.n)
		require.LessOrEqual(t, most, want.max+1e-9, "longest sum of %d waits", want.n)
	}
}

func moments(xs []float64) (mean, sd, fourth, least, most float64) {
	least, most = math.Inf(1), math.Inf(-1)
	for _, x := range xs {
		mean += x / float64(len(xs))
		least, most = min(least, x), max(most, x)
	}
	for _, x := range xs {
		d := x - mean
		sd += d * d / float64(len(xs))
		fourth += d * d * d * d / float64(len(xs))
	}
	return mean, math.Sqrt(sd), fourth, least, most
}

// growing are the backoffs that grow from base to limit.
func growing(base, limit time.Duration) map[string]strategies.Backoff {
	return map[string]strategies.Backoff{
		"exponential":  Exponential{Base: base, Cap: limit},
		"full":         FullJitter{Base: base, Cap: limit},
		"equal":        EqualJitter{Base: base, Cap: limit},
		"decorrelated": DecorrelatedJitter{Base: base, Cap: limit},
		"full ×1.5":    FullJitter{Base: base, Cap: limit, Factor: 1.5},
		"linear":       Linear{First: base, Step: base, Cap: limit},
		"polly":        PollyJitter{Base: base, Cap: limit},
	}
}

// For any base, cap, retry number and previous wait: no wait is negative, none
// exceeds the cap, and nothing overflows.
func TestBackoffsSaturate(t *testing.T) {
	anyDuration := rapid.OneOf(
		rapid.Int64Range(0, math.MaxInt64),
		rapid.Map(rapid.IntRange(0, 62), func(n int) int64 { return 1 << n }),
		rapid.SampledFrom([]int64{0, 1, math.MaxInt64 - 1, math.MaxInt64, math.MaxInt64/3 + 1}),
	)
	rapid.Check(t, func(t *rapid.T) {
		base := time.Duration(max(1, anyDuration.Draw(t, "base")))
		limit := time.Duration(anyDuration.Draw(t, "cap"))
		retry := rapid.Int64Range(0, 1<<40).Draw(t, "retry")
		if rapid.Bool().Draw(t, "small") {
			retry %= 130
		}
		c := strategies.NewCall(draw.New(rapid.Uint64().Draw(t, "seed")))
		for name, b := range growing(base, limit) {
			require.NoError(t, b.(interface{ Validate() error }).Validate())
			low, jitter := b.Delay(c, 1, retry, time.Duration(anyDuration.Draw(t, "prev")))
			require.GreaterOrEqual(t, low, time.Duration(0), name)
			require.GreaterOrEqual(t, jitter, time.Duration(0), name)
			require.GreaterOrEqual(t, low+jitter, max(low, jitter), "%s overflows", name)
			if limit > 0 {
				require.LessOrEqual(t, low+jitter, limit, name)
			}
		}
	})
}

// doubled agrees with arithmetic that cannot overflow.
func TestDoubled(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.Int64Range(0, math.MaxInt64).Draw(t, "base") >> rapid.IntRange(0, 62).Draw(t, "shift")
		limit := rapid.Int64Range(0, math.MaxInt64).Draw(t, "limit") >> rapid.IntRange(0, 62).Draw(t, "limit shift")
		n := rapid.IntRange(0, 200).Draw(t, "n")
		want := new(big.Int).Lsh(big.NewInt(base), uint(n))
		bound := big.NewInt(limit)
		if limit == 0 {
			bound.SetInt64(math.MaxInt64)
		}
		if want.Cmp(bound) > 0 {
			want = bound
		}
		require.Equal(t, want.Int64(), int64(doubled(time.Duration(base), int64(n), time.Duration(limit))))
	})
}

// A client never retries before a hint has passed, and the jitter is added to the
// hint: clients with the same hint do not retry together.
func TestHintsAreFloors(t *testing.T) {
	backoffs := growing(time.Second, 20*time.Second)
	backoffs["fixed"] = Fixed{Every: 2 * time.Second, Jitter: time.Second}
	backoffs["uniform"] = Uniform{Low: time.Second, High: 3 * time.Second}
	rapid.Check(t, func(t *rapid.T) {
		hint := time.Duration(rapid.Int64Range(0, int64(time.Minute)).Draw(t, "hint"))
		id := rapid.Uint64().Draw(t, "call")
		for name, b := range backoffs {
			plain, hinted := strategytest.NewRetrier(t, layers.Retry{Backoff: b}), strategytest.NewRetrier(t, layers.Retry{Backoff: b})
			ignoring := strategytest.NewRetrier(t, layers.Retry{Backoff: b, Hints: layers.Hints{Use: layers.HintIgnored}})
			plain.Begin(id)
			hinted.Begin(id)
			ignoring.Begin(id)
			for range 6 {
				own := plain.Refuse(0, wire.NoHint).After
				asked := hinted.Refuse(0, hint).After
				require.GreaterOrEqual(t, asked, hint, name)
				require.GreaterOrEqual(t, asked, own, "%s: a hint must not shorten a wait", name)
				require.LessOrEqual(t, asked, own+hint, "%s: a hint must replace only the base", name)
				require.Equal(t, own, ignoring.Refuse(0, hint).After, name)
			}
		}
	})
}

// The longest hint leads to an endless wait with any jitter added.
func TestHugeHintsSaturate(t *testing.T) {
	for name, b := range growing(time.Second, 0) {
		for _, hint := range []time.Duration{strategies.Never, strategies.Never - 1, strategies.Never - time.Hour} {
			x := strategytest.NewRetrier(t, layers.Retry{Backoff: b})
			x.Begin(1)
			for range 80 { // enough for the jitter to exceed any duration
				d := x.Refuse(0, hint)
				require.Equal(t, strategies.Wait, d.Kind, name)
				require.GreaterOrEqual(t, d.After, hint, name)
			}
		}
	}
}
