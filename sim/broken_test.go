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
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
)

// breaking is a provider that loses the connection of each call's first attempt
// after 40 ms of work and answers the others.
func breaking() *simtest.Server {
	return &simtest.Server{Arrive: func(_ time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
		if in.Request.Attempt == 1 {
			return append(out, wire.Effect{Kind: wire.LostConnection, Ticket: in.Ticket, After: 40 * ms, Slot: 40 * ms})
		}
		return append(out, simtest.Reply(in.Ticket, 10*ms, wire.OK))
	}}
}

// A lost connection is an end of its own: the client notices after the way
// down, may retry, and the work was for nothing.
func TestLostConnections(t *testing.T) {
	for _, c := range []struct {
		name  string
		down  draw.Dist
		limit time.Duration
		diary []string
	}{
		{"at once", draw.Dist{}, 0, []string{"0s c0 begin", "40ms c0 lost 1 disconnected", "140ms c0 wake", "150ms c0 reply 2 ok"}},
		{"the end travels", draw.Const(5 * ms), 0, []string{"0s c0 begin", "45ms c0 lost 1 disconnected", "145ms c0 wake", "160ms c0 reply 2 ok"}},
		{"given up before", draw.Const(30 * ms), 50 * ms, []string{"0s c0 begin", "50ms c0 expired 1 timeout", "150ms c0 wake", "190ms c0 reply 2 ok"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var d simtest.EventLog
			f := simtest.Arriving(simtest.Program(t, d.Record("c"), layers.Retry{Backoff: backoffs.Fixed{Every: 100 * ms}}, simtest.Timeout(c.limit)), 0)
			f.Down = c.down
			rep := simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{f}, Provider: breaking(), Plan: minute})
			require.Equal(t, c.diary, d.Lines)
			broken := uint64(1)
			if c.limit > 0 {
				broken = 0 // it had ended before
			}
			require.Equal(t, broken, rep.Belief.Endings[metrics.ConnectionLost])
			require.Equal(t, uint64(1), rep.Truth.Dropped)
			require.Equal(t, uint64(1), rep.Belief.Useful)
		})
	}
}

// Sixty-five thousand calls of one client come and go while the wake-up of an
// early one is still pending; when its generation comes round again it must
// not be taken for that of the call of the day.
func TestAnOldWakeUpIsNotTakenForANewOne(t *testing.T) {
	// Each call is refused once, wants to wait for 32.7685 s and loses patience
	// after 1 ms: 32,768.5 calls later, two generations each, its wake-up fires.
	f := sim.Fleet{
		Name:     "fleet",
		Traffic:  traffic.Traffic{Clients: 1, Calls: 60_000},
		Program:  simtest.Program(t, layers.Retry{Backoff: backoffs.Fixed{Every: 32768500 * time.Microsecond}}),
		Patience: ms,
	}
	p := simtest.Provider(t, mockprovider.Config{Faults: []mockprovider.Fault{faults.Outage(0, time.Hour, mockprovider.As503)}}, 1)
	rep := simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{f}, Provider: p, Plan: metrics.Plan{Horizon: time.Hour}})
	require.Equal(t, uint64(60_000), rep.Belief.Calls)
	require.Equal(t, rep.Belief.Calls, rep.Belief.Attempts, "a call made a second attempt in its one millisecond")
}

// What a layer does to a call's demand stays with that call; and a layer that
// does it says so, for otherwise it would do it in vain.
func TestDemandDoesNotLeakIntoTheNextCall(t *testing.T) {
	var seen []uint32
	says := true
	halving := simtest.Layer(func(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
		if says {
			b.ChangesDemand()
		}
		return simtest.Deciding(func(now time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
			if e.Kind == strategies.Begin {
				seen = append(seen, c.Demand.InputTokens)
				c.Demand.InputTokens /= 2
			}
			return inner.Next(now, c, e)
		}), nil
	})
	f := sim.Fleet{Name: "fleet", Program: simtest.Program(t, halving),
		Traffic: traffic.Traffic{Clients: 1, Calls: 3, Think: draw.Const(ms), Size: wire.Demand{InputTokens: 800}}}
	simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{f}, Provider: simtest.Answering(0), Plan: minute})
	require.Equal(t, []uint32{800, 800, 800}, seen)

	says = false
	f.Program = simtest.Program(t, halving)
	x := sim.Experiment{Fleets: []sim.Fleet{f}, Provider: simtest.Answering(0), Plan: minute}
	_, err := x.Run(ctx)
	require.ErrorContains(t, err, "call Build.ChangesDemand")
}

// A run ends with the last thing that happens: a provider that only looks at
// its clock does nothing.
func TestATickWithoutEffectsDoesNotProlongTheRun(t *testing.T) {
	p := simtest.Provider(t, mockprovider.Config{Faults: []mockprovider.Fault{faults.Outage(20*time.Second, 30*time.Second, mockprovider.Refusal{})}}, 1)
	rep := simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{simtest.Arriving(simtest.Program(t), 0, 3*time.Second)}, Provider: p, Plan: minute})
	require.Equal(t, 3*time.Second, rep.End)
}

// A strategy that leaves a call hanging, or decides what is no decision, is
// told so instead of losing the call in silence.
func TestDecisionsThatLeadNowhere(t *testing.T) {
	for want, d := range map[string]strategies.Decision{
		`sim: strategy "test" is idle for a call that has no attempt, timer, queue or flight to wait for, so the call would hang for ever; it must send, wait, acquire, join, answer or stop`: {},
		`sim: strategy "test" returns the unknown decision 99`: {Kind: 99},
	} {
		lost := simtest.Layer(func(*strategies.Build, strategies.Strategy) (strategies.Strategy, error) {
			return simtest.Deciding(func(time.Duration, *strategies.Call, strategies.Event) strategies.Decision { return d }), nil
		})
		x := sim.Experiment{Fleets: []sim.Fleet{simtest.Arriving(simtest.Program(t, lost), 0)}, Provider: simtest.Answering(0), Plan: minute}
		_, err := x.Run(ctx)
		require.EqualError(t, err, want)
	}
}
