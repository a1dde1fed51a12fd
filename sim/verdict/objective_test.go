package verdict

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"herdlab/sim/metrics"
)

func TestParseObjective(t *testing.T) {
	for o := range numObjectives {
		parsed, err := ParseObjective(o.String())
		require.NoError(t, err)
		assert.Equal(t, o, parsed)
	}
	_, err := ParseObjective("drian")
	assert.EqualError(t, err, `there is no objective "drian"; choose one of drain, peak, attempts, latency, success, completion, cost`)
	assert.Equal(t, metrics.DrainTime, ByDrain.Metric(&metrics.Scenario{OneShot: true}))
	assert.Equal(t, metrics.RecoveryTime, ByDrain.Metric(&metrics.Scenario{}))
	assert.Equal(t, metrics.Peak, ByPeak.Metric(&metrics.Scenario{}))
	assert.Equal(t, metrics.PeakAfter, ByPeak.Metric(&metrics.Scenario{Faults: []metrics.Span{{}}}))
	assert.Equal(t, metrics.HerdPeak, ByPeak.Metric(&metrics.Scenario{Capacity: 3}))
	all, err := ParseObjectives("peak, attempts")
	require.NoError(t, err)
	assert.Equal(t, []Objective{ByPeak, ByAttempts}, all)
	_, err = ParseObjectives("peak,")
	assert.Error(t, err)
}
