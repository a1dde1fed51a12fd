package scenarios_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/scenarios"
	"herdlab/sim/traffic"
)

// FuzzParse checks that Parse does not panic for any text, and returns either
// problems or a scenario whose experiments can be built.
func FuzzParse(f *testing.F) {
	f.Add([]byte(valid))
	f.Add(scenarios.Starter())
	for _, l := range scenarios.List() {
		s, err := scenarios.Builtin(l.Name)
		require.NoError(f, err)
		f.Add([]byte(s.Source()))
	}
	trace := &traffic.Trace{Name: "two rows", Rows: []traffic.Row{{}, {At: 5, Demand: wire.Demand{OutputTokens: 3}}}}
	f.Fuzz(func(t *testing.T, src []byte) {
		s, err := scenarios.Parse("x.yaml", src)
		if err != nil {
			var p scenarios.Problems
			require.True(t, errors.As(err, &p))
			require.NotEmpty(t, p)
			_ = p.Error()
			return
		}
		if s.NeedsTrace() {
			require.Error(t, must(s.Experiment(0, 1)))
			if s.Replay(trace) != nil {
				return
			}
		}
		require.NotEmpty(t, s.Strategies())
		if s.Describe().Clients > 100_000 {
			return // valid, but too large for a fuzz test
		}
		for i := range s.Strategies() {
			x, err := s.Experiment(i, 1)
			require.NoError(t, err)
			require.Positive(t, x.Plan.Horizon)
		}
	})
}

// must returns the error of two results.
func must[T any](_ T, err error) error { return err }
