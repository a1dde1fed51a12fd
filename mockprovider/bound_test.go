package mockprovider_test

import (
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/mockprovider"
	"herdlab/mockprovider/limits"
	"herdlab/sim/draw"
)

func TestBound(t *testing.T) {
	const s, m = time.Second, time.Minute
	two := takes(2 * s)
	for name, c := range map[string]struct {
		cfg    mockprovider.Config
		tokens float64
		want   mockprovider.Bound
		rate   float64
	}{
		"nothing bounds it":           {mockprovider.Config{Capacity: mockprovider.Capacity{Service: two}}, 0, mockprovider.Bound{}, 0},
		"slots":                       {mockprovider.Config{Capacity: mockprovider.Capacity{Slots: 6, Service: two}}, 0, mockprovider.Bound{Count: 6, Per: 2 * s, Concurrency: 6}, 3},
		"slots that take no time":     {mockprovider.Config{Capacity: mockprovider.Capacity{Slots: 6}}, 0, mockprovider.Bound{Concurrency: 6}, 0},
		"tokens":                      {mockprovider.Config{Capacity: mockprovider.Capacity{Slots: 6, Service: mockprovider.Service{First: draw.Expo(s), PerToken: time.Millisecond}}}, 2000, mockprovider.Bound{Count: 6, Per: 3 * s, Concurrency: 6}, 2},
		"a window is tighter":         {mockprovider.Config{Capacity: mockprovider.Capacity{Slots: 6, Service: two}, Limits: []mockprovider.Limit{limits.Window{Limit: 120, Length: m}}}, 0, mockprovider.Bound{Count: 120, Per: m, Concurrency: 6}, 2},
		"the slots are tighter":       {mockprovider.Config{Capacity: mockprovider.Capacity{Slots: 6, Service: two}, Limits: []mockprovider.Limit{limits.Window{Limit: 181, Length: m}}}, 0, mockprovider.Bound{Count: 6, Per: 2 * s, Concurrency: 6}, 3},
		"among equals the first":      {mockprovider.Config{Capacity: mockprovider.Capacity{Slots: 6, Service: two}, Limits: []mockprovider.Limit{limits.Window{Limit: 180, Length: m}}}, 0, mockprovider.Bound{Count: 6, Per: 2 * s, Concurrency: 6}, 3},
		"a window alone":              {mockprovider.Config{Limits: []mockprovider.Limit{limits.Window{Limit: 180, Length: m}}}, 0, mockprovider.Bound{Count: 180, Per: m, Concurrency: 0}, 3},
		"a semaphore":                 {mockprovider.Config{Capacity: mockprovider.Capacity{Slots: 6, Service: two}, Limits: []mockprovider.Limit{limits.Semaphore{Limit: 2}}}, 0, mockprovider.Bound{Count: 2, Per: 2 * s, Concurrency: 2}, 1},
		"a wider semaphore":           {mockprovider.Config{Capacity: mockprovider.Capacity{Slots: 6, Service: two}, Limits: []mockprovider.Limit{limits.Semaphore{Limit: 20}}}, 0, mockprovider.Bound{Count: 6, Per: 2 * s, Concurrency: 6}, 3},
		"the tightest of several":     {mockprovider.Config{Capacity: mockprovider.Capacity{Service: two}, Limits: []mockprovider.Limit{limits.Window{Limit: 5, Length: s}, limits.Semaphore{Limit: 9}, limits.Window{Limit: 60, Length: m}}}, 0, mockprovider.Bound{Count: 60, Per: m, Concurrency: 9}, 1},
		"accounts add up":             {mockprovider.Config{Capacity: mockprovider.Capacity{Service: two}, Space: mockprovider.Space{Accounts: 10}, Limits: []mockprovider.Limit{limits.Window{Limit: 60, Length: m, Terms: mockprovider.Terms{Per: mockprovider.Account}}}}, 0, mockprovider.Bound{Count: 600, Per: m, Concurrency: 0}, 10},
		"permits of accounts add up":  {mockprovider.Config{Capacity: mockprovider.Capacity{Service: two}, Space: mockprovider.Space{Accounts: 10}, Limits: []mockprovider.Limit{limits.Semaphore{Limit: 3, Terms: mockprovider.Terms{Per: mockprovider.Account}}}}, 0, mockprovider.Bound{Count: 30, Per: 2 * s, Concurrency: 30}, 15},
		"accounts not told apart":     {mockprovider.Config{Capacity: mockprovider.Capacity{Service: two}, Limits: []mockprovider.Limit{limits.Semaphore{Limit: 3, Terms: mockprovider.Terms{Per: mockprovider.Account}}}}, 0, mockprovider.Bound{Count: 3, Per: 2 * s, Concurrency: 3}, 1.5},
		"everyone's do not":           {mockprovider.Config{Capacity: mockprovider.Capacity{Service: two}, Space: mockprovider.Space{Accounts: 10}, Limits: []mockprovider.Limit{limits.Window{Limit: 60, Length: m}}}, 0, mockprovider.Bound{Count: 60, Per: m, Concurrency: 0}, 1},
		"the joint rule, short work":  {mockprovider.Config{Capacity: mockprovider.Capacity{Service: takes(time.Millisecond)}, Limits: []mockprovider.Limit{limits.Joint{Limit: 20, Length: s}}}, 0, mockprovider.Bound{Count: 20, Per: s, Concurrency: 20}, 20},
		"the joint rule, long work":   {mockprovider.Config{Capacity: mockprovider.Capacity{Service: takes(4 * s)}, Space: mockprovider.Space{Accounts: 3}, Limits: []mockprovider.Limit{limits.Joint{Limit: 20, Length: s, Terms: mockprovider.Terms{Per: mockprovider.Account}}}}, 0, mockprovider.Bound{Count: 60, Per: 4 * s, Concurrency: 60}, 15},
		"a sliding log":               {mockprovider.Config{Capacity: mockprovider.Capacity{Service: two}, Space: mockprovider.Space{Accounts: 2}, Limits: []mockprovider.Limit{limits.SlidingLog{Limit: 60, Length: m, Terms: mockprovider.Terms{Per: mockprovider.Account}}}}, 0, mockprovider.Bound{Count: 120, Per: m, Concurrency: 0}, 2},
		"a sliding counter":           {mockprovider.Config{Capacity: mockprovider.Capacity{Service: two}, Space: mockprovider.Space{Accounts: 2}, Limits: []mockprovider.Limit{limits.SlidingCounter{Limit: 61, Length: m, Terms: mockprovider.Terms{Per: mockprovider.Account}}}}, 0, mockprovider.Bound{Count: 120, Per: m, Concurrency: 0}, 2},
		"a sliding counter of one":    {mockprovider.Config{Capacity: mockprovider.Capacity{Service: two}, Limits: []mockprovider.Limit{limits.SlidingCounter{Limit: 1, Length: m}}}, 0, mockprovider.Bound{Count: 1, Per: 2 * m, Concurrency: 0}, 1. / 120},
		"a bucket, whatever it holds": {mockprovider.Config{Capacity: mockprovider.Capacity{Service: two}, Limits: []mockprovider.Limit{limits.TokenBucket{Limit: 60, Length: m, Burst: 1000}}}, 0, mockprovider.Bound{Count: 60, Per: m, Concurrency: 0}, 1},
		"accounts of many": {mockprovider.Config{Capacity: mockprovider.Capacity{Service: two}, Space: mockprovider.Space{Accounts: math.MaxUint32}, Limits: []mockprovider.Limit{limits.Semaphore{Limit: math.MaxInt32, Terms: mockprovider.Terms{Per: mockprovider.Account}}}}, 0,
			mockprovider.Bound{Count: math.MaxUint32 * math.MaxInt32, Per: 2 * s, Concurrency: math.MaxUint32 * math.MaxInt32}, math.MaxUint32 * math.MaxInt32 / 2},
	} {
		got := c.cfg.Bound(c.cfg.Load(0, c.tokens))
		require.Equal(t, c.want, got, name)
		require.InDelta(t, c.rate, got.PerSecond(), 1e-12*max(1, c.rate), name)
	}
	// A load may be another than that of the provider's own accounts and service.
	cfg := mockprovider.Config{Capacity: mockprovider.Capacity{Slots: 6, Service: two}}
	require.Equal(t, mockprovider.Bound{Count: 6, Per: m, Concurrency: 6}, cfg.Bound(mockprovider.Load{MeanService: m}))
}

// limited is a limit defined outside the package limits.
type limited struct {
	mockprovider.Limit
	bound mockprovider.Bound
}

func (l limited) Bound(mockprovider.Load) mockprovider.Bound { return l.bound }

// No kind of limit is known to the provider, so none is overlooked.
func TestBoundOfAnyLimit(t *testing.T) {
	cfg := mockprovider.Config{Capacity: mockprovider.Capacity{Slots: 6, Service: takes(2 * time.Second)}, Limits: []mockprovider.Limit{limited{bound: mockprovider.Bound{Count: 1, Per: time.Second, Concurrency: 2}}}}
	require.Equal(t, mockprovider.Bound{Count: 1, Per: time.Second, Concurrency: 2}, cfg.Bound(cfg.Load(0, 0)))
}

// And is exact where floats are not, and the order of limits does not matter.
func TestBoundAnd(t *testing.T) {
	large := mockprovider.Bound{Count: math.MaxInt64, Per: math.MaxInt64 - 1}
	larger := mockprovider.Bound{Count: math.MaxInt64 - 1, Per: math.MaxInt64 - 2}
	require.Equal(t, large.PerSecond(), larger.PerSecond(), "floats see no difference")
	require.Equal(t, large, larger.And(large))
	require.Equal(t, large, large.And(larger))

	bounds := rapid.Custom(func(t *rapid.T) mockprovider.Bound {
		small := rapid.Int64Range(0, 5)
		huge := rapid.Int64Range(math.MaxInt64-5, math.MaxInt64)
		b := mockprovider.Bound{Concurrency: small.Draw(t, "concurrency")}
		if per := rapid.OneOf(small, huge).Draw(t, "per"); per > 0 {
			b.Count, b.Per = rapid.OneOf(rapid.Int64Range(1, 5), huge).Draw(t, "count"), time.Duration(per)
		}
		return b
	})
	rate := func(b mockprovider.Bound) *big.Rat {
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
		require.Equal(t, a, a.And(mockprovider.Bound{}))
	})
}

// A limit on tokens lets through as many requests as their mean cost fits into
// it. What a load does not say it cannot bound.
func TestBoundOfTokens(t *testing.T) {
	const m = time.Minute
	load := mockprovider.Load{Space: mockprovider.Space{Accounts: 2}, MeanService: 2 * time.Second, MeanInput: 300, MeanOutput: 200, MeanReserved: 1000}
	window := func(c mockprovider.Charge) mockprovider.Limit {
		return limits.Window{Limit: 60_000, Length: m, Terms: mockprovider.Terms{Charge: c}}
	}
	for name, c := range map[string]struct {
		limit mockprovider.Limit
		want  float64 // a minute
	}{
		"requests":                        {window(mockprovider.Charge{}), 60_000},
		"prompts":                         {window(mockprovider.Charge{Count: mockprovider.InputTokens}), 200},
		"reserved and kept":               {window(mockprovider.Charge{Count: mockprovider.OutputTokens}), 60},
		"reserved and given back":         {window(mockprovider.Charge{Count: mockprovider.OutputTokens, When: mockprovider.Reserved}), 300},
		"at completion":                   {window(mockprovider.Charge{Count: mockprovider.OutputTokens, When: mockprovider.AtCompletion}), 300},
		"both, kept":                      {window(mockprovider.Charge{Count: mockprovider.AllTokens}), 60_000. / 1300},
		"both, given back":                {window(mockprovider.Charge{Count: mockprovider.AllTokens, When: mockprovider.Reserved}), 120},
		"a floor":                         {window(mockprovider.Charge{Count: mockprovider.OutputTokens, Least: 2000}), 30},
		"a floor that is given back":      {window(mockprovider.Charge{Count: mockprovider.OutputTokens, When: mockprovider.Reserved, Least: 2000}), 300},
		"of each account":                 {limits.Window{Limit: 60_000, Length: m, Terms: mockprovider.Terms{Per: mockprovider.Account, Charge: mockprovider.Charge{Count: mockprovider.InputTokens}}}, 400},
		"a bucket":                        {limits.TokenBucket{Limit: 60_000, Length: m, Burst: 5, Terms: mockprovider.Terms{Charge: mockprovider.Charge{Count: mockprovider.InputTokens}}}, 200},
		"a log":                           {limits.SlidingLog{Limit: 60_000, Length: m, Terms: mockprovider.Terms{Charge: mockprovider.Charge{Count: mockprovider.InputTokens}}}, 200},
		"a quota":                         {limits.Quota{Limit: 1_440_000, Every: 24 * time.Hour, Terms: mockprovider.Terms{Charge: mockprovider.Charge{Count: mockprovider.InputTokens}}}, 10. / 3},
		"a balance":                       {limits.Quota{Limit: 1_440_000}, 0},
		"GCRA":                            {limits.GCRA{Interval: 10 * time.Millisecond, Terms: mockprovider.Terms{Charge: mockprovider.Charge{Count: mockprovider.InputTokens}}}, 20},
		"a pool of tokens in flight":      {limits.Semaphore{Limit: 6500, Terms: mockprovider.Terms{Charge: mockprovider.Charge{Count: mockprovider.AllTokens}}}, 150}, // 5 at a time for 2 s
		"a pool that holds but one":       {limits.Semaphore{Limit: 1, Terms: mockprovider.Terms{Charge: mockprovider.Charge{Count: mockprovider.AllTokens}}}, 30},
		"a month of the largest requests": {limits.Quota{Limit: 1 << 30, Every: 720 * time.Hour, Terms: mockprovider.Terms{Charge: mockprovider.Charge{Count: mockprovider.OutputTokens, Least: 1 << 30}}}, 1. / (720 * 60)},
	} {
		require.NoError(t, c.limit.Validate(), name)
		require.InEpsilon(t, 1+c.want, 1+60*c.limit.Bound(load).PerSecond(), 1e-9, name)
	}
	require.Equal(t, mockprovider.Bound{}, window(mockprovider.Charge{Count: mockprovider.InputTokens}).Bound(mockprovider.Load{MeanOutput: 1}))
	require.Equal(t, mockprovider.Bound{}, limits.Semaphore{Limit: 1, Terms: mockprovider.Terms{Charge: mockprovider.Charge{Count: mockprovider.InputTokens}}}.Bound(mockprovider.Load{MeanService: 1}))
	// A request without a cap reserves the tokens that its answer will have.
	load.MeanReserved = 0
	require.InEpsilon(t, 300, 60*window(mockprovider.Charge{Count: mockprovider.OutputTokens}).Bound(load).PerSecond(), 1e-9)
}

// Plus is exact where the sum is a ratio of int64s, and never too little.
func TestBoundPlus(t *testing.T) {
	require.Equal(t, mockprovider.Bound{Count: 10, Per: 3 * time.Second, Concurrency: 7}, mockprovider.Bound{Count: 6, Per: 2 * time.Second, Concurrency: 6}.Plus(mockprovider.Bound{Count: 1, Per: 3 * time.Second, Concurrency: 1}), "in the longer time")
	rapid.Check(t, func(t *rapid.T) {
		draw := func() mockprovider.Bound {
			count, per := rapid.Int64Range(1, 1<<40).Draw(t, "count"), rapid.Int64Range(1, int64(720*time.Hour)).Draw(t, "per")
			return mockprovider.Bound{Count: count, Per: time.Duration(per), Concurrency: rapid.Int64Range(0, 3).Draw(t, "concurrency")}
		}
		a, b := draw(), draw()
		sum, other := a.Plus(b), b.Plus(a)
		require.Equal(t, sum, other)
		want := new(big.Rat).Add(big.NewRat(a.Count, int64(a.Per)), big.NewRat(b.Count, int64(b.Per)))
		got := big.NewRat(sum.Count, int64(sum.Per))
		require.GreaterOrEqual(t, got.Cmp(want), 0)
		if want.Num().IsInt64() && want.Denom().IsInt64() {
			require.Zero(t, got.Cmp(want))
		}
		f, _ := new(big.Rat).Quo(got, want).Float64()
		require.InDelta(t, 1, f, 1e-3)
		if a.Concurrency*b.Concurrency > 0 {
			require.Equal(t, a.Concurrency+b.Concurrency, sum.Concurrency)
		} else {
			require.Zero(t, sum.Concurrency)
		}
		require.Equal(t, mockprovider.Bound{Concurrency: sum.Concurrency}, a.Plus(mockprovider.Bound{Concurrency: b.Concurrency}), "no rate and a rate are no rate")
	})
}

func TestBoundOfStationsUnderLimits(t *testing.T) {
	const s = time.Second
	two := mockprovider.Capacity{Slots: 6, Service: takes(2 * s)}
	for name, c := range map[string]struct {
		cfg  mockprovider.Config
		want mockprovider.Bound
	}{
		"a limit on top, of each": {mockprovider.Config{Capacity: two, Models: make([]mockprovider.ModelConfig, 3), Limits: []mockprovider.Limit{limits.Window{Limit: 1, Length: s, Terms: mockprovider.Terms{Per: mockprovider.Model}}}}, mockprovider.Bound{Count: 3, Per: s, Concurrency: 18}},
		"a limit on the quickest": {mockprovider.Config{Models: []mockprovider.ModelConfig{{}, {Capacity: &mockprovider.Capacity{Service: takes(s)}}}, Capacity: mockprovider.Capacity{Service: takes(5 * s)}, Limits: []mockprovider.Limit{limits.Semaphore{Limit: 3}}}, mockprovider.Bound{Count: 3, Per: s, Concurrency: 3}},
	} {
		require.NoError(t, c.cfg.Validate(), name)
		require.Equal(t, c.want, c.cfg.Bound(c.cfg.Load(2000, 1000)), name)
	}
}
