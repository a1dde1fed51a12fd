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
		got := c.cfg.Bound(c.cfg.Load(0, c.tokens))
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
	require.Equal(t, Bound{1, time.Second, 2}, cfg.Bound(cfg.Load(0, 0)))
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

// A limit on tokens lets through as many requests as their mean cost fits into
// it. What a load does not say it cannot bound.
func TestBoundOfTokens(t *testing.T) {
	const m = time.Minute
	load := Load{Space: Space{Accounts: 2}, MeanService: 2 * time.Second, MeanInput: 300, MeanOutput: 200, MeanReserved: 1000}
	window := func(c Charge) Limit { return Window{Limit: 60_000, Length: m, Terms: Terms{Charge: c}} }
	for name, c := range map[string]struct {
		limit Limit
		want  float64 // a minute
	}{
		"requests":                        {window(Charge{}), 60_000},
		"prompts":                         {window(Charge{Count: InputTokens}), 200},
		"reserved and kept":               {window(Charge{Count: OutputTokens}), 60},
		"reserved and given back":         {window(Charge{Count: OutputTokens, When: Reserved}), 300},
		"at completion":                   {window(Charge{Count: OutputTokens, When: AtCompletion}), 300},
		"both, kept":                      {window(Charge{Count: AllTokens}), 60_000. / 1300},
		"both, given back":                {window(Charge{Count: AllTokens, When: Reserved}), 120},
		"a floor":                         {window(Charge{Count: OutputTokens, Least: 2000}), 30},
		"a floor that is given back":      {window(Charge{Count: OutputTokens, When: Reserved, Least: 2000}), 300},
		"of each account":                 {Window{Limit: 60_000, Length: m, Terms: Terms{Per: Account, Charge: Charge{Count: InputTokens}}}, 400},
		"a bucket":                        {TokenBucket{Limit: 60_000, Length: m, Burst: 5, Terms: Terms{Charge: Charge{Count: InputTokens}}}, 200},
		"a log":                           {SlidingLog{Limit: 60_000, Length: m, Terms: Terms{Charge: Charge{Count: InputTokens}}}, 200},
		"a quota":                         {Quota{Limit: 1_440_000, Every: 24 * time.Hour, Terms: Terms{Charge: Charge{Count: InputTokens}}}, 10. / 3},
		"a balance":                       {Quota{Limit: 1_440_000}, 0},
		"GCRA":                            {GCRA{Interval: 10 * time.Millisecond, Terms: Terms{Charge: Charge{Count: InputTokens}}}, 20},
		"a pool of tokens in flight":      {Semaphore{Limit: 6500, Terms: Terms{Charge: Charge{Count: AllTokens}}}, 150}, // 5 at a time for 2 s
		"a pool that holds but one":       {Semaphore{Limit: 1, Terms: Terms{Charge: Charge{Count: AllTokens}}}, 30},
		"a month of the largest requests": {Quota{Limit: 1 << 30, Every: 720 * time.Hour, Terms: Terms{Charge: Charge{Count: OutputTokens, Least: 1 << 30}}}, 1. / (720 * 60)},
	} {
		require.NoError(t, c.limit.Validate(), name)
		require.InEpsilon(t, 1+c.want, 1+60*c.limit.Bound(load).PerSecond(), 1e-9, name)
	}
	require.Equal(t, Bound{}, window(Charge{Count: InputTokens}).Bound(Load{MeanOutput: 1}))
	require.Equal(t, Bound{}, Semaphore{Limit: 1, Terms: Terms{Charge: Charge{Count: InputTokens}}}.Bound(Load{MeanService: 1}))
	// Who states no cap reserves what the answer will have.
	load.MeanReserved = 0
	require.InEpsilon(t, 300, 60*window(Charge{Count: OutputTokens}).Bound(load).PerSecond(), 1e-9)
}

// Plus is exact where the sum is a ratio of int64s, and never too little.
func TestBoundPlus(t *testing.T) {
	require.Equal(t, Bound{10, 3 * time.Second, 7}, Bound{6, 2 * time.Second, 6}.Plus(Bound{1, 3 * time.Second, 1}), "in the longer time")
	rapid.Check(t, func(t *rapid.T) {
		draw := func() Bound {
			count, per := rapid.Int64Range(1, 1<<40).Draw(t, "count"), rapid.Int64Range(1, int64(720*time.Hour)).Draw(t, "per")
			return Bound{count, time.Duration(per), rapid.Int64Range(0, 3).Draw(t, "concurrency")}
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
		require.Equal(t, Bound{Concurrency: sum.Concurrency}, a.Plus(Bound{Concurrency: b.Concurrency}), "no rate and a rate are no rate")
	})
}

func TestBoundOfStationsUnderLimits(t *testing.T) {
	const s = time.Second
	two := Capacity{Slots: 6, Service: takes(2 * s)}
	for name, c := range map[string]struct {
		cfg  Config
		want Bound
	}{
		"a limit on top, of each": {Config{Capacity: two, Models: make([]ModelConfig, 3), Limits: []Limit{Window{Limit: 1, Length: s, Terms: Terms{Per: Model}}}}, Bound{3, s, 18}},
		"a limit on the quickest": {Config{Models: []ModelConfig{{}, {Capacity: &Capacity{Service: takes(s)}}}, Capacity: Capacity{Service: takes(5 * s)}, Limits: []Limit{Semaphore{Limit: 3}}}, Bound{3, s, 3}},
	} {
		require.NoError(t, c.cfg.Validate(), name)
		require.Equal(t, c.want, c.cfg.Bound(c.cfg.Load(2000, 1000)), name)
	}
}
