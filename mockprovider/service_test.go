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
	require.Equal(t, 3500*time.Millisecond, s.Mean(250))
	require.Equal(t, 1005*time.Millisecond, s.Mean(0.5))

	// The same call costs the same, whichever attempt and whenever.
	s.First = draw.Expo(time.Second)
	rnd := draw.New(1)
	first := s.Time(rnd, &wire.Request{Call: 7, Attempt: 1})
	require.Equal(t, first, s.Time(rnd, &wire.Request{Call: 7, Attempt: 2, Account: 3}))
	require.NotEqual(t, first, s.Time(rnd, &wire.Request{Call: 8, Attempt: 1}))
	require.NotEqual(t, first, s.Time(draw.New(2), &wire.Request{Call: 7, Attempt: 1}))
}

// The longest service is long, and not the past.
func TestServiceTimeSaturates(t *testing.T) {
	r := &wire.Request{Demand: wire.Demand{OutputTokens: math.MaxUint32}}
	for _, s := range []Service{
		{PerToken: never}, {PerToken: 1 << 32}, {PerToken: 1000 * time.Hour}, {PerToken: never / math.MaxUint32},
		{First: draw.Const(never)}, {First: draw.Const(never), PerToken: never}, {First: draw.Const(longest), PerToken: 1},
	} {
		require.Equal(t, longest, s.Time(draw.New(1), r), "%+v", s)
		for _, tokens := range []float64{math.MaxUint32, math.MaxFloat64, math.Inf(1)} {
			require.LessOrEqual(t, s.Mean(tokens), longest)
			require.Positive(t, s.Mean(tokens))
		}
	}
	require.Equal(t, longest, (&Service{PerToken: 1}).Mean(math.NaN()))
	require.Equal(t, time.Second, (&Service{First: draw.Const(time.Second), PerToken: 1}).Mean(-5))
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
	require.Error(t, (&Service{First: draw.Between(-1, 1)}).Validate())
	require.NoError(t, (&Service{}).Validate())
}
