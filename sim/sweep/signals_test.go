package sweep_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/sim"
	"herdlab/sim/metrics"
	"herdlab/sim/verdict"
	"herdlab/strategies"
)

// alarming is a layer that raises an alarm for each failure.
type alarming struct{ alarm strategies.Signal }

func (alarming) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	alarm, err := b.Alarm("a call failed")
	if err != nil {
		return nil, err
	}
	return b.Guard(alarming{alarm}, inner)
}

func (alarming) Admit(time.Duration, *strategies.Call) strategies.Decision {
	return strategies.Decision{}
}

func (k alarming) Observe(_ time.Duration, c *strategies.Call, _ strategies.Event, d strategies.Decision) {
	if d.End.Reason != strategies.Succeeded {
		c.Raise(k.alarm)
	}
}

// Signals of strategies are in the result, by seed, and merge as metrics do.
func TestSignalsAreInTheResult(t *testing.T) {
	spec := secondPeak(short, []uint64{3, 11}, "five-tries")
	plain := spec.New
	spec.New = func(strategy int, seed uint64) (*sim.Experiment, error) {
		x, err := plain(strategy, seed)
		if err != nil {
			return nil, err
		}
		p, err := strategies.Compile(strategies.Definition{Name: "alarming", Layers: []strategies.Layer{alarming{}}}, nil)
		x.Fleets[0].Program = p
		return x, err
	}
	r := compare(t, spec)
	got := r.Results[0].Signals
	require.Len(t, got, 1)
	for k, seed := range r.Seeds {
		x, err := spec.New(0, seed)
		require.NoError(t, err)
		rep, err := x.Run(context.Background())
		require.NoError(t, err)
		require.Equal(t, rep.Belief.Failed, got[0].Count[k])
		require.Positive(t, got[0].Count[k])
		alarms := r.Results[0].Estimate(metrics.Alarms)
		require.Equal(t, float64(rep.Belief.Failed), *alarms.PerSeed[k])
	}
	one, other := spec, spec
	one.Seeds, other.Seeds = []uint64{3}, []uint64{11}
	merged, err := verdict.Merge(compare(t, other), compare(t, one))
	require.NoError(t, err)
	require.Equal(t, text(t, r), text(t, merged))
}
