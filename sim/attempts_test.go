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

// An attempt that is not answered in time ends there, and the retry around it
// goes on; the late answer is wasted work.
func TestAttemptTimeout(t *testing.T) {
	var d simtest.EventLog
	p := simtest.Program(t, layers.Retry{Backoff: backoffs.Fixed{Every: 20 * ms}}, d.Record("c"), simtest.Timeout(100*ms))
	mock := simtest.Serves(2, 0, draw.Between(150*ms, 150*ms+1))
	rep := simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{simtest.OneShot(1, p)}, Provider: simtest.Provider(t, mock, 1),
		Plan: metrics.Plan{Horizon: 400 * ms, Bin: 10 * ms}})
	require.Equal(t, []string{
		"0s c0 begin",
		"100ms c0 expired 1 timeout",
		"120ms c0 begin", // the retry begins its inside afresh
		"220ms c0 expired 2 timeout",
		"240ms c0 begin",
		"340ms c0 expired 3 timeout",
		"360ms c0 begin",
	}, d.Lines)
	require.Equal(t, map[metrics.Ending]uint64{metrics.TimedOut: 3}, simtest.Endings(rep))
	require.EqualValues(t, 1, rep.InFlight)
	require.EqualValues(t, 1, rep.Pending())
	// Two answers came, at 150 and 270 ms, and at 390 ms a third, all too late.
	require.EqualValues(t, 3, rep.Truth.Replies[wire.OK])
	require.Equal(t, 450*ms, rep.Truth.SlotTime.Duration())
	require.Equal(t, 450*ms, rep.Truth.WastedSlotTime.Duration())
	require.Zero(t, rep.Belief.Useful)
}

// An answer at the very instant of the timeout is in time, however it travels.
func TestReplyBeatsTimeoutAtTheSameInstant(t *testing.T) {
	for name, x := range map[string]sim.Experiment{
		"from a slot":    {Provider: simtest.Provider(t, simtest.Serves(1, 0, draw.Const(100*ms)), 1), Fleets: []sim.Fleet{{}}},
		"in the air":     {Provider: simtest.Answering(100 * ms), Fleets: []sim.Fleet{{}}},
		"with latencies": {Provider: simtest.Answering(70 * ms), Fleets: []sim.Fleet{{Up: draw.Const(10 * ms), Down: draw.Const(20 * ms)}}},
	} {
		t.Run(name, func(t *testing.T) {
			for limit, want := range map[time.Duration]metrics.Ending{100 * ms: metrics.Answered, 100*ms - 1: metrics.TimedOut} {
				f := x.Fleets[0]
				f.Name, f.Program = "fleet", simtest.Program(t, simtest.Timeout(limit))
				f.Traffic = simtest.Arriving(f.Program, 0).Traffic
				y := x
				y.Fleets, y.Plan = []sim.Fleet{f}, minute
				if p, ok := y.Provider.(*simtest.Server); ok {
					y.Provider = &simtest.Server{Arrive: p.Arrive}
				} else {
					y.Provider = simtest.Provider(t, simtest.Serves(1, 0, draw.Const(100*ms)), 1)
				}
				require.Equal(t, map[metrics.Ending]uint64{want: 1}, simtest.Endings(simtest.Run(t, y)), "timeout %v", limit)
			}
		})
	}
}

// A provider may swallow a request. Its client learns of it from its own
// timeout only, or never.
func TestBlackHole(t *testing.T) {
	p := simtest.Program(t, layers.Retry{Backoff: backoffs.Fixed{}}, simtest.Timeout(50*ms))
	rep := simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{simtest.Arriving(p, 0)}, Provider: simtest.Answering(-1, -1, 10*ms), Plan: minute})
	require.Equal(t, map[metrics.Ending]uint64{metrics.TimedOut: 2, metrics.Answered: 1}, simtest.Endings(rep))
	require.EqualValues(t, 2, rep.Truth.Dropped)
	require.EqualValues(t, 1, rep.Belief.Useful)
	require.InDelta(t, 0.110, rep.MeanSojourn(), 1e-9)

	rep = simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{simtest.Arriving(simtest.Program(t), 0)}, Provider: simtest.Answering(-1), Plan: minute})
	require.EqualValues(t, 1, rep.InFlight)
	require.EqualValues(t, 1, rep.Pending())
}

// Attempts of very different timeouts end when their own is over.
func TestTimeoutsOfSeveralAttempts(t *testing.T) {
	var d simtest.EventLog
	limits := []time.Duration{0, 300 * ms, 50 * ms, 200 * ms, 50 * ms} // by attempt
	p := simtest.Program(t, d.Record("c"), listening(func(_ time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
		next := strategies.Decision{Kind: strategies.Send, After: limits[min(int(c.Attempts)+1, len(limits)-1)]}
		switch {
		case e.Kind == strategies.Begin:
			return next
		case e.Kind == strategies.Sent && c.Attempts < 3:
			return next // three at once
		case e.Kind == strategies.Expired && c.Attempts < 4:
			return next
		case e.Kind == strategies.Expired && c.InFlight == 0:
			return simtest.Stop(strategies.Failed)
		}
		return strategies.Decision{}
	}))
	rep := simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{simtest.Arriving(p, 0)}, Provider: simtest.Answering(-1), Plan: minute})
	require.Equal(t, []string{
		"0s c0 begin", "0s c0 sent 1", "0s c0 sent 2", "0s c0 sent 3",
		"50ms c0 expired 2 timeout", "50ms c0 sent 4",
		"100ms c0 expired 4 timeout", "200ms c0 expired 3 timeout", "300ms c0 expired 1 timeout",
	}, d.Lines)
	require.Equal(t, 300*ms, rep.End)
}

// At one instant, attempts expire in the order in which they were sent.
func TestTimeoutsAtOneInstant(t *testing.T) {
	var d simtest.EventLog
	p := simtest.Program(t, d.Record("c"), listening(func(now time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
		switch e.Kind {
		case strategies.Begin, strategies.Wake:
			return strategies.Decision{Kind: strategies.Send, After: 60*ms - now}
		case strategies.Sent:
			if c.Attempts < 3 {
				return simtest.Wait(20 * ms)
			}
		case strategies.Expired:
			if c.InFlight == 0 {
				return simtest.Stop(strategies.Failed)
			}
		}
		return strategies.Decision{}
	}))
	simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{simtest.Arriving(p, 0)}, Provider: simtest.Answering(-1), Plan: minute})
	require.Equal(t, []string{
		"0s c0 begin", "0s c0 sent 1", "20ms c0 wake", "20ms c0 sent 2", "40ms c0 wake", "40ms c0 sent 3",
		"60ms c0 expired 1 timeout", "60ms c0 expired 2 timeout", "60ms c0 expired 3 timeout",
	}, d.Lines)
}

// Deadlines that did not come to pass leave no trail: each attempt costs its
// reply, its wake-up and one look at most, though the caller's patience lies
// behind all of them.
func TestDeadlinesDoNotPileUp(t *testing.T) {
	p := simtest.Program(t, layers.Retry{Backoff: backoffs.Fixed{Every: 20 * ms}}, simtest.Timeout(30*ms))
	slow := &simtest.Server{Arrive: func(_ time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
		return append(out, simtest.Reply(in.Ticket, 20*ms, wire.Overloaded))
	}}
	for _, f := range []sim.Fleet{simtest.Arriving(p, 0), simtest.OneShot(1, p)} {
		f.Patience = 50 * time.Second
		rep := simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{f}, Provider: slow, Plan: minute})
		require.Greater(t, rep.Belief.Attempts, uint64(1000))
		require.Less(t, rep.Events, 3*rep.Belief.Attempts+5)
	}
}

// A caller's patience ends its call wherever it is: in flight, before a wake,
// in a line. The strategy is told what becomes of each attempt, then that the
// call is withdrawn, and nothing of the call happens afterwards.
func TestPatience(t *testing.T) {
	bucket := layers.TokenBucket{Rate: 1, Per: time.Hour, Burst: 1, Scope: strategies.PerFleet}
	for _, c := range []struct {
		name     string
		stack    []strategies.Layer
		calls    []time.Duration
		provider sim.Provider
		diary    []string
		endings  map[metrics.Ending]uint64
	}{
		{
			"in flight", nil, []time.Duration{0}, simtest.Answering(200 * ms),
			[]string{"0s c0 begin", "100ms c0 settled 1 cancelled", "100ms c0 cancelled"},
			map[metrics.Ending]uint64{metrics.Cancelled: 1},
		},
		{
			"before a wake", []strategies.Layer{layers.Retry{Backoff: backoffs.Fixed{Every: 150 * ms}}},
			[]time.Duration{0}, simtest.Refusing(1000),
			[]string{"0s c0 begin", "0s c0 reply 1 overloaded", "100ms c0 cancelled"},
			map[metrics.Ending]uint64{metrics.Refused: 1},
		},
		{
			"in a line", []strategies.Layer{bucket}, []time.Duration{0, 10 * ms}, simtest.Answering(0),
			[]string{"0s c0 begin", "0s c0 reply 1 ok", "10ms c1 begin", "110ms c1 cancelled"},
			map[metrics.Ending]uint64{metrics.Answered: 1},
		},
		{
			"in time", nil, []time.Duration{0}, simtest.Answering(100 * ms),
			[]string{"0s c0 begin", "100ms c0 reply 1 ok"},
			map[metrics.Ending]uint64{metrics.Answered: 1},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var d simtest.EventLog
			f := simtest.Arriving(simtest.Program(t, append([]strategies.Layer{d.Record("c")}, c.stack...)...), c.calls...)
			f.Patience = 100 * ms
			rep := simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{f}, Provider: c.provider, Plan: minute})
			require.Equal(t, c.diary, d.Lines)
			require.Equal(t, c.endings, simtest.Endings(rep))
			require.Zero(t, rep.Pending())
			require.Zero(t, rep.InFlight)
			if rep.Belief.Failed > 0 {
				require.EqualValues(t, 1, rep.Belief.Cancelled)
			}
		})
	}
}

// A closed client whose call is withdrawn thinks, and calls again; the wake-up
// of the withdrawn call does not touch the next one.
func TestStaleWakeIsIgnored(t *testing.T) {
	var d simtest.EventLog
	f := sim.Fleet{
		Name: "fleet", Traffic: traffic.Traffic{Clients: 1, Calls: 2, Think: draw.Const(10 * ms)}, Patience: 100 * ms,
		Program: simtest.Program(t, d.Record("c"), layers.Retry{Backoff: backoffs.Fixed{Every: 130 * ms}}),
	}
	rep := simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{f}, Provider: simtest.Refusing(1000), Plan: minute})
	require.Equal(t, []string{
		"0s c0 begin", "0s c0 reply 1 overloaded", "100ms c0 cancelled",
		// The first call's wake-up would have come at 130 ms.
		"110ms c1 begin", "110ms c1 reply 1 overloaded", "210ms c1 cancelled",
	}, d.Lines)
	require.EqualValues(t, 2, rep.Belief.Attempts)
}

// A new Wait of a call replaces the one before.
func TestAWaitReplacesTheLast(t *testing.T) {
	var d simtest.EventLog
	p := simtest.Program(t, d.Record("c"), listening(func(_ time.Duration, _ *strategies.Call, e strategies.Event) strategies.Decision {
		switch e.Kind {
		case strategies.Begin:
			return simtest.Send()
		case strategies.Sent:
			return simtest.Wait(50 * ms)
		case strategies.Reply:
			return simtest.Wait(100 * ms)
		}
		return simtest.Stop(strategies.Failed)
	}))
	simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{simtest.Arriving(p, 0)}, Provider: simtest.Answering(20 * ms), Plan: minute})
	require.Equal(t, []string{"0s c0 begin", "0s c0 sent 1", "20ms c0 reply 1 ok", "120ms c0 wake"}, d.Lines)
}

// A request that its client gives up on the way still arrives, as the request
// it was: for the call, the client and the account that sent it, although the
// row may hold another call by then. Its answer is wasted.
func TestAbandonedOnTheWayArrivesAsItself(t *testing.T) {
	type arrival struct {
		at      time.Duration
		call    uint64
		attempt uint32
		account uint32
		demand  uint32
	}
	for _, open := range []bool{false, true} {
		var got []arrival
		p := &simtest.Server{Arrive: func(now time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
			r := &in.Request
			got = append(got, arrival{now, r.Call, r.Attempt, r.Account, r.Demand.OutputTokens})
			return append(out, simtest.Reply(in.Ticket, 0, wire.OK))
		}}
		f := sim.Fleet{
			Name: "fleet", Up: draw.Const(100 * ms), Patience: 30 * ms, AccountPerClient: true, Program: simtest.Program(t),
			Traffic: traffic.Traffic{Clients: 2, Calls: 2, Start: draw.Const(0), Think: draw.Const(20 * ms)},
		}
		want := []arrival{
			{100 * ms, 0, 1, 0, 0}, {100 * ms, 1 << 32, 1, 1, 0}, {150 * ms, 1, 1, 0, 0}, {150 * ms, 1<<32 | 1, 1, 1, 0},
		}
		if open {
			f.Traffic = traffic.Traffic{Clients: 2, Arrivals: numbered{0, 0, 50 * ms, 50 * ms}}
			want = []arrival{{100 * ms, 0, 1, 0, 1}, {100 * ms, 1, 1, 1, 2}, {150 * ms, 2, 1, 0, 3}, {150 * ms, 3, 1, 1, 4}}
		}
		rep := simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{f}, Provider: p, Plan: minute})
		require.Equal(t, want, got, "open %v", open)
		require.EqualValues(t, 4, rep.Belief.Cancelled)
		require.EqualValues(t, 4, rep.Truth.Replies[wire.OK])
	}
}

// numbered is an open fleet's traffic whose call i asks for i+1 tokens.
type numbered []time.Duration

func (a numbered) Next(r draw.Rand, i uint64, prev time.Duration) (time.Duration, bool) {
	return simtest.At(a).Next(r, i, prev)
}

func (numbered) Demand(_ draw.Rand, i uint64) wire.Demand {
	return wire.Demand{OutputTokens: uint32(i + 1)}
}

// The provider hears that a client hangs up, when the request is there, but only
// if it is not answered yet.
func TestProviderHearsOfAbandonment(t *testing.T) {
	for _, c := range []struct {
		name              string
		up, service, down time.Duration
		want              int
	}{
		{"on the way up", 200 * ms, 10 * ms, 0, 1},
		{"at the provider", 10 * ms, 200 * ms, 0, 1},
		{"on the way down", 10 * ms, 10 * ms, 200 * ms, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			abandoned := 0
			var waiting []uint32
			p := &simtest.Server{
				Arrive: func(now time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
					waiting = append(waiting, in.Ticket)
					return append(out, wire.Effect{Kind: wire.Started, Ticket: in.Ticket, After: c.service})
				},
				Other: func(now time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
					switch in.Kind {
					case wire.Abandon:
						require.Equal(t, waiting, []uint32{in.Ticket})
						abandoned++
					case wire.Done:
						e := simtest.Reply(waiting[0], 0, wire.OK)
						e.Slot = c.service
						out = append(out, e)
					}
					return out
				},
			}
			f := simtest.Arriving(simtest.Program(t, simtest.Timeout(100*ms)), 0)
			f.Up, f.Down = draw.Const(c.up), draw.Const(c.down)
			rep := simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{f}, Provider: p, Plan: minute})
			require.Equal(t, c.want, abandoned)
			require.Equal(t, map[metrics.Ending]uint64{metrics.TimedOut: 1}, simtest.Endings(rep))
			require.Equal(t, c.service, rep.Truth.WastedSlotTime.Duration())
		})
	}
}

// Rows of attempts are reused only when both ends are done with them: a client
// that hangs up and calls again does not get the old answer.
func TestLateAnswerDoesNotReachTheNextAttempt(t *testing.T) {
	var d simtest.EventLog
	// Attempt 1 is answered after 100 ms, too late; attempt 2 after 30 ms.
	p := simtest.Program(t, d.Record("c"), layers.Retry{Backoff: backoffs.Fixed{Every: 5 * ms}}, simtest.Timeout(40*ms))
	f := simtest.Arriving(p, 0, 90*ms)
	rep := simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{f}, Provider: simtest.Answering(100*ms, 30*ms), Plan: minute})
	require.Equal(t, []string{
		"0s c0 begin", "40ms c0 expired 1 timeout", "45ms c0 wake", "75ms c0 reply 2 ok",
		"90ms c1 begin", // the first answer of c0 arrives at 100 ms
		"130ms c1 expired 1 timeout", "135ms c1 wake", "165ms c1 reply 2 ok",
	}, d.Lines)
	require.EqualValues(t, 4, rep.Truth.Replies[wire.OK])
	require.EqualValues(t, 2, rep.Belief.Useful)
}

// An answer nobody used is wasted: too late, or of an error after work.
func TestWastedWork(t *testing.T) {
	answer := func(class wire.Class, slot time.Duration) *simtest.Server {
		return &simtest.Server{Arrive: func(_ time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
			e := simtest.Reply(in.Ticket, slot, class)
			e.Slot = slot
			return append(out, e)
		}}
	}
	for _, c := range []struct {
		name   string
		p      sim.Provider
		wasted time.Duration
	}{
		{"a useful answer", answer(wire.OK, 30*ms), 0},
		{"an error after work", answer(wire.ServerError, 30*ms), 30 * ms},
		{"an answer too late", answer(wire.OK, 70*ms), 70 * ms},
	} {
		rep := simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{simtest.Arriving(simtest.Program(t, simtest.Timeout(50*ms)), 0)}, Provider: c.p, Plan: minute})
		require.Equal(t, c.wasted, rep.Truth.WastedSlotTime.Duration(), c.name)
	}
}
