package validation

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"herdlab/sim"
	"herdlab/sim/draw"
	"herdlab/sim/metrics"
	"herdlab/sim/simtest"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
)

// occupancy is the law of the fullest of so many bins that n balls fall into at
// random: the chance that no bin has more than m is n!/Bⁿ times the coefficient
// of xⁿ in (Σₖ xᵏ/k!)ᴮ for k up to m. The terms are those of Poisson variables of
// mean n/B, so that none is too large or too small.
type occupancy struct {
	n, bins int
	atMost  []float64 // by m
}

func occupy(n, bins int) occupancy {
	o := occupancy{n: n, bins: bins}
	mean := float64(n) / float64(bins)
	poisson := func(k int, mean float64) float64 {
		l, _ := math.Lgamma(float64(k + 1))
		return math.Exp(float64(k)*math.Log(mean) - mean - l)
	}
	for m := 0; ; m++ {
		if m*bins < n {
			o.atMost = append(o.atMost, 0)
			continue
		}
		one := make([]float64, m+1)
		for k := range one {
			one[k] = poisson(k, mean)
		}
		p := power(one, bins, n)[n] / poisson(n, float64(n))
		if o.atMost = append(o.atMost, p); p > 1-1e-9 {
			return o
		}
	}
}

// power is a polynomial to the power of e, up to the term of degree n.
func power(p []float64, e, n int) []float64 {
	times := func(a, b []float64) []float64 {
		c := make([]float64, min(n+1, len(a)+len(b)-1))
		for i, x := range a {
			if x == 0 {
				continue
			}
			for j, y := range b[:min(len(b), len(c)-min(i, len(c)))] {
				c[i+j] += x * y
			}
		}
		return c
	}
	result := []float64{1}
	for ; e > 0; e /= 2 {
		if e%2 == 1 {
			result = times(result, p)
		}
		p = times(p, p)
	}
	return append(result, make([]float64, max(0, n+1-len(result)))...)
}

func (o occupancy) mean() (sum float64) {
	for _, p := range o.atMost {
		sum += 1 - p
	}
	return sum
}

func (o occupancy) quantile(q float64) int {
	return slices.IndexFunc(o.atMost, func(p float64) bool { return p >= q })
}

// occupied is the mean number of bins that are not empty, distinct the chance
// that no two balls share one.
func (o occupancy) occupied() float64 {
	return float64(o.bins) * (1 - math.Pow(1-1/float64(o.bins), float64(o.n)))
}

// occupiedError is the standard deviation of the number that are not empty.
func (o occupancy) occupiedError() float64 {
	b, n := float64(o.bins), float64(o.n)
	empty := b - o.occupied()
	return math.Sqrt(max(0, b*(b-1)*math.Pow(1-2/b, n)+empty-empty*empty))
}

func (o occupancy) distinct() float64 {
	p := 1.0
	for k := range o.n {
		p *= max(0, 1-float64(k)/float64(o.bins))
	}
	return p
}

// spreadOver is a crowd of n that is refused at 0 and comes back after a second
// and U(0, J), J being so many bins of 50 ms.
func spreadOver(t *testing.T, n, bins, seeds int, look func(rep *metrics.Report)) {
	const bin = 50 * time.Millisecond
	p := simtest.Program(t, layers.Retry{Backoff: backoffs.Fixed{Every: time.Second, Jitter: time.Duration(bins) * bin}})
	for seed := range seeds {
		look(simtest.Run(t, sim.Experiment{
			Fleets: []sim.Fleet{simtest.OneShot(n, p)}, Rand: draw.New(uint64(seed)),
			Plan:     metrics.Plan{Horizon: time.Hour, Bin: bin, FaultEnd: time.Second, OneShot: true},
			Provider: simtest.Refusing(n),
		}))
	}
}

// Even jitter over B bins is balls into bins: the peak, how many bins are hit,
// and whether all are alone.
func TestHerdPeaks(t *testing.T) {
	statistics(t)
	for i, c := range []struct {
		n, bins            int
		peak               float64
		median, p99        int
		occupied, distinct float64 // published; −1 if not, or not as a number
		seeds              int
	}{
		{10, 5, 3.755587, 4, 6, 4.463129, 0, 1000}, {10, 50, 1.662760, 2, 3, 9.146360, 0.381707, 1000},
		{40, 30, 4.148709, 4, 6, 22.269796, 0, 500}, {100, 100, 4.232595, 4, 6, 63.396766, -1, 300},

		{10, 10, 2.748689, 3, 5, 6.513216, 3.628800e-4, 1000}, {10, 20, 2.177372, 2, 4, 8.025261, 6.547291e-2, 1000},
		{40, 10, 7.323723, 7, 11, -1, -1, 500}, {60, 10, 10.021220, 10, 14, -1, -1, 500},
		{60, 30, 5.361517, 5, 8, 26.076028, 0, 500}, {60, 60, 3.917754, 4, 6, 38.112461, -1, 500},
		{1000, 50, 30.724015, 30, 37, 50, 0, 60}, {1000, 100, 18.761660, 19, 24, 99.995683, 0, 60},
		{1000, 1000, 5.514159, 5, 7, 632.304575, 0, 100},
	} {
		t.Run(fmt.Sprintf("N=%d/B=%d", c.n, c.bins), func(t *testing.T) {
			longOnly(t, i >= 4)
			o := occupy(c.n, c.bins)
			require.InDelta(t, c.peak, o.mean(), 1e-6)
			require.Equal(t, []int{c.median, c.p99}, []int{o.quantile(0.5), o.quantile(0.99)})
			if c.occupied >= 0 {
				require.InDelta(t, c.occupied, o.occupied(), 1e-6)
			}
			if c.distinct >= 0 {
				require.InDelta(t, c.distinct, o.distinct(), 1e-6*max(c.distinct, 1e-3))
			}
			var peaks, hit sample
			low, alone := 0, 0
			spreadOver(t, c.n, c.bins, c.seeds, func(rep *metrics.Report) {
				peak, _ := rep.Peak(true)
				occupied := 0
				for _, n := range rep.Series.Attempts[time.Second/rep.Plan.Bin:] {
					if n > 0 {
						occupied++
					}
				}
				peaks, hit = append(peaks, float64(peak)), append(hit, float64(occupied))
				if int(peak) <= c.median {
					low++
				}
				if peak == 1 {
					alone++
				}
			})
			peaks.agrees(t, "peak", reference{value: o.mean()}, 0.06)
			mean, _ := meanAndError(hit)
			assert.InDelta(t, o.occupied(), mean, 4*o.occupiedError()/math.Sqrt(float64(c.seeds))+1e-5, "occupied")
			share(t, "up to the median", o.atMost[c.median], low, c.seeds)
			share(t, "all distinct", o.distinct(), alone, c.seeds)
		})
	}
}
