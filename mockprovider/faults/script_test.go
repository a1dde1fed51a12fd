package faults

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/wire"
)

// refusedTwice is the script of "the first two 429, then fine".
func refusedTwice(s Script) []mockprovider.Fault {
	no := Refuse{mockprovider.As429.WithHint(mockprovider.Hint{Kind: mockprovider.Exact})}
	s.Answers = []mockprovider.Disturbance{no, no}
	return []mockprovider.Fault{from(0, s)}
}

func TestScript(t *testing.T) {
	t.Run("by call", func(t *testing.T) {
		play(t, mockprovider.Config{Faults: refusedTwice(Script{ByCall: true})}, `
			arrive 1 call=1 -> 1 429 overloaded         # nobody knows for how long
			arrive 2 call=2 -> 2 429 overloaded
			arrive 3 call=1 attempt=2 -> 3 429 overloaded
			arrive 4 call=1 attempt=3 -> 4 started 0s
			arrive 5 call=2 attempt=2 -> 5 429 overloaded
			arrive 6 call=2 attempt=3 -> 6 started 0s
			arrive 7 call=2 attempt=1 -> 7 429 overloaded # it is the attempt that counts`)
	})
	t.Run("by account", func(t *testing.T) {
		play(t, mockprovider.Config{Space: mockprovider.Space{Accounts: 2}, Faults: refusedTwice(Script{Per: mockprovider.Account})}, `
			arrive 1 account=0 -> 1 429 overloaded
			arrive 2 account=1 -> 2 429 overloaded
			arrive 3 account=0 -> 3 429 overloaded
			arrive 4 account=0 -> 4 started 0s
			arrive 5 account=1 -> 5 429 overloaded
			arrive 6 account=1 -> 6 started 0s
			arrive 7 account=2 -> 7 401 auth`)
	})
	t.Run("for everyone, again and again", func(t *testing.T) {
		play(t, mockprovider.Config{Faults: []mockprovider.Fault{from(0, Script{Answers: []mockprovider.Disturbance{nil, Silence{}, Reset{}}, Repeat: true})}}, `
			arrive 1 -> 1 started 0s
			arrive 2 -> 2 dropped
			arrive 3 -> 3 broke
			arrive 4 -> 4 started 0s
			arrive 5 -> 5 dropped`)
	})
	t.Run("what strikes the work is decided on arrival", func(t *testing.T) {
		play(t, mockprovider.Config{
			Capacity: mockprovider.Capacity{Slots: 1, Queue: 1, Service: takes(time.Second)},
			Faults: []mockprovider.Fault{
				from(0, Errors{When: AfterWork, Class: wire.Overloaded}), // a script has the last word
				{To: time.Second, Does: Script{Answers: []mockprovider.Disturbance{Spoil{Body: wire.Garbage}, Latency{Factor: 3}, Spoil{Body: wire.Doubled}}}},
			},
		}, `
			arrive 1 -> 1 started 1s
			arrive 2 -> queued
			arrive 3 -> 3 503 overloaded          # an answer that nobody gets
			@1s done 1 -> 1 200 server_error garbage tokens=0 slot=1s; 2 started 3s
			@4s done 2 -> 2 503 overloaded slot=3s
			arrive 4 -> 4 started 1s
			@5s done 4 -> 4 503 overloaded slot=1s`)
	})
	t.Run("of two, the last in the list has the very last word", func(t *testing.T) {
		play(t, mockprovider.Config{Faults: []mockprovider.Fault{
			from(0, Script{Answers: []mockprovider.Disturbance{Spoil{Body: wire.Garbage}, Spoil{Body: wire.Garbage}}}),
			from(0, Script{Answers: []mockprovider.Disturbance{Spoil{Body: wire.Doubled}}}),
		}}, `
			arrive 1 -> 1 started 0s
			done 1 -> 1 200 ok doubled tokens=0
			arrive 2 -> 2 started 0s
			done 2 -> 2 200 server_error garbage tokens=0`)
	})
	t.Run("only what it meets counts", func(t *testing.T) {
		play(t, mockprovider.Config{Faults: []mockprovider.Fault{
			{To: 10 * time.Second, Where: mockprovider.Match{Models: mockprovider.Just(1)}, Does: Script{Answers: []mockprovider.Disturbance{Silence{}, Silence{}}}},
			Outage(time.Second, 2*time.Second, mockprovider.Refusal{}), // in front of it
		}}, `
			arrive 1 model=0 -> 1 started 0s
			arrive 2 model=1 -> 2 dropped
			@1s arrive 3 model=1 -> 3 503 overloaded
			@2s arrive 4 model=1 -> 4 dropped
			arrive 5 model=1 -> 5 started 0s`)
	})
}

func TestScriptValidate(t *testing.T) {
	for want, s := range map[string]Script{
		"it has no answers; give it some": {},
		"it counts either each call's attempts or per something else; leave one of them out":                      {Answers: []mockprovider.Disturbance{nil}, ByCall: true, Per: mockprovider.Account},
		"answer 2: silence: silence falls at arrival or after the work; for a stream that falls silent, stall it": {Answers: []mockprovider.Disturbance{nil, Silence{AfterHead}}},
		"answer 1: skew is not for a single request; make it a fault of its own":                                  {Answers: []mockprovider.Disturbance{Skew{Ahead: 1}}},
		"answer 1: script is not for a single request; make it a fault of its own":                                {Answers: []mockprovider.Disturbance{Script{Answers: []mockprovider.Disturbance{nil}}}},
		"it has 60001 answers; 60000 are the most":                                                                {Answers: make([]mockprovider.Disturbance, 60_001)},
	} {
		require.EqualError(t, s.Validate(), want)
	}
	cfg := mockprovider.Config{Space: mockprovider.Space{Accounts: 1 << 20, Addresses: 1 << 20}, Faults: []mockprovider.Fault{from(0, Script{Per: mockprovider.Account | mockprovider.Address, Answers: []mockprovider.Disturbance{nil}})}}
	require.EqualError(t, cfg.Validate(), "fault 1: script: it distinguishes too many callers; at most 268435456, so count more of them together")
}
