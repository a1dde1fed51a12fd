package metrics

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseObjective(t *testing.T) {
	for o := range numObjectives {
		parsed, err := ParseObjective(o.String())
		require.NoError(t, err)
		assert.Equal(t, o, parsed)
	}
	_, err := ParseObjective("drian")
	assert.EqualError(t, err, `there is no objective "drian"; choose one of drain, peak, attempts, latency, success`)
	assert.Equal(t, DrainTime, ByDrain.Metric(&Scenario{OneShot: true}))
	assert.Equal(t, RecoveryTime, ByDrain.Metric(&Scenario{}))
	assert.Equal(t, Peak, ByPeak.Metric(&Scenario{}))
	assert.Equal(t, PeakAfter, ByPeak.Metric(&outage))
}
