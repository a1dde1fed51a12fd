package scenarios_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/scenarios"
	"herdlab/sim/metrics"
	"herdlab/sim/sweep"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
	"herdlab/strategies/live"
	"herdlab/strategies/presets"
)

// counted is a layer without effect. It counts how often it is built, or returns
// err.
type counted struct {
	built *int
	err   error
}

func (l counted) Build(_ *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	*l.built++
	return inner, l.err
}

// countedJitter is full jitter within a layer that counts how often it is built.
func countedJitter(name string, err error) (strategies.Definition, *int) {
	built := new(int)
	return strategies.Definition{Name: name, Summary: "mine", Layers: []strategies.Layer{
		counted{built, err},
		layers.Retry{Backoff: backoffs.FullJitter{Base: time.Second, Cap: 64 * time.Second}},
	}}, built
}

// compared runs what Spec returns.
func compared(t *testing.T, s *scenarios.Scenario, first uint64, n int) *metrics.Result {
	t.Helper()
	r, err := sweep.Compare(context.Background(), s.Spec(first, n))
	require.NoError(t, err)
	return r
}

func TestAdd(t *testing.T) {
	s, err := scenarios.Parse("x.yaml", []byte(valid))
	require.NoError(t, err)
	mine, built := countedJitter("mine", nil)
	require.NoError(t, s.Add(mine))
	require.Equal(t, 1, *built)
	want := []scenarios.Choice{s.Strategies()[0], {Name: "mine", Summary: "mine"}}
	require.Equal(t, want, s.Strategies(), "after those of the file")

	require.EqualError(t, s.Add(mine), `scenario small: there is already a strategy "mine"; choose another name`)
	taken, _ := countedJitter("full-jitter", nil)
	require.ErrorContains(t, s.Add(taken), `already a strategy "full-jitter"`)
	why := errors.New("the wait is negative; make it positive")
	broken, _ := countedJitter("broken", why)
	err = s.Add(broken)
	require.ErrorIs(t, err, why)
	require.ErrorContains(t, err, `scenario small: strategy "broken": `)
	require.Error(t, s.Add(strategies.Definition{}), "a strategy needs a name")
	require.Equal(t, want, s.Strategies(), "an error changes nothing")

	// The same strategy under another name has the same results.
	r := compared(t, s, 1, 4)
	require.Len(t, r.Results, 2)
	require.Equal(t, r.Results[0].Metrics, r.Results[1].Metrics)
	require.Equal(t, "mine", r.Results[1].Strategy)
}

// A trace changes the capacity that strategies are built for, so all programs are
// built again: also those of the caller, added before or after the trace.
func TestAddAndReplay(t *testing.T) {
	s, err := scenarios.Builtin("trace-replay")
	require.NoError(t, err)
	before, builtBefore := countedJitter("before", nil)
	after, builtAfter := countedJitter("after", nil)
	require.NoError(t, s.Add(before))
	require.NoError(t, s.Replay(rows(100, 0, time.Second, 30*time.Minute)))
	require.NoError(t, s.Add(after))
	require.Equal(t, []int{2, 1}, []int{*builtBefore, *builtAfter})
	require.NoError(t, s.Replay(rows(100, 0, time.Second)))
	require.Equal(t, []int{3, 2}, []int{*builtBefore, *builtAfter})

	r := compared(t, s, 1, 2)
	n := len(r.Results)
	require.Equal(t, []string{"before", "after"}, []string{r.Results[n-2].Strategy, r.Results[n-1].Strategy})
	for _, x := range r.Results {
		require.Equal(t, 2.0, *x.Estimate(metrics.Calls).Mean, "the second trace has two rows")
	}
}

func TestSpec(t *testing.T) {
	s, err := scenarios.Parse("x.yaml", []byte(valid))
	require.NoError(t, err)
	r := compared(t, s, 5, 3)
	require.Equal(t, []uint64{5, 6, 7}, r.Seeds)
	require.Equal(t, s.Describe(), r.Scenario)
	require.True(t, r.Complete)
	require.NotNil(t, r.Verdict)
	for i, c := range s.Strategies() {
		require.Equal(t, c, scenarios.Choice{Name: r.Results[i].Strategy, Summary: r.Results[i].Summary})
		for k, seed := range r.Seeds {
			values := run(t, s, i, seed).Values()
			for m := range metrics.Metric(metrics.NumMetrics) {
				if v := r.Results[i].Estimate(m).PerSeed[k]; v != nil {
					require.Equal(t, values[m], *v, "%s with seed %d", m.Info().Name, seed)
				}
			}
		}
	}

	trace, err := scenarios.Builtin("trace-replay")
	require.NoError(t, err)
	_, err = sweep.Compare(context.Background(), trace.Spec(1, 1))
	require.ErrorIs(t, err, scenarios.ErrNeedsTrace)
}

// Definition returns a strategy as it was compared: a stack of the file decides the
// same in production, and a built-in one is built for the same capacity.
func TestDefinition(t *testing.T) {
	s, err := scenarios.Parse("x.yaml", []byte(`
herdlab: 1
name: to-ship
title: A strategy to ship
horizon: 1h
fleet: {clients: 10, traffic: {one_shot: {within: 1ms}}}
provider: {capacity: {slots: 6, service: 2s}}
strategies:
  - {name: mine, summary: a stack of this file, stack: [retry: {backoff: {fixed: {every: 2s}}, max_attempts: 5}]}
  - {name: blind, reader: status, stack: [retry: {backoff: {fixed: {every: 2s}}, max_attempts: 5}]}
  - token-bucket
`))
	require.NoError(t, err)
	const refused, good = `{"code":14003,"message":"too many requests"}`, `{"code":0,"message":"success","data":{"content":"hi"}}`
	for name, want := range map[string]struct {
		attempts int
		text     string
		took     time.Duration
	}{
		"mine":  {3, good, 4 * time.Second},
		"blind": {1, refused, 0},
	} {
		def, err := s.Definition(name)
		require.NoError(t, err)
		require.Equal(t, name, def.Name)
		synctest.Test(t, func(t *testing.T) {
			attempts := 0
			transport := live.Must(live.Config{Strategy: def, Dialect: "codybuddy", Base: base(func(*http.Request) (*http.Response, error) {
				attempts++
				text := refused
				if attempts > 2 {
					text = good
				}
				return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(text))}, nil
			})})
			defer transport.Close()
			begin := time.Now()
			resp, err := (&http.Client{Transport: transport}).Post("http://herd.test/codybuddy/v1/chat", "application/json", strings.NewReader(`{}`))
			require.NoError(t, err)
			text, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			require.Equal(t, want.text, string(text))
			require.Equal(t, want.attempts, attempts)
			require.Equal(t, want.took, time.Since(begin))
		})
	}

	def, err := s.Definition("token-bucket")
	require.NoError(t, err)
	known := presets.Knowledge{Rate: 6, Per: 2 * time.Second, Concurrency: 6}
	i := slices.IndexFunc(presets.All(), func(b presets.Builtin) bool { return b.Name == "token-bucket" })
	require.Equal(t, presets.All()[i].Define(known).Layers, def.Layers)

	_, err = s.Definition("token-buckte")
	require.EqualError(t, err, `scenario to-ship: there is no strategy "token-buckte"; did you mean "token-bucket"?`)
	_, err = s.Definition("something-else")
	require.EqualError(t, err, `scenario to-ship: there is no strategy "something-else"; its strategies are mine, blind, token-bucket`)
}

// base is a function as an http.RoundTripper.
type base func(*http.Request) (*http.Response, error)

func (f base) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
