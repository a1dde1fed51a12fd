package validation

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/limits"
	"herdlab/mockprovider/wire"
	"herdlab/sim"
	"herdlab/sim/draw"
	"herdlab/sim/metrics"
	"herdlab/sim/simtest"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
)

// A hundred clients under one quota: token buckets that adapt cut the refusals of
// backoff alone by more than nine tenths and make the batch hardly longer
// (arXiv 2510.04516 has 97 % at best). That takes a bucket for all, or one that reads
// what is left of the quota. A hundred buckets that each probe for themselves are
// refused more often than no bucket at all.
func TestAdaptiveBucketsUnderOneQuota(t *testing.T) {
	statistics(t)
	retry := layers.Retry{Backoff: backoffs.FullJitter{Base: time.Second, Cap: 32 * time.Second}}
	batch := func(layers ...strategies.Layer) (refused float64, took time.Duration) {
		f := simtest.OneShot(100, simtest.Program(t, layers...))
		f.Traffic.Calls, f.Traffic.Start = 100, draw.Between(0, time.Second)
		cfg := simtest.Serves(0, 0, draw.Const(200*ms))
		cfg.Limits = []mockprovider.Limit{limits.TokenBucket{Limit: 20, Length: time.Second, Burst: 20}}
		cfg.ReportedLimit = 1
		rep := simtest.Run(t, sim.Experiment{
			Fleets: []sim.Fleet{f}, Provider: simtest.Provider(t, cfg, 1), Rand: draw.New(1), Plan: metrics.Plan{Horizon: time.Hour},
		})
		require.EqualValues(t, 10_000, rep.Belief.Useful)
		require.Greater(t, rep.End, 499*time.Second, "the quota allows no less")
		return float64(rep.Truth.Replies[wire.Rate]), rep.End
	}
	alone, took := batch(retry)
	for name, layer := range map[string]strategies.Layer{
		"one for all":   layers.AWSAdaptive{Scope: strategies.PerFleet},
		"reads headers": layers.HeaderLimit{Scope: strategies.PerFleet},
	} {
		refused, d := batch(retry, layer)
		t.Logf("%s: %.0f refusals instead of %.0f, %v instead of %v", name, refused, alone, d, took)
		assert.Less(t, refused, 0.1*alone, name)
		assert.Less(t, d.Seconds(), 1.05*took.Seconds(), name)
	}
	refused, _ := batch(retry, layers.AWSAdaptive{Scope: strategies.PerClient})
	assert.Greater(t, refused, alone, "each for itself")
}
