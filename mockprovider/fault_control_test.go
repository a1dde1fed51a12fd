package mockprovider_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/faults"
	"herdlab/mockprovider/limits"
	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// Faults can be injected and cleared while the provider runs.
func TestInjectAndClear(t *testing.T) {
	s := staged(t, mockprovider.Config{
		Capacity: mockprovider.Capacity{Slots: 2, Queue: 9, Service: takes(10 * time.Second)},
		Faults:   []mockprovider.Fault{faults.Outage(100*time.Second, 200*time.Second, mockprovider.Refusal{})},
	})
	s.Run(`
		arrive 1 -> 1 started 10s`)
	black, err := s.Provider.Inject(s.Now, from(0, faults.Silence{}))
	require.NoError(t, err)
	require.Equal(t, 1, black)
	require.Equal(t, s.Now, s.Provider.NextTick(), "it is due at once")
	s.Run(`
		tick -> nothing
		arrive 2 -> 2 dropped
		@1s arrive 3 -> 3 dropped`)
	require.True(t, s.Provider.Clear(s.Now, black))
	require.False(t, s.Provider.Clear(s.Now, black), "it is gone")
	require.False(t, s.Provider.Clear(s.Now, 17), "there is no such fault")
	s.Run(`
		arrive 4 -> 4 started 10s       # ticks or not
		arrive 5 -> queued`)
	brown, err := s.Provider.Inject(s.Now, mockprovider.Fault{To: 60 * time.Second, Does: faults.Brownout{}})
	require.NoError(t, err)
	require.Equal(t, []mockprovider.Injected{{ID: 0, Fault: faults.Outage(100*time.Second, 200*time.Second, mockprovider.Refusal{})}, {ID: brown, Fault: mockprovider.Fault{To: 60 * time.Second, Does: faults.Brownout{}}}}, s.Provider.Faults(s.Now))
	s.Run(`
		@10s done 1 -> 1 200 ok slot=10s
		@11s done 4 -> 4 200 ok slot=10s`)
	require.True(t, s.Provider.Clear(s.Now, brown))
	s.Run(`
		tick -> 5 started 10s           # room again, and work waits
		@100s arrive 6 -> 6 503 overloaded`)
	require.True(t, s.Provider.Clear(s.Now, 0), "faults of the configuration too")
	s.Run(`arrive 7 -> 7 started 10s`)
	require.Empty(t, s.Provider.Faults(s.Now))
	short, err := s.Provider.Inject(s.Now, mockprovider.Fault{To: s.Now + 5, Does: faults.Silence{}})
	require.NoError(t, err)
	require.False(t, s.Provider.Clear(s.Now+5, short), "the fault has ended, although no request came since")
}

// Work that is struck when a fault is cleared ends as was decided when it
// started, also if another fault has come since.
func TestClearedFaultsKeepTheirWord(t *testing.T) {
	s := staged(t, mockprovider.Config{Capacity: mockprovider.Capacity{Service: takes(10 * time.Second)}})
	id, err := s.Provider.Inject(0, from(0, faults.Spoil{Body: wire.Garbage}))
	require.NoError(t, err)
	s.Run(`arrive 1 -> 1 started 10s`)
	require.True(t, s.Provider.Clear(s.Now, id))
	s.Run(`@1s arrive 2 -> 2 started 10s`)
	for range 3 {
		_, err = s.Provider.Inject(s.Now, from(0, faults.Silence{When: faults.AfterWork}))
		require.NoError(t, err)
	}
	s.Run(`
		@2s arrive 3 -> 3 started 10s
		@10s done 1 -> 1 200 server_error garbage tokens=0 slot=10s
		@11s done 2 -> 2 200 ok slot=10s
		@12s done 3 -> 3 dropped slot=10s`)
}

// A provider that runs for long, and is disturbed all the time, does not grow.
func TestInjectedFaultsTakeNoRoomForGood(t *testing.T) {
	p, err := mockprovider.New(mockprovider.Config{}, draw.New(1))
	require.NoError(t, err)
	for i := range 200_000 {
		now := time.Duration(i)
		_, err := p.Inject(now, mockprovider.Fault{To: now + 3, Does: faults.Latency{Factor: 2}})
		require.NoError(t, err)
		p.Step(now, &wire.Input{Kind: wire.Tick}, nil)
	}
	require.LessOrEqual(t, p.FaultSlots(), 8)
}

// Luck goes by the number of a fault, and not by the room that it takes: what
// takes that of a fault which is over has luck of its own.
func TestLuckGoesByTheNumber(t *testing.T) {
	over, chance := mockprovider.Fault{To: 10, Does: faults.Silence{}}, mockprovider.Fault{To: mockprovider.Forever, Probability: 0.5, Does: faults.Silence{}}
	struck := func(p *mockprovider.Provider) (calls []uint64) {
		for call := range uint64(100) {
			if p.Step(10, &wire.Input{Request: wire.Request{Call: call}}, nil)[0].Kind == wire.Dropped {
				calls = append(calls, call)
			}
		}
		return calls
	}
	var providers []*mockprovider.Provider
	for _, configured := range [][]mockprovider.Fault{{over}, {over, chance}, {chance}} {
		p, err := mockprovider.New(mockprovider.Config{Faults: configured}, draw.New(1))
		require.NoError(t, err)
		p.Step(10, &wire.Input{Kind: wire.Tick}, nil)
		providers = append(providers, p)
	}
	id, err := providers[0].Inject(10, chance)
	require.NoError(t, err)
	require.Equal(t, 1, id)
	require.Equal(t, 1, providers[0].FaultSlots(), "it takes the room of the first")
	injected := struck(providers[0])
	require.Equal(t, struck(providers[1]), injected)
	require.NotEqual(t, struck(providers[2]), injected)
}

func TestInjectWhatCannotBe(t *testing.T) {
	p, err := mockprovider.New(mockprovider.Config{}, draw.New(1))
	require.NoError(t, err)
	for want, f := range map[string]mockprovider.Fault{
		"fault: it does nothing; state what it does, or leave it out":                                                                {To: 5},
		"fault: it must end after it begins; write Forever for one that does not end":                                                {Does: faults.Silence{}},
		"fault: it ends at 5ns, and it is 5ns already":                                                                               {To: 5, Does: faults.Silence{}},
		"fault: brownout: there is no part of unbounded slots; bound them, or use latency":                                           from(0, faults.Brownout{Percent: 50}),
		"fault: limit cut: the provider has no limit that can be cut":                                                                from(0, faults.LimitCut{}),
		"fault: limit cut: there is no limit 2; the provider has 0":                                                                  from(0, faults.LimitCut{Limit: 2}),
		"fault: 1.5 is no probability; use 0 to 1, where 0 is always, as 1 is":                                                       {To: mockprovider.Forever, Probability: 1.5, Does: faults.Silence{}},
		"fault: match: no accounts are from 7 to below 3; a range ends after it begins":                                              {To: mockprovider.Forever, Where: mockprovider.Match{Accounts: mockprovider.Range{From: 7, To: 3}}, Does: faults.Silence{}},
		"fault: skew: it acts on the provider as a whole; leave out where":                                                           {To: mockprovider.Forever, Where: mockprovider.Match{Models: mockprovider.Just(1)}, Does: faults.Skew{Ahead: 1}},
		"fault: skew: it acts on the provider as a whole; leave out the probability":                                                 {To: mockprovider.Forever, Probability: 0.5, Does: faults.Skew{Ahead: 1}},
		"fault: brownout: it is for models and regions, so where can name nothing else":                                              {To: mockprovider.Forever, Where: mockprovider.Match{Models: mockprovider.Just(1), Keys: mockprovider.Just(1)}, Does: faults.Brownout{}},
		"fault: brownout: the provider does not distinguish the models or regions that it is for; leave out where":                   {To: mockprovider.Forever, Where: mockprovider.Match{Models: mockprovider.Just(1)}, Does: faults.Brownout{}},
		"fault: brownout: 100 % is no part that is left; use 0 to 99":                                                                from(0, faults.Brownout{Percent: 100}),
		"fault: skew: the clock is right; state by how much it is ahead, or behind with a minus":                                     from(0, faults.Skew{}),
		"fault: latency: it changes nothing; give it a factor or a delay":                                                            from(0, faults.Latency{}),
		"fault: latency: -1 is no factor of times; use a number above 0, up to 1e+09":                                                from(0, faults.Latency{Factor: -1}),
		"fault: unreachable: how long clients take to notice must be 0 to " + mockprovider.Longest.String() + ", not -1ns":           from(0, faults.Unreachable{After: -1}),
		"fault: reset: there is no stage 3":                                                                                          from(0, faults.Reset{When: 3}),
		"fault: spoil: state what becomes of the answer: a stream error, a silent end, a cut body, garbage, a wrong type or doubled": from(0, faults.Spoil{}),
		"fault: garbage: it has no place for a number of tokens; only what breaks off has":                                           from(0, faults.Spoil{Body: wire.Garbage, Tokens: 1}),
		"fault: cut body: it has no class; only a stream error has":                                                                  from(0, faults.Spoil{Body: wire.TruncatedBody, Class: wire.Rate}),
		"fault: stream error: no provider sends cancelled in a stream":                                                               from(0, faults.Spoil{Body: wire.StreamError, Class: wire.Cancelled}),
		"fault: doubled: it is made of an answer, so it cannot come at once; only garbage and wrong type can":                        from(0, faults.Spoil{Body: wire.Doubled, AtOnce: true}),
		"fault: errors: no provider replies disconnected; use reset or silence":                                                      from(0, faults.Errors{Class: wire.ConnectionLost}),
		"fault: errors: there is no class class(99)":                                                                                 from(0, faults.Errors{Class: 99}),
		"fault: errors: an error comes at arrival or after the work; for one in the middle of a stream, spoil the answer":            from(0, faults.Errors{When: faults.AfterHead}),
		"fault: expiry: an expired token is refused as permission or auth, not as rate; use errors for that":                         from(0, faults.Expiry{Class: wire.Rate}),
		"fault: masked permission: refusal: status 700 is not a final HTTP status; use 200 to 599":                                   from(0, faults.MaskedPermission{Refusal: mockprovider.Refusal{Status: 700}}),
	} {
		_, err := p.Inject(5, f)
		require.EqualError(t, err, want)
	}
	require.Empty(t, p.Faults(5))
	require.Equal(t, mockprovider.Forever, p.NextTick())
}

// Limits can be set: what was let in before is not theirs.
func TestSetLimit(t *testing.T) {
	s := staged(t, mockprovider.Config{
		Limits:   []mockprovider.Limit{limits.Window{Limit: 2, Length: time.Minute}, limits.Semaphore{Limit: 2}},
		Capacity: mockprovider.Capacity{Service: takes(10 * time.Second)}, ReportedLimit: 1,
	})
	s.Run(`
		arrive 1 -> 1 started 10s
		arrive 2 -> 2 started 10s
		arrive 3 -> 3 429 rate limit=2 left=0`)
	require.NoError(t, s.Provider.SetLimit(s.Now, 1, limits.Window{Limit: 100, Length: time.Minute, Terms: mockprovider.Terms{Refusal: mockprovider.As429.WithHint(mockprovider.Hint{Kind: mockprovider.Exact})}}))
	s.Run(`arrive 4 -> 4 429 concurrency limit=2 left=0`)
	require.NoError(t, s.Provider.SetLimit(s.Now, 2, limits.Semaphore{Limit: 1}))
	s.Run(`
		arrive 5 -> 5 started 10s
		arrive 6 -> 6 429 concurrency limit=1 left=0
		@10s done 1 -> 1 200 ok limit=100 left=99 slot=10s
		done 2 -> 2 200 ok limit=100 left=99 slot=10s
		arrive 7 -> 7 429 concurrency limit=1 left=0     # theirs were others' permits
		done 5 -> 5 200 ok limit=100 left=99 slot=10s
		arrive 8 -> 8 started 10s`)
	require.NoError(t, s.Provider.SetLimit(s.Now, 1, limits.Window{Limit: 1, Length: time.Hour, Terms: mockprovider.Terms{Refusal: mockprovider.As429.WithHint(mockprovider.Hint{Kind: mockprovider.Constant, Value: 7 * time.Second})}}))
	require.NoError(t, s.Provider.SetLimit(s.Now, 2, limits.Semaphore{Limit: 9}))
	s.Run(`
		arrive 9 -> 9 started 10s
		arrive 10 -> 10 429 rate after=7s limit=1 left=0`)
	for want, err := range map[string]error{
		"there is no limit 0; the provider has 2":          s.Provider.SetLimit(s.Now, 0, limits.Semaphore{Limit: 1}),
		"there is no limit 3; the provider has 2":          s.Provider.SetLimit(s.Now, 3, limits.Semaphore{Limit: 1}),
		"a limit cannot be taken away; set a high one":     s.Provider.SetLimit(s.Now, 1, nil),
		"limit 1: semaphore: the limit must be at least 1": s.Provider.SetLimit(s.Now, 1, limits.Semaphore{}),
	} {
		require.EqualError(t, err, want)
	}
}

// A limit that is set while it is cut, and while the clock is wrong, is cut and
// goes by the wrong clock.
func TestSetLimitUnderFaults(t *testing.T) {
	s := staged(t, mockprovider.Config{
		Limits: []mockprovider.Limit{limits.Semaphore{Limit: 1}},
		Faults: []mockprovider.Fault{{To: 90 * time.Second, Does: faults.LimitCut{Percent: 50}}, {To: 90 * time.Second, Does: faults.Skew{Ahead: 50 * time.Second}}},
	})
	require.NoError(t, s.Provider.SetLimit(0, 1, limits.Window{Limit: 4, Length: time.Minute}))
	s.Run(`
		arrive 1 -> 1 started 0s
		arrive 2 -> 2 started 0s
		arrive 3 -> 3 429 rate limit=2 left=0
		@10s arrive 4 -> 4 started 0s      # a minute begins
		arrive 5 -> 5 started 0s
		arrive 6 -> 6 429 rate limit=2 left=0
		@91s arrive 7 -> 7 started 0s
		arrive 8 -> 8 started 0s
		arrive 9 -> 9 started 0s
		arrive 10 -> 10 started 0s
		arrive 11 -> 11 429 rate limit=4 left=0`)
}

func TestResetForgets(t *testing.T) {
	no := faults.Script{Answers: []mockprovider.Disturbance{faults.Silence{}}}
	s := staged(t, mockprovider.Config{
		Limits:   []mockprovider.Limit{limits.Window{Limit: 2, Length: time.Hour}, limits.Semaphore{Limit: 2}},
		Capacity: mockprovider.Capacity{Slots: 1, Queue: 1, Service: takes(10 * time.Second)},
		Faults:   []mockprovider.Fault{from(0, no), from(20*time.Second, faults.Reset{})},
	})
	s.Run(`
		arrive 1 -> 1 dropped
		arrive 2 -> 2 started 10s
		arrive 3 -> queued
		arrive 4 -> 4 429 rate limit=2 left=0`)
	require.True(t, s.Provider.Clear(s.Now, 1))
	_, err := s.Provider.Inject(s.Now, from(0, faults.Outage(0, 1, mockprovider.Refusal{}).Does))
	require.NoError(t, err)
	s.Run(`arrive 5 -> 5 503 overloaded`)
	require.NoError(t, s.Provider.Reset(s.Now))
	s.Run(`
		arrive 6 -> 6 dropped                # the script begins anew
		arrive 7 -> 7 503 overloaded         # for want of a slot: work goes on
		@10s done 2 -> 2 200 ok slot=10s; 3 started 10s
		arrive 8 -> queued
		arrive 9 -> 9 503 overloaded
		@20s arrive 10 -> 10 broke
		done 3 -> 3 200 ok slot=10s; 8 started 10s
		@30s done 8 -> 8 200 ok slot=10s`)
}

// After a reset the faults of the configuration have the luck that they had, and
// take the room that they took.
func TestResetRestoresLuck(t *testing.T) {
	p, err := mockprovider.New(mockprovider.Config{Faults: []mockprovider.Fault{{To: mockprovider.Forever, Probability: 0.5, Does: faults.Silence{}}, {To: mockprovider.Forever, Probability: 0.5, Does: faults.Reset{}}}}, draw.New(1))
	require.NoError(t, err)
	ends := func() (all []wire.EffectKind) {
		for call := range uint64(100) {
			all = append(all, p.Step(0, &wire.Input{Request: wire.Request{Call: call}}, nil)[0].Kind)
		}
		return all
	}
	before := ends()
	for range 100 {
		require.NoError(t, p.Reset(0))
		p.Step(0, &wire.Input{Kind: wire.Tick}, nil)
	}
	require.Equal(t, before, ends())
	require.Len(t, p.Faults(0), 2)
	require.LessOrEqual(t, p.FaultSlots(), 4)
}
