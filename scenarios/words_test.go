package scenarios_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/faults"
	"herdlab/mockprovider/limits"
	"herdlab/mockprovider/wire"
	"herdlab/scenarios"
)

// Every word of a limit or a fault means what it says: what its field has.
func TestWordsMeanWhatTheySay(t *testing.T) {
	const s = time.Second
	for text, want := range map[string]mockprovider.Limit{
		"window: {limit: 5/10s, anchored: true, per: account, keep: others}": limits.Window{
			Limit: 5, Length: 10 * s, Anchored: true, Terms: mockprovider.Terms{Per: mockprovider.Account, Keep: mockprovider.KeepOthers}},
		"sliding_log: {limit: 5/s, per: address, keep: all}":               limits.SlidingLog{Limit: 5, Length: s, Terms: mockprovider.Terms{Per: mockprovider.Address, Keep: mockprovider.KeepAll}},
		"sliding_counter: {limit: 5/s, per: region, keep: none}":           limits.SlidingCounter{Limit: 5, Length: s, Terms: mockprovider.Terms{Per: mockprovider.Region}},
		"token_bucket: {limit: 0.5/s, burst: 3, per: [model, key]}":        limits.TokenBucket{Limit: 5, Length: 10 * s, Burst: 3, Terms: mockprovider.Terms{Per: mockprovider.Model | mockprovider.Key}},
		"gcra: {interval: 500ms, tolerance: 2s, per: organisation}":        limits.GCRA{Interval: s / 2, Tolerance: 2 * s, Terms: mockprovider.Terms{Per: mockprovider.Organisation}},
		"leaky_bucket: {limit: 1/s, size: 3, per: everyone}":               limits.LeakyBucket{Limit: 1, Length: s, Size: 3},
		"concurrency: {limit: 9, charge: {count: all_tokens, least: 7}}":   limits.Semaphore{Limit: 9, Terms: charged(mockprovider.Charge{Count: mockprovider.AllTokens, Least: 7})},
		"joint: {limit: 20/s, anchored: true}":                             limits.Joint{Limit: 20, Length: s, Anchored: true},
		"quota: {limit: 500, every: 24h, at: 7h}":                          limits.Quota{Limit: 500, Every: 24 * time.Hour, At: 7 * time.Hour},
		"quota: {limit: 500}":                                              limits.Quota{Limit: 500},
		"ramp: {base: 10, length: 1m, growth: 150%}":                       limits.Ramp{Base: 10, Length: 60 * s, Growth: 150},
		"penalty: {limit: 5/s, block: 30s}":                                limits.Penalty{Limit: 5, Length: s, Block: 30 * s},
		"penalty: {limit: 5/s, block: 30s, restarts: true}":                limits.Penalty{Limit: 5, Length: s, Block: 30 * s, Restarts: true},
		"sliced: {limit: 600/min, slices: 60}":                             limits.Sliced{Limit: 600, Length: 60 * s, Slices: 60},
		"only: {match: {accounts: 3}, limit: {concurrency: {limit: 1}}}":   limits.Only{Match: mockprovider.Match{Accounts: mockprovider.Just(3)}, Limit: limits.Semaphore{Limit: 1}},
		"tiered: [{match: {keys: 2-4}, limit: {concurrency: {limit: 1}}}]": limits.Tiered{{Match: mockprovider.Match{Keys: mockprovider.Range{From: 2, To: 5}}, Limit: limits.Semaphore{Limit: 1}}},

		"window: {limit: 5/s, charge: {count: input_tokens, when: at_admission, failed: refunded}}": limits.Window{Limit: 5, Length: s, Terms: charged(mockprovider.Charge{Count: mockprovider.InputTokens, Failed: mockprovider.Refunded})},
		"window: {limit: 5/s, charge: {count: output_tokens, when: reserved, cancelled: produced}}": limits.Window{Limit: 5, Length: s, Terms: charged(mockprovider.Charge{Count: mockprovider.OutputTokens, When: mockprovider.Reserved, Cancelled: mockprovider.Produced})},
		"window: {limit: 5/s, charge: {count: requests, when: at_completion, cancelled: whole}}":    limits.Window{Limit: 5, Length: s, Terms: charged(mockprovider.Charge{When: mockprovider.AtCompletion, Cancelled: mockprovider.Whole})},
		"window: {limit: 5/s, charge: {count: requests, failed: as_served}, reply: 429, says: 20}":  limits.Window{Limit: 5, Length: s, Terms: mockprovider.Terms{Refusal: mockprovider.Refusal{Status: 429, Body: wire.ErrorBody, StatedLimit: 20}}},
		"window: {limit: 5/s, retry_after: 2500ms, spelled: body_seconds}":                          hinting(mockprovider.Hint{Kind: mockprovider.Constant, Value: 2500 * time.Millisecond}, wire.BodySeconds),
		"window: {limit: 5/s, retry_after: exact, spelled: date}":                                   hinting(mockprovider.Hint{Kind: mockprovider.Exact}, wire.HeaderDate),
		"window: {limit: 5/s, retry_after: rounded_up, spelled: seconds, jitter_hint: 3s}":          hinting(mockprovider.Hint{Kind: mockprovider.RoundedUp, Jitter: 3 * s}, wire.HeaderSeconds),
		"window: {limit: 5/s, retry_after: rounded_down, spelled: epoch, wrong_by: 1000}":           hinting(mockprovider.Hint{Kind: mockprovider.RoundedDown, Factor: 1000}, wire.HeaderEpoch),
		"window: {limit: 5/s, should_retry: false}":                                                 limits.Window{Limit: 5, Length: s, Terms: mockprovider.Terms{Refusal: mockprovider.Refusal{Marks: wire.ShouldNotRetry}}},
		"window: {limit: 5/s, reply: 429, should_retry: true}":                                      limits.Window{Limit: 5, Length: s, Terms: mockprovider.Terms{Refusal: mockprovider.Refusal{Status: 429, Body: wire.ErrorBody, Marks: wire.ShouldRetry}}},
		"window: {limit: 5/s, retry_after: none, spelled: millis}":                                  hinting(mockprovider.Hint{}, wire.HeaderMillis),
	} {
		got, err := scenarios.Words{}.Limits([]byte("[{" + text + "}]"))
		require.NoError(t, err, text)
		require.Equal(t, []mockprovider.Limit{want}, got, text)
	}
	for text, want := range map[string]mockprovider.Disturbance{
		"outage: {from: 0s, to: 1h, reply: 529, retry_after: 5s}":  faults.Refuse{Refusal: mockprovider.Refusal{Status: 529, Body: wire.ErrorBody, Hint: mockprovider.Hint{Kind: mockprovider.Constant, Value: 5 * s}}},
		"silence: {when: at_arrival}":                              faults.Silence{},
		"silence: {when: after_work}":                              faults.Silence{When: faults.AfterWork},
		"unreachable: {after: 2s, where: {regions: 1}}":            faults.Unreachable{After: 2 * s},
		"reset: {when: at_arrival}":                                faults.Reset{},
		"reset: {when: after_head}":                                faults.Reset{When: faults.AfterHead},
		"reset: {when: after_work}":                                faults.Reset{When: faults.AfterWork},
		"errors: {class: rate, when: after_work}":                  faults.Errors{Class: wire.Rate, When: faults.AfterWork},
		"expiry: {where: {keys: 1}}":                               faults.Expiry{},
		"expiry: {class: auth}":                                    faults.Expiry{Class: wire.Auth},
		"masked_permission: {reply: 503}":                          faults.MaskedPermission{Refusal: mockprovider.As503},
		"brownout: {percent: 40%}":                                 faults.Brownout{Percent: 40},
		"limit_cut: {limit: 1, percent: 25}":                       faults.LimitCut{Limit: 1, Percent: 25},
		"latency: {factor: 250%, plus: 1s}":                        faults.Latency{Factor: 2.5, Plus: s},
		"skew: {ahead: -90s}":                                      faults.Skew{Ahead: -90 * s},
		"spoil: {body: stream_error, tokens: 5, class: rate}":      faults.Spoil{Body: wire.StreamError, Tokens: 5, Class: wire.Rate},
		"spoil: {body: silent_end, tokens: 5}":                     faults.Spoil{Body: wire.SilentEnd, Tokens: 5},
		"spoil: {body: cut_body}":                                  faults.Spoil{Body: wire.TruncatedBody},
		"spoil: {body: garbage, at_once: true}":                    faults.Spoil{Body: wire.Garbage, AtOnce: true},
		"spoil: {body: wrong_type}":                                faults.Spoil{Body: wire.WrongType},
		"spoil: {body: doubled}":                                   faults.Spoil{Body: wire.Doubled},
		"stall: {tokens: 3}":                                       faults.Stall{Tokens: 3},
		"script: {by_call: true, answers: [{errors: {}}, pass]}":   faults.Script{ByCall: true, Answers: []mockprovider.Disturbance{faults.Errors{}, nil}},
		"script: {per: account, answers: [silence], repeat: true}": faults.Script{Per: mockprovider.Account, Answers: []mockprovider.Disturbance{faults.Silence{}}, Repeat: true},
	} {
		got, err := scenarios.Words{}.Fault([]byte(text))
		require.NoError(t, err, text)
		require.Equal(t, want, got.Does, text)
	}
	f, err := scenarios.Words{}.Fault([]byte("silence: {from: 1s, to: 2s, where: {accounts: 5-, addresses: 1, models: 0-1, regions: 2, priorities: 3}, probability: 5%}"))
	require.NoError(t, err)
	require.Equal(t, mockprovider.Fault{From: s, To: 2 * s, Probability: 0.05, Does: faults.Silence{}, Where: mockprovider.Match{
		Accounts: mockprovider.Range{From: 5}, Addresses: mockprovider.Just(1), Models: mockprovider.Range{To: 2}, Regions: mockprovider.Just(2), Priorities: mockprovider.Just(3),
	}}, f)
}

// charged returns the terms of a limit with that charge.
func charged(c mockprovider.Charge) mockprovider.Terms { return mockprovider.Terms{Charge: c} }

// hinting returns a window of 5 a second whose refusals have that hint.
func hinting(h mockprovider.Hint, s wire.Spelling) mockprovider.Limit {
	return limits.Window{Limit: 5, Length: time.Second, Terms: mockprovider.Terms{Refusal: mockprovider.Refusal{Hint: h, Spelling: s}}}
}

// Parts of a file can be read alone, as YAML and as JSON.
func TestWords(t *testing.T) {
	for _, text := range []string{`outage: {from: 5s, to: 30s, reply: 503}`, `{"outage": {"from": "5s", "to": "30s", "reply": "503"}}`} {
		f, err := scenarios.Words{}.Fault([]byte(text))
		require.NoError(t, err, text)
		require.Equal(t, faults.Outage(5*time.Second, 30*time.Second, mockprovider.As503), f)
	}
	limits, err := scenarios.Words{}.Limits([]byte(`[{"window": {"limit": "60/min"}}, {"concurrency": {"limit": 3}}]`))
	require.NoError(t, err)
	require.Len(t, limits, 2)
	for _, text := range []string{"", "{}", "[]", "outage", "nonsense: {}", `{"outage": {"from": "9s", "to": "1s"}}`, `{"outage": {"frm": "9s"}}`, "\x00", "a: &a [*a]"} {
		_, err := scenarios.Words{}.Fault([]byte(text))
		require.Error(t, err, text)
	}
	for _, text := range []string{"", "{}", "window", `[{"window": {}}]`, `[7]`} {
		_, err := scenarios.Words{}.Limits([]byte(text))
		require.Error(t, err, text)
	}
	for text, want := range map[string]string{
		"gcra: {}": "gcra needs the key interval, such as interval: 500ms", "quota: {}": "quota needs the key limit, such as limit: 500",
		"ramp: {base: 5, length: 1m}": "ramp needs the key growth, such as growth: 150%", "penalty: {limit: 5/s}": "penalty needs the key block, such as block: 30s",
		"sliced: {limit: 600/min}": "sliced needs the key slices, such as slices: 60", "only: {}": "only needs the key limit, such as limit: {concurrency: {limit: 10}}",
	} {
		_, err := scenarios.Words{}.Limits([]byte("[{" + text + "}]"))
		require.ErrorContains(t, err, want)
	}
	for text, want := range map[string]string{ // without a number they would be the worst there is, or nothing
		"brownout: {}": "brownout needs the key percent, such as percent: 40%", "limit_cut: {}": "limit_cut needs the key percent, such as percent: 50%",
		"latency: {}": "latency: it changes nothing; give it a factor or a delay",
	} {
		_, err := scenarios.Words{}.Fault([]byte(text))
		require.ErrorContains(t, err, want)
	}
	_, err = scenarios.Words{}.Fault([]byte(" \n"))
	require.EqualError(t, err, "fault: the text is empty; herdlab scenarios --keys lists the format")
	_, err = scenarios.Words{}.Fault([]byte("spoil: {body: code_body}")) // only refusals have it
	require.ErrorContains(t, err, `unknown body "code_body"; did you mean "cut_body"?`)
	s, err := scenarios.Builtin("p14003")
	require.NoError(t, err)
	provider := s.Provider()
	require.Len(t, provider.Limits, 2)
	require.NoError(t, provider.Validate())
}
