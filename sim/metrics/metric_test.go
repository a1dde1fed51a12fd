package metrics

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMetricsAreNamedOnce(t *testing.T) {
	for m := range Metric(NumMetrics) {
		info := m.Info()
		assert.NotEmpty(t, info.Unit)
		assert.NotEmpty(t, info.About)
		parsed, err := ParseMetric(info.Name)
		require.NoError(t, err)
		assert.Equal(t, m, parsed, info.Name)
	}
	_, err := ParseMetric("amplificaton")
	assert.ErrorContains(t, err, `no metric "amplificaton"`)
}
