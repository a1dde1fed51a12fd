package scenarios_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"herdlab/scenarios"
)

// Every built-in scenario meets its expectations, and every one but the scenario
// that needs a trace has some.
func TestLibraryMeetsItsExpectations(t *testing.T) {
	for _, l := range scenarios.List() {
		t.Run(l.Name, func(t *testing.T) {
			t.Parallel()
			s, err := scenarios.Builtin(l.Name)
			require.NoError(t, err)
			if s.NeedsTrace() {
				require.Zero(t, s.Expects())
				return
			}
			require.NotZero(t, s.Expects())
			found, err := s.Check(context.Background(), 0)
			require.NoError(t, err)
			require.Len(t, found, s.Expects())
			for _, f := range found {
				if !f.Holds {
					t.Errorf("%s.yaml:%d: %s is %s, wanted %s", l.Name, f.Line, f.What, f.Got, f.Wanted)
				}
			}
		})
	}
}

// three is a scenario with known results: three calls at 0 s, two of which the
// limit refuses, and another one at 10 s. Tests append expectations.
const three = `herdlab: 1
name: three
title: Three
horizon: 1m
fleets:
  first: {clients: 1, account: common, traffic: {bursts: [{from: 0s, calls: 3}]}}
  second: {clients: 1, account: common, traffic: {at: [10s]}}
provider:
  limits: [window: {limit: 1/10s}]
  capacity: {service: 2s}
strategies:
  - {name: once, stack: [retry: {backoff: fixed, max_attempts: 1}]}
  - {name: twice, stack: [retry: {backoff: {fixed: {every: 1s}}, max_attempts: 2}]}
expect:
`

// Check distinguishes expectations that are met from those that are not, for
// every kind of bound.
func TestExpectationsAreJudged(t *testing.T) {
	for line, want := range map[string]struct {
		got   string
		holds bool
	}{
		"{strategy: once, metric: calls, is: 4}":                                               {"4", true},
		"{strategy: once, metric: calls, is: 5}":                                               {"4", false},
		"{strategy: once, metric: calls, is: 5, within: 1}":                                    {"4", true},
		"{strategy: once, metric: calls, is: 5, within: 20%}":                                  {"4", true},
		"{strategy: once, metric: calls, is: 5, within: 19%}":                                  {"4", false},
		"{strategy: once, metric: attempts, at_least: 4}":                                      {"4", true},
		"{strategy: once, metric: attempts, at_least: 4.1}":                                    {"4", false},
		"{strategy: once, metric: attempts, at_most: 3.9}":                                     {"4", false},
		"{strategy: once, metric: attempts, at_least: 1, at_most: 4}":                          {"4", true},
		"{strategy: once, metric: attempts, between: [4, 5]}":                                  {"4", true},
		"{strategy: once, metric: attempts, between: [5, 6]}":                                  {"4", false},
		"{strategy: once, fleet: first, metric: useful_calls, is: 1}":                          {"1", true},
		"{strategy: once, fleet: second, metric: useful_calls, is: 1}":                         {"1", true},
		"{strategy: once, fleet: first, metric: success_rate, is: 33.3333%, within: 0.0001}":   {"33.333333%", true},
		"{strategy: once, fleet: first, metric: success_rate, at_most: 0.34}":                  {"0.333333", true},
		"{strategy: twice, metric: attempts, is: {of: once, times: 1.5}}":                      {"6 : 4", true},
		"{strategy: twice, metric: attempts, at_most: {of: once}}":                             {"6 : 4", false},
		"{strategy: twice, metric: refusals, is: {of: twice, metric: useful_calls, times: 2}}": {"4 : 2", true},
		"{strategy: once, metric: recovery_time, is: undefined}":                               {"undefined", true},
		"{strategy: once, metric: recovery_time, is: never}":                                   {"undefined", false},
		"{strategy: once, metric: recovery_time, at_least: 0}":                                 {"undefined", false},
		"{strategy: once, metric: attempts, from: 0s, to: 10s, is: 3}":                         {"3", true},
		"{strategy: once, metric: attempts, from: 10s, is: 1}":                                 {"1", true},
		"{strategy: once, metric: end, is: 12}":                                                {"12", true},
		"{strategy: once, metric: calls, is: 4, seeds: 3}":                                     {"4", true},
		"{strategy: once, metric: calls, is: 4, seeds: 3, on: mean}":                           {"4", true},
		"{strategy: once, metric: calls, is: 4, seeds: 4, on: median}":                         {"4", true},
		"{strategy: once, metric: replies_rate, is: 2}":                                        {"2", true},
	} {
		s, err := scenarios.Parse("x.yaml", []byte(three+"  - "+line+"\n"))
		require.NoError(t, err, line)
		found, err := s.Check(context.Background(), 1)
		require.NoError(t, err)
		require.Len(t, found, 1)
		require.Equal(t, strings.Count(three, "\n")+1, found[0].Line)
		require.Equal(t, want.got, found[0].Got, line)
		require.Equal(t, want.holds, found[0].Holds, line)
	}
	s, err := scenarios.Parse("x.yaml", []byte(three+"  - {metric: calls, is: 4}\n  - {strategy: [twice, once], metric: calls, is: 4}\n"))
	require.NoError(t, err)
	require.Equal(t, 4, s.Expects(), "an expectation without a strategy counts for all, one with two for each of them")
}

// Each error in an expectation is reported once, with its place.
func TestMistakesInExpectations(t *testing.T) {
	for line, want := range map[string]string{
		"{strategy: one, metric: calls, is: 4}":           `x.yaml:15:16: unknown strategy "one"; did you mean "once"?`,
		"{metric: cals, is: 4}":                           `x.yaml:15:14: unknown metric "cals"; did you mean "calls"?`,
		"{metric: rubbish, is: 4}":                        `herdlab scenarios --keys lists them`,
		"{is: 4}":                                         `expectation needs the key metric, such as metric: attempts`,
		"{metric: calls}":                                 `has no bound; add is, at_least, at_most or between`,
		"{metric: calls, is: 4, at_least: 3}":             `has several bounds`,
		"{metric: calls, at_least: 4, within: 3}":         `x.yaml:15:42: within is the tolerance of is`,
		"{metric: calls, is: -4}":                         `x.yaml:15:25: expected a number such as 0.25 or 25%, found "-4"`,
		"{metric: calls, is: 4, seeds: 0}":                `from 1 to 10000`,
		"{metric: calls, is: 4, on: average}":             `unknown on "average"`,
		"{metric: calls, between: 4}":                     `expected a list of two numbers`,
		"{metric: calls, between: [4]}":                   `expected two numbers, such as [120, 122]`,
		"{metric: calls, fleet: third, is: 4}":            `unknown fleet "third"`,
		"{metric: latency_p50, fleet: first, is: 4}":      `latency_p50 is not counted by fleet`,
		"{metric: latency_p50, from: 3s, is: 4}":          `latency_p50 is not counted in bins`,
		"{metric: calls, from: 3s, to: 2s, is: 4}":        `the part from 3s to 2s is empty`,
		"{metric: calls, from: 500ms, is: 4}":             `must be on the edges of bins of 1s`,
		"{metric: calls, fleet: first, from: 1s, is: 4}":  `no metric has both a fleet and a part of the run`,
		"{metric: calls, is: {of: twic}}":                 `unknown strategy "twic"; did you mean "twice"?`,
		"{metric: calls, is: {times: 2}}":                 `comparison needs the key of`,
		"{metric: calls, is: {of: twice, fleets: first}}": `unknown key "fleets" in comparison; did you mean "fleet"?`,
		"{metric: calls, is: 4, sedes: 3}":                `unknown key "sedes" in expectation; did you mean "seeds"?`,
	} {
		p := problems(t, three+"  - "+line+"\n")
		require.Len(t, p, 1, line)
		require.Contains(t, strings.ReplaceAll(p.Error(), "\n", " "), want, line)
	}
	trace := strings.Replace(valid, "{one_shot: {within: 1ms}}", "trace", 1) + "expect: [{metric: calls, is: 3}]\n"
	require.Contains(t, problems(t, trace).Error(), "cannot have expectations")
}
