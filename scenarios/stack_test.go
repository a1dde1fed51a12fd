package scenarios_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"herdlab/scenarios"
)

// stacks compares built-in strategies with stacks of the same layers.
const stacks = `herdlab: 1
name: stacks
title: Stacks
horizon: 20m
bin: 1s
fleet:
  clients: 20
  traffic: {one_shot: {within: 1ms}}
provider:
  capacity: {slots: 2, service: 2s}
  refusal_time: 50ms
faults:
  - outage: {from: 0s, to: 60s}
strategies:
  - full-jitter
  - name: spelt-out
    stack: [retry: {backoff: {full_jitter: {base: 1s, cap: 64s}}}]
  - breaker+full-jitter
  - name: spelt-out-with-breaker
    summary: The same, layer by layer
    stack:
      - retry: {backoff: {full_jitter: {base: 1s, cap: 64s}}}
      - breaker: {failures: 5, open_for: 30s, min_wait: 100ms, jitter: 10s}
  - name: from-parts
    stack: [full-jitter, breaker: {failures: 5, open_for: 30s, min_wait: 100ms, jitter: 10s, scope: fleet}]
  - name: three-times-two
    stack:
      - retry: {backoff: fixed, max_attempts: 3}
      - retry: {backoff: {fixed: {every: 1s}}, max_attempts: 2}
`

// A stack of a file has the same run as the built-in strategy with those layers.
func TestStackEqualsBuiltin(t *testing.T) {
	s, err := scenarios.Parse("x.yaml", []byte(stacks))
	require.NoError(t, err)
	require.Equal(t, "The same, layer by layer", s.Strategies()[3].Summary)
	report := func(strategy int) any {
		x, err := s.Experiment(strategy, 7)
		require.NoError(t, err)
		rep, err := x.Run(context.Background())
		require.NoError(t, err)
		if strategy == 5 { // nested loops multiply: all calls fail with 3 · 2 attempts
			require.Equal(t, uint64(20*6), rep.Arrived)
		}
		return rep
	}
	require.Equal(t, report(0), report(1))
	require.Equal(t, report(2), report(3))
	require.Equal(t, report(2), report(4))
	require.NotEqual(t, report(0), report(2))
	report(5)
}

func TestMistakesInStacks(t *testing.T) {
	for line, want := range map[string]string{
		"[{name: x, stack: [retri: {}]}]":                                     `x.yaml:13:32: unknown layer "retri"; did you mean "retry"?`,
		"[{name: x, stack: [retry: {backof: fixed}]}]":                        `x.yaml:13:40: unknown key "backof" in retry; did you mean "backoff"?`,
		"[{name: x, stack: [retry: {backoff: {full_jiter: {}}}]}]":            `x.yaml:13:50: unknown backoff "full_jiter"; did you mean "full_jitter"?`,
		"[{name: x, stack: [retry: {backoff: {fixed: {every: 5}}}]}]":         `"5" has no unit; add one, such as 5s`,
		"[{name: x, stack: [retry: {backoff: fixed, max_attempts: -1}]}]":     `-1 is out of range`,
		"[{name: x, stack: [breaker: {open_for: 1s, scope: cliant}]}]":        `unknown scope "cliant"; did you mean "client"?`,
		"[{name: x, stack: [breaker: {open_for: 1s, failures: 0}]}]":          `x.yaml:13:31: strategy "x": breaker`,
		"[{name: x, stack: [token_bucket: {burst: 3}]}]":                      `token_bucket needs the key rate, such as rate: 120/min`,
		"[{name: x, stack: [grpc_budget: {max_tokens: 9, ratio: 0.1}]}]":      `x.yaml:13:68: ratio is in thousandths; write 100 for 0.1`,
		"[{name: x, stack: [brooker_budget: {size: 5, deposit: 1.25}]}]":      `deposit is in thousandths; write 1250 for 1.25`,
		"[{name: x, stack: [hedge: {quantile: 0.95}]}]":                       `x.yaml:13:32: hedge needs the key after, such as after: 2s`,
		"[{name: x, stack: [token_bucket: {rate: 3/s, per: 1s, burst: 3}]}]":  `unknown key "per" in token_bucket`,
		"[{name: x, stack: [ful-jitter]}]":                                    `unknown strategy "ful-jitter"; did you mean "full-jitter"?`,
		"[{stack: [full-jitter]}]":                                            `strategy needs the key name`,
		"[{name: full-jitter, summary: mine}]":                                `only a strategy with a stack may have a summary`,
		"[{name: full-jitter, stack: [full-jitter]}, full-jitter]":            `duplicate strategy full-jitter`,
		"[{name: x, stack: full-jitter}]":                                     `expected a list of layers, found "full-jitter"`,
		"[{name: x, stack: [retry: {backoff: fixed, min_wait: yes please}]}]": `expected a duration`,
	} {
		p := problems(t, with(t, "strategies", "strategies: "+line))
		require.Len(t, p, 1, line)
		require.Contains(t, strings.ReplaceAll(p.Error(), "\n", " "), want, line)
	}
}
