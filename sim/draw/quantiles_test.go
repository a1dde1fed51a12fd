package draw

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

const ms = time.Millisecond

// What is drawn from quantiles has these quantiles, and the mean it claims.
func TestQuantiles(t *testing.T) {
	d, err := Quantiles(Quantile{0.1, 100 * ms}, Quantile{0.5, 200 * ms}, Quantile{0.9, 1000 * ms}, Quantile{0.99, 5000 * ms})
	require.NoError(t, err)
	require.Equal(t, [2]time.Duration{100 * ms, 5000 * ms}, [2]time.Duration{d.Low, d.High})
	// 0.1·100 + 0.4·150 + 0.4·600 + 0.09·3000 + 0.01·5000
	require.Equal(t, 630*ms, d.Average())

	const n = 1_000_000
	r := New(2).For(7)
	drawn := make([]time.Duration, n)
	mean := 0.0
	for i := range drawn {
		drawn[i] = d.Draw(r, uint64(i))
		mean += float64(drawn[i]) / n
	}
	slices.Sort(drawn)
	require.InEpsilon(t, float64(d.Average()), mean, 0.01)
	require.Equal(t, d.Low, drawn[0])
	require.Equal(t, d.High, drawn[n-1])
	for p, want := range map[float64]time.Duration{0.05: 100 * ms, 0.3: 150 * ms, 0.5: 200 * ms, 0.7: 600 * ms, 0.9: 1000 * ms, 0.999: 5000 * ms} {
		require.InEpsilon(t, float64(want), float64(drawn[int(p*n)]), 0.02, "p=%g", p)
	}
}

func TestValues(t *testing.T) {
	d, err := Values(3*time.Second, time.Second, 2*time.Second)
	require.NoError(t, err)
	require.Equal(t, 2*time.Second, d.Average())
	require.Equal(t, "empirical 1s..3s mean 2s", d.String())
	mean, sd := moments(100_000, func(i uint64) time.Duration { return d.Draw(New(1), i) })
	require.InDelta(t, 2, mean, 0.01)
	require.InDelta(t, math.Sqrt(1./3), sd, 0.01, "even between 1 s and 3 s")

	one, err := Values(7)
	require.NoError(t, err)
	require.Equal(t, time.Duration(7), one.Draw(New(1), 0))
	require.Equal(t, time.Duration(7), one.Average())
}

func TestQuantilesOutOfOrder(t *testing.T) {
	for want, points := range map[string][]Quantile{
		"an empirical distribution needs at least one quantile":                                 nil,
		"the quantile 1.5 is not a share: it must be 0 to 1":                                    {{1.5, 1}},
		"the quantile NaN is not a share: it must be 0 to 1":                                    {{math.NaN(), 1}},
		"the quantile 0.5 follows 0.9; give quantiles in ascending order, once each":            {{0.9, 1}, {0.5, 2}},
		"the quantile 0.5 follows 0.5; give quantiles in ascending order, once each":            {{0.5, 1}, {0.5, 2}},
		"the value of quantile 0.9 is below that of 0.5":                                        {{0.5, 2}, {0.9, 1}},
		"the quantile of 1 is out of range: " + time.Duration(math.MaxInt64).String():           {{1, math.MaxInt64}},
		"the quantile of 0.25 is out of range: " + time.Duration(-math.MaxInt64/4*4-4).String(): {{0.25, -math.MaxInt64/4*4 - 4}},
	} {
		_, err := Quantiles(points...)
		require.EqualError(t, err, want)
	}
}

// Any table draws within its bounds, and scales with its quantum.
func TestTablesScaleWithTheirQuantum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(0, 1e12), 1, 20).Draw(t, "values")
		k := rapid.Int64Range(1, 1000).Draw(t, "k")
		var small, large []time.Duration
		for _, v := range values {
			small, large = append(small, time.Duration(v)), append(large, time.Duration(k*v))
		}
		one, err := Values(small...)
		require.NoError(t, err)
		many, err := Values(large...)
		require.NoError(t, err)
		r := New(rapid.Uint64().Draw(t, "seed"))
		for n := range uint64(50) {
			x := one.Draw(r, n)
			require.GreaterOrEqual(t, x, one.Low)
			require.LessOrEqual(t, x, one.High)
			require.Equal(t, time.Duration(k)*x, many.Draw(r.WithQuantum(time.Duration(k)), n))
			require.Equal(t, time.Duration(k)*r.Scale(x, 1.7), r.WithQuantum(time.Duration(k)).Scale(time.Duration(k)*x, 1.7))
		}
	})
}

func TestScaleSaturates(t *testing.T) {
	r := New(1)
	require.Equal(t, 3*time.Second, r.Scale(2*time.Second, 1.5))
	require.Zero(t, r.Scale(time.Second, 0))
	require.Equal(t, time.Duration(math.MaxInt64/4), r.Scale(time.Second, 1e300))
	require.Equal(t, time.Duration(math.MaxInt64/4), r.Scale(math.MaxInt64, 7))
}
