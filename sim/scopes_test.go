package sim_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/sim"
	"herdlab/sim/draw"
	"herdlab/sim/simtest"
	"herdlab/sim/traffic"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
)

// counting is a guard that counts what it lets in, in one word of each scope,
// and notes what it read.
type counting struct{ seen map[string][4]int64 }

func (k counting) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	var g countingGuard
	for scope := range strategies.Scope(strategies.NumScopes) {
		s, err := b.Reserve(scope, 1, "counter")
		if err != nil {
			return nil, err
		}
		g.words[scope] = s
	}
	g.seen = k.seen
	return b.Guard(&g, inner)
}

type countingGuard struct {
	words [strategies.NumScopes]strategies.Slot
	seen  map[string][4]int64
}

func (g *countingGuard) Admit(now time.Duration, c *strategies.Call) strategies.Decision {
	var values [4]int64
	for scope := range g.words {
		w := c.Word(g.words[scope], 0)
		*w++
		values[scope] = *w
	}
	g.seen[fmt.Sprintf("%v client %d call %#x", now, c.Client, c.ID)] = values
	return strategies.Decision{}
}

func (*countingGuard) Observe(time.Duration, *strategies.Call, strategies.Event, strategies.Decision) {
}

// A word is shared by exactly those of its scope: a call's begins at zero, a
// client's lasts from call to call, a fleet's is the fleet's, and everyone's is
// one for all programs with the same commons.
func TestScopes(t *testing.T) {
	for _, open := range []bool{false, true} {
		commons := strategies.NewSharedMemory()
		seen := [2]map[string][4]int64{{}, {}}
		var x sim.Experiment
		for i := range seen {
			// Every first attempt of a call is refused, so a call begins twice.
			p := simtest.ProgramIn(t, commons, layers.Retry{Backoff: backoffs.Fixed{Every: ms}}, counting{seen[i]})
			f := sim.Fleet{Name: "fleet", Program: p, Traffic: traffic.Traffic{
				Clients: 2, Calls: 2, Start: draw.Const(time.Duration(i) * 10 * ms), Think: draw.Const(100 * ms),
			}}
			if open { // the same days, as arrivals
				d := time.Duration(i) * 10 * ms
				f.Traffic = traffic.Traffic{Clients: 2, Arrivals: simtest.At{d, d, d + 101*ms, d + 101*ms}}
			}
			x.Fleets = append(x.Fleets, f)
		}
		x.Commons, x.Plan = commons, minute
		x.Provider = &simtest.Server{Arrive: func(_ time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
			class := wire.OK
			if in.Request.Attempt == 1 {
				class = wire.Overloaded
			}
			return append(out, simtest.Reply(in.Ticket, 0, class))
		}}
		simtest.Run(t, x)
		// call, client, fleet, everyone.
		second := func(client uint64) string {
			if open {
				return fmt.Sprintf("%#x", 2+client)
			}
			return fmt.Sprintf("%#x", client<<32|1)
		}
		first := func(client uint64) string {
			if open {
				return fmt.Sprintf("%#x", client)
			}
			return fmt.Sprintf("%#x", client<<32)
		}
		require.Equal(t, map[string][4]int64{
			"0s client 0 call " + first(0):     {1, 1, 1, 1},
			"0s client 1 call " + first(1):     {1, 1, 2, 2},
			"1ms client 0 call " + first(0):    {2, 2, 3, 3},
			"1ms client 1 call " + first(1):    {2, 2, 4, 4},
			"101ms client 0 call " + second(0): {1, 3, 5, 9},
			"101ms client 1 call " + second(1): {1, 3, 6, 10},
			"102ms client 0 call " + second(0): {2, 4, 7, 11},
			"102ms client 1 call " + second(1): {2, 4, 8, 12},
		}, seen[0], "open %v", open)
		require.Equal(t, map[string][4]int64{
			"10ms client 0 call " + first(0):   {1, 1, 1, 5},
			"10ms client 1 call " + first(1):   {1, 1, 2, 6},
			"11ms client 0 call " + first(0):   {2, 2, 3, 7},
			"11ms client 1 call " + first(1):   {2, 2, 4, 8},
			"111ms client 0 call " + second(0): {1, 3, 5, 13},
			"111ms client 1 call " + second(1): {1, 3, 6, 14},
			"112ms client 0 call " + second(0): {2, 4, 7, 15},
			"112ms client 1 call " + second(1): {2, 4, 8, 16},
		}, seen[1], "open %v", open)
	}
}

// Requests carry whose they are: fleets tell their calls apart, charge their
// accounts, and send to their targets, unless a strategy sends elsewhere.
func TestFleetsAccountsAndTargets(t *testing.T) {
	elsewhere := simtest.Script(func(_ time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
		switch {
		case e.Kind == strategies.Begin:
			return simtest.Send()
		case e.Outcome.OK():
			return simtest.Stop(strategies.Succeeded)
		}
		c.Target.Region++
		return simtest.Send()
	})
	type request struct {
		call    uint64
		attempt uint32
		account uint32
		target  wire.Target
		stream  bool
	}
	var got []request
	p := &simtest.Server{Arrive: func(_ time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
		r := &in.Request
		got = append(got, request{r.Call, r.Attempt, r.Account, r.Target, r.Stream})
		class := wire.OK
		if r.Target.Region == 7 {
			class = wire.Overloaded
		}
		return append(out, simtest.Reply(in.Ticket, 0, class))
	}}
	start := func(d time.Duration, n int) traffic.Traffic {
		return traffic.Traffic{Clients: n, Calls: 1, Start: draw.Const(d)}
	}
	simtest.Run(t, sim.Experiment{Provider: p, Plan: minute, Fleets: []sim.Fleet{
		{Name: "a", Program: simtest.Program(t), Traffic: start(0, 2), Account: 3, AccountPerClient: true, Target: wire.Target{Model: 1}},
		{Name: "b", Program: simtest.Program(t), Traffic: start(ms, 2), Account: 9, Stream: true, Target: wire.Target{Key: 2}},
		{Name: "c", Program: simtest.Program(t, elsewhere), Traffic: start(2*ms, 1), Target: wire.Target{Region: 7}},
	}})
	require.Equal(t, []request{
		{0, 1, 3, wire.Target{Model: 1}, false}, {1 << 32, 1, 4, wire.Target{Model: 1}, false},
		{1 << 56, 1, 9, wire.Target{Key: 2}, true}, {1<<56 | 1<<32, 1, 9, wire.Target{Key: 2}, true},
		{2 << 56, 1, 0, wire.Target{Region: 7}, false}, {2 << 56, 2, 0, wire.Target{Region: 8}, false},
	}, got)
}

// A strategy sees what its call asks for, and so does the provider.
func TestDemand(t *testing.T) {
	var seen, served []uint32
	look := simtest.Layer(func(_ *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
		return simtest.Deciding(func(now time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
			seen = append(seen, c.Demand.OutputTokens)
			return inner.Next(now, c, e)
		}), nil
	})
	p := &simtest.Server{Arrive: func(_ time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
		served = append(served, in.Request.Demand.OutputTokens)
		return append(out, simtest.Reply(in.Ticket, 10*ms, wire.OK))
	}}
	open := simtest.Arriving(simtest.Program(t, look), 0)
	open.Traffic.Arrivals = numbered{0, 5 * ms, 20 * ms}
	closed := simtest.OneShot(1, simtest.Program(t, look))
	closed.Traffic.Start, closed.Traffic.Size = draw.Const(7*ms), wire.Demand{OutputTokens: 70}
	simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{open, closed}, Provider: p, Plan: minute})
	require.Equal(t, []uint32{1, 2, 70, 1, 2, 70, 3, 3}, seen) // begin and reply of each
	require.Equal(t, []uint32{1, 2, 70, 3}, served)
}

// Loops inside loops multiply: three tries of four of five attempts are 60.
func TestLoopsMultiply(t *testing.T) {
	tries := func(n int) strategies.Layer {
		return layers.Retry{Backoff: backoffs.Fixed{Every: ms}, MaxAttempts: n}
	}
	rep := simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{simtest.OneShot(2, simtest.Program(t, tries(3), tries(4), tries(5)))}, Provider: simtest.Refusing(1000), Plan: minute})
	require.EqualValues(t, 2*3*4*5, rep.Belief.Attempts)
	require.EqualValues(t, 2, rep.Belief.Failed)
	require.Equal(t, 59*ms, rep.End) // one wait fewer than attempts
}
