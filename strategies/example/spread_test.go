package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"herdlab/sim/metrics"
)

// Retries that are as far apart as the outage was long cannot come back in one
// second, and they lose nothing.
func TestSpreadDrawsNoSecondPeak(t *testing.T) {
	result, err := compare(20)
	require.NoError(t, err)
	spread := result.Results[len(result.Results)-1]
	require.Equal(t, "spread", spread.Strategy)
	require.Equal(t, 1.0, *spread.Figure(metrics.SuccessRate).Mean)
	require.Equal(t, 1.0, spread.Figure(metrics.SecondPeak).Undefined, "a second peak on some seed")
}
