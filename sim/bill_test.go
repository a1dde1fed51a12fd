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

// act is what a provider does with an attempt.
type act struct {
	kind   wire.EffectKind
	after  time.Duration
	class  wire.Class
	body   wire.Body
	cost   int64
	tokens uint32
	marks  wire.Marks
}

// acting does the n-th thing with the n-th attempt.
func acting(acts ...act) *simtest.Server {
	return &simtest.Server{Arrive: func(_ time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
		a := acts[0]
		acts = acts[1:]
		e := simtest.Reply(in.Ticket, a.after, a.class)
		e.Kind, e.Cost, e.Reply.Tokens, e.Reply.Body, e.Reply.Marks = a.kind, a.cost, a.tokens, a.body, a.marks
		return append(out, e)
	}}
}

// Whatever is charged is spent; it is wasted unless its answer is used. Output
// that comes to a client for the second time is repeated.
func TestTheBill(t *testing.T) {
	retry := stubborn{}
	const ok, bad = wire.OK, wire.Overloaded
	for name, c := range map[string]struct {
		layers                            []strategies.Layer
		patience                          time.Duration
		acts                              []act
		spent, wasted                     uint64
		tokens, wastedTokens, repeatedTok uint64
	}{
		"an answer": {acts: []act{{class: ok, cost: 5, tokens: 70}}, spent: 5, tokens: 70},
		"a refusal that costs": {layers: []strategies.Layer{retry}, acts: []act{{class: bad, cost: 2}, {class: ok, cost: 5, tokens: 70}},
			spent: 7, wasted: 2, tokens: 70},
		"an answer cut short": {layers: []strategies.Layer{retry},
			acts:  []act{{class: bad, body: wire.StreamError, cost: 4, tokens: 30}, {class: ok, cost: 5, tokens: 70}},
			spent: 9, wasted: 4, tokens: 100, wastedTokens: 30, repeatedTok: 30},
		"cut short twice": {layers: []strategies.Layer{retry},
			acts: []act{{class: bad, body: wire.StreamError, tokens: 30}, {class: bad, body: wire.StreamError, tokens: 50},
				{class: bad}, {class: ok, tokens: 100}},
			tokens: 180, wastedTokens: 80, repeatedTok: 30 + 50},
		"a connection lost": {layers: []strategies.Layer{retry},
			acts:  []act{{kind: wire.LostConnection, cost: 4, tokens: 30}, {class: ok, cost: 5, tokens: 20}},
			spent: 9, wasted: 4, tokens: 50, wastedTokens: 30, repeatedTok: 20},
		"a loser": {layers: []strategies.Layer{race{after: ms, runners: 2}},
			acts:  []act{{class: ok, after: 9 * ms, cost: 5, tokens: 70}, {class: ok, after: ms, cost: 6, tokens: 60}},
			spent: 11, wasted: 5, tokens: 130, wastedTokens: 70},
		"a late answer": {patience: 5 * ms, acts: []act{{class: ok, after: 9 * ms, cost: 5, tokens: 70}},
			spent: 5, wasted: 5, tokens: 70, wastedTokens: 70},
		"work dropped": {layers: []strategies.Layer{retry, simtest.Timeout(ms)}, acts: []act{{kind: wire.Dropped, cost: 3}, {class: ok, cost: 5, tokens: 70}},
			spent: 8, wasted: 3, tokens: 70},
		"an answer too many": {layers: []strategies.Layer{simtest.Script(func(_ time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
			if c.Attempts < 2 {
				return simtest.Send()
			}
			return simtest.Stop(strategies.Succeeded)
		})}, acts: []act{{class: ok, cost: 5, tokens: 70}, {class: ok, cost: 6, tokens: 70}},
			spent: 11, wasted: 6, tokens: 140, wastedTokens: 70},
	} {
		for _, down := range []time.Duration{0, 2 * ms} {
			f := sim.Fleet{Name: "fleet", Program: simtest.Program(t, c.layers...), Patience: c.patience,
				Traffic: traffic.Traffic{Clients: 1, Calls: 1}}
			if name != "work dropped" {
				f.Down = draw.Const(down)
			}
			rep := simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{f}, Provider: acting(c.acts...), Plan: minute})
			truth := &rep.Truth
			require.Equal(t, [...]uint64{c.tokens, c.wastedTokens, c.repeatedTok}, [...]uint64{truth.Tokens, truth.WastedTokens, truth.RepeatedTokens}, name)
			require.EqualValues(t, [...]uint64{c.spent, c.wasted}, [...]uint64{uint64(truth.Spent.Duration()), uint64(truth.WastedSpent.Duration())}, name)
		}
	}
}

// Output is repeated within a call: the next call of the same client has had
// nothing yet.
func TestOutputOfAnotherCallIsNotRepeated(t *testing.T) {
	f := sim.Fleet{Name: "fleet", Program: simtest.Program(t), Traffic: traffic.Traffic{Clients: 1, Calls: 2}}
	rep := simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{f}, Plan: minute, Provider: acting(
		act{class: wire.Overloaded, body: wire.StreamError, tokens: 30}, act{class: wire.OK, tokens: 50},
	)})
	require.Zero(t, rep.Truth.RepeatedTokens)
	require.EqualValues(t, 30, rep.Truth.WastedTokens)
}

// stubborn is a loop that tries again whatever it has had.
type stubborn struct{}

func (l stubborn) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	return b.Loop(l, inner)
}

func (stubborn) Start(time.Duration, *strategies.Call) {}

func (stubborn) After(_ time.Duration, _ *strategies.Call, _ strategies.Event, d strategies.Decision) strategies.Decision {
	if d.End.Reason == strategies.Succeeded {
		return d
	}
	return simtest.Wait(ms)
}

// Lesser answers are counted by their model, whether the strategy went there or
// the provider sent it there.
func TestLesserAnswers(t *testing.T) {
	down := simtest.Layer(func(_ *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
		return simtest.Deciding(func(now time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
			if e.Kind == strategies.Begin {
				c.Target.Model = uint8(c.ID)
			}
			d := inner.Next(now, c, e)
			d.End.Degraded = d.Kind == strategies.Stop && c.ID >= 2
			return d
		}), nil
	})
	f := simtest.Arriving(simtest.Program(t, down), 0, 0, 0, 0, 0, 0)
	ok := act{class: wire.OK}
	lesser := act{class: wire.OK, marks: wire.DegradedReply}
	rep := simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{f}, Provider: acting(ok, lesser, ok, lesser, ok, act{class: wire.Overloaded}), Plan: minute})
	require.EqualValues(t, 4, rep.Belief.Degraded, "a failure is no lesser answer")
	require.Equal(t, []uint64{0, 1, 1, 1, 1}, rep.DegradedBy)
}

// An answer of the client's own is from memory, and lesser only if it says so.
func TestAnswersFromMemory(t *testing.T) {
	f := simtest.Arriving(simtest.Program(t, simtest.Script(func(_ time.Duration, c *strategies.Call, _ strategies.Event) strategies.Decision {
		return strategies.Decision{Kind: strategies.Answer, End: strategies.End{Reason: strategies.ServedFromMemory, Degraded: c.ID == 1}}
	})), 0, 0, 0)
	rep := simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{f}, Provider: simtest.Answering(0), Plan: minute})
	require.EqualValues(t, 3, rep.Belief.Useful)
	require.EqualValues(t, 3, rep.Belief.FromMemory)
	require.EqualValues(t, 1, rep.Belief.Degraded)
	require.Zero(t, rep.Belief.Attempts)
}

// A failure is kept with what it takes to understand it.
func TestFailuresAreSampled(t *testing.T) {
	f := sim.Fleet{Name: "fleet", Program: simtest.Program(t, layers.Retry{Backoff: backoffs.Fixed{Every: 10 * ms}, MaxAttempts: 3}, simtest.Timeout(50*ms)),
		Up: draw.Const(ms), Target: wire.Target{Model: 2}, Traffic: traffic.Traffic{Clients: 1, Calls: 1, Size: wire.Demand{InputTokens: 77}}}
	hinted := &simtest.Server{Arrive: func(_ time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
		switch in.Request.Attempt {
		case 1:
			e := simtest.Reply(in.Ticket, 4*ms, wire.Overloaded)
			e.Reply.Hint.Value = 30 * ms
			return append(out, e)
		case 2:
			return append(out, wire.Effect{Kind: wire.Dropped, Ticket: in.Ticket})
		}
		return append(out, wire.Effect{Kind: wire.LostConnection, Ticket: in.Ticket, After: 2 * ms})
	}}
	rep := simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{f}, Provider: hinted, Plan: minute})
	require.EqualValues(t, 3, rep.Failed)
	common := metrics.Failure{Target: wire.Target{Model: 2}, Demand: wire.Demand{InputTokens: 77}}
	refused, late, broken := common, common, common
	refused.At, refused.Attempt, refused.Truth = 5*ms, 1, wire.Overloaded
	refused.Outcome = wire.Outcome{Class: wire.Overloaded, Status: 503, RetryAfter: 30 * ms}
	late.SentAt, late.At, late.Attempt, late.Truth = 35*ms, 85*ms, 2, wire.Timeout
	late.Outcome = wire.Outcome{Class: wire.Timeout, RetryAfter: wire.NoHint}
	broken.SentAt, broken.At, broken.Attempt, broken.Truth = 95*ms, 98*ms, 3, wire.ConnectionLost
	broken.Outcome = wire.Outcome{Class: wire.ConnectionLost, RetryAfter: wire.NoHint}
	require.Equal(t, []metrics.Failure{refused, late, broken}, rep.Failures)
}

// Everything that ends an attempt says when that was sent.
func TestEventsSayWhenTheirAttemptWasSent(t *testing.T) {
	var took []time.Duration
	watch := simtest.Layer(func(_ *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
		return simtest.Deciding(func(now time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
			if e.Terminal() || e.Kind == strategies.Head {
				took = append(took, now-e.SentAt)
			} else {
				require.Zero(t, e.SentAt)
			}
			return inner.Next(now, c, e)
		}), nil
	})
	f := sim.Fleet{Name: "fleet", Program: simtest.Program(t, layers.Retry{Backoff: backoffs.Fixed{Every: 7 * ms}}, watch, simtest.Timeout(50*ms)),
		Up: draw.Const(ms), Down: draw.Const(2 * ms), Patience: 140 * ms, Traffic: traffic.Traffic{Clients: 1, Calls: 1}}
	rep := simtest.Run(t, sim.Experiment{Fleets: []sim.Fleet{f}, Plan: minute, Provider: acting(
		act{class: wire.Overloaded, after: 3 * ms}, act{kind: wire.LostConnection, after: 4 * ms}, act{kind: wire.Dropped}, act{class: wire.OK, after: time.Second},
	)})
	// 6 + 7 + 7 + 7 + 50 + 7 = 84: the last one ends by its timeout at 134, and the caller gives up the wait.
	require.Equal(t, []time.Duration{6 * ms, 7 * ms, 50 * ms, 50 * ms}, took)
	require.EqualValues(t, 1, rep.Belief.Cancelled)
}
