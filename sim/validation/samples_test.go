package validation

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"herdlab/sim/simtest"
)

// sample is a figure of independent seeds or calls.
type sample []float64

// reference is a figure to compare with, and its own standard error; 0 if it
// has none.
type reference struct{ value, err float64 }

// statistics marks a test of many runs: it runs beside others, and not under the
// race detector, where it takes ten times as long and has nothing to race with.
func statistics(t *testing.T) {
	t.Helper()
	if simtest.Racing {
		t.Skip("statistics, without a race in them")
	}
	t.Parallel()
}

// longOnly skips a test or a row of a table, unless long proofs are asked for.
func longOnly(t *testing.T, skip bool) {
	t.Helper()
	if skip && !simtest.Long {
		t.Skip("in long proofs only: HERDLAB_LONG is not set")
	}
}

// agrees checks the mean of a sample against a reference: they may differ by
// four standard errors of the difference. That must be at most the share sharp
// of the reference, so that a pass means something.
func (s sample) agrees(t *testing.T, what string, want reference, sharp float64) {
	t.Helper()
	mean, se := meanAndError(s)
	if len(s) == 1 {
		se = 0
	}
	within := 4*math.Hypot(se, want.err) + 1e-9*math.Abs(want.value)
	t.Logf("%-24s %.6f ± %.6f (want %.6f ± %.6f)", what, mean, se, want.value, want.err)
	assert.InDelta(t, want.value, mean, within, "%s: standard error %.2g", what, se)
	assert.LessOrEqual(t, within, sharp*math.Abs(want.value)+1e-12, "%s: too few to tell", what)
}

// share checks how often something happens in n independent trials against its
// probability: within four standard deviations of a binomial.
func share(t *testing.T, what string, p float64, hits, n int) {
	t.Helper()
	got := float64(hits) / float64(n)
	t.Logf("%-24s %.6f of %d (want %.6f)", what, got, n, p)
	assert.InDelta(t, p, got, 4*math.Sqrt(p*(1-p)/float64(n))+1e-12, what)
}

// spread returns the standard deviation of a sample and the standard error of
// that, from the fourth moment.
func (s sample) spread() (sd, se float64) {
	mean, _ := meanAndError(s)
	var second, fourth float64
	for _, x := range s {
		d := (x - mean) * (x - mean)
		second += d / float64(len(s))
		fourth += d * d / float64(len(s))
	}
	sd = math.Sqrt(second)
	return sd, math.Sqrt((fourth-second*second)/float64(len(s))) / cmp.Or(2*sd, 1)
}

// quantile is the least value that at least the share p is not above.
func (s sample) quantile(p float64) float64 {
	sorted := slices.Sorted(slices.Values(s))
	return sorted[max(0, int(math.Ceil(p*float64(len(s))))-1)]
}
