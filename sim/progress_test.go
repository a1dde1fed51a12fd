package sim_test

import (
	"context"
	"math"
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

// A run whose time stands still ends soon, with an error that says who and
// what, and what to do.
func TestNoProgress(t *testing.T) {
	atOnce := layers.Retry{Backoff: backoffs.Fixed{}}
	closed := func(clients int) traffic.Traffic { return traffic.Traffic{Clients: clients, Start: draw.Const(ms)} }
	for _, c := range []struct {
		name string
		f    sim.Fleet
		want string
	}{
		{"waiting zero for ever", sim.Fleet{Program: simtest.Program(t, atOnce), Traffic: closed(1)},
			`sim: no progress in time: strategy "test" keeps deciding at 1ms for client 0 of fleet "herd", in layer retry; make it wait a positive time, or give refusals or think times a positive time`},
		{"many of them", sim.Fleet{Program: simtest.Program(t, atOnce), Traffic: closed(60)},
			`sim: no progress in time: strategy "test" keeps deciding at 1ms for client 0 of fleet "herd", in layer retry; make it wait a positive time, or give refusals or think times a positive time`},
		{"an open fleet", sim.Fleet{Program: simtest.Program(t, atOnce), Traffic: traffic.Traffic{Clients: 7, Arrivals: simtest.At{ms, ms, ms}}},
			`sim: no progress in time: strategy "test" keeps deciding at 1ms for client 0 of fleet "herd", in layer retry; make it wait a positive time, or give refusals or think times a positive time`},
		{"calling again at once", sim.Fleet{Program: simtest.Program(t), Traffic: closed(1)},
			`sim: no progress in time: strategy "test" keeps deciding at 1ms for client 0 of fleet "herd", whose calls follow each other without a pause; make it wait a positive time, or give refusals or think times a positive time`},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.f.Name = "herd"
			began := time.Now()
			x := sim.Experiment{Fleets: []sim.Fleet{c.f}, Provider: simtest.Refusing(math.MaxInt), Plan: minute}
			_, err := x.Run(t.Context())
			require.ErrorIs(t, err, sim.ErrNoProgress)
			require.EqualError(t, err, c.want)
			require.Less(t, time.Since(began), 5*time.Second)
		})
	}
}

// A herd of any size that calls at one instant is no standstill.
func TestACrowdIsProgress(t *testing.T) {
	const n = 300_000
	f := simtest.Arriving(simtest.Program(t, layers.Retry{Backoff: backoffs.Fixed{}, MaxAttempts: 3}), make([]time.Duration, n)...)
	rep := simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{f}, Provider: simtest.Refusing(n), Plan: minute})
	require.EqualValues(t, n, rep.Belief.Calls)

	closed := simtest.OneShot(20_000, simtest.Program(t, layers.Retry{Backoff: backoffs.Fixed{}, MaxAttempts: 30}))
	rep = simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{closed}, Provider: simtest.Refusing(math.MaxInt), Plan: minute})
	require.EqualValues(t, 20_000*30, rep.Belief.Attempts)
}

// Arrivals that do not come in the order of time, or without end at one
// instant, are reported.
func TestBadArrivals(t *testing.T) {
	x := sim.Experiment{Fleets: []sim.Fleet{simtest.Arriving(simtest.Program(t), ms, 3*ms, 2*ms)}, Provider: simtest.Answering(0), Plan: minute}
	_, err := x.Run(t.Context())
	require.EqualError(t, err, `sim: call 2 of fleet "fleet" arrives at 2ms, the one before it at 3ms; arrivals must be in order of time`)

	x.Fleets[0].Traffic.Arrivals = simtest.At{-ms}
	_, err = x.Run(t.Context())
	require.EqualError(t, err, `sim: call 0 of fleet "fleet" arrives at -1ms, the one before it at 0s; arrivals must be in order of time`)

	if !simtest.Long {
		t.Skip("ten million calls: HERDLAB_LONG is not set")
	}
	x.Fleets[0].Traffic.Arrivals = traffic.Stream{}
	_, err = x.Run(t.Context())
	require.ErrorIs(t, err, sim.ErrNoProgress)
	require.EqualError(t, err, `sim: no progress in time: more than 10000000 calls of fleet "fleet" arrive at 0s; give arrivals a positive gap`)
}

// A provider that breaks its contract is reported.
func TestBadProviders(t *testing.T) {
	answer := func(effects ...wire.Effect) *simtest.Server {
		return &simtest.Server{Arrive: func(_ time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
			for _, e := range effects {
				e.Ticket = in.Ticket
				out = append(out, e)
			}
			return out
		}}
	}
	for _, c := range []struct {
		name string
		p    *simtest.Server
		want string
	}{
		{"two answers", answer(simtest.Reply(0, ms, wire.OK), simtest.Reply(0, ms, wire.OK)),
			"sim: at 0s the provider ends ticket 0 again; every ticket is answered or dropped, once"},
		{"an answer and a drop", answer(simtest.Reply(0, ms, wire.OK), wire.Effect{Kind: wire.Dropped}),
			"sim: at 0s the provider ends ticket 0 again; every ticket is answered or dropped, once"},
		{"an answer in the past", answer(simtest.Reply(0, -ms, wire.OK)),
			"sim: at 0s the provider does something 1ms before it is asked; effects must not lie in the past"},
		{"work in the past", answer(wire.Effect{Kind: wire.Started, After: -ms}),
			"sim: at 0s the provider does something 1ms before it is asked; effects must not lie in the past"},
		{"a tick in the past", &simtest.Server{Tick: -ms},
			"sim: no progress in time: at 0s the provider asks for a tick at -1ms; NextTick must return a later time, or the largest Duration for never"},
		{"a tick for ever", &simtest.Server{Tick: ms},
			"sim: no progress in time: at 1ms the provider asks for a tick at 1ms; NextTick must return a later time, or the largest Duration for never"},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := sim.Experiment{Fleets: []sim.Fleet{simtest.Arriving(simtest.Program(t), 0, 2*ms)}, Provider: c.p, Plan: minute}
			_, err := x.Run(t.Context())
			require.EqualError(t, err, c.want)
		})
	}
}

// Durations at the end of time saturate.
func TestHugeDurations(t *testing.T) {
	f := simtest.OneShot(2, simtest.Program(t, layers.Retry{Backoff: backoffs.Fixed{Every: never}}, simtest.Timeout(never)))
	f.Traffic.Start, f.Patience, f.Up, f.Down = draw.Const(ms), never, draw.Const(never/2), draw.Const(never)
	rep := simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{f}, Provider: simtest.Refusing(9), Plan: metrics.Plan{Horizon: never, Bin: never / 4}})
	require.EqualValues(t, 2, rep.Pending())
	require.Equal(t, never, rep.End)

	f.Up, f.Down = draw.Dist{}, draw.Dist{}
	rep = simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{f}, Provider: simtest.Answering(never), Plan: metrics.Plan{Horizon: never, Bin: never / 4}})
	require.EqualValues(t, 2, rep.Pending())
}

// A run stops when its context does.
func TestContext(t *testing.T) {
	naive := simtest.Program(t, layers.Retry{Backoff: backoffs.Fixed{Every: 1}})
	x := sim.Experiment{Fleets: []sim.Fleet{simtest.OneShot(1, naive)}, Provider: simtest.Refusing(math.MaxInt),
		Plan: metrics.Plan{Horizon: never, Bin: time.Hour}}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := x.Run(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Less(t, time.Since(began), 5*time.Second)

	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = x.Run(cancelled)
	require.ErrorIs(t, err, context.Canceled)
}

// Every bad configuration is refused before anything runs, with what is wrong.
func TestValidation(t *testing.T) {
	commons := strategies.NewSharedMemory()
	shared := layers.TokenBucket{Rate: 1, Per: time.Second, Burst: 1, Scope: strategies.PerEveryone, Name: "b"}
	for want, spoil := range map[string]func(x *sim.Experiment){
		"sim: an experiment needs at least one fleet":                      func(x *sim.Experiment) { x.Fleets = nil },
		"sim: an experiment has at most 255 fleets":                        func(x *sim.Experiment) { x.Fleets = make([]sim.Fleet, 256) },
		"sim: an experiment needs a provider":                              func(x *sim.Experiment) { x.Provider = nil },
		"sim: the horizon must be positive":                                func(x *sim.Experiment) { x.Plan.Horizon = 0 },
		"sim: the width of a bin must be positive, or 0 for a second":      func(x *sim.Experiment) { x.Plan.Bin = -1 },
		"sim: the fault must not begin before 0, nor end before it begins": func(x *sim.Experiment) { x.Plan.FaultBegin = ms },
		"sim: the horizon of 19000h0m0s is more than 67108864 bins away; shorten it, or widen the bins": func(x *sim.Experiment) {
			x.Plan = metrics.Plan{Horizon: 19000 * time.Hour}
		},
		"sim: the horizon of 1m0s is more than 67108864 bins away; shorten it, or widen the bins": func(x *sim.Experiment) {
			x.Plan.Bin = 1
		},
		`sim: fleet "fleet" needs 1 to 10000000 clients, not 0`:        func(x *sim.Experiment) { x.Fleets[0].Traffic.Clients = 0 },
		`sim: fleet "fleet" needs 1 to 10000000 clients, not 10000001`: func(x *sim.Experiment) { x.Fleets[0].Traffic.Clients = 10_000_001 },
		`sim: the fleets have more than 10000000 clients together`: func(x *sim.Experiment) {
			x.Fleets[0].Traffic.Clients = 5_000_001
			x.Fleets = append(x.Fleets, x.Fleets[0])
		},
		`sim: fleet "fleet" needs a positive number of calls, or 0 for no bound`:                                 func(x *sim.Experiment) { x.Fleets[0].Traffic.Calls = -1 },
		`sim: fleet "fleet" has no strategy: compile one with strategies.Compile`:                                func(x *sim.Experiment) { x.Fleets[0].Program = nil },
		`sim: fleet "fleet" needs a positive patience, or 0 for no limit`:                                        func(x *sim.Experiment) { x.Fleets[0].Patience = -1 },
		`sim: fleet "fleet" has the think time -1ms: it must not be negative, nor end before it begins`:          func(x *sim.Experiment) { x.Fleets[0].Traffic.Think = draw.Const(-ms) },
		`sim: fleet "fleet" has the start uniform 2ms..1ms: it must not be negative, nor end before it begins`:   func(x *sim.Experiment) { x.Fleets[0].Traffic.Start = draw.Between(2*ms, ms) },
		`sim: fleet "fleet" has the way up uniform -1ms..1ms: it must not be negative, nor end before it begins`: func(x *sim.Experiment) { x.Fleets[0].Up = draw.Between(-ms, ms) },
		`sim: fleet "fleet" has the way down lognormal 1ms cv NaN: it must not be negative, nor end before it begins`: func(x *sim.Experiment) {
			x.Fleets[0].Down = draw.Dist{Kind: draw.Lognormal, Mean: ms, CV: math.NaN()}
		},
		`sim: fleet "fleet" runs strategy "test", which shares memory with everyone: compile it with the experiment's Commons`: func(x *sim.Experiment) {
			x.Fleets[0].Program = simtest.ProgramIn(t, commons, shared)
		},
	} {
		x := sim.Experiment{Fleets: []sim.Fleet{simtest.OneShot(1, simtest.Program(t))}, Provider: simtest.Answering(0), Plan: minute}
		simtest.Run(t, x)
		x.Fleets = []sim.Fleet{x.Fleets[0]}
		spoil(&x)
		_, err := x.Run(t.Context())
		require.EqualError(t, err, want)
	}
	// The remedy of the last of them.
	simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{simtest.OneShot(1, simtest.ProgramIn(t, commons, shared))}, Commons: commons, Provider: simtest.Answering(0), Plan: minute})
}
