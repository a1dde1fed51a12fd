package plots

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestLogScale(t *testing.T) {
	s := logScale(1, 1000)
	require.Zero(t, s.at(0), "a rate of 0 has no height")
	require.Zero(t, s.at(0.5))
	require.Positive(t, s.at(1), "one attempt has a height")
	require.InDelta(t, s.at(100)-s.at(10), s.at(1000)-s.at(100), 1e-12, "decades are equally long")
	require.Less(t, s.at(1000), 1.0)
	require.Equal(t, 1.0, s.at(math.Inf(1)))
	require.Zero(t, s.at(math.NaN()))
}

// TestScales: every scale is monotone and within the axis, and so are its ticks.
func TestScales(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := math.Pow(10, rapid.Float64Range(-3, 9).Draw(t, "most"))
		s := scale{hi: most}
		ticks := s.round(rapid.IntRange(1, 10).Draw(t, "n"))
		if rapid.Bool().Draw(t, "log") {
			s = logScale(rapid.SampledFrom([]float64{0.1, 1, 10}).Draw(t, "least"), most)
			ticks = s.decades(rapid.Float64Range(20, 400).Draw(t, "length"), 15)
		}
		require.NotEmpty(t, ticks)
		require.Less(t, len(ticks), 25)
		for _, x := range ticks {
			require.True(t, x.at >= s.lo*(1-1e-6) && x.at <= s.hi*(1+1e-6), "tick %g outside %+v", x.at, s)
		}
		a := rapid.Float64().Draw(t, "a")
		b := rapid.Float64().Draw(t, "b")
		if a > b {
			a, b = b, a
		}
		require.LessOrEqual(t, s.at(a), s.at(b))
		require.True(t, s.at(a) >= 0 && s.at(b) <= 1)
	})
}

func TestTimeAxis(t *testing.T) {
	for _, c := range []struct {
		hi    float64
		unit  string
		first string // after 0
	}{{600, "s", "60"}, {50e-9, "ns", "5"}, {2e-6, "ns", "200"}, {50e-6, "µs", "5"}, {0.05, "ms", "5"}, {3600, "min", "10"}, {10, "s", "1"}, {0.5, "s", "0.05"}, {86400, "h", "3"}, {30 * 86400, "d", "5"}, {4 * 86400, "h", "12"}, {4e6, "d", "5"}} {
		ticks, unit := scale{hi: c.hi}.times(10)
		require.Equal(t, c.unit, unit.name, "%g s", c.hi)
		require.Equal(t, "0", ticks[0].label)
		require.Equal(t, c.first, ticks[1].label, "%g s", c.hi)
		require.LessOrEqual(t, len(ticks), 12)
	}
}
