package faults

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/mockprovider"
	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// fate is what the naive twin expects of a request to a provider that has room
// for everybody: how it ends, after how long, and whether a head leaves.
type fate struct {
	kind   wire.EffectKind
	after  time.Duration
	worked bool // it was served until then
	head   time.Duration
	reply  wire.Reply // class, body, tokens, and the hint in seconds
}

// naiveFaults work out a fate from the whole list, as the words say it.
type naiveFaults struct {
	list []mockprovider.Fault
	rnd  draw.Rand
	seen []wire.Request // by scripts, with the place of the script in Target.Key
}

func (n *naiveFaults) strikes(i int, now time.Duration, r *wire.Request) bool {
	f := &n.list[i]
	inForce := f.From <= now && (f.To == mockprovider.Forever || now < f.To)
	luck := f.Probability == 0 || n.rnd.For(r.Call).Float(uint64(r.Attempt)<<32+1<<16+uint64(i)) < f.Probability
	return inForce && f.Where.Of(r) && luck
}

// what returns what fault i does to r; nil if it does nothing. Scripts count.
func (n *naiveFaults) what(i int, now time.Duration, r *wire.Request) mockprovider.Disturbance {
	if !n.strikes(i, now, r) {
		return nil
	}
	s, ok := n.list[i].Does.(Script)
	if !ok {
		return n.list[i].Does
	}
	place := int(r.Attempt) - 1
	if !s.ByCall {
		place = 0
		for _, q := range n.seen {
			if int(q.Target.Key) == i && (s.Per == mockprovider.Everyone || q.Account == r.Account) {
				place++
			}
		}
		mine := *r
		mine.Target.Key = uint8(i)
		n.seen = append(n.seen, mine)
	}
	if s.Repeat {
		place %= len(s.Answers)
	}
	if place >= len(s.Answers) {
		return nil
	}
	return s.Answers[place]
}

// over is when no fault refuses r any more for certain, looked for among all
// times at which that may be; Forever if there is none.
func (n *naiveFaults) over(now time.Duration, r *wire.Request) time.Duration {
	times := []time.Duration{now}
	for _, f := range n.list {
		times = append(times, f.To)
	}
	slices.Sort(times)
	for _, at := range times {
		refused := false
		for i, f := range n.list {
			refuses := false
			switch d := f.Does.(type) {
			case Refuse, Expiry, MaskedPermission:
				refuses = true
			case Errors:
				refuses = d.When == AtArrival
			}
			certainly := f.Probability == 0 || f.Probability == 1
			refused = refused || refuses && certainly && n.strikes(i, at, r)
		}
		if at >= now && at != mockprovider.Forever && !refused {
			return at
		}
	}
	return mockprovider.Forever
}

// of returns the fate of r, whose work would take first to its head and each for
// a token.
func (n *naiveFaults) of(now time.Duration, r *wire.Request, first, each time.Duration) fate {
	var scripted mockprovider.Disturbance
	refused := func(i int, class, shown wire.Class, status uint16, h mockprovider.Hint) fate {
		hint := wire.NoHint
		_, script := n.list[i].Does.(Script)
		if over := n.over(now, r); h.Kind != mockprovider.NoHint && !script && n.list[i].Probability*(1-n.list[i].Probability) == 0 && over != mockprovider.Forever {
			if hint = over - now; h.Kind == mockprovider.RoundedUp {
				hint = (hint + time.Second - 1) / time.Second * time.Second
			}
		}
		return fate{kind: wire.Replied, reply: wire.Reply{Class: class, Shown: shown, Status: status, Body: wire.ErrorBody, Hint: wire.Hint{Value: hint}}}
	}
	for i := len(n.list) - 1; i >= 0; i-- {
		d := n.what(i, now, r)
		switch d := d.(type) {
		case Refuse:
			return refused(i, wire.Overloaded, wire.Overloaded, 503, d.Refusal.Hint)
		case Expiry:
			return refused(i, wire.Permission, wire.Permission, 403, d.Refusal.Hint)
		case MaskedPermission:
			return refused(i, wire.Permission, wire.Overloaded, 503, d.Refusal.Hint)
		case Errors:
			if d.When == AtArrival {
				return refused(i, wire.ServerError, wire.ServerError, 500, d.Refusal.Hint)
			}
		case Silence:
			if d.When == AtArrival {
				return fate{kind: wire.Dropped}
			}
		case Unreachable:
			return fate{kind: wire.LostConnection, after: d.After}
		case Reset:
			if d.When == AtArrival {
				return fate{kind: wire.LostConnection}
			}
		case Spoil:
			if d.AtOnce {
				return fate{kind: wire.Replied, reply: wire.Reply{Class: wire.ServerError, Shown: wire.ServerError, Status: 200, Body: d.Body, Hint: wire.Hint{Value: wire.NoHint}}}
			}
		}
		if _, script := n.list[i].Does.(Script); script && scripted == nil && d != nil {
			scripted = d
		}
	}
	return n.served(now, r, first, each, scripted)
}

// served is the fate of a request that is let in.
func (n *naiveFaults) served(now time.Duration, r *wire.Request, first, each time.Duration, scripted mockprovider.Disturbance) fate {
	tokens := r.Demand.OutputTokens
	whole := first + time.Duration(tokens)*each
	slow := func(d Latency) {
		if d.Factor != 0 {
			first, whole = time.Duration(float64(first)*d.Factor+0.5), time.Duration(float64(whole)*d.Factor+0.5)
		}
		first, whole = first+d.Plus, whole+d.Plus
	}
	var last mockprovider.Disturbance
	if d, ok := scripted.(Latency); ok {
		slow(d)
		scripted = nil
	}
	for i := range n.list {
		d := n.list[i].Does
		if e, ok := d.(Errors); ok && e.When == AtArrival || !n.strikes(i, now, r) {
			continue
		}
		switch d := d.(type) {
		case Latency:
			slow(d)
		case Errors, Silence, Reset, Stall, Spoil:
			last = d
		}
	}
	if scripted != nil {
		last = scripted
	}
	x := fate{kind: wire.Replied, worked: true, after: whole, reply: wire.Reply{Status: 200, Hint: wire.Hint{Value: wire.NoHint}, Tokens: tokens}}
	if r.Stream && first < whole {
		x.head = first
	}
	// cut ends a stream, or what need not be one, after so many tokens.
	cut := func(after uint32) {
		if after < tokens {
			x.after = first + (whole-first)*time.Duration(after)/time.Duration(tokens)
		}
		if x.after == first {
			x.head = 0
		}
	}
	answer := func(c wire.Class, b wire.Body, tokens uint32) {
		x.reply.Class, x.reply.Shown, x.reply.Body, x.reply.Tokens = c, c, b, tokens
	}
	switch d := last.(type) {
	case Errors:
		if x.head = 0; r.Stream {
			x.after = first
		}
		answer(wire.Overloaded, wire.ErrorBody, 0)
		x.reply.Status = 503
	case Silence:
		x.kind, x.head = wire.Dropped, 0
	case Stall:
		if x.kind = wire.Dropped; d.Tokens == 0 {
			x.head = 0
		}
	case Reset:
		x.kind = wire.LostConnection
		switch {
		case r.Stream && d.When == AfterHead:
			x.head, x.after = first, first+1
		case r.Stream:
			x.after = first
			fallthrough
		default:
			x.head = 0
		}
	case Spoil:
		got := min(d.Tokens, tokens)
		switch {
		case d.Body == wire.StreamError && r.Stream:
			cut(d.Tokens)
			answer(wire.Overloaded, d.Body, got)
		case d.Body == wire.StreamError:
			cut(d.Tokens)
			answer(wire.Overloaded, wire.ErrorBody, 0)
			x.reply.Status = 503
		case d.Body == wire.SilentEnd && !r.Stream, d.Body == wire.Garbage:
			x.head = 0
			answer(wire.ServerError, wire.Garbage, 0)
		case d.Body == wire.SilentEnd, d.Body == wire.TruncatedBody && r.Stream:
			cut(d.Tokens)
			answer(wire.ConnectionLost, d.Body, got)
		case d.Body == wire.TruncatedBody:
			answer(wire.ConnectionLost, d.Body, 0)
		case d.Body == wire.Doubled:
			answer(wire.OK, d.Body, tokens)
		}
	}
	return x
}

// A provider that has room for everybody does to each request what the list of
// faults says, whatever the faults and whoever comes.
func TestFaultsAgainstNaiveTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const first, each = 10, 4
		cfg := mockprovider.Config{Capacity: mockprovider.Capacity{Service: mockprovider.Service{First: takes(first).First, PerToken: each}}, Space: mockprovider.Space{Accounts: 3}}
		for range rapid.IntRange(1, 6).Draw(t, "faults") {
			cfg.Faults = append(cfg.Faults, faultOf(t, false))
		}
		rnd := draw.New(uint64(rapid.IntRange(0, 100).Draw(t, "seed")))
		p, err := mockprovider.New(cfg, rnd)
		require.NoError(t, err)
		twin := naiveFaults{list: cfg.Faults, rnd: rnd}
		now := time.Duration(0)
		for ticket := range uint32(rapid.IntRange(1, 40).Draw(t, "requests")) {
			now += time.Duration(rapid.IntRange(0, 8).Draw(t, "gap"))
			r := requestOf(t)
			want := twin.of(now, &r, first, each)
			got := fate{}
			out := p.Step(now, &wire.Input{Ticket: ticket, Request: r}, nil)
			if out[0].Kind == wire.Started {
				got.worked, got.after = true, out[0].After
				if len(out) > 1 {
					require.Equal(t, wire.Head, out[1].Kind)
					got.head = out[1].After
				}
				// At once: the fate is sealed.
				out = p.Step(now, &wire.Input{Kind: wire.Done, Job: out[0].Job}, nil)
			} else {
				got.after = out[0].After
			}
			require.Len(t, out, 1)
			if got.kind = out[0].Kind; got.kind == wire.Replied {
				got.reply = out[0].Reply
			} else {
				want.reply = wire.Reply{}
			}
			require.Equal(t, want, got, "request %d at %d: %+v", ticket, now, r)
		}
	})
}
