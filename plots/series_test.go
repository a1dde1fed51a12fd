package plots

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// end returns the end of the last bin.
func (s series) end() float64 { return s.start + float64(len(s.counts))*s.width }

func drawSeries(t *rapid.T) series {
	// The first bin may begin before 0, so that the end of a fault is an edge.
	width := rapid.SampledFrom([]float64{0.1, 0.5, 1, 2, 60}).Draw(t, "width")
	return series{
		start:  -width * rapid.Float64Range(0, 0.99).Draw(t, "start"),
		width:  width,
		counts: rapid.SliceOfN(rapid.Uint32Max(1000), 1, 400).Draw(t, "counts"),
	}
}

// TestColumnsKeepTheMaximum: a column of pixels shows the highest of its bins.
func TestColumnsKeepTheMaximum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSeries(t)
		n := rapid.IntRange(1, 300).Draw(t, "columns")
		from, to := s.start, s.end()
		columns := s.columns(from, to, n)
		require.Len(t, columns, n)

		highest := 0.0
		for _, v := range columns {
			highest = max(highest, v)
		}
		peak, _ := s.peak(math.Inf(-1))
		require.Equal(t, peak, highest)

		// The naive twin searches all bins that overlap each column. Because
		// edges are rounded, a bin that only touches a column may count or not.
		per := (to - from) / float64(n)
		for x, v := range columns {
			least, most := 0.0, 0.0
			for i, c := range s.counts {
				left, right := s.start+float64(i)*s.width, s.start+float64(i+1)*s.width
				overlap := min(right, from+float64(x+1)*per) - max(left, from+float64(x)*per)
				if overlap > 1e-5*per {
					least = max(least, float64(c)/s.width)
				}
				if overlap > -1e-5*per {
					most = max(most, float64(c)/s.width)
				}
			}
			require.True(t, least <= v && v <= most, "column %d is %g, not %g to %g", x, v, least, most)
		}
	})
}

// TestRebinKeepsCounts: wider bins have the same total count, and the end of the
// fault is an edge.
func TestRebinKeepsCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSeries(t)
		k := rapid.IntRange(1, 50).Draw(t, "k")
		edge := s.start + float64(rapid.IntRange(0, len(s.counts)).Draw(t, "edge"))*s.width
		b := s.rebin(k, edge, 0)
		var want, got float64
		for _, c := range s.counts {
			want += float64(c)
		}
		atEdge := edge >= s.end()-1e-9
		for i := range b.rate {
			require.Less(t, b.from[i], b.to[i])
			require.LessOrEqual(t, b.to[i]-b.from[i], float64(k)*s.width*(1+1e-9))
			got += b.rate[i] * (b.to[i] - b.from[i])
			if i > 0 {
				require.InDelta(t, b.to[i-1], b.from[i], 1e-9)
			}
			atEdge = atEdge || math.Abs(b.from[i]-edge) < 1e-6 || (i == 0 && edge <= 0)
		}
		require.InDelta(t, want, got, 1e-6*max(want, 1))
		require.True(t, atEdge, "no bin begins at %g: %v", edge, b.from)
	})
}

// TestRebinCoveredTime: the count of a bin that begins before the run or ends after
// the horizon is divided by the time that it covers.
func TestRebinCoveredTime(t *testing.T) {
	s := series{start: -0.5, width: 1, counts: []uint32{6, 6, 6, 6, 6, 6}}
	b := s.rebin(4, 3.5, 5)
	require.Equal(t, []float64{0, 3.5}, b.from)
	require.Equal(t, []float64{3.5, 5}, b.to)
	require.Equal(t, []float64{24 / 3.5, 12 / 1.5}, b.rate)
}

func TestPeakAfter(t *testing.T) {
	s := series{start: -0.5, width: 0.5, counts: []uint32{9, 9, 3, 4, 4}}
	rate, at := s.peak(0.5)
	require.Equal(t, 8.0, rate, "4 in half a second")
	require.Equal(t, 1.0, at, "the first of two equal ones")
	require.Equal(t, 8.0, s.at(at))
	require.Zero(t, s.at(99))
	rate, _ = s.peak(50)
	require.Zero(t, rate)
	require.Equal(t, 2.0, s.lastActive())
}
