package faults

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/mockprovider"
	"herdlab/mockprovider/limits"
	"herdlab/mockprovider/providertest"
	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
	"herdlab/sim/saturating"
)

// single draws a disturbance of single requests.
func single(t *rapid.T) mockprovider.Disturbance {
	refusal := mockprovider.Refusal{Hint: mockprovider.Hint{Kind: rapid.SampledFrom([]mockprovider.HintKind{mockprovider.NoHint, mockprovider.Exact, mockprovider.RoundedUp}).Draw(t, "hint")}}
	tokens := rapid.Uint32Range(0, 6).Draw(t, "tokens")
	return rapid.SampledFrom([]mockprovider.Disturbance{
		Refuse{refusal}, Errors{Refusal: refusal}, Errors{Class: wire.Overloaded, When: AfterWork}, Expiry{}, MaskedPermission{refusal},
		Silence{}, Silence{AfterWork}, Stall{tokens}, Unreachable{}, Unreachable{After: 3}, Reset{}, Reset{AfterHead}, Reset{AfterWork},
		Spoil{Body: wire.StreamError, Tokens: tokens}, Spoil{Body: wire.SilentEnd, Tokens: tokens}, Spoil{Body: wire.TruncatedBody, Tokens: tokens},
		Spoil{Body: wire.Garbage}, Spoil{Body: wire.WrongType, AtOnce: true}, Spoil{Body: wire.Doubled},
		Latency{Factor: 3}, Latency{Plus: 7}, Latency{Factor: 0.5, Plus: 1},
	}).Draw(t, "disturbance")
}

// scriptOf draws a script.
func scriptOf(t *rapid.T) mockprovider.Disturbance {
	s := Script{Repeat: rapid.Bool().Draw(t, "repeat"), ByCall: rapid.Bool().Draw(t, "by call")}
	if !s.ByCall {
		s.Per = rapid.SampledFrom([]mockprovider.Counted{mockprovider.Everyone, mockprovider.Account}).Draw(t, "per")
	}
	for range rapid.IntRange(1, 4).Draw(t, "answers") {
		var d mockprovider.Disturbance
		if rapid.Bool().Draw(t, "answered") {
			d = single(t)
		}
		s.Answers = append(s.Answers, d)
	}
	return s
}

// faultOf draws a fault of what may strike single requests or, if whole, all.
func faultOf(t *rapid.T, whole bool) mockprovider.Fault {
	f := mockprovider.Fault{From: time.Duration(rapid.IntRange(0, 60).Draw(t, "from"))}
	f.To = f.From + time.Duration(rapid.IntRange(1, 60).Draw(t, "lasts"))
	if rapid.IntRange(0, 9).Draw(t, "forever") == 0 {
		f.To = mockprovider.Forever
	}
	if whole && rapid.IntRange(0, 2).Draw(t, "whole") == 0 {
		f.Does = rapid.SampledFrom([]mockprovider.Disturbance{
			Brownout{}, Brownout{Percent: 40}, LimitCut{Percent: 50}, LimitCut{Limit: 1}, Skew{Ahead: 13}, Skew{Ahead: -13},
		}).Draw(t, "strain")
		return f
	}
	f.Probability = rapid.SampledFrom([]float64{0, 0, 0.5, 0.9, 1}).Draw(t, "probability")
	if rapid.Bool().Draw(t, "aimed") {
		f.Where.Accounts = mockprovider.Just(uint32(rapid.IntRange(0, 2).Draw(t, "account")))
	}
	if f.Does = single(t); rapid.IntRange(0, 3).Draw(t, "scripted") == 0 {
		f.Does = scriptOf(t)
	}
	return f
}

// requestOf draws a request.
func requestOf(t *rapid.T) wire.Request {
	return wire.Request{
		Call: rapid.Uint64Range(0, 5).Draw(t, "call"), Attempt: rapid.Uint32Range(1, 4).Draw(t, "attempt"),
		Account: rapid.Uint32Range(0, 2).Draw(t, "account"), Stream: rapid.Bool().Draw(t, "stream"),
		Demand: wire.Demand{OutputTokens: rapid.Uint32Range(0, 5).Draw(t, "output")},
	}
}

// driven is a provider that is driven as drivers do: work is done when it said
// so, and ticks come when they were asked for.
type driven struct {
	t      require.TestingT
	p      *mockprovider.Provider
	now    time.Duration
	done   []wire.Effect // Started, with the time of its end in After
	log    []string
	ends   map[uint32]int
	headAt map[uint32]time.Duration
}

func drive(t require.TestingT, cfg mockprovider.Config) *driven {
	p, err := mockprovider.New(cfg, draw.New(1))
	require.NoError(t, err)
	return &driven{t: t, p: p, ends: map[uint32]int{}, headAt: map[uint32]time.Duration{}}
}

// until does what is due up to then.
func (d *driven) until(t time.Duration) {
	for {
		next := d.p.NextTick()
		slices.SortStableFunc(d.done, func(a, b wire.Effect) int { return cmp.Compare(a.After, b.After) })
		switch {
		case len(d.done) > 0 && d.done[0].After <= t && d.done[0].After < next:
			e := d.done[0]
			d.done = d.done[1:]
			d.now = e.After
			d.step(&wire.Input{Kind: wire.Done, Job: e.Job})
		case next <= t:
			require.GreaterOrEqual(d.t, next, d.now)
			d.now = next
			d.step(&wire.Input{Kind: wire.Tick})
			require.Greater(d.t, d.p.NextTick(), d.now)
		default:
			d.now = t
			return
		}
	}
}

// arrive lets a request arrive now.
func (d *driven) arrive(ticket uint32, r wire.Request) {
	d.step(&wire.Input{Kind: wire.Arrive, Ticket: ticket, Request: r})
}

func (d *driven) step(in *wire.Input) {
	for _, e := range d.p.Step(d.now, in, nil) {
		d.log = append(d.log, fmt.Sprintf("%d %s %+v", d.now, providertest.Describe(&e), e.Reply))
		require.GreaterOrEqual(d.t, e.After, time.Duration(0))
		switch e.Kind {
		case wire.Started:
			e.After = saturating.Add(d.now, e.After)
			d.done = append(d.done, e)
		case wire.Head:
			require.Zero(d.t, d.headAt[e.Ticket], "one head for each ticket")
			d.headAt[e.Ticket] = d.now + e.After
		default:
			d.ends[e.Ticket]++
			require.LessOrEqual(d.t, d.headAt[e.Ticket], d.now+e.After, "the head leaves before the end")
		}
	}
}

// Whatever the faults, and whatever is injected, cleared and reset meanwhile,
// each ticket ends once, and in the end nothing is left of any.
func TestEveryTicketEndsOnceWhateverTheFaults(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := mockprovider.Config{
			Limits: []mockprovider.Limit{
				limits.Semaphore{Limit: 4, Terms: mockprovider.Terms{Per: mockprovider.Account}}, limits.Window{Limit: 9, Length: 20}, limits.Joint{Limit: 9, Length: 20},
				limits.SlidingCounter{Limit: 9, Length: 20}, limits.Quota{Limit: 30, Every: 50, At: 7},
			},
			Capacity: mockprovider.Capacity{Slots: 3, Queue: 3, Service: mockprovider.Service{First: takes(5).First, PerToken: 2}}, Space: mockprovider.Space{Accounts: 3},
		}
		for range rapid.IntRange(0, 5).Draw(t, "faults") {
			cfg.Faults = append(cfg.Faults, faultOf(t, true))
		}
		d := drive(t, cfg)
		var tickets uint32
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			d.until(d.now + time.Duration(rapid.IntRange(0, 6).Draw(t, "gap")))
			switch rapid.IntRange(0, 11).Draw(t, "what") {
			case 0:
				f := faultOf(t, true)
				if _, err := d.p.Inject(d.now, f); err != nil {
					require.LessOrEqual(t, f.To, d.now, err)
				}
			case 1:
				if all := d.p.Faults(d.now); len(all) > 0 {
					require.True(t, d.p.Clear(d.now, rapid.SampledFrom(all).Draw(t, "cleared").ID))
				}
			case 2:
				if rapid.IntRange(0, 3).Draw(t, "really") == 0 {
					require.NoError(t, d.p.Reset(d.now))
				}
			case 3:
				require.NoError(t, d.p.SetLimit(d.now, rapid.IntRange(1, 5).Draw(t, "number"), limits.Semaphore{Limit: rapid.Int32Range(1, 9).Draw(t, "limit"), Terms: mockprovider.Terms{Per: mockprovider.Account}}))
			default:
				tickets++
				d.arrive(tickets, requestOf(t))
			}
		}
		for _, f := range d.p.Faults(d.now) {
			d.p.Clear(d.now, f.ID)
		}
		d.until(d.now + 10_000)
		require.Empty(t, d.done)
		require.Zero(t, d.p.Busy())
		require.Zero(t, d.p.Queued())
		require.Len(t, d.ends, int(tickets))
		for ticket, n := range d.ends {
			require.Equal(t, 1, n, "ticket %d", ticket)
		}
		for i := range cfg.Limits {
			for account := range uint32(3) {
				if s, ok := d.p.Standing(i+1, d.now, &wire.Request{Account: account}); ok && i != 4 {
					require.Zero(t, s.Used, "limit %d of account %d", i+1, account)
				}
			}
		}
	})
}

// A fault that is over leaves no trace: if nothing came while it was in force,
// the provider goes on as one that never had it.
func TestClearedFaultsLeaveNoTrace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := mockprovider.Config{
			Limits: []mockprovider.Limit{
				limits.Window{Limit: 6, Length: 40}, limits.SlidingLog{Limit: 8, Length: 40}, limits.SlidingCounter{Limit: 9, Length: 40},
				limits.TokenBucket{Limit: 5, Length: 30, Burst: 5}, limits.Semaphore{Limit: 5},
			},
			Capacity: mockprovider.Capacity{Slots: 2, Queue: 2, Service: mockprovider.Service{First: takes(100).First}}, Space: mockprovider.Space{Accounts: 3},
		}
		rest := rapid.IntRange(0, len(cfg.Limits)).Draw(t, "limits")
		cfg.Limits = cfg.Limits[:rest]
		never, once := drive(t, cfg), drive(t, cfg)
		both := func(f func(d *driven)) {
			f(never)
			f(once)
		}
		play := func(tickets uint32) {
			for i := range uint32(rapid.IntRange(1, 15).Draw(t, "requests")) {
				gap, r := time.Duration(rapid.IntRange(0, 20).Draw(t, "gap")), requestOf(t)
				both(func(d *driven) {
					d.until(d.now + gap)
					d.arrive(tickets+i, r)
				})
			}
		}
		play(0)
		// Nothing is done between the times at which it is injected and over.
		quiet := never.now + 50
		for _, e := range never.done {
			if e.After > never.now {
				quiet = min(quiet, e.After)
			}
		}
		f := faultOf(t, true)
		if _, skews := f.Does.(Skew); skews {
			t.Skip("it moves windows")
		}
		f.From, f.To = never.now+1, mockprovider.Forever
		if rest == 0 {
			if _, cuts := f.Does.(LimitCut); cuts {
				t.Skip("there is nothing to cut")
			}
		}
		both(func(d *driven) { d.until(d.now) })
		if rapid.Bool().Draw(t, "cleared") {
			id, err := once.p.Inject(once.now, f)
			require.NoError(t, err)
			both(func(d *driven) { d.until(max(d.now, quiet-1)) })
			require.True(t, once.p.Clear(once.now, id))
			require.False(t, once.p.Clear(once.now, id))
		} else if f.To = quiet; f.To > f.From {
			_, err := once.p.Inject(once.now, f)
			require.NoError(t, err)
		}
		both(func(d *driven) { d.until(max(d.now, quiet)) })
		require.Empty(t, once.p.Faults(once.now))
		play(100)
		both(func(d *driven) { d.until(d.now + 10_000) })
		require.Equal(t, never.log, once.log)
	})
}

// What is injected before it begins is what is configured: its number is the
// same, and so is its luck.
func TestInjectedIsConfigured(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := mockprovider.Config{
			Limits:   []mockprovider.Limit{limits.Window{Limit: 9, Length: 40}},
			Capacity: mockprovider.Capacity{Slots: 2, Queue: 2, Service: mockprovider.Service{First: takes(10).First, PerToken: 2}}, Space: mockprovider.Space{Accounts: 3},
		}
		f, g := faultOf(t, true), faultOf(t, true)
		injected := drive(t, cfg)
		for i, f := range []mockprovider.Fault{f, g} {
			id, err := injected.p.Inject(0, f)
			require.NoError(t, err)
			require.Equal(t, i, id)
		}
		cfg.Faults = []mockprovider.Fault{f, g}
		configured := drive(t, cfg)
		for i := range uint32(rapid.IntRange(1, 30).Draw(t, "requests")) {
			gap, r := time.Duration(rapid.IntRange(0, 9).Draw(t, "gap")), requestOf(t)
			for _, d := range []*driven{injected, configured} {
				d.until(d.now + gap)
				d.arrive(i, r)
			}
		}
		injected.until(1000)
		configured.until(1000)
		require.Equal(t, configured.log, injected.log)
	})
}

// The share of attempts that a fault strikes is its probability, each attempt
// has luck of its own, and so has each fault.
func TestProbability(t *testing.T) {
	const n = 20_000
	for _, c := range []mockprovider.Disturbance{Silence{}, Silence{AfterWork}} {
		for _, prob := range []float64{0.05, 0.5, 0.9} {
			fault := mockprovider.Fault{To: mockprovider.Forever, Probability: prob, Does: c}
			p, err := mockprovider.New(mockprovider.Config{Faults: []mockprovider.Fault{fault, fault}}, draw.New(7))
			require.NoError(t, err)
			lone, err := mockprovider.New(mockprovider.Config{Faults: []mockprovider.Fault{fault}}, draw.New(7))
			require.NoError(t, err)
			struck := func(p *mockprovider.Provider, r wire.Request) bool {
				out := p.Step(0, &wire.Input{Request: r}, nil)
				if out[0].Kind == wire.Started {
					out = p.Step(0, &wire.Input{Kind: wire.Done, Job: out[0].Job}, nil)
				}
				return out[0].Kind == wire.Dropped
			}
			var first, second, both, either float64
			for i := range uint64(n) {
				a := struck(lone, wire.Request{Call: i, Attempt: 1})
				b := struck(lone, wire.Request{Call: i, Attempt: 2})
				require.Equal(t, a, struck(lone, wire.Request{Call: i, Attempt: 1}), "luck belongs to the attempt")
				first, second, both = first+oneIf(a), second+oneIf(b), both+oneIf(a && b)
				either += oneIf(struck(p, wire.Request{Call: i, Attempt: 1}))
			}
			within := func(want, got float64, what string) {
				require.InDelta(t, want, got/n, 4*math.Sqrt(want*(1-want)/n), "%s %v %g: %s", c.Name(), c, prob, what)
			}
			within(prob, first, "first attempts")
			within(prob, second, "second attempts")
			within(prob*prob, both, "both")
			within(1-(1-prob)*(1-prob), either, "one of two faults")
		}
	}
}

func oneIf(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
