package mockprovider_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/mockprovider"
	"herdlab/mockprovider/faults"
	"herdlab/mockprovider/limits"
	"herdlab/mockprovider/providertest"
	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

func TestAuthenticationComesBeforeLimits(t *testing.T) {
	// An expired key is refused even where the quota is spent, and spends none.
	play(t, mockprovider.Config{
		RejectKeys: []uint8{0, 63, 64, 255}, BadKey: mockprovider.As401,
		Limits: []mockprovider.Limit{limits.Window{Limit: 1, Length: time.Minute, Terms: mockprovider.Terms{Refusal: mockprovider.As14003}}},
	}, `
		arrive 1 key=63 -> 1 401 auth
		arrive 2 key=64 -> 2 401 auth
		arrive 3 key=0 -> 3 401 auth
		arrive 4 key=255 -> 4 401 auth
		arrive 5 key=62 -> 5 started 0s
		arrive 6 key=65 -> 6 200 rate code=14003 limit=1 left=0
		arrive 7 key=63 -> 7 401 auth`)
}

func TestUnknownAccountsAreRefused(t *testing.T) {
	play(t, mockprovider.Config{Space: mockprovider.Space{Accounts: 2}, Limits: []mockprovider.Limit{limits.Window{Limit: 1, Length: time.Minute, Terms: mockprovider.Terms{Per: mockprovider.Account}}}}, `
		arrive 1 account=1 -> 1 started 0s
		arrive 2 account=2 -> 2 401 auth
		arrive 3 account=4294967295 -> 3 401 auth`)
}

func TestLimitsAreAskedInOrder(t *testing.T) {
	window := limits.Window{Limit: 2, Length: time.Minute, Terms: mockprovider.Terms{Refusal: mockprovider.As14003.WithHint(mockprovider.Hint{Kind: mockprovider.RoundedUp})}}
	gate := limits.Semaphore{Limit: 1}
	// The reply is that of the limit that refused.
	play(t, mockprovider.Config{Limits: []mockprovider.Limit{gate, window}, Capacity: mockprovider.Capacity{Service: takes(10 * time.Second)}}, `
		arrive 1 -> 1 started 10s
		arrive 2 -> 2 429 concurrency limit=1 left=0
		@10s done 1 -> 1 200 ok slot=10s
		arrive 3 -> 3 started 10s
		@20s done 3 -> 3 200 ok slot=10s
		@20.5s arrive 4 -> 4 200 rate code=14003 after=40s limit=2 left=0
		@21s arrive 5 -> 5 200 rate code=14003 after=39s limit=2 left=0`) // its permit came back
}

// A request that the concurrency limit refuses still burns window quota where
// the window comes first and keeps what it has counted: two of a minute, a at
// 0 s for 10 s, b at 1 s, c at 11 s.
func TestKeepOnRefusal(t *testing.T) {
	gate := limits.Semaphore{Limit: 1, Terms: mockprovider.Terms{Refusal: mockprovider.As14003}}
	window := func(limit int32, keep bool) limits.Window {
		return limits.Window{Limit: limit, Length: time.Minute, Terms: mockprovider.Terms{Keep: keeping(keep), Refusal: mockprovider.As14003}}
	}
	const begins = `
		arrive 1 -> 1 started 10s
		@1s arrive 2 -> 2 200 concurrency code=14003 limit=1 left=0
		@10s done 1 -> 1 200 ok slot=10s
		`
	for name, c := range map[string]struct {
		limits []mockprovider.Limit
		third  string
	}{
		"the gate first":                {[]mockprovider.Limit{gate, window(2, true)}, "started 10s"},
		"the gate first, refunded":      {[]mockprovider.Limit{gate, window(2, false)}, "started 10s"},
		"the window first":              {[]mockprovider.Limit{window(2, true), gate}, "200 rate code=14003 limit=2 left=0"},
		"the window first, refunded":    {[]mockprovider.Limit{window(2, false), gate}, "started 10s"},
		"two windows around, refunded":  {[]mockprovider.Limit{window(2, false), gate, window(2, false)}, "started 10s"},
		"two windows around, kept once": {[]mockprovider.Limit{window(3, true), gate, window(2, true)}, "started 10s"},
		"each by its own rule":          {[]mockprovider.Limit{window(2, false), window(3, true), gate}, "started 10s"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := mockprovider.Config{Limits: c.limits, Capacity: mockprovider.Capacity{Service: takes(10 * time.Second)}}
			play(t, cfg, begins+"@11s arrive 3 -> 3 "+c.third)
		})
	}
	// Want of capacity is a refusal as well; a permit comes back either way.
	for keep, third := range map[bool]string{false: "started 10s", true: "200 rate code=14003 limit=2 left=0"} {
		play(t, mockprovider.Config{Limits: []mockprovider.Limit{window(2, keep), limits.Semaphore{Limit: 2}}, Capacity: mockprovider.Capacity{Slots: 1, Service: takes(10 * time.Second)}}, `
			arrive 1 -> 1 started 10s
			@1s arrive 2 -> 2 503 overloaded
			@10s done 1 -> 1 200 ok slot=10s
			arrive 3 -> 3 `+third)
	}
	// Nothing holds the permit of a request that was refused.
	play(t, mockprovider.Config{Limits: []mockprovider.Limit{limits.Semaphore{Limit: 2, Terms: mockprovider.Terms{Keep: mockprovider.KeepAll}}}, Capacity: mockprovider.Capacity{Slots: 1}}, `
		arrive 1 -> 1 started 0s
		arrive 2 -> 2 503 overloaded
		arrive 3 -> 3 503 overloaded
		arrive 4 -> 4 503 overloaded`)
}

// ledger is a limit that admits every request and records its calls.
type ledger struct {
	limits.Semaphore
	told *[]string
}

func (l ledger) Gate(mockprovider.Space) mockprovider.Gate { return l }

func (l ledger) Take(_ time.Duration, r *wire.Request) bool {
	*l.told = append(*l.told, fmt.Sprint("take ", r.Call))
	return true
}

func (l ledger) Refuse(time.Duration, *wire.Request) (v mockprovider.Verdict) { return v }

func (l ledger) Form(*wire.Request) *mockprovider.Refusal { return nil }

func (l ledger) Undo(_ time.Duration, r *wire.Request) {
	*l.told = append(*l.told, fmt.Sprint("undo ", r.Call))
}

func (l ledger) Release(now time.Duration, r *wire.Request, ended mockprovider.Ended) {
	*l.told = append(*l.told, fmt.Sprint("release ", r.Call, " ", ended.Class, " at ", now))
}

// A gate gets the outcome of each admitted request exactly once.
func TestGatesHearHowWorkEnds(t *testing.T) {
	var told []string
	first := ledger{limits.Semaphore{Limit: 1}, &told}
	play(t, mockprovider.Config{Limits: []mockprovider.Limit{first, limits.Semaphore{Limit: 2}}, Capacity: mockprovider.Capacity{Slots: 1, Queue: 5, Service: takes(time.Second)}}, `
		arrive 1 -> 1 started 1s
		arrive 2 -> queued
		arrive 3 -> 3 429 concurrency limit=2 left=0
		abandon 1 -> nothing
		@1s done 1 -> 1 200 ok slot=1s; 2 started 1s
		@2s done 2 -> 2 200 ok slot=1s`)
	require.Equal(t, []string{
		"take 1", "take 2", "take 3", "undo 3", "release 1 ok at 1s", "release 2 ok at 2s",
	}, told)
}

func TestSlotsAndQueue(t *testing.T) {
	p := play(t, mockprovider.Config{Capacity: mockprovider.Capacity{Slots: 2, Queue: 2, Full: mockprovider.As503, Service: takes(2 * time.Second)}, RefusalTime: 50 * time.Millisecond}, `
		arrive 1 -> 1 started 2s
		@1s arrive 2 -> 2 started 2s
		arrive 3 -> queued
		arrive 4 -> queued
		arrive 5 -> 5 503 overloaded in 50ms
		@2s done 1 -> 1 200 ok slot=2s; 3 started 2s     # first in, first out
		arrive 6 -> queued
		arrive 7 -> 7 503 overloaded in 50ms
		abandon 4 -> nothing                             # it does not notice
		@3s done 2 -> 2 200 ok slot=2s; 4 started 2s
		@4s done 3 -> 3 200 ok slot=2s; 6 started 2s`)
	require.Equal(t, 2, p.Busy())
	require.Equal(t, 0, p.Queued())

	// Without a queue a request is refused if all slots are busy; without slots none is.
	play(t, mockprovider.Config{Capacity: mockprovider.Capacity{Slots: 1}}, "arrive 1 -> 1 started 0s\narrive 2 -> 2 503 overloaded")
	play(t, mockprovider.Config{}, "arrive 1 -> 1 started 0s\narrive 2 -> 2 started 0s")
}

// Done is believed once for each job in service.
func TestDoneOfWhatIsNotInService(t *testing.T) {
	p, err := mockprovider.New(mockprovider.Config{Capacity: mockprovider.Capacity{Slots: 1, Queue: 1}, Limits: []mockprovider.Limit{limits.Semaphore{Limit: 2}}}, draw.New(1))
	require.NoError(t, err)
	done := func(job uint32) int { return len(p.Step(0, &wire.Input{Kind: wire.Done, Job: job}, nil)) }
	arrive := func() []wire.Effect { return p.Step(0, &wire.Input{Kind: wire.Arrive}, nil) }
	require.Zero(t, done(0), "no request has come yet")
	first := arrive()[0].Job
	require.Empty(t, arrive())
	require.Zero(t, done(first+1), "in the queue")
	require.Zero(t, done(1<<32-1))
	require.Equal(t, 2, done(first), "answered, and the next started")
	require.Zero(t, done(first))
	require.Equal(t, 1, p.Busy())
}

// Steps at any time find the provider in the right state, ticks or not, and
// NextTick always lies ahead.
func TestNextTick(t *testing.T) {
	cfg := mockprovider.Config{Faults: []mockprovider.Fault{faults.Outage(10, 20, mockprovider.Refusal{}), faults.Outage(15, 30, mockprovider.Refusal{}), faults.Outage(40, 50, mockprovider.Refusal{})}}
	p, err := mockprovider.New(cfg, draw.New(1))
	require.NoError(t, err)
	now, ticks := time.Duration(0), []time.Duration{}
	for p.NextTick() != mockprovider.Forever {
		require.Greater(t, p.NextTick(), now)
		now = p.NextTick()
		ticks = append(ticks, now)
		require.Empty(t, p.Step(now, &wire.Input{Kind: wire.Tick}, nil))
	}
	require.Equal(t, []time.Duration{10, 15, 20, 30, 40, 50}, ticks)

	p, err = mockprovider.New(cfg, draw.New(1))
	require.NoError(t, err)
	require.Equal(t, 0, providertest.Arrivals(t, p, 45), "without a single tick")
	require.Equal(t, 1, providertest.Arrivals(t, p, 50))
}

// The caller's configuration stays the caller's.
func TestNewCopiesItsConfiguration(t *testing.T) {
	cfg := mockprovider.Config{Faults: []mockprovider.Fault{faults.Outage(0, 10, mockprovider.Refusal{})}}
	p, err := mockprovider.New(cfg, draw.New(1))
	require.NoError(t, err)
	require.Equal(t, faults.Outage(0, 10, mockprovider.Refusal{}), cfg.Faults[0])
	cfg.Faults[0] = faults.Outage(0, 10, mockprovider.As429)
	effects := p.Step(0, &wire.Input{Kind: wire.Arrive}, nil)
	require.Equal(t, uint16(503), effects[0].Reply.Status)
}

// Who is not known meets no limit.
func TestStrangers(t *testing.T) {
	cfg := mockprovider.Config{Space: mockprovider.Space{Accounts: 2, Keys: 2, Models: 3, Regions: 2}, RejectKeys: []uint8{1}, Limits: []mockprovider.Limit{
		limits.Window{Limit: 1, Length: 1, Terms: mockprovider.Terms{Per: mockprovider.Account | mockprovider.Key | mockprovider.Address | mockprovider.Model | mockprovider.Region, Keep: mockprovider.KeepAll}},
	}}
	play(t, cfg, `
		arrive 1 account=2 -> 1 401 auth
		arrive 2 account=4294967295 -> 2 401 auth
		arrive 3 key=2 -> 3 401 auth
		arrive 4 key=1 -> 4 401 auth
		arrive 5 model=3 -> 5 400 bad_request
		arrive 6 model=255 region=255 -> 6 400 bad_request
		arrive 7 region=2 -> 7 400 bad_request
		arrive 8 account=2 model=3 -> 8 401 auth
		arrive 9 address=4294967295 -> 9 started 0s
		arrive 10 account=1 model=2 region=1 -> 10 started 0s
		arrive 11 account=1 model=2 region=1 -> 11 429 rate limit=1 left=0`)
	// Where nothing is told apart, everything is known.
	rapid.Check(t, func(t *rapid.T) {
		p, err := mockprovider.New(mockprovider.Config{}, draw.New(1))
		require.NoError(t, err)
		r := wire.Request{Account: rapid.Uint32().Draw(t, "account"), Address: rapid.Uint32().Draw(t, "address"),
			Target: wire.Target{Key: rapid.Uint8().Draw(t, "key"), Model: rapid.Uint8().Draw(t, "model"), Region: rapid.Uint8().Draw(t, "region")}}
		require.Equal(t, wire.Started, p.Step(0, &wire.Input{Request: r}, nil)[0].Kind)
	})
}
