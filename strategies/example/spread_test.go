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

// Retries that are as far apart as the outage was long cannot come back in one
// second, and they lose nothing.
func TestSpreadDrawsNoSecondPeak(t *testing.T) {
	result, err := compare(20)
	require.NoError(t, err)
	spread := result.Results[len(result.Results)-1]
	require.Equal(t, "spread", spread.Strategy)
	require.Equal(t, 1.0, *spread.Estimate(metrics.SuccessRate).Mean)
	require.Equal(t, 1.0, spread.Estimate(metrics.SecondPeak).Undefined, "a second peak on some seed")
}

// One strategy, two ways: the script and its twin live the same days.
func TestTheScriptDecidesAsItsTwin(t *testing.T) {
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

// A stack in a file is compared as any other, and keeps what it promises: half a
// fleet at most knocks in one second, and no more than 2.1 requests a second go on.
func TestTheStackInAFile(t *testing.T) {
	scenario, err := scenarios.Load("stack.yaml")
	require.NoError(t, err)
	result, err := sweep.Compare(context.Background(), scenario.Spec(1, 5))
	require.NoError(t, err)
	mine := result.Results[1]
	require.Equal(t, "my-stack", mine.Strategy)
	require.Equal(t, 1.0, *mine.Estimate(metrics.SuccessRate).Mean)
	require.LessOrEqual(t, *mine.Estimate(metrics.PeakAfter).Mean, 3+2.1) // a burst, and what comes in a second
}
