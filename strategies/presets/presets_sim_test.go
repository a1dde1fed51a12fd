package presets_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/faults"
	"herdlab/sim"
	"herdlab/sim/draw"
	"herdlab/sim/metrics"
	"herdlab/sim/traffic"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
	"herdlab/strategies/presets"
)

// lookup returns the definition of a named strategy.
func lookup(t *testing.T, name string) strategies.Definition {
	t.Helper()
	d, err := presets.Lookup(name, presets.Knowledge{Rate: 3, Per: time.Second, Concurrency: 6})
	require.NoError(t, err)
	return d
}

// outage runs forty clients, with one call each at 0 s, against a provider that refuses
// for 60 s and then has six slots of two seconds. A patience above 0 cancels calls that
// wait longer.
func outage(t *testing.T, d strategies.Definition, patience time.Duration) *metrics.Report {
	t.Helper()
	program, err := strategies.Compile(d, nil)
	require.NoError(t, err)
	provider, err := mockprovider.New(mockprovider.Config{
		Capacity:    mockprovider.Capacity{Slots: 6, Service: mockprovider.Service{First: draw.Const(2 * time.Second)}},
		RefusalTime: 50 * time.Millisecond,
		Faults:      []mockprovider.Fault{faults.Outage(0, time.Minute, mockprovider.As503)},
	}, draw.New(1))
	require.NoError(t, err)
	x := sim.Experiment{
		Fleets: []sim.Fleet{{
			Name: "fleet", Program: program, Patience: patience,
			Traffic: traffic.Traffic{Clients: 40, Calls: 1},
		}},
		Provider: provider, Rand: draw.New(2),
		Plan: metrics.Plan{Horizon: time.Hour, FaultEnd: time.Minute, OneShot: true},
	}
	rep, err := x.Run(context.Background())
	require.NoError(t, err, d.Name)
	return rep
}

// Every preset runs in the simulator, which checks its ledgers, also with callers that
// cancel. In an outage of a minute no preset with three attempts answers a call.
func TestPresetsInTheSimulator(t *testing.T) {
	for _, p := range presets.Presets() {
		t.Run(p.Name, func(t *testing.T) {
			rep := outage(t, lookup(t, p.Name), 0)
			b := rep.Belief
			require.EqualValues(t, 40, b.Calls)
			require.GreaterOrEqual(t, b.Attempts, b.Calls)
			switch p.Name {
			case "tenacity", "cenkalti-backoff", "gemini-cli", "gemini-cli-fallback", "langchain-js", "article-three-tiers":
				require.EqualValues(t, 40, b.Useful, "must outlast the outage")
			case "article-14003-semaphore", "article-14003", "article-14003-client", "article-14003-bucket":
				require.EqualValues(t, 40, b.Lost, "must count refusals as answers")
			default:
				require.Zero(t, b.Useful, "must give up within the outage")
				require.EqualValues(t, 40, b.Failed)
			}
			outage(t, lookup(t, p.Name), 20*time.Second)
		})
	}
}

// The protective layers in the same outage.
func TestProtectiveLayersInTheSimulator(t *testing.T) {
	const s = time.Second
	fleet := strategies.PerFleet
	full := layers.Retry{Backoff: backoffs.FullJitter{Base: s, Cap: 64 * s}}
	at := layers.Retry{Backoff: backoffs.Fixed{Every: s}}
	for name, c := range map[string]struct {
		layers []strategies.Layer
		check  func(*testing.T, *metrics.Report)
	}{
		"deadline": {[]strategies.Layer{layers.Deadline{Within: 90 * s}, full}, func(t *testing.T, r *metrics.Report) {
			require.LessOrEqual(t, r.End, (90+2)*s, "the provider finishes the requests in service")
			require.Greater(t, r.Belief.Useful, uint64(10))
			require.Greater(t, r.Belief.Failed, uint64(0))
		}},
		"deadline in a line": {[]strategies.Layer{layers.Deadline{Within: 30 * s}, layers.Concurrency{Permits: 1, Scope: fleet}, at}, func(t *testing.T, r *metrics.Report) {
			require.LessOrEqual(t, r.End, 30*s)
			require.EqualValues(t, 40, r.Belief.Failed)
			require.Less(t, r.Belief.Attempts, uint64(60), "one call at a time, and all calls have the same deadline")
		}},
		"cool-down": {[]strategies.Layer{layers.CoolDown{For: 10 * s, Pace: s / 2, Scope: fleet}}, func(t *testing.T, r *metrics.Report) {
			require.EqualValues(t, 40, r.Belief.Useful)
			// 40 attempts at 0 s, a probe every 10 s of which five are refused, and
			// then 40 attempts at two a second.
			require.EqualValues(t, 40+5+40, r.Belief.Attempts)
			peak, _ := r.Peak(true)
			require.LessOrEqual(t, peak, uint32(3))
			require.LessOrEqual(t, r.End, 60*s+300*time.Millisecond+2*s+20*s+2*s)
		}},
		"bulkhead": {[]strategies.Layer{full, layers.Bulkhead{Permits: 6, Line: 40, Patience: 30 * s, Scope: fleet}}, func(t *testing.T, r *metrics.Report) {
			require.EqualValues(t, 40, r.Belief.Useful+r.Belief.Failed)
			require.Greater(t, r.Belief.Useful, uint64(20))
		}},
		"orbit": {[]strategies.Layer{layers.ConstantRetrial{Mean: s / 2, Scope: fleet}}, func(t *testing.T, r *metrics.Report) {
			require.EqualValues(t, 40, r.Belief.Useful)
			require.InDelta(t, 40+2*60+40, float64(r.Belief.Attempts), 60, "two attempts a second, and no herd")
			peak, _ := r.Peak(true)
			require.LessOrEqual(t, peak, uint32(8))
		}},
		"throttle": {[]strategies.Layer{at, layers.Throttle{Scope: fleet}}, func(t *testing.T, r *metrics.Report) {
			require.Greater(t, r.Belief.Failed, uint64(30), "calls that the throttle refuses fail")
		}},
		"budget": {[]strategies.Layer{layers.AWSBudget{Capacity: 500, Cost: 5, Scope: fleet}, at}, func(t *testing.T, r *metrics.Report) {
			require.EqualValues(t, 40+100, r.Belief.Attempts, "a hundred retries for the fleet")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			c.check(t, outage(t, strategies.Definition{Name: "x", Layers: c.layers}, 0))
			outage(t, strategies.Definition{Name: "x", Layers: c.layers}, 20*s)
		})
	}
}
