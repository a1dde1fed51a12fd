package validation

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/faults"
	"herdlab/mockprovider/limits"
	"herdlab/mockprovider/wire"
	"herdlab/sim"
	"herdlab/sim/draw"
	"herdlab/sim/metrics"
	"herdlab/sim/simtest"
	"herdlab/sim/traffic"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
)

// The cases of the field that are about what a provider says and how it fails,
// as experiments: what happened is in the comments, the numbers are theirs.

// reading compiles a stack for clients with that reader.
func reading(t testing.TB, r wire.Reader, layers ...strategies.Layer) *strategies.Program {
	t.Helper()
	p, err := strategies.Compile(strategies.Definition{Name: "test", Reader: r, Layers: layers}, nil)
	require.NoError(t, err)
	return p
}

// tap is a provider that writes down what passes.
type tap struct {
	*mockprovider.Provider
	arrivals []time.Duration
	attempts map[uint64]uint32       // by call
	replies  map[uint64][]wire.Reply // by call, in order
	of       map[uint32]uint64       // call, by ticket
}

func tapped(t testing.TB, cfg mockprovider.Config, seed uint64) *tap {
	return &tap{Provider: simtest.Provider(t, cfg, seed), attempts: map[uint64]uint32{}, replies: map[uint64][]wire.Reply{}, of: map[uint32]uint64{}}
}

func (p *tap) Step(now time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
	if in.Kind == wire.Arrive {
		p.arrivals = append(p.arrivals, now)
		p.attempts[in.Request.Call]++
		p.of[in.Ticket] = in.Request.Call
	}
	before := len(out)
	out = p.Provider.Step(now, in, out)
	for _, e := range out[before:] {
		if e.Kind == wire.Replied {
			p.replies[p.of[e.Ticket]] = append(p.replies[p.of[e.Ticket]], e.Reply)
		}
	}
	return out
}

// peak is the most arrivals in one second.
func (p *tap) peak() (most int) {
	in := map[time.Duration]int{}
	for _, at := range p.arrivals {
		in[at/time.Second]++
		most = max(most, in[at/time.Second])
	}
	return most
}

// in counts the arrivals in from ≤ t < to.
func (p *tap) in(from, to time.Duration) (n int) {
	for _, at := range p.arrivals {
		if from <= at && at < to {
			n++
		}
	}
	return n
}

// forever is a fault that the provider has for good.
func forever(d mockprovider.Disturbance) mockprovider.Fault {
	return mockprovider.Fault{To: mockprovider.Forever, Does: d}
}

// Case 5: a hint in the wrong unit is worse than none. A hundred clients are
// refused until 60 s; when what they read is milliseconds they are gone within
// the first second.
func TestHintInTheWrongUnit(t *testing.T) {
	const clients = 100
	play := func(h mockprovider.Hint) (*metrics.Report, *tap) {
		p := tapped(t, mockprovider.Config{
			Faults: []mockprovider.Fault{faults.Outage(0, time.Minute, mockprovider.As429.WithHint(h))},
		}, 1)
		obeying := layers.Retry{Backoff: backoffs.Fixed{Every: time.Second}, MaxAttempts: 4, Hints: layers.Hints{Use: layers.HintAsWait}}
		f := simtest.OneShot(clients, simtest.Program(t, obeying))
		return simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{f}, Provider: p, Plan: metrics.Plan{Horizon: time.Hour, OneShot: true}}), p
	}
	right, rightTap := play(mockprovider.Hint{Kind: mockprovider.Exact})
	require.Equal(t, []uint64{200, 100}, []uint64{right.Belief.Attempts, right.Belief.Useful})
	require.Equal(t, clients, rightTap.in(60*time.Second, 61*time.Second))

	bug, bugTap := play(mockprovider.Hint{Kind: mockprovider.Exact, Factor: 0.001})
	require.Equal(t, []uint64{400, 0}, []uint64{bug.Belief.Attempts, bug.Belief.Useful})
	require.Equal(t, 400, bugTap.in(0, time.Second))

	none, noneTap := play(mockprovider.Hint{})
	require.Equal(t, []uint64{400, 0}, []uint64{none.Belief.Attempts, none.Belief.Useful})
	require.Equal(t, clients, noneTap.peak())
	require.Greater(t, bugTap.peak(), noneTap.peak())

	// The other way round: 555 ms in a field of seconds.
	for factor, wait := range map[float64]time.Duration{0: 555 * ms, 1000: 555 * time.Second} {
		p := tapped(t, mockprovider.Config{Faults: []mockprovider.Fault{
			faults.Outage(0, 555*ms, mockprovider.As14003.WithHint(mockprovider.Hint{Kind: mockprovider.Exact, Factor: factor})),
		}}, 1)
		f := simtest.OneShot(1, simtest.Program(t, layers.Retry{Backoff: backoffs.Fixed{}}))
		simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{f}, Provider: p, Plan: metrics.Plan{Horizon: time.Hour}})
		require.Equal(t, []time.Duration{0, wait}, p.arrivals)
	}
}

// Case 8: what never clears is retried by who goes by the status, ten times over
// 248 s; who reads why does it once. A plain 429 is still retried by both.
func TestWhatNeverClears(t *testing.T) {
	byStatus := layers.Retry{
		Backoff: backoffs.Exponential{Base: time.Second, Cap: time.Minute}, MinWait: 4 * time.Second, MaxAttempts: 10,
		On: layers.Rules{Statuses: []layers.Statuses{{First: 400, Last: 599}}},
	}
	byReason := byStatus
	byReason.On = layers.Rules{}
	for name, never := range map[string]faults.Errors{
		"the context is too long":       {Class: wire.BadRequest},
		"the credit is spent":           {Class: wire.Quota, Refusal: mockprovider.As429},
		"no minute has so many tokens":  {Class: wire.TooLarge, Refusal: mockprovider.As429},
		"the key has been revoked":      {Class: wire.Auth},
		"nothing but a permission lost": {Class: wire.Permission},
	} {
		t.Run(name, func(t *testing.T) {
			play := func(r wire.Reader, retry layers.Retry, faults ...mockprovider.Fault) *tap {
				p := tapped(t, mockprovider.Config{Faults: faults}, 1)
				f := simtest.OneShot(1, reading(t, r, retry))
				simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{f}, Provider: p, Plan: metrics.Plan{Horizon: time.Hour}})
				return p
			}
			p := play(wire.ByStatus{}, byStatus, forever(never))
			require.Len(t, p.arrivals, 10)
			require.Equal(t, 248*time.Second, p.arrivals[9])
			require.Len(t, play(wire.ByBody{}, byReason, forever(never)).arrivals, 1)

			plain := mockprovider.Fault{To: 20 * time.Second, Does: faults.Errors{Class: wire.Rate}}
			require.Len(t, play(wire.ByBody{}, byReason, plain).arrivals, 5) // at 0, 4, 8 and 12 s; at 20 s it is over
		})
	}
	// Who only waits a minute each time asks sixty times an hour.
	p := tapped(t, mockprovider.Config{Faults: []mockprovider.Fault{forever(faults.Errors{Class: wire.Quota, Refusal: mockprovider.As429})}}, 1)
	f := simtest.OneShot(1, reading(t, wire.ByStatus{}, layers.Retry{Backoff: backoffs.Fixed{Every: time.Minute}}))
	simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{f}, Provider: p, Plan: metrics.Plan{Horizon: time.Hour}})
	require.Len(t, p.arrivals, 60)
}

// Case 13: an HTTP 200 whose body says no. A client that looks at the status
// believes in 1,500 successes, of which 600 are; one that reads the body asks
// 605 times, unless the hint is rounded down.
func TestNoInA200(t *testing.T) {
	play := func(reader wire.Reader, kind mockprovider.HintKind, gap time.Duration) *metrics.Report {
		refusal := mockprovider.As14003.WithHint(mockprovider.Hint{Kind: kind})
		p := simtest.Provider(t, mockprovider.Config{Limits: []mockprovider.Limit{
			limits.Window{Limit: 120, Length: time.Minute, Terms: mockprovider.Terms{Refusal: refusal}},
		}}, 1)
		f := sim.Fleet{
			Name: "fleet", Traffic: traffic.Traffic{Clients: 1, Think: draw.Const(gap)},
			Program: reading(t, reader, layers.Retry{Backoff: backoffs.Fixed{}, MinWait: ms}),
		}
		return simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{f}, Provider: p, Plan: metrics.Plan{Horizon: 300 * time.Second}})
	}
	rep := play(wire.ByStatus{}, mockprovider.RoundedUp, 200*ms)
	require.Equal(t, []uint64{1500, 1500, 600, 900}, []uint64{rep.Belief.Attempts, rep.Belief.Succeeded, rep.Belief.Useful, rep.Belief.Lost})
	rep = play(wire.ByBody{}, mockprovider.RoundedUp, 200*ms)
	require.Equal(t, []uint64{605, 600, 0}, []uint64{rep.Belief.Attempts, rep.Belief.Useful, rep.Belief.Lost})
	// At a gap of 0.21 s it matters how the 34.8 s are rounded: who is told 34
	// comes 0.8 s early, is told 0, and spins until the window is over.
	require.Equal(t, uint64(605), play(wire.ByBody{}, mockprovider.RoundedUp, 210*ms).Belief.Attempts)
	require.Equal(t, uint64(4605), play(wire.ByBody{}, mockprovider.RoundedDown, 210*ms).Belief.Attempts)
}

// Case 14: an overload that is told after the 200, inside the stream: of a
// thousand calls a tenth before the first token, a twentieth after some.
func TestOverloadInsideTheStream(t *testing.T) {
	const calls, k, before, after = 1000, 40, 0.10, 0.05
	play := func(reader wire.Reader, seed uint64) (*metrics.Report, *tap) {
		p := tapped(t, mockprovider.Config{
			Capacity: mockprovider.Capacity{Service: mockprovider.Service{First: draw.Const(300 * ms), PerToken: 10 * ms}},
			Faults: []mockprovider.Fault{ // the last in the list strikes first
				{To: mockprovider.Forever, Probability: after / (1 - before), Does: faults.Spoil{Body: wire.StreamError, Tokens: k}},
				{To: mockprovider.Forever, Probability: before, Does: faults.Spoil{Body: wire.StreamError}},
			},
		}, seed)
		f := simtest.OneShot(calls, reading(t, reader, layers.Retry{Backoff: backoffs.Fixed{Every: time.Second}, MaxAttempts: 3}))
		f.Stream, f.Traffic.Size = true, wire.Demand{OutputTokens: 100}
		return simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{f}, Provider: p, Plan: metrics.Plan{Horizon: time.Hour, OneShot: true}}), p
	}
	const seeds = 10
	var good, lost, early, late, retries float64
	for seed := range uint64(seeds) {
		// The status says nothing, so a client that goes by it retries nothing
		// and believes in everything.
		rep, _ := play(wire.ByStatus{}, seed)
		require.Equal(t, []uint64{calls, calls, 0}, []uint64{rep.Belief.Attempts, rep.Belief.Succeeded, rep.Retries})
		require.InDelta(t, 850, rep.Belief.Useful, 35)
		good += float64(rep.Belief.Useful)
		require.Equal(t, uint64(calls), rep.Belief.Useful+rep.Belief.Lost)
		// The libraries of the field see the event, and retry it no more.
		rep, _ = play(wire.ByLibrary{}, seed)
		require.Equal(t, []uint64{calls, 0, 0}, []uint64{rep.Belief.Attempts, rep.Retries, rep.Belief.Lost})

		// Who reads it retries as long as nothing was delivered.
		rep, p := play(wire.ByBody{}, seed)
		var atFirst, delivered, errors int
		for call, replies := range p.replies {
			last := replies[len(replies)-1]
			for _, r := range replies[:len(replies)-1] {
				require.Zero(t, r.Tokens, "call %d: what was delivered is not asked for again", call)
			}
			switch {
			case last.Body == wire.StreamError && last.Tokens == 0:
				atFirst++
				require.Len(t, replies, 3)
			case last.Body == wire.StreamError:
				delivered++
				require.Equal(t, uint32(k), last.Tokens)
			}
			for _, r := range replies {
				if r.Body == wire.StreamError {
					errors++
				}
			}
		}
		require.LessOrEqual(t, atFirst, 6)
		require.InDelta(t, 55, delivered, 22)
		require.Equal(t, uint64(errors), rep.Truth.Replies[wire.Overloaded], "each is an error, though its status is 200")
		require.Zero(t, rep.Belief.Lost)
		lost, early, late, retries = lost+float64(rep.Belief.Failed), early+float64(atFirst), late+float64(delivered), retries+float64(rep.Retries)
	}
	// The means over all seeds, within 4 standard errors of the closed forms.
	const tries = 1 + before + before*before
	for what, c := range map[string]struct{ got, p float64 }{
		"answers":       {good, 1 - before - after},
		"before tokens": {early, before * before * before},
		"after tokens":  {late, after * tries},
		"failed":        {lost, before*before*before + after*tries},
		"retries":       {retries, before + before*before},
	} {
		require.InDelta(t, c.p*calls*seeds, c.got, 4*math.Sqrt(c.p*calls*seeds), what)
	}
}

// B9: an outage of T seconds with exact hints takes two attempts; doubling waits
// take ceil(log2(T+1)) + 1.
func TestHintsBeatGuesses(t *testing.T) {
	for _, seconds := range []int{1, 3, 7, 8, 30, 31, 32, 300} {
		out := time.Duration(seconds) * time.Second
		for _, hint := range []mockprovider.HintKind{mockprovider.NoHint, mockprovider.Exact} {
			p := simtest.Provider(t, mockprovider.Config{Faults: []mockprovider.Fault{faults.Outage(0, out, mockprovider.As503.WithHint(mockprovider.Hint{Kind: hint}))}}, 1)
			f := simtest.OneShot(10, simtest.Program(t, layers.Retry{Backoff: backoffs.Exponential{Base: time.Second}}))
			if hint == mockprovider.Exact {
				f.Program = simtest.Program(t, layers.Retry{Backoff: backoffs.Fixed{}})
			}
			rep := simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{f}, Provider: p, Plan: metrics.Plan{Horizon: time.Hour, OneShot: true}})
			each := uint64(2)
			if hint == mockprovider.NoHint {
				each = uint64(math.Ceil(math.Log2(float64(seconds+1)))) + 1
			}
			require.Equal(t, []uint64{10 * each, 10}, []uint64{rep.Belief.Attempts, rep.Belief.Useful}, "%v, hint %d", out, hint)
		}
	}
}

// B10: a permission that reads as want of capacity. No budget of retries helps,
// another model does; only the provider's own ledger tells what it was.
func TestPermissionShownAsCapacity(t *testing.T) {
	masked := forever(faults.MaskedPermission{})
	masked.Where.Models = mockprovider.Just(0)
	play := func(layers ...strategies.Layer) *metrics.Report {
		p := simtest.Provider(t, mockprovider.Config{Space: mockprovider.Space{Models: 2}, Faults: []mockprovider.Fault{masked}}, 1)
		f := simtest.OneShot(10, reading(t, wire.ByKeyword{}, layers...))
		return simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{f}, Provider: p, Plan: metrics.Plan{Horizon: 24 * time.Hour, OneShot: true}})
	}
	for _, budget := range []int{1, 5, 50, 1000} {
		rep := play(layers.Retry{Backoff: backoffs.Fixed{Every: 30 * time.Second}, MaxAttempts: budget})
		require.Equal(t, []uint64{uint64(10 * budget), 0, 10}, []uint64{rep.Belief.Attempts, rep.Belief.Useful, rep.Belief.Failed})
		require.Equal(t, uint64(10*budget), rep.Truth.Replies[wire.Permission])
		require.Zero(t, rep.Truth.Replies[wire.Overloaded])
		for _, f := range rep.Failures {
			require.Equal(t, []wire.Class{wire.Permission, wire.Overloaded}, []wire.Class{f.Truth, f.Outcome.Class}, "what it was, and what its client believes")
		}
	}
	rep := play(layers.Ladder{Rungs: []layers.Rung{{Model: 0, Tries: 2}, {Model: 1}}})
	require.Equal(t, []uint64{30, 10, 10}, []uint64{rep.Belief.Attempts, rep.Belief.Useful, rep.Belief.Degraded})
}

// B25: capacity becomes 403 when the token expires. Who reads each reply stops
// at the first 403; who has made up his mind at the first error goes on.
func TestCapacityBecomes403(t *testing.T) {
	const expires, until, every = 600 * time.Second, 3600 * time.Second, 30 * time.Second
	fresh := layers.Retry{Backoff: backoffs.Fixed{Every: every}}
	latched := fresh
	latched.On.Classes = strategies.AnyFailure // it was capacity, so it will pass
	for want, retry := range map[int]layers.Retry{1: fresh, int((until - expires) / every): latched} {
		p := tapped(t, mockprovider.Config{Faults: []mockprovider.Fault{
			faults.Outage(0, mockprovider.Forever, mockprovider.Refusal{}),
			{From: expires, To: mockprovider.Forever, Where: mockprovider.Match{Keys: mockprovider.Just(0)}, Does: faults.Expiry{}},
		}}, 1)
		rep := simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{simtest.OneShot(1, simtest.Program(t, retry))}, Provider: p, Plan: metrics.Plan{Horizon: until}})
		require.Equal(t, want, p.in(expires, until))
		require.Equal(t, uint64(want), rep.Truth.Replies[wire.Permission])
		require.Equal(t, uint64(expires/every), rep.Truth.Replies[wire.Overloaded])
	}
}

// A black hole is the provider's, the timeout its client's: two clocks. Each
// call falls into it until it is over, and no sooner or later does its client
// notice than its own timeout says; a stream that stalls was on its way.
func TestBlackHoles(t *testing.T) {
	stream := mockprovider.Capacity{Service: mockprovider.Service{First: draw.Const(100 * ms), PerToken: 10 * ms}}
	for _, c := range []struct {
		name  string
		does  mockprovider.Disturbance
		diary []string
	}{
		{"silence", faults.Silence{}, []string{"0s c0 begin", "1s c0 expired 1 timeout", "3s c0 wake", "3.1s c0 head 2 ok", "3.2s c0 reply 2 ok"}},
		{"the answer is lost", faults.Silence{When: faults.AfterWork}, []string{"0s c0 begin", "1s c0 expired 1 timeout", "3s c0 wake", "3.1s c0 head 2 ok", "3.2s c0 reply 2 ok"}},
		{"a stall", faults.Stall{Tokens: 3}, []string{"0s c0 begin", "100ms c0 head 1 ok", "1s c0 expired 1 timeout", "3s c0 wake", "3.1s c0 head 2 ok", "3.2s c0 reply 2 ok"}},
		{"reset after the head", faults.Reset{When: faults.AfterHead}, []string{"0s c0 begin", "100ms c0 head 1 ok", "100.000001ms c0 lost 1 disconnected"}}, // and nothing is asked for twice
		{"reset before the head", faults.Reset{When: faults.AfterWork}, []string{"0s c0 begin", "100ms c0 lost 1 disconnected", "2.1s c0 wake", "2.2s c0 head 2 ok", "2.3s c0 reply 2 ok"}},
		{"a region that is gone", faults.Unreachable{After: 500 * ms}, []string{"0s c0 begin", "500ms c0 lost 1 disconnected", "2.5s c0 wake", "2.6s c0 head 2 ok", "2.7s c0 reply 2 ok"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var d simtest.EventLog
			p := simtest.Provider(t, mockprovider.Config{Capacity: stream, Faults: []mockprovider.Fault{{To: 2 * time.Second, Does: c.does}}}, 1)
			f := simtest.Arriving(simtest.Program(t, d.Record("c"), layers.Retry{Backoff: backoffs.Fixed{Every: 2 * time.Second}}, simtest.Timeout(time.Second)), 0)
			f.Stream, f.Traffic.Arrivals = true, sized{simtest.At{0}, wire.Demand{OutputTokens: 10}}
			rep := simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{f}, Provider: p, Plan: minute})
			require.Equal(t, c.diary, d.Lines)
			require.Equal(t, uint64(1), rep.Truth.Dropped)
			require.Equal(t, c.does != faults.Reset{When: faults.AfterHead}, rep.Belief.Useful == 1)
		})
	}
}

// sized is an open fleet's traffic whose calls all ask for the same.
type sized struct {
	simtest.At
	demand wire.Demand
}

func (s sized) Demand(draw.Rand, uint64) wire.Demand { return s.demand }
