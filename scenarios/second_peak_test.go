package scenarios_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"herdlab/scenarios"
	"herdlab/sim/metrics"
)

// figure is a mean over the seeds of a reference, with its standard error; an
// error of 0 says that every seed gave the same.
type figure struct{ mean, se float64 }

// The reference is an independent program with the same model, run with 1,500
// seeds. Figures that it gives without an error are exact, except where only
// the mean was noted: attempts in the outage, whose error is taken from that of
// all attempts, of which they are most. The drain of fixed intervals is exact
// to the moment at which the first millisecond's jobs began.
var secondPeak = []struct {
	strategy                 string
	peakAfter, attempts, out figure
	amplification            float64
	drain                    figure
}{
	{"naive", figure{1086, 0}, figure{370860, 0}, figure{360000, 0}, 6181, figure{20.001, 0}},
	{"fixed-30s", figure{60, 0}, figure{930, 0}, figure{600, 0}, 15.50, figure{272.951, 0}},
	{"fixed-30s+0.5s", figure{39.930, .084}, figure{921.92, .22}, figure{600, 0}, 15.37, figure{279.038, .021}},
	{"fixed-30s+30s", figure{4.265, .021}, figure{492.04, .12}, figure{430.58, .12}, 8.20, figure{67.72, .32}},
	{"uniform-90-150s", figure{3.238, .017}, figure{241.30, .03}, figure{181.22, .03}, 4.02, figure{134.50, .42}},
	{"exponential", figure{60, 0}, figure{930, 0}, figure{600, 0}, 15.50, figure{597.951, 0}},
	{"exponential+0.5s", figure{39.930, .084}, figure{921.92, .22}, figure{600, 0}, 15.37, figure{604.016, .043}},
	{"full-jitter", figure{4.487, .023}, figure{963.92, .34}, figure{901.74, .34}, 16.07, figure{64.64, .23}},
	{"equal-jitter", figure{4.121, .021}, figure{767.55, .11}, figure{706.48, .11}, 12.79, figure{68.99, .32}},
	{"decorrelated-jitter", figure{4.073, .022}, figure{1055.2, 1.2}, figure{994.2, 1.2}, 17.59, figure{69.85, .26}},
	{"five-tries", figure{0, 0}, figure{300, 0}, figure{300, 0}, 5, figure{metrics.Never, 0}},
	{"breaker+full-jitter", figure{12.284, .067}, figure{171.00, .24}, figure{69, 0}, 2.85, figure{56.16, .22}},
	{"token-bucket", figure{3.718, .014}, figure{666.82, .19}, figure{606.11, .19}, 11.11, figure{61.87, .21}},
}

// TestSecondPeak reproduces the founding experiment's reference for every
// strategy: exactly where nothing is left to chance, else within four standard
// errors of the two means together.
func TestSecondPeak(t *testing.T) {
	s, err := scenarios.Builtin("second-peak")
	require.NoError(t, err)
	require.Len(t, s.Strategies(), len(secondPeak))
	for i, ref := range secondPeak {
		t.Run(ref.strategy, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, ref.strategy, s.Strategies()[i].Name)
			seeds := 400
			if ref.strategy == "naive" {
				seeds = 1 // it takes no notice of them, and 370,860 attempts
			}
			got := make([]metrics.Values, seeds)
			for seed := range seeds {
				x, err := s.Experiment(i, uint64(seed))
				require.NoError(t, err)
				r, err := x.Run(context.Background())
				require.NoError(t, err)
				got[seed] = r.Values()
			}
			compare(t, got, metrics.PeakAfter, ref.peakAfter, 0)
			compare(t, got, metrics.Attempts, ref.attempts, 0)
			compare(t, got, metrics.AttemptsInFault, ref.out, 0)
			// The reference's amplification has two decimals, its times three.
			compare(t, got, metrics.Amplification, figure{ref.amplification, ref.attempts.se / 60}, .005)
			compare(t, got, metrics.DrainTime, ref.drain, .0005)
			failed := 0.0
			if ref.drain.mean == metrics.Never {
				failed = 60
			}
			for _, v := range got {
				require.Equal(t, failed, v[metrics.FailedCalls])
				require.Zero(t, v[metrics.PendingCalls])
			}
		})
	}
}

// compare holds the values of a metric against a reference that was printed
// to within rounding.
func compare(t *testing.T, got []metrics.Values, m metrics.Metric, ref figure, rounding float64) {
	t.Helper()
	name := m.Info().Name
	if ref.se == 0 {
		for seed, v := range got {
			if v[m] == ref.mean { // never equals never
				continue
			}
			require.InDelta(t, ref.mean, v[m], rounding, "%s with seed %d", name, seed)
		}
		return
	}
	n := float64(len(got))
	var sum, squares float64
	for _, v := range got {
		sum += v[m]
	}
	mean := sum / n
	for _, v := range got {
		squares += (v[m] - mean) * (v[m] - mean)
	}
	se := math.Sqrt(squares / (n - 1) / n)
	require.InDelta(t, ref.mean, mean, 4*math.Hypot(se, ref.se)+rounding, "%s: mean of %d seeds", name, len(got))
}
