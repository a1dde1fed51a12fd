package sim_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/faults"
	"herdlab/mockprovider/wire"
	"herdlab/sim"
	"herdlab/sim/draw"
	"herdlab/sim/metrics"
	"herdlab/sim/simtest"
	"herdlab/sim/traffic"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
)

// A provider that names the hour is obeyed by each client's own clock: the
// client comes back skewed by as much as its clock is.
func TestDatesAreObeyedByTheClientsClock(t *testing.T) {
	const opens = 60 * time.Second
	for _, c := range []struct {
		skew     time.Duration
		arrivals []time.Duration
	}{
		{0, []time.Duration{0, opens}},
		{-5 * time.Second, []time.Duration{0, opens + 5*time.Second}}, // behind: late
		// Ahead: refused again at 55 s, when the clock shows the hour already;
		// from then on only the loop's own base delay keeps it apart.
		{5 * time.Second, []time.Duration{0, 55 * time.Second, 57 * time.Second, 59 * time.Second, 61 * time.Second}},
	} {
		var arrivals []time.Duration
		inner := simtest.Provider(t, mockprovider.Config{Faults: []mockprovider.Fault{
			faults.Outage(0, opens, mockprovider.As503.WithHint(mockprovider.Hint{Kind: mockprovider.Exact}).WithSpelling(wire.HeaderTime)),
		}}, 1)
		p := &simtest.Server{Arrive: func(now time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
			arrivals = append(arrivals, now)
			return inner.Step(now, in, out)
		}, Other: inner.Step}
		f := simtest.Arriving(simtest.Program(t, layers.Retry{Backoff: backoffs.Fixed{Every: 2 * time.Second}}), 0)
		f.Skew = draw.Const(c.skew)
		rep := simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{f}, Provider: p, Plan: metrics.Plan{Horizon: 2 * time.Minute}})
		require.Equal(t, uint64(1), rep.Belief.Useful, "skew %v", c.skew)
		require.Equal(t, c.arrivals, arrivals, "skew %v", c.skew)
	}
}

// A clock belongs to its client: it is as wrong in its second call as in its
// first, and the clients of a fleet are wrong by different amounts.
func TestAClockBelongsToItsClient(t *testing.T) {
	const clients = 20
	returns := map[uint32][]time.Duration{} // by client: when it came back, after the hour named
	p := &simtest.Server{}
	first := map[uint64]bool{}
	p.Arrive = func(now time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
		if first[in.Request.Call] {
			returns[in.Request.Account] = append(returns[in.Request.Account], now%(10*time.Second))
			return append(out, simtest.Reply(in.Ticket, 0, wire.OK))
		}
		first[in.Request.Call] = true
		e := simtest.Reply(in.Ticket, 0, wire.Rate)
		e.Reply.Hint.Value, e.Reply.Hint.Spelling = now-now%(10*time.Second)+10*time.Second, wire.HeaderTime
		return append(out, e)
	}
	f := sim.Fleet{
		Name:             "fleet",
		Traffic:          traffic.Traffic{Clients: clients, Calls: 2, Start: draw.Const(time.Second), Think: draw.Const(8 * time.Second)},
		Program:          simtest.Program(t, layers.Retry{Backoff: backoffs.Fixed{}}),
		AccountPerClient: true,
		Skew:             draw.Between(-4*time.Second, 0), // behind, so that nobody is early
	}
	simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{f}, Provider: p, Plan: minute})
	require.Len(t, returns, clients)
	different := map[time.Duration]bool{}
	for client, late := range returns {
		require.Len(t, late, 2, "client %d", client)
		require.Equal(t, late[0], late[1], "client %d", client)
		require.Less(t, late[0], 4*time.Second)
		different[late[0]] = true
	}
	require.Len(t, different, clients, "clocks that are all wrong by the same are not the clients' own")
}
