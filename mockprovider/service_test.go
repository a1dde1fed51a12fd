package mockprovider

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

func TestServiceTime(t *testing.T) {
	s := Service{First: draw.Const(time.Second), PerToken: 10 * time.Millisecond}
	play(t, Config{Capacity: Capacity{Service: s}}, `
		arrive 1 tokens=0 -> 1 started 1s
		arrive 2 tokens=250 -> 2 started 3.5s`)
	require.Equal(t, 3500*time.Millisecond, s.Mean(0, 250))
	require.Equal(t, 1005*time.Millisecond, s.Mean(0, 0.5))

	// A prompt is read before the first token, and a cap on the output is kept.
	s.PerInput = time.Millisecond
	play(t, Config{Capacity: Capacity{Service: s}}, `
		arrive 1 input=2000 tokens=0 -> 1 started 3s
		arrive 2 input=2000 tokens=50 stream=1 -> 2 started 3.5s; 2 head in 3s
		arrive 3 input=500 tokens=250 max=100 -> 3 started 2.5s
		arrive 4 tokens=0 stream=1 -> 4 started 1s                  # nothing comes before its end
		@4s done 2 -> 2 200 ok slot=4s`)
	require.Equal(t, 4*time.Second, s.Mean(2000, 100))
	require.Equal(t, 4*time.Second, s.expected(&wire.Demand{InputTokens: 2000, OutputTokens: 500, MaxTokens: 100}))

	// The same call costs the same, whichever attempt and whenever.
	s.First = draw.Expo(time.Second)
	rnd := draw.New(1)
	first := s.Time(rnd, &wire.Request{Call: 7, Attempt: 1})
	require.Equal(t, first, s.Time(rnd, &wire.Request{Call: 7, Attempt: 2, Account: 3}))
	require.NotEqual(t, first, s.Time(rnd, &wire.Request{Call: 8, Attempt: 1}))
	require.NotEqual(t, first, s.Time(draw.New(2), &wire.Request{Call: 7, Attempt: 1}))

	// Unless it is luck; then too it is the same whenever the attempt comes.
	s.PerAttempt = true
	first = s.Time(rnd, &wire.Request{Call: 7, Attempt: 1})
	require.Equal(t, first, s.Time(rnd, &wire.Request{Call: 7, Attempt: 1, Account: 3}))
	require.NotEqual(t, first, s.Time(rnd, &wire.Request{Call: 7, Attempt: 2}))
	require.NotEqual(t, first, s.Time(rnd, &wire.Request{Call: 8, Attempt: 1}))
}

// The longest service is long, and not the past.
func TestServiceTimeSaturates(t *testing.T) {
	r := &wire.Request{Demand: wire.Demand{InputTokens: math.MaxUint32, OutputTokens: math.MaxUint32}}
	for _, s := range []Service{
		{PerToken: never}, {PerInput: never}, {PerInput: longest / math.MaxUint32, PerToken: longest / math.MaxUint32 / 2, First: draw.Const(longest)}, {PerToken: 1 << 32}, {PerToken: 1000 * time.Hour}, {PerToken: never / math.MaxUint32},
		{First: draw.Const(never)}, {First: draw.Const(never), PerToken: never}, {First: draw.Const(longest), PerToken: 1},
	} {
		require.Equal(t, longest, s.Time(draw.New(1), r), "%+v", s)
		for _, tokens := range []float64{math.MaxUint32, math.MaxFloat64, math.Inf(1)} {
			require.LessOrEqual(t, s.Mean(tokens, tokens), longest)
			require.Positive(t, s.Mean(tokens, tokens))
		}
	}
	require.Equal(t, longest, (&Service{PerToken: 1}).Mean(0, math.NaN()))
	require.Equal(t, time.Second, (&Service{First: draw.Const(time.Second), PerToken: 1}).Mean(0, -5))
}

func TestServiceValidate(t *testing.T) {
	for want, s := range map[string]Service{
		"times must not be negative":         {First: draw.Const(-1)},
		"2s to 1s is not a range of times":   {First: draw.Between(2*time.Second, time.Second)},
		"NaN is no coefficient of variation": {First: draw.Dist{Kind: draw.Lognormal, Mean: 1, CV: math.NaN()}},
		"-1 is no coefficient of variation":  {First: draw.Dist{Kind: draw.Lognormal, Mean: 1, CV: -1}},
	} {
		require.EqualError(t, s.Validate(), want)
	}
	require.Error(t, (&Service{PerToken: -1}).Validate())
	require.Error(t, (&Service{PerInput: -1}).Validate())
	require.Error(t, (&Service{First: draw.Between(-1, 1)}).Validate())
	require.NoError(t, (&Service{}).Validate())
}

// Service times may come from a table.
func TestEmpiricalService(t *testing.T) {
	d, err := draw.Quantiles(draw.Quantile{P: 0.5, Value: time.Second}, draw.Quantile{P: 1, Value: 3 * time.Second})
	require.NoError(t, err)
	s := Service{First: d, PerToken: time.Millisecond}
	require.NoError(t, s.Validate())
	require.Equal(t, 1600*time.Millisecond, s.Mean(0, 100)) // half of them 1 s, half of them 2 s on the average
	short, mean := 0, 0.0
	for call := range uint64(10_000) {
		x := s.Time(draw.New(1), &wire.Request{Call: call, Demand: wire.Demand{OutputTokens: 100}})
		require.GreaterOrEqual(t, x, 1100*time.Millisecond)
		require.LessOrEqual(t, x, 3100*time.Millisecond)
		if x == 1100*time.Millisecond {
			short++
		}
		mean += x.Seconds() / 10_000
	}
	require.InDelta(t, 5000, short, 200)
	require.InDelta(t, 1.6, mean, 0.03)
	d, err = draw.Values(-time.Second, time.Second)
	require.NoError(t, err)
	require.EqualError(t, (&Service{First: d}).Validate(), "times must not be negative")
}

// Tokens come one by one: the first with the head, the last before the end.
func TestProduced(t *testing.T) {
	w := Work{Head: 100, Whole: 150, Tokens: 5}
	for after, want := range map[time.Duration]uint32{0: 0, 99: 0, 100: 1, 109: 1, 110: 2, 149: 5, 150: 5, 1000: 5} {
		require.Equal(t, want, w.produced(after), "%d", after)
	}
	require.Equal(t, uint32(3), (&Work{Head: NoHead, Whole: 50, Tokens: 5}).produced(20))
	require.Equal(t, uint32(7), (&Work{Tokens: 7}).produced(0), "work that takes no time")
	require.Zero(t, (&Work{Head: 1, Whole: 2}).produced(1))
	for _, w := range []Work{{0, longest, math.MaxUint32, 0}, {longest - 1, longest, math.MaxUint32, 0}} {
		require.LessOrEqual(t, w.produced(longest-1), w.Tokens)
		require.Equal(t, w.Tokens, w.produced(longest))
	}
}
