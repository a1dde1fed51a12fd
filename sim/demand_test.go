package sim_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/sim"
	"herdlab/sim/draw"
	"herdlab/sim/simtest"
	"herdlab/sim/traffic"
	"herdlab/strategies"
)

// noting is a provider that writes down what it is asked, and refuses the first
// so many times.
func noting(refuse int, after time.Duration) (*simtest.Server, *[]wire.Request) {
	var seen []wire.Request
	return &simtest.Server{Arrive: func(_ time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
		seen = append(seen, in.Request)
		if refuse--; refuse >= 0 {
			return append(out, simtest.Reply(in.Ticket, after, wire.Overloaded))
		}
		return append(out, simtest.Reply(in.Ticket, after, wire.OK))
	}}, &seen
}

func inputs(seen []wire.Request) (n []uint32) {
	for i := range seen {
		n = append(n, seen[i].Demand.InputTokens)
	}
	return n
}

// What a layer makes of a demand is what the next attempt asks for, and the next
// call begins with its own.
func TestChangedDemandReachesTheWire(t *testing.T) {
	server, seen := noting(2, ms)
	f := sim.Fleet{Name: "fleet", Program: simtest.Program(t, shrink{ms}), Up: draw.Const(3 * ms),
		Traffic: traffic.Traffic{Clients: 1, Calls: 2, Size: wire.Demand{InputTokens: 800, OutputTokens: 90, MaxTokens: 7, Prompt: 6, Priority: 5}}}
	rep := simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{f}, Provider: server, Plan: minute})
	require.Equal(t, []uint32{800, 400, 200, 800}, inputs(*seen))
	require.Equal(t, wire.Demand{InputTokens: 200, OutputTokens: 22, MaxTokens: 7, Prompt: 6, Priority: 5}, (*seen)[2].Demand)
	require.Equal(t, "shrunk", rep.Signals[0].Reason)
	require.EqualValues(t, 2, rep.Signals[0].Count)
	require.Equal(t, 4*ms, rep.Signals[0].First)
}

// An attempt asks for what it was sent with, although its call has changed its
// mind, or has given its row to another, before it arrives.
func TestAnAttemptAsksForWhatItWasSentWith(t *testing.T) {
	server, seen := noting(0, 0)
	later := simtest.Layer(func(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
		b.ChangesDemand()
		b.WantSent()
		return simtest.Deciding(func(now time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
			if e.Kind == strategies.Sent {
				c.Demand.OutputTokens = 99
			}
			return inner.Next(now, c, e)
		}), nil
	})
	f := sim.Fleet{Name: "fleet", Program: simtest.Program(t, later), Up: draw.Const(50 * ms), Patience: 10 * ms,
		Traffic: traffic.Traffic{Clients: 1, Arrivals: numbered{0, 20 * ms, 45 * ms}}}
	simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{f}, Provider: server, Plan: minute})
	require.Len(t, *seen, 3)
	for i, r := range *seen {
		require.EqualValues(t, r.Call, i)
		require.Equal(t, numbered{}.Demand(draw.Rand{}, uint64(i)), r.Demand, "all of them were withdrawn by then")
	}
}

// Fleets whose stacks change demands live beside others.
func TestChangedDemandsBesideOthers(t *testing.T) {
	server, seen := noting(1, 0)
	size := wire.Demand{InputTokens: 64}
	x := sim.Experiment{Provider: server, Plan: minute, Fleets: []sim.Fleet{
		{Name: "plain", Program: simtest.Program(t), Traffic: traffic.Traffic{Clients: 2, Calls: 1, Start: draw.Const(5 * ms), Size: size}},
		{Name: "shrinking", Program: simtest.Program(t, shrink{ms}), Traffic: traffic.Traffic{Clients: 1, Calls: 1, Size: size}},
		{Name: "open", Program: simtest.Program(t, shrink{ms}), Traffic: traffic.Traffic{Clients: 2, Arrivals: traffic.Stream{Gap: draw.Const(10 * ms), Until: 35 * ms, Size: size}}},
	}}
	simtest.Run(t, x)
	require.Equal(t, []uint32{64, 32, 64, 64, 64, 64, 64}, inputs(*seen))
}

// Requests come from where their clients are.
func TestAddresses(t *testing.T) {
	server, seen := noting(0, 0)
	traffic := traffic.Traffic{Clients: 3, Calls: 1}
	simtest.Run(t, sim.Experiment{Provider: server, Plan: minute, Fleets: []sim.Fleet{
		{Name: "one house", Program: simtest.Program(t), Traffic: traffic, Address: 70, AccountPerClient: true},
		{Name: "many", Program: simtest.Program(t), Traffic: traffic, Address: 80, AddressPerClient: true, Account: 9},
	}})
	var from, account []uint32
	for _, r := range *seen {
		from, account = append(from, r.Address), append(account, r.Account)
	}
	require.Equal(t, []uint32{70, 70, 70, 80, 81, 82}, from)
	require.Equal(t, []uint32{0, 1, 2, 9, 9, 9}, account)
}
