package scenarios_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/limits"
	"herdlab/mockprovider/wire"
	"herdlab/scenarios"
	"herdlab/sim"
	"herdlab/sim/metrics"
	"herdlab/sim/traffic"
)

// fleets is a scenario of several fleets.
const fleets = `herdlab: 1
name: fleets
title: Fleets
horizon: 10m
fleets:
  people: {clients: 3, account: common, traffic: {closed: {think: 1s, calls: 2}}}
  tenants: {clients: 4, account: per_client, address: per_client, traffic: {at: [0s, 1s, 1s]}}
  batch: {clients: 2, traffic: {bursts: [{from: 5s, to: 6s, calls: 4}]}, strategy: naive}
provider:
  limits:
    - tiered:
        - {match: {accounts: tenants}, limit: {window: {limit: 100/s}}}
        - {match: {accounts: batch}, limit: {window: {limit: 200/s}}}
        - {match: {accounts: people}, limit: {window: {limit: 300/s}}}
  capacity: {service: 1s}
strategies: [full-jitter, token-bucket]
`

// Accounts and addresses are numbered fleet after fleet, the common account
// first; a fleet's strategy of its own is not compared.
func TestFleets(t *testing.T) {
	s, err := scenarios.Parse("x.yaml", []byte(fleets))
	require.NoError(t, err)
	require.Equal(t, []string{"full-jitter", "token-bucket"}, names(s))
	x, err := s.Experiment(1, 1)
	require.NoError(t, err)
	require.Len(t, x.Fleets, 3)
	for i, want := range []struct {
		name             string
		account, address uint32
		program          string
	}{{"people", 0, 0, "token-bucket"}, {"tenants", 1, 1, "token-bucket"}, {"batch", 5, 5, "naive"}} {
		f := x.Fleets[i]
		require.Equal(t, want.name, f.Name)
		require.Equal(t, [2]uint32{want.account, want.address}, [2]uint32{f.Account, f.Address}, want.name)
		require.Equal(t, want.program, f.Program.Name)
	}
	p := s.Provider()
	require.Equal(t, [2]int{6, 6}, [2]int{p.Accounts, p.Addresses})
	tiers := p.Limits[0].(limits.Tiered)
	require.Equal(t, mockprovider.Range{From: 1, To: 5}, tiers[0].Match.Accounts)
	require.Equal(t, mockprovider.Just(5), tiers[1].Match.Accounts)
	require.Equal(t, mockprovider.Just(0), tiers[2].Match.Accounts)
	require.Equal(t, 9, s.Describe().Clients)
	require.Equal(t, []metrics.Fleet{{Name: "people", Clients: 3}, {Name: "tenants", Clients: 4}, {Name: "batch", Clients: 2, Strategy: "naive"}}, s.Describe().Fleets)
	require.Equal(t, metrics.Counted, s.Plan().Supply, "fleets differ")

	r := run(t, s, 0, 1)
	require.EqualValues(t, 3*2+3+4, r.Belief.Calls)
	require.Equal(t, []metrics.FleetCount{
		{Name: "people", Calls: 6, Attempts: 6, Succeeded: 6, Useful: 6},
		{Name: "tenants", Calls: 3, Attempts: 3, Succeeded: 3, Useful: 3},
		{Name: "batch", Calls: 4, Attempts: 4, Succeeded: 4, Useful: 4},
	}, r.Fleets)
}

func TestMistakesInFleets(t *testing.T) {
	for _, m := range [][3]string{
		{"account: common", "account: comon", `unknown account "comon"`},
		{"strategy: naive", "strategy: naiv", `unknown strategy "naiv"`},
		{"  batch:", "  Batch:", `the name "Batch"`},
		{"  tenants:", "  people:", `duplicate fleet "people"`},
		{"accounts: tenants", "accounts: tenant", `expected a number or a range such as 0-99, found "tenant"`},
		{"fleets:\n", "fleet: {clients: 1, traffic: {at: [0s]}}\nfleets:\n", `write fleet for one fleet or fleets for several`},
		{"at: [0s, 1s, 1s]", "at: [0s, 2s, 1s]", `the call at 1s is earlier than the one before it`},
		{"at: [0s, 1s, 1s]", "at: [0s, 10m]", `is at or after the horizon 10m`},
		{"at: [0s, 1s, 1s]", "at: 5s", `expected a list of times`},
		{"calls: 4}", "calls: 0}", `from 1 to`},
		{"from: 5s, to: 6s", "from: 5s, to: 4s", `burst 1 must not begin before 0, nor end before it begins`},
		{"from: 5s, to: 6s, calls: 4}", "from: 5s, to: 6s, calls: 4}, {from: 5.5s, calls: 1}", `burst 2 begins before burst 1 ends`},
		{"bursts: [{from: 5s, to: 6s, calls: 4}]", "periodic: {every: 10s, phase: {uniform: [0s, 11s]}}", `the phases must lie within one period`},
		{"bursts: [{from: 5s, to: 6s, calls: 4}]", "periodic: {every: 10s, phase: {exponential: 1s}}", `expected a phase that is constant`},
		{"bursts: [{from: 5s, to: 6s, calls: 4}]", "periodic: {every: 1us}", `about 1200000002 calls arrive`},
		{"bursts: [{from: 5s, to: 6s, calls: 4}]", "open: {rate: 1/s, rhythm: {steps: [{from: 0s, factor: 0}]}}", `no call ever arrives`},
		{"bursts: [{from: 5s, to: 6s, calls: 4}]", "open: {rate: 1/s, rhythm: {stps: []}}", `unknown key "stps" in rhythm`},
		{"clients: 2,", "clients: 2, tokens: [{input: 5}],", `tokens needs the key weight`},
		{"clients: 2,", "clients: 2, tokens: [],", `the list has no sizes`},
		{"clients: 2,", "clients: 2, prompts: 0,", `from 1 to`},
	} {
		p := problems(t, replace(t, fleets, m[0], m[1]))
		if !strings.HasPrefix(m[0], "  ") && m[0] != "fleets:\n" { // limits refer to the names of fleets, so a wrong name is a second error
			require.Len(t, p, 1, m[1])
		}
		require.Contains(t, p[0].Error(), m[2], m[1])
	}
	all := strings.Replace(strings.Replace(fleets, "calls: 2}}}", "calls: 2}}, strategy: naive}", 1), "1s, 1s]}}", "1s, 1s]}, strategy: naive}", 1)
	require.Contains(t, problems(t, all).Error(), "every fleet has its own strategy")
}

// demandLog is a provider that records the demand of each call.
type demandLog struct {
	sim.Provider
	t       *testing.T
	demands map[uint64]wire.Demand
	again   int // attempts after the first of their call
}

func (a *demandLog) Step(now time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
	if r := &in.Request; in.Kind == wire.Arrive {
		if before, ok := a.demands[r.Call]; ok {
			require.Equal(a.t, before, r.Demand, "attempts of one call have the same demand")
			a.again++
		}
		a.demands[r.Call] = r.Demand
	}
	return a.Provider.Step(now, in, out)
}

// The demand of a call is drawn once, in a closed and in an open fleet: it is the
// same for every strategy and every attempt.
func TestDemandBelongsToTheCall(t *testing.T) {
	src := replace(t, replace(t, fleets, "clients: 3,", "clients: 300, tokens: [{weight: 3, input: 5}, {weight: 1, input: 50}],"),
		"clients: 4, account: per_client,", "clients: 4, prompts: 3, account: per_client,")
	src = replace(t, src, "strategies: [", "faults: [script: {from: 0s, by_call: true, answers: [{errors: {class: overloaded}}]}]\nstrategies: [")
	s, err := scenarios.Parse("x.yaml", []byte(src))
	require.NoError(t, err)
	var drawn []map[uint64]wire.Demand
	for i := range s.Strategies() {
		x, err := s.Experiment(i, 1)
		require.NoError(t, err)
		a := &demandLog{Provider: x.Provider, t: t, demands: map[uint64]wire.Demand{}}
		x.Provider = a
		_, err = x.Run(context.Background())
		require.NoError(t, err)
		require.Positive(t, a.again)
		drawn = append(drawn, a.demands)
	}
	require.Equal(t, drawn[0], drawn[1], "strategies have the same calls")
	count := map[wire.Demand]int{}
	for _, d := range drawn[0] {
		d.Prompt = min(d.Prompt, 1)
		count[d]++
	}
	require.InDelta(t, 450, count[wire.Demand{InputTokens: 5}], 5*10.6, "three quarters of 600")
	require.Equal(t, 600, count[wire.Demand{InputTokens: 5}]+count[wire.Demand{InputTokens: 50}])
	require.Equal(t, 3, count[wire.Demand{Prompt: 1}])
}

// Calls of one fleet may have several sizes.
func TestMixes(t *testing.T) {
	src := replace(t, fleets, "clients: 3,", "clients: 3, priority: 2, prompts: 9, tokens: [{weight: 3, input: 5, output: 7}, {weight: 1, input: 50, max: 60}],")
	s, err := scenarios.Parse("x.yaml", []byte(src))
	require.NoError(t, err)
	x, err := s.Experiment(0, 1)
	require.NoError(t, err)
	require.Equal(t, &traffic.Mix{Prompts: 9, Sizes: []traffic.Share{
		{Demand: wire.Demand{InputTokens: 5, OutputTokens: 7, Priority: 2}, Weight: 3},
		{Demand: wire.Demand{InputTokens: 50, MaxTokens: 60, Priority: 2}, Weight: 1},
	}}, x.Fleets[0].Traffic.Mix)
	require.Nil(t, x.Fleets[1].Traffic.Mix)
	require.NoError(t, run(t, s, 0, 1).Check())

	src = replace(t, fleets, "at: [0s, 1s, 1s]", "periodic: {every: 10s, phase: {uniform: [1s, 3s]}, until: 1m}")
	s, err = scenarios.Parse("x.yaml", []byte(src))
	require.NoError(t, err)
	x, err = s.Experiment(0, 1)
	require.NoError(t, err)
	require.Equal(t, traffic.Periodic{Clients: 4, Period: 10 * time.Second, First: time.Second, Spread: 2 * time.Second, Until: time.Minute}, x.Fleets[1].Traffic.Arrivals)
}
