package mockprovider

import (
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/sim/draw"
)

func TestBound(t *testing.T) {
	const s, m = time.Second, time.Minute
	two := takes(2 * s)
	for name, c := range map[string]struct {
		cfg    Config
		tokens float64
		want   Bound
		rate   float64
	}{
		"nothing bounds it":           {Config{Capacity: Capacity{Service: two}}, 0, Bound{}, 0},
		"slots":                       {Config{Capacity: Capacity{Slots: 6, Service: two}}, 0, Bound{6, 2 * s, 6}, 3},
		"slots that take no time":     {Config{Capacity: Capacity{Slots: 6}}, 0, Bound{Concurrency: 6}, 0},
		"tokens":                      {Config{Capacity: Capacity{Slots: 6, Service: Service{First: draw.Expo(s), PerToken: time.Millisecond}}}, 2000, Bound{6, 3 * s, 6}, 2},
		"a window is tighter":         {Config{Capacity: Capacity{Slots: 6, Service: two}, Limits: []Limit{Window{Limit: 120, Length: m}}}, 0, Bound{120, m, 6}, 2},
		"the slots are tighter":       {Config{Capacity: Capacity{Slots: 6, Service: two}, Limits: []Limit{Window{Limit: 181, Length: m}}}, 0, Bound{6, 2 * s, 6}, 3},
		"among equals the first":      {Config{Capacity: Capacity{Slots: 6, Service: two}, Limits: []Limit{Window{Limit: 180, Length: m}}}, 0, Bound{6, 2 * s, 6}, 3},
		"a window alone":              {Config{Limits: []Limit{Window{Limit: 180, Length: m}}}, 0, Bound{180, m, 0}, 3},
		"a semaphore":                 {Config{Capacity: Capacity{Slots: 6, Service: two}, Limits: []Limit{Semaphore{Limit: 2}}}, 0, Bound{2, 2 * s, 2}, 1},
		"a wider semaphore":           {Config{Capacity: Capacity{Slots: 6, Service: two}, Limits: []Limit{Semaphore{Limit: 20}}}, 0, Bound{6, 2 * s, 6}, 3},
		"the tightest of several":     {Config{Capacity: Capacity{Service: two}, Limits: []Limit{Window{Limit: 5, Length: s}, Semaphore{Limit: 9}, Window{Limit: 60, Length: m}}}, 0, Bound{60, m, 9}, 1},
		"accounts add up":             {Config{Capacity: Capacity{Service: two}, Space: Space{Accounts: 10}, Limits: []Limit{Window{Limit: 60, Length: m, Terms: Terms{Per: Account}}}}, 0, Bound{600, m, 0}, 10},
		"permits of accounts add up":  {Config{Capacity: Capacity{Service: two}, Space: Space{Accounts: 10}, Limits: []Limit{Semaphore{Limit: 3, Terms: Terms{Per: Account}}}}, 0, Bound{30, 2 * s, 30}, 15},
		"accounts not told apart":     {Config{Capacity: Capacity{Service: two}, Limits: []Limit{Semaphore{Limit: 3, Terms: Terms{Per: Account}}}}, 0, Bound{3, 2 * s, 3}, 1.5},
		"everyone's do not":           {Config{Capacity: Capacity{Service: two}, Space: Space{Accounts: 10}, Limits: []Limit{Window{Limit: 60, Length: m}}}, 0, Bound{60, m, 0}, 1},
		"the joint rule, short work":  {Config{Capacity: Capacity{Service: takes(time.Millisecond)}, Limits: []Limit{Joint{Limit: 20, Length: s}}}, 0, Bound{20, s, 20}, 20},
		"the joint rule, long work":   {Config{Capacity: Capacity{Service: takes(4 * s)}, Space: Space{Accounts: 3}, Limits: []Limit{Joint{Limit: 20, Length: s, Terms: Terms{Per: Account}}}}, 0, Bound{60, 4 * s, 60}, 15},
		"a sliding log":               {Config{Capacity: Capacity{Service: two}, Space: Space{Accounts: 2}, Limits: []Limit{SlidingLog{Limit: 60, Length: m, Terms: Terms{Per: Account}}}}, 0, Bound{120, m, 0}, 2},
		"a sliding counter":           {Config{Capacity: Capacity{Service: two}, Space: Space{Accounts: 2}, Limits: []Limit{SlidingCounter{Limit: 61, Length: m, Terms: Terms{Per: Account}}}}, 0, Bound{120, m, 0}, 2},
		"a sliding counter of one":    {Config{Capacity: Capacity{Service: two}, Limits: []Limit{SlidingCounter{Limit: 1, Length: m}}}, 0, Bound{1, 2 * m, 0}, 1. / 120},
		"a bucket, whatever it holds": {Config{Capacity: Capacity{Service: two}, Limits: []Limit{TokenBucket{Limit: 60, Length: m, Burst: 1000}}}, 0, Bound{60, m, 0}, 1},
		"accounts of many": {Config{Capacity: Capacity{Service: two}, Space: Space{Accounts: math.MaxUint32}, Limits: []Limit{Semaphore{Limit: math.MaxInt32, Terms: Terms{Per: Account}}}}, 0,
			Bound{math.MaxUint32 * math.MaxInt32, 2 * s, math.MaxUint32 * math.MaxInt32}, math.MaxUint32 * math.MaxInt32 / 2},
	} {
		got := c.cfg.Bound(c.cfg.Load(c.tokens))
		require.Equal(t, c.want, got, name)
		require.InDelta(t, c.rate, got.PerSecond(), 1e-12*max(1, c.rate), name)
	}
	// A load may be another than that of the provider's own accounts and service.
	cfg := Config{Capacity: Capacity{Slots: 6, Service: two}}
	require.Equal(t, Bound{6, m, 6}, cfg.Bound(Load{MeanService: m}))
}

// limited is a limit of somebody else's.
type limited struct {
	Limit
	bound Bound
}

func (l limited) Bound(Load) Bound { return l.bound }

// No kind of limit is known to the provider, so none is overlooked.
func TestBoundOfAnyLimit(t *testing.T) {
	cfg := Config{Capacity: Capacity{Slots: 6, Service: takes(2 * time.Second)}, Limits: []Limit{limited{bound: Bound{Count: 1, Per: time.Second, Concurrency: 2}}}}
	require.Equal(t, Bound{1, time.Second, 2}, cfg.Bound(cfg.Load(0)))
}

// And is exact where floats are not, and the order of limits does not matter.
func TestBoundAnd(t *testing.T) {
	large := Bound{Count: math.MaxInt64, Per: math.MaxInt64 - 1}
	larger := Bound{Count: math.MaxInt64 - 1, Per: math.MaxInt64 - 2}
	require.Equal(t, large.PerSecond(), larger.PerSecond(), "floats see no difference")
	require.Equal(t, large, larger.And(large))
	require.Equal(t, large, large.And(larger))

	bounds := rapid.Custom(func(t *rapid.T) Bound {
		small := rapid.Int64Range(0, 5)
		huge := rapid.Int64Range(math.MaxInt64-5, math.MaxInt64)
		b := Bound{Concurrency: small.Draw(t, "concurrency")}
		if per := rapid.OneOf(small, huge).Draw(t, "per"); per > 0 {
			b.Count, b.Per = rapid.OneOf(rapid.Int64Range(1, 5), huge).Draw(t, "count"), time.Duration(per)
		}
		return b
	})
	rate := func(b Bound) *big.Rat {
		if b.Per == 0 {
			return new(big.Rat).SetInt64(math.MaxInt64) // as high as none
		}
		return big.NewRat(b.Count, int64(b.Per))
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := bounds.Draw(t, "a"), bounds.Draw(t, "b")
		both, other := a.And(b), b.And(a)
		lower := rate(a)
		if rate(b).Cmp(lower) < 0 {
			lower = rate(b)
		}
		require.Zero(t, lower.Cmp(rate(both)))
		require.Zero(t, lower.Cmp(rate(other)))
		require.Equal(t, both.Concurrency, other.Concurrency)
		require.Equal(t, both, both.And(a), "nothing is bounded twice")
		require.Equal(t, a, a.And(Bound{}))
	})
}
