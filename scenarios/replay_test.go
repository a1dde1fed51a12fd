package scenarios_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/scenarios"
	"herdlab/sim/metrics"
	"herdlab/sim/traffic"
)

func replay(t *testing.T, trace *traffic.Trace) *scenarios.Scenario {
	t.Helper()
	s, err := scenarios.Builtin("trace-replay")
	require.NoError(t, err)
	require.True(t, s.NeedsTrace())
	_, err = s.Experiment(0, 1)
	require.ErrorIs(t, err, scenarios.ErrNeedsTrace)
	require.NoError(t, s.Replay(trace))
	require.False(t, s.NeedsTrace())
	return s
}

func rows(tokens uint32, at ...time.Duration) *traffic.Trace {
	trace := &traffic.Trace{Name: "made up"}
	for _, t := range at {
		trace.Rows = append(trace.Rows, traffic.Row{At: t, Demand: wire.Demand{OutputTokens: tokens}})
	}
	return trace
}

func TestReplay(t *testing.T) {
	// 20 in flight at 0.3 s + 370 × 10 ms = 4 s each are 5 per second, which
	// is less than 600 in a minute.
	s := replay(t, rows(370, 0, time.Second, time.Second, 2*time.Hour))
	require.Equal(t, metrics.Plan{
		Bin: time.Second, FaultBegin: 25 * time.Minute, FaultEnd: 27 * time.Minute, Horizon: 3 * time.Hour, Capacity: 5,
		Faults:  []metrics.FaultSpan{{From: 25 * time.Minute, To: 27 * time.Minute, Refuses: true}},
		Service: 4 * time.Second, Supply: metrics.Open,
	}, s.Plan())
	require.Equal(t, &metrics.Input{Name: "made up", Rows: 4}, s.Describe().Input)
	for i := range s.Strategies() {
		r := run(t, s, i, 1)
		require.EqualValues(t, 4, r.Belief.Calls)
		require.EqualValues(t, 4, r.Truth.Replies[wire.OK])
	}
	// A trace may replace another one. After a short trace the horizon is still an
	// hour after the outage.
	require.NoError(t, s.Replay(rows(0, 0)))
	require.Equal(t, 27*time.Minute+time.Hour, s.Plan().Horizon)
	require.Equal(t, 10.0, s.Plan().Capacity)
	require.Equal(t, 1, s.Describe().Input.Rows)
}

func TestReplayErrors(t *testing.T) {
	s := replay(t, rows(1, 0))
	before := s.Plan()
	for message, trace := range map[string]*traffic.Trace{
		"no rows":                   rows(1),
		"take longer than 10 years": rows(math.MaxUint32, 0),
		"choose a wider bin":        rows(1, 0, 100*24*time.Hour),
	} {
		if message == "take longer than 10 years" {
			src := strings.Replace(s.Source(), "per_output_token: 10ms", "per_output_token: 10s", 1)
			slow, err := scenarios.Parse("x.yaml", []byte(src))
			require.NoError(t, err)
			require.ErrorContains(t, slow.Replay(trace), message)
			continue
		}
		require.ErrorContains(t, s.Replay(trace), message)
		require.Equal(t, before, s.Plan(), "an error changes nothing")
		require.Equal(t, 1, s.Describe().Input.Rows)
	}
}

// TestRealTrace replays the Azure coding trace: with every strategy each row is one
// call in both ledgers, and only the strategy that reads the status has silent
// losses.
func TestRealTrace(t *testing.T) {
	dir := os.Getenv("HERDLAB_TRACES")
	if dir == "" {
		t.Skip("set HERDLAB_TRACES to the directory of the public traces to replay them")
	}
	f, err := os.Open(filepath.Join(dir, "azure", "AzureLLMInferenceTrace_code.csv"))
	require.NoError(t, err)
	defer f.Close()
	trace, err := traffic.ReadTrace("code.csv", f)
	require.NoError(t, err)
	s := replay(t, trace)
	for i, c := range s.Strategies() {
		r := run(t, s, i, 1)
		b := &r.Belief
		require.EqualValues(t, 8819, b.Calls, c.Name)
		require.Zero(t, r.Pending(), c.Name)
		require.Equal(t, b.Calls, b.Useful+b.Lost+b.Failed, c.Name)
		require.Zero(t, b.Failed, c.Name)
		require.Equal(t, b.Useful, r.Truth.Replies[wire.OK], "%s: no call is answered twice", c.Name)
		if c.Name == "status-only" {
			require.NotZero(t, b.Lost)
		} else {
			require.Zero(t, b.Lost, c.Name)
		}
	}
}
