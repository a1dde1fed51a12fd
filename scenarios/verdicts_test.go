package scenarios_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"herdlab/scenarios"
	"herdlab/sim/metrics"
	"herdlab/sim/sweep"
)

// judged compares the strategies of a scenario with the seeds from first on and
// returns the verdict.
func judged(t *testing.T, yaml string, first uint64, seeds int) *metrics.Result {
	t.Helper()
	s, err := scenarios.Parse("test.yaml", []byte("herdlab: 1\nname: test\ntitle: test\n"+yaml))
	require.NoError(t, err)
	r, err := sweep.Compare(t.Context(), s.Spec(first, seeds))
	require.NoError(t, err)
	return r
}

// fates returns what the verdict says of each strategy.
func fates(r *metrics.Result) map[string]string {
	all := map[string]string{}
	for _, s := range r.Results {
		all[s.Strategy] = "fit"
	}
	for _, d := range r.Verdict.Disqualified {
		all[d.Strategy] = "unfit"
	}
	for _, u := range r.Verdict.Undecided {
		all[u.Strategy] = "undecided"
	}
	for _, name := range r.Verdict.Leaders {
		all[name] = "leads"
	}
	return all
}

// Calls that are never answered count, whether nothing answers them or their own
// strategy holds them back, and however long the run is.
func TestUnansweredCallsCount(t *testing.T) {
	const hang = `
provider: {capacity: {slots: 100, queue: 10, service: 1s}}
faults: [{silence: {from: 0s, where: {accounts: 0-49}}}]
fleet: {clients: 100, traffic: {closed: {start: 0s, think: 5s}}, account: per_client}
strategies: [naive]
horizon: `
	const open = `
provider: {limits: [{window: {limit: 120/min, reply: 429, retry_after: exact}}], capacity: {service: 1s}}
fleet: {clients: 100, traffic: {closed: {start: {uniform: [0s, 30s]}, think: {exponential: 30s}}}}
strategies: [full-jitter, {name: stays-open, stack: [{retry: {backoff: fixed}}, {breaker: {failures: 5, open_for: 1h, min_wait: 1s}}]}]
horizon: `
	for _, horizon := range []string{"10m", "20m", "30m"} {
		r := judged(t, hang+horizon, 1, 4)
		assert.Equal(t, map[string]string{"naive": "unfit"}, fates(r), horizon)
		success := r.Results[0].Estimate(metrics.SuccessUpper)
		assert.Equal(t, 0.5, *success.Mean, "half of the clients wait for ever")
		assert.Equal(t, map[string]string{"full-jitter": "leads", "stays-open": "unfit"}, fates(judged(t, open+horizon, 1, 10)), horizon)
	}
}

// A later fault that disturbs nothing, a brownout that outlasts an outage and a fault
// without an end hide no herd.
func TestLaterFaultsHideNoHerd(t *testing.T) {
	const herd = `
provider: {limits: [{window: {limit: 3/s, reply: 429}}], capacity: {service: 50ms}, refusal_time: 50ms}
fleet: {clients: 60, traffic: {one_shot: {within: 1ms}}}
horizon: 30m
strategies: [naive, fixed-30s, full-jitter]
faults: [{outage: {from: 0s, to: 1m}}`
	want := map[string]string{"naive": "unfit", "fixed-30s": "unfit", "full-jitter": "leads"}
	plain := judged(t, herd+"]", 1, 8)
	assert.Equal(t, want, fates(plain))
	for _, later := range []string{
		", {latency: {from: 20m, to: 20m1s, plus: 1ms}}",
		", {latency: {from: 10s, plus: 1ms}}",
		", {latency: {from: 50s, to: 70s, factor: 1.01}}",
	} {
		r := judged(t, herd+later+"]", 1, 8)
		assert.Equal(t, want, fates(r), later)
		for i := range r.Results {
			a, b := plain.Results[i].Estimate(metrics.DrainTime), r.Results[i].Estimate(metrics.DrainTime)
			assert.InDelta(t, *a.Mean, *b.Mean, 1, "%s drains as without the later fault", r.Results[i].Strategy)
		}
	}
}

// Without a fault the herd is judged too, and a burst of new calls is no fault of a
// strategy.
func TestHerdsWithoutAFaultAreJudged(t *testing.T) {
	s, err := scenarios.Builtin("p14003")
	require.NoError(t, err)
	r, err := sweep.Compare(t.Context(), s.Spec(1, 8))
	require.NoError(t, err)
	assert.Equal(t, "unfit", fates(r)["naive"])
	burst := judged(t, `
provider: {capacity: {slots: 10, queue: 10000, service: 1s}}
fleet: {clients: 500, traffic: {bursts: [{from: 1m, calls: 500}, {from: 6m, calls: 500}]}}
horizon: 30m
strategies: [full-jitter]
`, 1, 8)
	peak := burst.Results[0].Estimate(metrics.HerdPeak)
	assert.Zero(t, *peak.Mean, "500 calls come at once, and the strategy adds no attempt")
}

// The width of the bins changes no metric that is judged.
func TestBinsChangeNoVerdict(t *testing.T) {
	const yaml = `
provider: {capacity: {slots: 50, queue: 1000, service: 100ms}}
faults: [{outage: {from: 0s, to: 20s}}]
fleet: {clients: 20, traffic: {open: {rate: 200/s, until: 5m}}}
horizon: 10m
strategies: [full-jitter, {name: late, stack: [{retry: {backoff: {fixed: {every: 150s}}}}]}]
bin: `
	var first []float64
	for _, bin := range []string{"1s", "10s", "60s"} {
		r := judged(t, yaml+bin, 1, 4)
		var values []float64
		for i := range r.Results {
			for _, m := range []metrics.Metric{metrics.RecoveryTime, metrics.DrainTime, metrics.HerdPeak, metrics.SuccessLower, metrics.SuccessUpper, metrics.LatencyP99} {
				e := r.Results[i].Estimate(m)
				values = append(values, e.Values()...)
			}
		}
		if first == nil {
			first = values
		}
		assert.Equal(t, fmt.Sprint(first), fmt.Sprint(values), bin)
	}
}

// A growing overload never recovers.
func TestOverloadNeverRecovers(t *testing.T) {
	r := judged(t, `
provider: {capacity: {slots: 10, queue: 100000, service: 1s}}
faults: [{outage: {from: 10s, to: 20s}}]
fleet: {clients: 20, traffic: {open: {rate: 12/s, until: 10m}}}
horizon: 10m
strategies: [full-jitter]
`, 1, 4)
	recovery := r.Results[0].Estimate(metrics.RecoveryTime)
	assert.Equal(t, 1.0, recovery.Never)
	assert.NotEqual(t, "leads", fates(r)["full-jitter"])
}

// A strategy that loses a call in a hundred thousand is never disqualified, whichever
// seeds are drawn: it is fit or undecided.
func TestFitnessDoesNotDependOnRareLosses(t *testing.T) {
	const yaml = `
provider: {capacity: {slots: 4, queue: 8, service: 100ms}}
faults: [{errors: {from: 0s, to: 5m, probability: 0.1}}]
fleet: {clients: 20, traffic: {closed: {start: 0s, think: {exponential: 10s}, calls: 10}}}
horizon: 30m
strategies:
  - {name: five, stack: [{retry: {backoff: {fixed: {every: 100ms}}, max_attempts: 5}}]}
  - {name: safe, stack: [{retry: {backoff: {fixed: {every: 200ms}}}}]}
`
	for _, first := range []uint64{1, 21, 41, 61} {
		all := fates(judged(t, yaml, first, 20))
		assert.NotEqual(t, "unfit", all["five"], first)
		assert.Equal(t, "leads", all["safe"], first)
	}
}

// Strategies that cannot be told apart lead together, in whatever order the file
// names them; without calls none leads.
func TestNothingDiffers(t *testing.T) {
	const yaml = `
provider: {limits: [{window: {limit: 3/s, reply: 429}}], capacity: {service: 50ms}}
fleet: {clients: 60, traffic: {one_shot: {within: 1ms}}}
faults: [{outage: {from: 0s, to: 5m}}]
horizon: 30m
strategies: [%s]
`
	a := "{name: a, stack: [{retry: {backoff: {full_jitter: {base: 1s, cap: 64s}}}}]}"
	b := strings.Replace(a, "name: a", "name: b", 1)
	for _, order := range []string{a + ", " + b, b + ", " + a} {
		v := judged(t, fmt.Sprintf(yaml, order), 1, 10).Verdict
		assert.Empty(t, v.Winner)
		assert.Equal(t, []string{"a", "b"}, v.Leaders)
	}
}
