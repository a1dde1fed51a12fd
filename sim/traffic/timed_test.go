package traffic

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// arrivals lists the first n arrivals, fewer if there are not so many.
func arrivals(a Arrivals, r draw.Rand, n int) (all []time.Duration) {
	var prev time.Duration
	for i := range uint64(n) {
		at, ok := a.Next(r, i, prev)
		if !ok {
			break
		}
		all, prev = append(all, at), at
	}
	return all
}

func TestBursts(t *testing.T) {
	const s = time.Second
	b := Bursts{Batches: []Batch{{59 * s, 60 * s, 4}, {60 * s, 60 * s, 2}, {70 * s, 80 * s, 3}}, Size: wire.Demand{InputTokens: 9}}
	require.NoError(t, b.Validate())
	require.Equal(t, []time.Duration{
		59 * s, 59250 * time.Millisecond, 59500 * time.Millisecond, 59750 * time.Millisecond,
		60 * s, 60 * s, 70 * s, 73333333333, 76666666666,
	}, arrivals(b, draw.New(1), 100))
	require.Equal(t, b.Size, b.Demand(draw.New(1), 5))
	// A long burst of many calls does not overflow on its way.
	long := Bursts{Batches: []Batch{{0, math.MaxInt64 / 2, 100_000_000}}}
	at, ok := long.Next(draw.New(1), 99_999_999, 0)
	require.True(t, ok)
	require.InDelta(t, float64(math.MaxInt64/2)*0.99999999, float64(at), 1e9)
	for _, bad := range []Bursts{{}, {Batches: []Batch{{0, 0, 0}}}, {Batches: []Batch{{2, 1, 1}}}, {Batches: []Batch{{-1, 1, 1}}}, {Batches: []Batch{{0, 5, 1}, {4, 6, 1}}}} {
		require.Error(t, bad.Validate())
	}
}

func TestAt(t *testing.T) {
	a := At(wire.Demand{OutputTokens: 3}, 0, 5, 5)
	require.Equal(t, []time.Duration{0, 5, 5}, arrivals(a, draw.New(1), 9))
	require.Equal(t, wire.Demand{OutputTokens: 3}, a.Demand(draw.New(1), 2))
}

// Jobs with one phase come together; jobs with phases of their own keep them.
func TestPeriodic(t *testing.T) {
	const s = time.Second
	p := Periodic{Clients: 3, Period: 10 * s, First: 2 * s, Until: 22 * s}
	require.NoError(t, p.Validate())
	require.Equal(t, []time.Duration{2 * s, 2 * s, 2 * s, 12 * s, 12 * s, 12 * s}, arrivals(p, draw.New(1), 99))

	const n = 25
	p = Periodic{Clients: n, Period: 10 * s, Spread: 10 * s}
	all := arrivals(p, draw.New(7), 3*n)
	for i := range 2 * n {
		require.Equal(t, all[i]+10*s, all[i+n], "a phase is kept")
	}
	require.NotEqual(t, all, arrivals(p, draw.New(8), 3*n))
	for _, bad := range []Periodic{{}, {Clients: 1}, {Clients: 1, Period: s, Spread: 2 * s}, {Clients: 1, Period: s, First: -1}} {
		require.Error(t, bad.Validate())
	}
}

// The phases are those of independent even draws, put in order: the k-th of n has
// the mean k/(n+1) and the variance of a beta distribution, and all of them
// together the mean 1/2.
func TestPeriodicPhasesAreEven(t *testing.T) {
	const n, runs = 4, 20_000
	p := Periodic{Clients: n, Period: time.Second, Spread: time.Second}
	var sum, squares [n]float64
	for seed := range uint64(runs) {
		for k, at := range arrivals(p, draw.New(seed), n) {
			require.Less(t, at, time.Second)
			sum[k] += at.Seconds()
			squares[k] += at.Seconds() * at.Seconds()
		}
	}
	for k := range n {
		i := float64(k + 1)
		mean, variance := i/(n+1), i*(n+1-i)/((n+1)*(n+1)*(n+2))
		require.InDelta(t, mean, sum[k]/runs, 5*math.Sqrt(variance/runs))
		require.InDelta(t, variance, squares[k]/runs-sum[k]/runs*sum[k]/runs, 0.05*variance)
	}
}
