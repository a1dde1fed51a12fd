package traffic

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// Sizes come as often as their weights say, prompts each as often as any other,
// and a call's draw is always the same.
func TestMix(t *testing.T) {
	m := Mix{Prompts: 4, Sizes: []Share{{wire.Demand{InputTokens: 5000}, 20}, {wire.Demand{InputTokens: 50_000}, 1}, {wire.Demand{InputTokens: 7}, 4}}}
	require.NoError(t, m.Validate())
	const calls = 100_000
	sizes, prompts := map[uint32]float64{}, map[uint32]float64{}
	for id := range uint64(calls) {
		d := m.Demand(draw.New(3).For(id))
		require.Equal(t, d, m.Demand(draw.New(3).For(id)))
		sizes[d.InputTokens]++
		prompts[d.Prompt]++
	}
	within := func(p, got float64) { // five standard deviations of a binomial
		require.InDelta(t, p*calls, got, 5*math.Sqrt(calls*p*(1-p)))
	}
	within(20./25, sizes[5000])
	within(1./25, sizes[50_000])
	within(4./25, sizes[7])
	require.Len(t, prompts, 4)
	for p := range uint32(4) {
		within(0.25, prompts[p+1])
	}
	require.InDelta(t, (20*5000+50_000+4*7)/25., m.Mean(func(d *wire.Demand) uint32 { return d.InputTokens }), 1e-9)

	require.Zero(t, (&Mix{Sizes: []Share{{wire.Demand{}, 1}}}).Demand(draw.New(1)).Prompt, "without prompts no two calls are alike")
	require.Error(t, (&Mix{}).Validate())
	require.Error(t, (&Mix{Sizes: []Share{{}}}).Validate())
}
