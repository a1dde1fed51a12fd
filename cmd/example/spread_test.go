package main

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/scenarios"
	"herdlab/sim/metrics"
	"herdlab/sim/sweep"
	"herdlab/strategies"
)

// Retries that are as far apart as the outage was long make no second peak and lose no
// call.
func TestSpreadHasNoSecondPeak(t *testing.T) {
	scenario, err := scenarios.Builtin("second-peak")
	require.NoError(t, err)
	require.NoError(t, scenario.Add(Spread{}.Definition())) // the one line
	result, err := sweep.Compare(context.Background(), scenario.Spec(1, 20))
	require.NoError(t, err)
	spread := result.Results[len(result.Results)-1]
	require.Equal(t, "spread", spread.Strategy)
	require.Equal(t, 1.0, *spread.Estimate(metrics.SuccessRate).Mean)
	require.Equal(t, 1.0, spread.Estimate(metrics.SecondPeak).Undefined, "a second peak on some seed")
}

// The script and the layer make the same decisions.
func TestScriptAndLayerDecideAlike(t *testing.T) {
	scenario, err := scenarios.Builtin("second-peak")
	require.NoError(t, err)
	script := strategies.Definition{Name: "patience", Layers: []strategies.Layer{strategies.Script(patience)}}
	twin := Spread{Least: time.Second}.Definition()
	require.NoError(t, scenario.Add(script))
	require.NoError(t, scenario.Add(twin))
	result, err := sweep.Compare(context.Background(), scenario.Spec(1, 5))
	require.NoError(t, err)
	n := len(result.Results)
	require.Equal(t, result.Results[n-1].Metrics, result.Results[n-2].Metrics)
}

// A stack in a file is compared as any other. Its bucket bounds the peak after the
// outage to a burst of 3 and 2.1 requests per second.
func TestStackInAFile(t *testing.T) {
	scenario, err := scenarios.Load("stack.yaml")
	require.NoError(t, err)
	result, err := sweep.Compare(context.Background(), scenario.Spec(1, 5))
	require.NoError(t, err)
	mine := result.Results[1]
	require.Equal(t, "my-stack", mine.Strategy)
	require.Equal(t, 1.0, *mine.Estimate(metrics.SuccessRate).Mean)
	require.LessOrEqual(t, *mine.Estimate(metrics.PeakAfter).Mean, 3+2.1) // a burst, and the rate of a second
}
