package faults

import (
	"testing"
	"time"

	"herdlab/mockprovider"
	"herdlab/mockprovider/limits"
	"herdlab/mockprovider/wire"
)

func TestErrors(t *testing.T) {
	t.Run("at arrival: no quota, no slot, any class", func(t *testing.T) {
		for class, want := range map[wire.Class]string{
			wire.OK: "500 server_error", wire.ServerError: "500 server_error", wire.Overloaded: "503 overloaded",
			wire.Rate: "429 rate", wire.Timeout: "504 timeout", wire.BadRequest: "400 bad_request",
		} {
			play(t, mockprovider.Config{
				Limits: []mockprovider.Limit{limits.Window{Limit: 1, Length: time.Minute}}, RefusalTime: time.Millisecond,
				Faults: []mockprovider.Fault{{To: time.Second, Does: Errors{Class: class}}},
			}, `
				arrive 1 -> 1 `+want+` in 1ms
				arrive 2 -> 2 `+want+` in 1ms
				@1s arrive 3 -> 3 started 0s`)
		}
	})
	t.Run("after the work: both are spent, and it takes as long", func(t *testing.T) {
		play(t, mockprovider.Config{
			Limits:   []mockprovider.Limit{limits.Window{Limit: 1, Length: time.Minute}},
			Capacity: mockprovider.Capacity{Slots: 1, Service: takes(2 * time.Second)},
			Faults:   []mockprovider.Fault{{To: time.Second, Does: Errors{When: AfterWork, Refusal: mockprovider.Refusal{Status: 502, Hint: mockprovider.Hint{Kind: mockprovider.Exact}}}}},
		}, `
			arrive 1 -> 1 started 2s
			@2s done 1 -> 1 502 server_error slot=2s   # decided when it started
			arrive 2 -> 2 429 rate limit=1 left=0
			@60s arrive 3 -> 3 started 2s
			@62s done 3 -> 3 200 ok slot=2s`)
	})
	t.Run("of a stream, in place of its head", func(t *testing.T) {
		play(t, mockprovider.Config{
			Capacity: mockprovider.Capacity{Service: mockprovider.Service{First: takes(2 * time.Second).First, PerToken: time.Second}},
			Faults:   []mockprovider.Fault{from(0, Errors{When: AfterWork})},
		}, `
			arrive 1 tokens=3 -> 1 started 5s
			arrive 2 tokens=3 stream=1 -> 2 started 2s
			@2s done 2 -> 2 500 server_error slot=2s
			@5s done 1 -> 1 500 server_error slot=5s`)
	})
}

// The token of key 1 expires at 10 s; others are none the worse for it. Before
// that, the provider is at capacity.
func TestExpiry(t *testing.T) {
	for class, want := range map[wire.Class]string{wire.OK: "403 permission", wire.Permission: "403 permission", wire.Auth: "401 auth"} {
		play(t, mockprovider.Config{Faults: []mockprovider.Fault{
			Outage(0, 20*time.Second, mockprovider.As503.WithHint(mockprovider.Hint{Kind: mockprovider.Exact})),
			{From: 10 * time.Second, To: mockprovider.Forever, Where: mockprovider.Match{Keys: mockprovider.Just(1)}, Does: Expiry{Class: class, Refusal: mockprovider.Refusal{Hint: mockprovider.Hint{Kind: mockprovider.Exact}}}},
		}}, `
			arrive 1 key=1 -> 1 503 overloaded   # nobody knows when the key will be good again
			arrive 2 key=2 -> 2 503 overloaded after=20s
			@10s arrive 3 key=1 -> 3 `+want+`
			arrive 4 key=2 -> 4 503 overloaded after=10s
			@1000s arrive 5 key=1 -> 5 `+want+`
			arrive 6 key=2 -> 6 started 0s`)
	}
}

// A missing permission reads as want of capacity, in the form that the provider
// has for that.
func TestMaskedPermission(t *testing.T) {
	forms := wire.Plain()
	forms[wire.Overloaded] = wire.Form{Status: 529, Body: wire.ErrorBody, Shown: wire.Overloaded, Words: wire.MentionsCapacity, Spelling: wire.HeaderSeconds}
	fault := func(r mockprovider.Refusal) []mockprovider.Fault {
		return []mockprovider.Fault{{To: mockprovider.Forever, Where: mockprovider.Match{Models: mockprovider.Just(2)}, Does: MaskedPermission{r}}}
	}
	play(t, mockprovider.Config{Forms: &forms, Faults: fault(mockprovider.Refusal{Hint: mockprovider.Hint{Kind: mockprovider.Constant, Value: 1500 * time.Millisecond}})}, `
		arrive 1 model=2 -> 1 529 permission as overloaded after=2s
		arrive 2 model=1 -> 2 started 0s`)
	play(t, mockprovider.Config{Faults: fault(mockprovider.As14003)}, `
		arrive 1 model=2 -> 1 200 permission code=14003`)
	p := play(t, mockprovider.Config{Forms: &forms, Faults: fault(mockprovider.Refusal{})}, ``)
	r := p.Step(0, &wire.Input{Request: wire.Request{Target: wire.Target{Model: 2}}}, nil)[0].Reply
	for _, reader := range []wire.Reader{wire.ByBody{}, wire.ByStatus{}, wire.ByKeyword{}} {
		var o wire.Outcome
		if reader.Read(&r, 0, &o); o.Class != wire.Overloaded {
			t.Errorf("%T finds %v behind the mask", reader, o.Class)
		}
	}
}
