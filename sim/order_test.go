package sim_test

import (
	"fmt"
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
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
)

// A slot that becomes free at t serves the request that arrives at t, however
// the request got there: a new call, a wake-up, or the end of a way.
func TestASlotFreedServesTheArrivalOfThatInstant(t *testing.T) {
	retry := layers.Retry{Backoff: backoffs.Fixed{Every: 60 * ms}}
	for name, f := range map[string]sim.Fleet{
		"a call":    simtest.Arriving(simtest.Program(t), 0, 100*ms),
		"a wake-up": simtest.Arriving(simtest.Program(t, retry), 0, 40*ms),
		"a way": {Name: "fleet", Program: simtest.Program(t), Up: draw.Const(25 * ms),
			Traffic: traffic.Traffic{Clients: 1, Arrivals: simtest.At{0, 100 * ms}}},
		"a client's next": {Name: "fleet", Program: simtest.Program(t),
			Traffic: traffic.Traffic{Clients: 1, Calls: 2}},
	} {
		rep := simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{f}, Provider: simtest.Provider(t, simtest.Serves(1, 0, draw.Const(100*ms)), 1), Plan: minute})
		require.EqualValues(t, 2, rep.Belief.Useful, name)
	}
}

// An outage lasts from ≤ t < to.
func TestOutageEdges(t *testing.T) {
	cfg := simtest.Serves(0, 0, draw.Const(ms))
	cfg.Faults = []mockprovider.Fault{faults.Outage(100*ms, 200*ms, mockprovider.As503)}
	f := simtest.Arriving(simtest.Program(t), 100*ms-1, 100*ms, 200*ms-1, 200*ms)
	rep := simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{f}, Provider: simtest.Provider(t, cfg, 1),
		Plan: metrics.Plan{Horizon: time.Second, Bin: 10 * ms, FaultBegin: 100 * ms, FaultEnd: 200 * ms}})
	require.EqualValues(t, 2, rep.Belief.Useful)
	require.EqualValues(t, 2, rep.Belief.Failed)
	require.EqualValues(t, 2, rep.AttemptsInFault)
}

// The order at one instant, by a provider and a strategy that are asked to do
// everything at 100 ms.
func TestOrderAtOneInstant(t *testing.T) {
	var log []string
	note := func(format string, args ...any) { log = append(log, fmt.Sprintf(format, args...)) }
	mock := &simtest.Server{Tick: 100 * ms}
	mock.Arrive = func(now time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
		note("%v arrival of call %#x attempt %d", now, in.Request.Call, in.Request.Attempt)
		switch in.Request.Call {
		case 0: // works until 100 ms
			return append(out, wire.Effect{Kind: wire.Started, Ticket: in.Ticket, After: 100 * ms})
		case 2: // is answered at 100 ms
			return append(out, simtest.Reply(in.Ticket, 100*ms, wire.OK))
		case 3: // never
			return append(out, wire.Effect{Kind: wire.Dropped, Ticket: in.Ticket})
		case 4: // refused, so that it waits until 100 ms
			return append(out, simtest.Reply(in.Ticket, 0, wire.Overloaded))
		}
		return append(out, simtest.Reply(in.Ticket, 0, wire.OK))
	}
	mock.Other = func(now time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
		switch in.Kind {
		case wire.Tick:
			note("%v tick", now)
			mock.Tick = 0
		case wire.Done:
			note("%v done", now)
			return append(out, simtest.Reply(0, 0, wire.OK))
		}
		return out
	}
	told := simtest.Script(func(now time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
		if now == 100*ms {
			note("%v call %d: %s", now, c.ID, simtest.EventNames[e.Kind])
		}
		switch e.Kind {
		case strategies.Begin, strategies.Wake:
			if c.ID == 5 || c.ID == 6 {
				return strategies.Decision{Kind: strategies.Acquire, Take: strategies.Take{N: 1}}
			}
			return strategies.Decision{Kind: strategies.Send, After: 100 * ms}
		case strategies.Admitted:
			return simtest.Send()
		case strategies.Reply:
			if e.Outcome.Class == wire.Overloaded && c.Attempts == 1 {
				return simtest.Wait(100 * ms)
			}
			return simtest.Stop(strategies.Succeeded)
		}
		return simtest.Stop(strategies.Failed)
	})
	pooled := simtest.Layer(func(b *strategies.Build, s strategies.Strategy) (strategies.Strategy, error) {
		inner, err := told.Build(b, s)
		if err == nil { // call 5 finds a token, call 6 the next at 100 ms
			_, err = layers.TokenBucket{Rate: 1, Per: 100 * ms, Burst: 1, Scope: strategies.PerFleet}.Build(b, inner)
		}
		return inner, err
	})
	late := sim.Fleet{Name: "late", Program: simtest.Program(t), Up: draw.Const(10 * ms), Traffic: traffic.Traffic{Clients: 1, Arrivals: simtest.At{90 * ms}}}
	next := sim.Fleet{Name: "next", Program: simtest.Program(t), Traffic: traffic.Traffic{Clients: 1, Calls: 1, Start: draw.Const(100 * ms)}}
	simtest.Run(t, sim.Experiment{Provider: mock, Plan: minute, Fleets: []sim.Fleet{
		simtest.Arriving(simtest.Program(t, pooled), 0, 0, 0, 0, 0, 0, 0, 100*ms), late, next,
	}})
	require.Equal(t, []string{
		"0s arrival of call 0x0 attempt 1", "0s arrival of call 0x1 attempt 1", "0s arrival of call 0x2 attempt 1",
		"0s arrival of call 0x3 attempt 1", "0s arrival of call 0x4 attempt 1", "0s arrival of call 0x5 attempt 1",
		"100ms tick",
		"100ms done", "100ms call 0: reply",
		fmt.Sprintf("100ms arrival of call %#x attempt 1", uint64(1<<56)), // on the wire since 90 ms
		"100ms call 2: reply",
		"100ms call 3: expired",
		"100ms call 4: wake", "100ms arrival of call 0x4 attempt 2", "100ms call 4: reply",
		"100ms call 6: admitted", "100ms arrival of call 0x6 attempt 1", "100ms call 6: reply",
		fmt.Sprintf("100ms arrival of call %#x attempt 1", uint64(2<<56)), // the closed client
		"100ms call 7: begin", "100ms arrival of call 0x7 attempt 1", "100ms call 7: reply",
	}, log)
}

// The provider is ticked when it asked to be; a later wish replaces no earlier
// one, an earlier one comes first.
func TestTicks(t *testing.T) {
	var ticks []time.Duration
	mock := &simtest.Server{Tick: 50 * ms}
	mock.Arrive = func(now time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
		mock.Tick = now + 10*ms
		return append(out, simtest.Reply(in.Ticket, 0, wire.OK))
	}
	mock.Other = func(now time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
		require.Equal(t, wire.Tick, in.Kind)
		ticks = append(ticks, now)
		if mock.Tick = now + 100*ms; now > 300*ms {
			mock.Tick = 0
		}
		return out
	}
	simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{simtest.Arriving(simtest.Program(t), 20*ms, 35*ms)}, Provider: mock, Plan: minute})
	require.Equal(t, []time.Duration{30 * ms, 45 * ms, 145 * ms, 245 * ms, 345 * ms}, ticks)
}

// The horizon cuts: what lies at or behind it does not happen.
func TestHorizon(t *testing.T) {
	retry := layers.Retry{Backoff: backoffs.Fixed{Every: time.Second}}
	for _, c := range []struct {
		name                               string
		f                                  sim.Fleet
		p                                  sim.Provider
		calls, pending, attempts, inFlight uint64
	}{
		{"in flight", simtest.Arriving(simtest.Program(t), 0, 10*ms, 99*ms), simtest.Answering(50*ms, 50*ms), 3, 1, 3, 1},
		{"answered at the horizon", simtest.Arriving(simtest.Program(t), 50*ms), simtest.Answering(50 * ms), 1, 1, 1, 1},
		{"arriving at the horizon", simtest.Arriving(simtest.Program(t), 100*ms-1, 100*ms), simtest.Answering(0), 1, 0, 1, 0},
		{"waiting", simtest.Arriving(simtest.Program(t, retry), 0), simtest.Refusing(9), 1, 1, 1, 0},
		{"on the way", sim.Fleet{Name: "fleet", Program: simtest.Program(t), Up: draw.Const(time.Second), Traffic: simtest.Arriving(nil, 0).Traffic}, simtest.Answering(0), 1, 1, 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			rep := simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{c.f}, Provider: c.p, Plan: metrics.Plan{Horizon: 100 * ms, Bin: 10 * ms}})
			require.Equal(t, c.calls, rep.Belief.Calls)
			require.Equal(t, c.pending, rep.Pending())
			require.Equal(t, c.attempts, rep.Belief.Attempts)
			require.Equal(t, c.inFlight, rep.InFlight)
			if c.pending > 0 {
				require.Equal(t, 100*ms, rep.End)
			}
		})
	}
}
