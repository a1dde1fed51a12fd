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
	"herdlab/strategies"
)

// streaming is a provider that sends the head of a reply 20 ms after the
// request and the rest after 100 ms, where a stream is asked for.
func streaming() *simtest.Server {
	return &simtest.Server{Arrive: func(_ time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
		if in.Request.Stream {
			head := simtest.Reply(in.Ticket, 20*ms, wire.OK)
			head.Kind = wire.Head
			out = append(out, head)
		}
		return append(out, simtest.Reply(in.Ticket, 100*ms, wire.OK))
	}}
}

func TestStreaming(t *testing.T) {
	for _, c := range []struct {
		name   string
		stream bool
		down   draw.Dist
		limit  time.Duration
		diary  []string
	}{
		{"head and reply", true, draw.Dist{}, 0, []string{"0s c0 begin", "20ms c0 head 1 ok", "100ms c0 reply 1 ok"}},
		{"no stream wanted", false, draw.Dist{}, 0, []string{"0s c0 begin", "100ms c0 reply 1 ok"}},
		{"both travel", true, draw.Const(30 * ms), 0, []string{"0s c0 begin", "50ms c0 head 1 ok", "130ms c0 reply 1 ok"}},
		{"broken off after the head", true, draw.Const(30 * ms), 60 * ms, []string{"0s c0 begin", "50ms c0 head 1 ok", "60ms c0 expired 1 timeout"}},
		{"broken off before the head", true, draw.Const(30 * ms), 40 * ms, []string{"0s c0 begin", "40ms c0 expired 1 timeout"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var d simtest.EventLog
			f := simtest.Arriving(simtest.Program(t, d.Record("c"), simtest.Timeout(c.limit)), 0)
			f.Stream, f.Down = c.stream, c.down
			simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{f}, Provider: streaming(), Plan: minute})
			require.Equal(t, c.diary, d.Lines)
		})
	}
}

// A head that travels when its attempt is over, and its call too, reaches
// nobody: not even the next attempt in the same rows.
func TestLateHeadReachesNobody(t *testing.T) {
	var d simtest.EventLog
	p := &simtest.Server{Arrive: func(_ time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
		head := simtest.Reply(in.Ticket, 0, wire.OK)
		head.Kind = wire.Head
		end := wire.Effect{Kind: wire.Dropped, Ticket: in.Ticket}
		return append(out, head, end)
	}}
	// Each call lives 10 ms, each head travels 25 ms.
	f := simtest.Arriving(simtest.Program(t, d.Record("c"), simtest.Timeout(10*ms)), 0, 15*ms, 20*ms)
	f.Stream, f.Down = true, draw.Const(25*ms)
	rep := simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{f}, Provider: p, Plan: minute})
	require.Equal(t, []string{
		"0s c0 begin", "10ms c0 expired 1 timeout", "15ms c1 begin", "20ms c2 begin",
		"25ms c1 expired 1 timeout", "30ms c2 expired 1 timeout",
	}, d.Lines)
	require.Equal(t, map[metrics.Ending]uint64{metrics.TimedOut: 3}, simtest.Endings(rep))
}

// A strategy acts on the head: it hedges until it sees that the answer has
// begun.
func TestHedgeUntilTheHead(t *testing.T) {
	stack := listening(func(_ time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
		switch e.Kind {
		case strategies.Begin, strategies.Wake:
			return simtest.Send()
		case strategies.Sent:
			if c.InFlight < 2 {
				return simtest.Wait(30 * ms)
			}
		case strategies.Head:
			return simtest.Wait(time.Second) // in place of the hedge
		case strategies.Reply:
			return simtest.Stop(strategies.Succeeded)
		}
		return strategies.Decision{}
	})
	for down, c := range map[time.Duration]struct {
		attempts uint64
		end      time.Duration
	}{
		5 * ms:  {1, 105 * ms},
		15 * ms: {2, 145 * ms}, // the answer to the hedge, which nobody awaits
	} {
		f := simtest.Arriving(simtest.Program(t, stack), 0)
		f.Stream, f.Down = true, draw.Const(down)
		rep := simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{f}, Provider: streaming(), Plan: minute})
		require.Equal(t, c.attempts, rep.Belief.Attempts, "way down %v", down)
		require.EqualValues(t, 1, rep.Belief.Useful)
		require.Equal(t, c.end, rep.End, "the wait that nobody needs any more is not part of the run")
	}
}
