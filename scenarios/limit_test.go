package scenarios_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/limits"
	"herdlab/mockprovider/wire"
	"herdlab/scenarios"
)

// A limit of a file takes effect in the provider: of thirty requests of 2 s at once
// the given number pass, and the next one is refused with the given hint.
func TestLimitsReachTheProvider(t *testing.T) {
	const s = time.Second
	for line, c := range map[string]struct {
		passed   int
		class    wire.Class
		hint     time.Duration
		limit    int32
		capacity float64 // per second
	}{
		"window: {limit: 5/min, anchored: true, retry_after: exact}": {5, wire.Rate, 60 * s, 5, 5. / 60},
		"window: {limit: 5/min, says: 20, retry_after: 3s}":          {5, wire.Rate, 3 * s, 20, 5. / 60},
		"joint: {limit: 5/10s, retry_after: 3s}":                     {3, wire.Concurrency, 3 * s, 5, 0.5},
		"joint: {limit: 60/10s, says: 7}":                            {30, wire.Concurrency, wire.NoHint, 7, 6},
		"sliding_log: {limit: 5/min, retry_after: exact}":            {5, wire.Rate, 60 * s, 5, 5. / 60},
		"sliding_counter: {limit: 4/min, retry_after: exact}":        {4, wire.Rate, 75 * s, 4, 3. / 60},
		"token_bucket: {limit: 0.7/s, burst: 9, retry_after: exact}": {9, wire.Rate, 1_428_571_429, 7, 0.7},
		"token_bucket: {limit: 120/min, burst: 20, says: 120}":       {20, wire.Rate, wire.NoHint, 120, 2},
		"concurrency: {limit: 6, says: 60}":                          {6, wire.Concurrency, wire.NoHint, 60, 3},
	} {
		src := strings.Replace(valid, "  capacity: {slots: 2, service: 2s}", "  capacity: {service: 2s}\n  limits: [{"+line+"}]", 1)
		src = strings.Replace(src, "faults:\n  - outage: {from: 0s, to: 10s}\n", "", 1)
		scenario, err := scenarios.Parse("x.yaml", []byte(src))
		require.NoError(t, err, line)
		require.InDelta(t, c.capacity, scenario.Plan().Capacity, 1e-12, line)
		x, err := scenario.Experiment(0, 1)
		require.NoError(t, err)
		passed, last := 0, wire.Reply{}
		for range 31 {
			e := x.Provider.Step(0, &wire.Input{Kind: wire.Arrive}, nil)[0]
			if e.Kind == wire.Started {
				passed++
			}
			last = e.Reply
		}
		require.Equal(t, c.passed, passed, line)
		require.Equal(t, c.class, last.Class, line)
		require.Equal(t, c.hint, last.Hint.Value, line)
		require.Equal(t, c.limit, last.Limit, line)
	}
}

// keep_on_refusal applies to all limits, also within tiers, except those with their
// own keep; a limit that charges at completion has counted nothing yet.
func TestKeepOnRefusal(t *testing.T) {
	const listed = `  keep_on_refusal: true
  limits:
    - window: {limit: 5/min}
    - window: {limit: 5/min, keep: none}
    - window: {limit: 5/min, keep: all}
    - window: {limit: 500/min, charge: {count: output_tokens, when: at_completion}}
    - only: {match: {models: 1-}, limit: {window: {limit: 5/min}}}
    - tiered: [{match: {}, limit: {window: {limit: 5/min, keep: none}}}, {match: {}, limit: {joint: {limit: 5/min}}}]
`
	keeps := func(rule string) (all []mockprovider.Keep) {
		s, err := scenarios.Parse("x.yaml", []byte(strings.Replace(valid, "  capacity:", strings.Replace(listed, "  keep_on_refusal: true\n", rule, 1)+"  capacity:", 1)))
		require.NoError(t, err)
		l := s.Provider().Limits
		tiers := l[5].(limits.Tiered)
		for _, l := range append(l[:4:4], l[4].(limits.Only).Limit, tiers[0].Limit) {
			all = append(all, l.(limits.Window).Keep)
		}
		return append(all, tiers[1].Limit.(limits.Joint).Keep)
	}
	const none, others, everything = mockprovider.KeepNone, mockprovider.KeepOthers, mockprovider.KeepAll
	require.Equal(t, []mockprovider.Keep{others, none, everything, none, others, none, others}, keeps("  keep_on_refusal: true\n"))
	for _, rule := range []string{"", "  keep_on_refusal: false\n"} {
		require.Equal(t, []mockprovider.Keep{none, none, everything, none, none, none, none}, keeps(rule))
	}
}
