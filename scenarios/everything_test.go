package scenarios_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/faults"
	"herdlab/mockprovider/limits"
	"herdlab/mockprovider/wire"
	"herdlab/scenarios"
)

// everything has all keys of a provider.
const everything = `herdlab: 1
name: everything
title: Everything
horizon: 20m
bin: 1s
fleet:
  clients: 20
  traffic: {closed: {think: {exponential: 3s}, calls: 20}}
  tokens: {input: 900, output: 120, max: 400}
  priority: 1
  account: per_client
  address: per_client
  key: 1
  model: flagship
  region: eu
  stream: true
  clock: {behind: 2s, ahead: 1s}
  patience: 2m
provider:
  dialect: anthropic
  keys: 2
  organisation_size: 5
  auth: {reject_keys: [7]}
  models:
    flagship:
      capacity:
        slots: 8
        queue: 20
        order: 1
      price: {input: 5, output: 15.25}
    light:
      capacity: {slots: 40, service: {sample: [100ms, 120ms, 300ms]}}
      others: 25%
      price: {input: 0.15, output: 0.6}
  regions:
    us: {surcharge: -10}
    eu: {scale: 0.5, latency: 80ms, others: {every: 24h, steps: [{from: 8h, value: 50%}, {from: 18h, value: 0.1}]}}
  limits: []
  tells: 1
  abandoned: 3s
  refusal_time: 20ms
strategies: [full-jitter]
`

// A file with all keys of a provider has the expected configuration.
func TestEverything(t *testing.T) {
	src := everything
	for _, part := range [][2]string{
		{"  dialect: anthropic\n", ownDialect},
		{"  tells: 1\n", "  tells: 1\n  keep_on_refusal: true\n"},
		{"  limits: []\n", `  limits:
    - window: {limit: 60/min, per: [account, model], reply: usual, retry_after: rounded_down, spelled: both, keep: all}
    - sliding_log: {limit: 90000/min, per: organisation, charge: {count: all_tokens, when: reserved, cancelled: produced, least: 16}, retry_after: exact, jitter_hint: 2s, wrong_by: 50%}
    - leaky_bucket: {limit: 5/s, size: 10, per: key}
    - gcra: {interval: 100ms, tolerance: 500ms}
    - quota: {limit: 100000, every: 24h, at: 7h, per: organisation}
    - ramp: {base: 100, length: 1m, growth: 150}
    - penalty: {limit: 50/s, block: 10s, restarts: true, per: address}
    - sliced: {limit: 600/min, slices: 60}
    - only: {match: {models: light, priorities: 1-}, limit: {concurrency: {limit: 10}}}
    - tiered:
        - {match: {accounts: 0-4}, limit: {window: {limit: 600/min, per: account}}}
        - {match: {}, limit: {window: {limit: 60/min, per: account}}}
`},
		{"        order: 1\n", `        discipline: {order: adaptive_lifo, turns: 5, max_wait: 30s, drop_gone: true, codel: {target: 500ms, interval: 5s}}
        unit: 1000
        overload: {latency: {points: [[0.8, 1], [1.5, 3]]}, refusal: {kind: excess, cap: 0.5}}
        autoscale: {min: 4, max: 16, target: 70%, period: 10s, delay: 1m}
        day: {every: 24h, steps: [{from: 0s, value: 1}, {from: 8h, value: 0.5}]}
        service: {first_token: {lognormal: {mean: 300ms, cv: 0.5}}, per_input_token: 50us, per_output_token: 10ms, per_attempt: true}
        full: 529
        retry_after: 3s
`},
		{"strategies:", `faults:
  - outage: {from: 10s, to: 20s, where: {regions: eu}, retry_after: exact}
  - silence: {from: 20s, to: 21s, when: after_work, probability: 50%}
  - unreachable: {from: 21s, to: 22s, after: 2s, where: {regions: us}}
  - reset: {from: 22s, to: 23s, when: after_head, probability: 0.1}
  - errors: {from: 23s, to: 30s, class: server_error, probability: 0.2, reply: 502}
  - expiry: {from: 18m, where: {keys: 1, accounts: 3}}
  - masked_permission: {from: 1m, to: 70s, where: {models: flagship, accounts: 7-8}}
  - brownout: {from: 2m, to: 3m, percent: 40%}
  - limit_cut: {from: 3m, to: 4m, limit: 1, percent: 50}
  - latency: {from: 4m, to: 5m, factor: 2.5, plus: 100ms}
  - skew: {from: 5m, to: 6m, ahead: -30s}
  - spoil: {from: 6m, to: 7m, body: stream_error, tokens: 12, class: overloaded, probability: 0.3}
  - stall: {from: 7m, to: 8m, tokens: 5, probability: 0.01}
  - script: {from: 8m, to: 9m, by_call: true, answers: [{errors: {class: rate}}, pass, outage], repeat: true}
strategies:`},
	} {
		src = replace(t, src, part[0], part[1])
	}
	s, err := scenarios.Parse("x.yaml", []byte(src))
	require.NoError(t, err)
	p := s.Provider()
	require.Len(t, p.Limits, 10)
	w := p.Limits[0].(limits.Window)
	require.Equal(t, mockprovider.Account|mockprovider.Model, w.Per)
	require.Equal(t, mockprovider.KeepAll, w.Keep)
	require.Equal(t, mockprovider.Refusal{Hint: mockprovider.Hint{Kind: mockprovider.RoundedDown}, Spelling: wire.BothSeconds}, w.Refusal)
	l := p.Limits[1].(limits.SlidingLog)
	require.Equal(t, mockprovider.Charge{Count: mockprovider.AllTokens, When: mockprovider.Reserved, Cancelled: mockprovider.Produced, Least: 16}, l.Charge)
	require.Equal(t, mockprovider.Hint{Kind: mockprovider.Exact, Jitter: 2 * time.Second, Factor: 0.5}, l.Refusal.Hint)
	require.Equal(t, limits.Penalty{Limit: 50, Length: time.Second, Block: 10 * time.Second, Restarts: true, Terms: mockprovider.Terms{Per: mockprovider.Address, Keep: mockprovider.KeepOthers}}, p.Limits[6])
	require.Equal(t, mockprovider.Match{Models: mockprovider.Just(1), Priorities: mockprovider.Range{From: 1}}, p.Limits[8].(limits.Only).Match)
	require.Equal(t, mockprovider.Range{To: 5}, p.Limits[9].(limits.Tiered)[0].Match.Accounts)
	c := p.Models[0].Capacity
	require.Equal(t, mockprovider.Discipline{Order: mockprovider.AdaptiveLIFO, Turns: 5, MaxWait: 30 * time.Second, DropGone: true,
		CoDel: mockprovider.CoDel{Target: 500 * time.Millisecond, Interval: 5 * time.Second}}, c.Discipline)
	require.Equal(t, 70, c.Autoscale.Target)
	require.Equal(t, []mockprovider.Point{{Load: 0.8, Value: 1}, {Load: 1.5, Value: 3}}, c.Overload.Latency.Points)
	require.Equal(t, mockprovider.Price{Input: 5000, Output: 15250}, p.Models[0].Price)
	require.Equal(t, mockprovider.Price{Input: 150, Output: 600}, p.Models[1].Price)
	require.Equal(t, mockprovider.Schedule{Every: 24 * time.Hour, Steps: []mockprovider.Step{{From: 8 * time.Hour, Value: 0.5}, {From: 18 * time.Hour, Value: 0.1}}}, p.Regions[1].Others)
	require.EqualValues(t, 45009, p.Forms[wire.Rate].Code)
	require.Equal(t, mockprovider.Notice{Noticed: true, Delay: 3 * time.Second}, p.Abandoned)
	require.Len(t, p.Faults, 14)
	require.Equal(t, mockprovider.Just(1), p.Faults[0].Where.Regions)
	require.Equal(t, mockprovider.Forever, p.Faults[5].To)
	require.Equal(t, faults.Skew{Ahead: -30 * time.Second}, p.Faults[10].Does)
	script := p.Faults[13].Does.(faults.Script)
	require.Len(t, script.Answers, 3)
	require.Nil(t, script.Answers[1])

	x, err := s.Experiment(0, 1)
	require.NoError(t, err)
	require.Equal(t, wire.Target{Key: 1, Region: 1}, x.Fleets[0].Target)
	rep, err := x.Run(context.Background())
	require.NoError(t, err)
	require.NoError(t, rep.Check())
	require.Positive(t, rep.Arrived)
}
