package draw

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestNegLogAgreesWithMath(t *testing.T) {
	r := New(3)
	for n := range uint64(1_000_000) {
		b := r.Bits(n)
		if n < 64 {
			b = 1<<n - 1 // every magnitude, the largest and the smallest u
		}
		u := float64(b>>1+1) / (1 << 63)
		want := -math.Log(u)
		require.InDelta(t, want, negLog(b), 1e-15+2e-14*math.Abs(want), "bits %x", b)
		require.GreaterOrEqual(t, negLog(b), 0.0, "bits %x", b)
	}
}

// moments of n draws, in seconds.
func moments(n uint64, f func(uint64) time.Duration) (mean, sd float64) {
	var s, s2 float64
	for i := range n {
		x := f(i).Seconds()
		s += x
		s2 += x * x
	}
	mean = s / float64(n)
	return mean, math.Sqrt(s2/float64(n) - mean*mean)
}

func TestDistributionsHaveTheirMoments(t *testing.T) {
	r := New(1).For(5)
	const n = 1_000_000
	for _, c := range []struct {
		dist     Dist
		mean, sd float64
	}{
		{Const(2 * time.Second), 2, 0},
		{Between(90*time.Second, 150*time.Second), 120, 60 / math.Sqrt(12)},
		{Expo(5 * time.Second), 5, 5},
		{Dist{Kind: Lognormal, Mean: 280 * time.Millisecond, CV: 0.2}, 0.28, 0.056},
		{Dist{Kind: Lognormal, Mean: 3 * time.Second, CV: 1}, 3, 3},
	} {
		mean, sd := moments(n, func(i uint64) time.Duration { return c.dist.Draw(r, i) })
		// Four standard errors of a mean; the spread has fatter tails.
		require.InDelta(t, c.mean, mean, 1e-9+4*c.sd/math.Sqrt(n), "%v", c.dist)
		require.InDelta(t, c.sd, sd, 1e-6+0.02*c.sd, "%v", c.dist)
		require.InDelta(t, c.mean, c.dist.Average().Seconds(), 1e-9)
	}
}

// Scaling every duration and the quantum by k scales every draw by k exactly.
func TestDrawsScaleWithTheirQuantum(t *testing.T) {
	for _, k := range []time.Duration{2, 7, 60} {
		one, many := New(9), New(9).WithQuantum(k)
		for n := range uint64(10_000) {
			lo, hi := 3*time.Millisecond, time.Duration(n)*time.Microsecond+time.Second
			require.Equal(t, k*one.Uniform(n, lo, hi), many.Uniform(n, k*lo, k*hi))
			require.Equal(t, k*one.Exp(n, hi), many.Exp(n, k*hi))
			require.Equal(t, k*one.Lognormal(n, hi, 0.7), many.Lognormal(n, k*hi, 0.7))
		}
	}
}

// Draws of one owner, of neighbouring owners and of neighbouring seeds are
// uncorrelated, and each bit is fair.
func TestOwnersAreIndependent(t *testing.T) {
	const n = 200_000
	pairs := map[string]func(i uint64) (a, b float64){
		"consecutive draws":   func(i uint64) (float64, float64) { r := New(1); return r.Float(i), r.Float(i + 1) },
		"neighbouring owners": func(i uint64) (float64, float64) { r := New(1); return r.For(i).Float(0), r.For(i + 1).Float(0) },
		"neighbouring seeds":  func(i uint64) (float64, float64) { return New(i).Float(0), New(i + 1).Float(0) },
		"nested owners": func(i uint64) (float64, float64) {
			r := New(1)
			return r.For(i).For(0).Float(0), r.For(0).For(i).Float(0)
		},
		"owner and parent": func(i uint64) (float64, float64) { r := New(1); return r.For(i).Float(i), r.Float(i) },
	}
	for name, pair := range pairs {
		var cov float64
		for i := range uint64(n) {
			a, b := pair(i + 1)
			cov += (a - 0.5) * (b - 0.5) * 12
		}
		require.Less(t, math.Abs(cov/n), 4/math.Sqrt(n), name)
	}
	var ones [64]int
	r := New(4)
	for i := range uint64(n) {
		for b := range ones {
			ones[b] += int(r.For(i).Bits(i) >> b & 1)
		}
	}
	for b, c := range ones {
		require.InDelta(t, n/2, c, 4.5*math.Sqrt(n)/2, "bit %d", b)
	}
}

func TestHugeMeansSaturate(t *testing.T) {
	r := New(1)
	for n := range uint64(1000) {
		require.GreaterOrEqual(t, r.Exp(n, math.MaxInt64), time.Duration(0))
		require.GreaterOrEqual(t, r.Lognormal(n, math.MaxInt64/2, 50), time.Duration(0))
	}
	require.Zero(t, r.Exp(1, 0))
	require.Equal(t, time.Second, r.Uniform(1, time.Second, time.Second))
}
