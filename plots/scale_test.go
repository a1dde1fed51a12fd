package plots

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestLogScale(t *testing.T) {
	s := logScale(1, 1000)
	require.Zero(t, s.at(0), "nothing has no height")
	require.Zero(t, s.at(0.5))
	require.Positive(t, s.at(1), "one attempt has")
	require.InDelta(t, s.at(100)-s.at(10), s.at(1000)-s.at(100), 1e-12, "decades are equally long")
	require.Less(t, s.at(1000), 1.0)
	require.Equal(t, 1.0, s.at(math.Inf(1)))
	require.Zero(t, s.at(math.NaN()))
}

// TestScales: every scale is monotone and stays within the axis, and its ticks
// lie on it.
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
	}{{600, "s", "60"}, {3600, "min", "10"}, {10, "s", "1"}, {0.5, "s", "0.05"}, {86400, "h", "3"}, {30 * 86400, "d", "5"}} {
		ticks, unit := scale{hi: c.hi}.times(10)
		require.Equal(t, c.unit, unit.name, "%g s", c.hi)
		require.Equal(t, "0", ticks[0].label)
		require.Equal(t, c.first, ticks[1].label, "%g s", c.hi)
		require.LessOrEqual(t, len(ticks), 12)
	}
}

func TestNumbers(t *testing.T) {
	for want, got := range map[string]string{
		"0": number(0), "60": number(60), "39.9": number(39.93), "4.30": number(4.3), "0.500": number(0.5),
		"1,086": number(1086), "-1,086": number(-1086), "999,499": number(999499), "1 M": number(1e6), "1.09 M": number(1_086_000),
		"undefined": number(math.NaN()), "20 ×": multiple(20), "1.33 ×": multiple(4.0 / 3),
		"273 s": duration(272.951), "20.0 s": duration(20.001), "25 min": duration(1500), "3 h": duration(10800), "2.50 d": duration(216000), "2.5 d": span(216000), "0.5 s": span(0.5),
		"100 %": percent(1), "93.3 %": percent(0.933), "99.99 %": percent(0.99991), "0 %": percent(0),
	} {
		require.Equal(t, want, got)
	}
	require.NotContains(t, percent(1-1e-7), "100", "something is missing")
}
