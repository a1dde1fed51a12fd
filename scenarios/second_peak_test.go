package scenarios_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"herdlab/scenarios"
	"herdlab/sim/metrics"
)

// value is a mean over the seeds of the reference, with its standard error. An
// error of 0 means that all seeds have the same value.
type value struct{ mean, se float64 }

// The reference is an independent program with the same model, run with 1,500
// seeds. Its values without an error are exact. For attempts in the outage only the
// mean was recorded; their error is that of all attempts, of which they are most.
// The drain of fixed intervals is exact up to the start of the jobs within the
// first millisecond.
var secondPeak = []struct {
	strategy                 string
	peakAfter, attempts, out value
	amplification            float64
	drain                    value
}{
	{"naive", value{1086, 0}, value{370860, 0}, value{360000, 0}, 6181, value{20.001, 0}},
	{"fixed-30s", value{60, 0}, value{930, 0}, value{600, 0}, 15.50, value{272.951, 0}},
	{"fixed-30s+0.5s", value{39.930, .084}, value{921.92, .22}, value{600, 0}, 15.37, value{279.038, .021}},
	{"fixed-30s+30s", value{4.265, .021}, value{492.04, .12}, value{430.58, .12}, 8.20, value{67.72, .32}},
	{"uniform-90-150s", value{3.238, .017}, value{241.30, .03}, value{181.22, .03}, 4.02, value{134.50, .42}},
	{"exponential", value{60, 0}, value{930, 0}, value{600, 0}, 15.50, value{597.951, 0}},
	{"exponential+0.5s", value{39.930, .084}, value{921.92, .22}, value{600, 0}, 15.37, value{604.016, .043}},
	{"full-jitter", value{4.487, .023}, value{963.92, .34}, value{901.74, .34}, 16.07, value{64.64, .23}},
	{"equal-jitter", value{4.121, .021}, value{767.55, .11}, value{706.48, .11}, 12.79, value{68.99, .32}},
	{"decorrelated-jitter", value{4.073, .022}, value{1055.2, 1.2}, value{994.2, 1.2}, 17.59, value{69.85, .26}},
	{"five-tries", value{0, 0}, value{300, 0}, value{300, 0}, 5, value{metrics.Never, 0}},
	{"breaker+full-jitter", value{12.284, .067}, value{171.00, .24}, value{69, 0}, 2.85, value{56.16, .22}},
	{"token-bucket", value{3.718, .014}, value{666.82, .19}, value{606.11, .19}, 11.11, value{61.87, .21}},
}

// TestSecondPeak compares every strategy with the reference: exactly without random
// draws, otherwise within four standard errors of the difference of the means.
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
				seeds = 1 // it has no random draws, and 370,860 attempts
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
			compare(t, got, metrics.Amplification, value{ref.amplification, ref.attempts.se / 60}, .005)
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
func compare(t *testing.T, got []metrics.Values, m metrics.Metric, ref value, rounding float64) {
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
