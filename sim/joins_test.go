package sim_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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

// Equal calls share one attempt: its answer is everybody's, once it is there.
func TestSingleFlight(t *testing.T) {
	p := simtest.Program(t, asking(1), flight{scope: strategies.PerFleet})
	f := simtest.Arriving(p, 0, ms, 2*ms, 3*ms, 50*ms) // calls 1 and 3 ask 1, the others nothing
	rep := simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{f}, Provider: simtest.Answering(10 * ms), Plan: minute})
	require.EqualValues(t, 4, rep.Belief.Attempts)
	require.EqualValues(t, 5, rep.Belief.Useful)
	require.EqualValues(t, 1, rep.Belief.Shared)
	require.Equal(t, 1.0, rep.Values()[metrics.SharedAnswers])
}

// A crowd that asks one thing sends one attempt at a time, whatever the scope's
// members; the wider the scope, the fewer attempts.
func TestFlightsByScope(t *testing.T) {
	for scope, want := range map[strategies.Scope]uint64{
		strategies.PerClient: 2 * 10, strategies.PerFleet: 2, strategies.PerEveryone: 1,
	} {
		commons := strategies.NewSharedMemory()
		x := sim.Experiment{Provider: simtest.Answering(10 * ms), Plan: minute, Commons: commons}
		for range 2 {
			// Three calls of each of ten clients at once: an open fleet.
			f := sim.Fleet{Name: "fleet", Program: simtest.ProgramIn(t, commons, flight{scope: scope, name: "news"}),
				Traffic: traffic.Traffic{Clients: 10, Arrivals: crowd{calls: 30, prompt: 9}}}
			x.Fleets = append(x.Fleets, f)
		}
		rep := simtest.Run(t, x)
		require.Equal(t, want, rep.Belief.Attempts, scope)
		require.EqualValues(t, 60, rep.Belief.Useful, scope)
		require.Equal(t, 60-want, rep.Belief.Shared, scope)
	}
}

// crowd is so many calls at 0 that ask the same.
type crowd struct {
	calls  uint64
	prompt uint32
}

func (c crowd) Next(_ draw.Rand, i uint64, _ time.Duration) (time.Duration, bool) {
	return 0, i < c.calls
}

func (c crowd) Demand(draw.Rand, uint64) wire.Demand { return wire.Demand{Prompt: c.prompt} }

// A leader's failure is its followers' too, with what the provider asked for; a
// loop outside has each of them try again, and the first to come back leads.
func TestLeadersThatFail(t *testing.T) {
	p := simtest.Program(t, layers.Retry{Backoff: backoffs.Fixed{Every: 20 * ms}, MaxAttempts: 2}, flight{scope: strategies.PerFleet})
	refuse := 1
	server := &simtest.Server{Arrive: func(_ time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
		if refuse--; refuse >= 0 {
			e := simtest.Reply(in.Ticket, ms, wire.Overloaded)
			e.Reply.Hint.Value = 100 * ms
			return append(out, e)
		}
		return append(out, simtest.Reply(in.Ticket, ms, wire.OK))
	}}
	f := sim.Fleet{Name: "fleet", Program: p, Traffic: traffic.Traffic{Clients: 5, Calls: 1, Size: wire.Demand{Prompt: 3}}}
	rep := simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{f}, Provider: server, Plan: minute})
	require.EqualValues(t, 2, rep.Belief.Attempts)
	require.EqualValues(t, 5, rep.Belief.Useful)
	require.EqualValues(t, 4, rep.Belief.Shared)
	require.Equal(t, 102*ms, rep.End, "followers heard the hint as well")
}

// A leader whose caller gives up passes the lead on: the next in line asks, and
// the others wait for that one.
func TestLeadersThatAreWithdrawn(t *testing.T) {
	for _, c := range []struct {
		times                    simtest.At
		lines                    []string
		useful, shared, attempts uint64
	}{
		{simtest.At{0, 80 * ms, 90 * ms}, []string{
			"0s c0 begin", "100ms c0 settled 1 cancelled", "100ms c0 cancelled", "100ms c1 begin", "140ms c1 reply 1 ok",
		}, 2, 1, 2},
		{simtest.At{0, 10 * ms, 90 * ms}, []string{ // the second has no time either
			"0s c0 begin", "100ms c0 settled 1 cancelled", "100ms c0 cancelled", "100ms c1 begin",
			"110ms c1 settled 1 cancelled", "110ms c1 cancelled", "110ms c2 begin", "150ms c2 reply 1 ok",
		}, 1, 0, 3},
	} {
		var d simtest.EventLog
		f := simtest.Arriving(simtest.Program(t, flight{scope: strategies.PerFleet}, d.Record("c")))
		f.Traffic.Arrivals, f.Patience = asks{c.times, 5}, 100*ms
		late := &simtest.Server{Arrive: func(now time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
			after := 40 * ms
			if now == 0 {
				after = time.Second
			}
			return append(out, simtest.Reply(in.Ticket, after, wire.OK))
		}}
		rep := simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{f}, Provider: late, Plan: minute})
		require.Equal(t, c.lines, d.Lines)
		require.Equal(t, c.useful, rep.Belief.Useful)
		require.Equal(t, c.shared, rep.Belief.Shared)
		require.Equal(t, c.attempts, rep.Belief.Attempts)
		require.Equal(t, 3-c.useful, rep.Belief.Cancelled)
	}
}

// asks is an open fleet's traffic that asks one thing.
type asks struct {
	simtest.At
	prompt uint32
}

func (a asks) Demand(draw.Rand, uint64) wire.Demand { return wire.Demand{Prompt: a.prompt} }

// A follower that loses patience leaves, and the others lose nothing.
func TestFollowersThatLeave(t *testing.T) {
	f := sim.Fleet{Name: "fleet", Program: simtest.Program(t, flight{scope: strategies.PerFleet}),
		Traffic: traffic.Traffic{Clients: 1, Arrivals: asks{simtest.At{0, 10 * ms}, 5}}}
	impatient := f
	impatient.Name, impatient.Patience = "impatient", 30*ms
	commons := strategies.NewSharedMemory()
	f.Program = simtest.ProgramIn(t, commons, flight{scope: strategies.PerEveryone, name: "news"})
	impatient.Program = simtest.ProgramIn(t, commons, flight{scope: strategies.PerEveryone, name: "news"})
	impatient.Traffic.Arrivals = asks{simtest.At{5 * ms, 15 * ms, 75 * ms}, 5}
	rep := simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{f, impatient}, Provider: simtest.Answering(80 * ms), Plan: minute, Commons: commons})
	require.EqualValues(t, 1, rep.Belief.Attempts)
	require.EqualValues(t, 3, rep.Belief.Useful)
	require.EqualValues(t, 2, rep.Belief.Cancelled)
}

// A leader that ends without a word about its flight passes the lead on as well:
// nobody hangs.
func TestLeadersThatForget(t *testing.T) {
	forgetful := simtest.Layer(func(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
		_, err := b.Flight(strategies.Flight{Scope: strategies.PerFleet}, inner)
		return simtest.Deciding(func(_ time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
			switch e.Kind {
			case strategies.Begin:
				return strategies.Decision{Kind: strategies.Join, Take: strategies.Take{N: 1}}
			case strategies.Admitted:
				return simtest.Send()
			}
			return simtest.Stop(strategies.Failed)
		}), err
	})
	rep := simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{simtest.OneShot(4, simtest.Program(t, forgetful))}, Provider: simtest.Answering(ms), Plan: minute})
	require.EqualValues(t, 4, rep.Belief.Attempts)
	require.EqualValues(t, 4, rep.Belief.Failed)
	require.Equal(t, 4*ms, rep.End)
}

// Strategies that fly wrong stop the run with an error that says how.
func TestFlightErrors(t *testing.T) {
	join := strategies.Decision{Kind: strategies.Join, Take: strategies.Take{N: 1}}
	for want, f := range map[string]simtest.Deciding{
		`sim: strategy "test" joins a flight for a call that is already in a flight`: func(time.Duration, *strategies.Call, strategies.Event) strategies.Decision {
			return join
		},
		`sim: strategy "test" lands a flight that its call does not lead`: func(_ time.Duration, c *strategies.Call, _ strategies.Event) strategies.Decision {
			c.Land(0, 1, strategies.End{})
			return simtest.Send()
		},
		`sim: strategy "test" joins a flight of table 1, but has 1 tables`: func(time.Duration, *strategies.Call, strategies.Event) strategies.Decision {
			return strategies.Decision{Kind: strategies.Join, Take: strategies.Take{Pool: 1, N: 1}}
		},
	} {
		stack := simtest.Layer(func(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
			_, err := b.Flight(strategies.Flight{Scope: strategies.PerFleet}, inner)
			return f, err
		})
		x := sim.Experiment{Fleets: []sim.Fleet{simtest.OneShot(1, simtest.Program(t, stack))}, Provider: simtest.Answering(time.Second), Plan: minute}
		_, err := x.Run(t.Context())
		require.EqualError(t, err, want)
	}
}
