package verdict

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"herdlab/sim/draw"
)

// Where every call is on its own, the interval is Clopper and Pearson's. The values
// are from their tables: 10 of 100, 0 of 20 and 20 of 20.
func TestProportionOfIndependentCalls(t *testing.T) {
	p := proportion([]float64{100}, []float64{0.1})
	require.InDelta(t, 0.0490, p.Lo, 5e-5)
	require.InDelta(t, 0.1762, p.Hi, 5e-5)
	p = proportion([]float64{20}, []float64{0})
	require.Equal(t, 0.0, p.Lo)
	require.InDelta(t, 1-math.Pow(0.025, 1.0/20), p.Hi, 1e-8)
	p = proportion([]float64{20}, []float64{1})
	require.Equal(t, 1.0, p.Hi)
	require.InDelta(t, math.Pow(0.025, 1.0/20), p.Lo, 1e-8)
}

func TestProportionWithoutCalls(t *testing.T) {
	require.True(t, math.IsNaN(proportion(nil, nil).Estimate))
	require.True(t, math.IsNaN(proportion([]float64{0, 0}, []float64{math.NaN(), 1}).Estimate))
}

// The interval holds the truth as often as it says, or more often, for losses that
// are rare, frequent, and shared by all calls of a seed.
func TestProportionCoversTheTruth(t *testing.T) {
	const blocks, seeds, calls = 400, 20, 1200
	for name, c := range map[string]struct {
		loss   float64 // of one call
		shared float64 // probability that a seed loses a tenth of its calls besides
	}{
		"one loss in five runs":        {loss: 1.0 / 5 / calls},
		"one loss in seventy runs":     {loss: 1.0 / 70 / calls},
		"one loss in a hundred calls":  {loss: 0.01},
		"half of the runs lose a part": {loss: 0.001, shared: 0.5},
	} {
		t.Run(name, func(t *testing.T) {
			rnd := draw.New(1)
			truth := c.loss + c.shared*0.1*(1-c.loss)
			covered := 0
			draws := uint64(0)
			uniform := func() float64 { draws++; return rnd.For(draws).Float(0) }
			for range blocks {
				n, share := make([]float64, seeds), make([]float64, seeds)
				for i := range n {
					lost := poisson(calls*c.loss, uniform)
					if uniform() < c.shared {
						lost += 0.1 * (calls - lost)
					}
					n[i], share[i] = calls, lost/calls
				}
				if p := proportion(n, share); p.Lo <= truth && truth <= p.Hi {
					covered++
				}
			}
			require.GreaterOrEqual(t, float64(covered)/blocks, 0.93)
		})
	}
}

// poisson draws a Poisson variable of that mean by inversion.
func poisson(mean float64, uniform func() float64) float64 {
	u, p, k := uniform(), math.Exp(-mean), 0.0
	for sum := p; u > sum && k < 1000; sum += p {
		k++
		p *= mean / k
	}
	return k
}
