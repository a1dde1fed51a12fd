package layers

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/strategytest"
)

// With a demand of 1,000 per second and 100 of them accepted, K times as many are
// sent as are accepted: 200 at K = 2, 110 at 1.1, and the others are refused here.
func TestThrottleClosedForm(t *testing.T) {
	for k, want := range map[float64]float64{2: 200, 1.1: 110} {
		l := strategytest.NewLab(t, Throttle{K: k, Window: 10 * time.Second, Scope: strategies.PerFleet})
		accepted, second := 0, time.Duration(-1)
		l.Serve = func(*strategytest.Caller) (time.Duration, wire.Outcome) {
			if s := l.Now / time.Second; s != second {
				second, accepted = s, 0
			}
			if accepted++; accepted > 100 {
				return time.Millisecond, strategytest.Refused(wire.Overloaded)
			}
			return time.Millisecond, strategytest.Answered
		}
		refused := 0
		l.Settled = func(_ *strategytest.Caller, d strategies.Decision) {
			if d.End.Reason == strategies.LimiterRefused && l.Now >= 20*time.Second {
				refused++
			}
		}
		const length = 50
		for i := range length * 1000 {
			l.At(time.Duration(i)*time.Millisecond, func() { l.Begin("a", i) })
		}
		l.Run((length + 1) * time.Second)
		sent := 0
		for _, at := range l.Sent {
			if at >= 20*time.Second {
				sent++
			}
		}
		require.InEpsilon(t, want, float64(sent)/(length-20), 0.05, "K = %v", k)
		require.InEpsilon(t, 1-want/1000, float64(refused)/((length-20)*1000), 0.01, "K = %v", k)
	}
}

func TestThrottle(t *testing.T) {
	x := strategytest.NewOneClient(t, Throttle{Scope: strategies.PerClient})
	for range 1000 { // nothing is refused while what is sent is accepted
		require.Equal(t, 1, x.Calls(wire.OK))
		require.Equal(t, 1, x.Calls(wire.BadRequest), "an answer, if not the one hoped for")
	}
	// 2,000 accepts at K = 2 bear another 2,000 requests before the first refusal.
	for n := range 2000 {
		require.Equal(t, 1, x.Calls(wire.Overloaded), "failure %d", n+1)
	}
	sent := 0
	for range 2000 {
		sent += x.Calls(wire.Overloaded)
	}
	// The share that passes is 4000/n at n requests: Σ = 4000·ln(6000/4000).
	require.InDelta(t, 4000*math.Log(1.5), sent, 4.5*20)
	// Two minutes later all is forgotten.
	x.Now = 2 * time.Minute
	require.Equal(t, 1, x.Calls(wire.Overloaded))

	// Who is withdrawn before anybody knows leaves no trace.
	x = strategytest.NewOneClient(t, Throttle{K: 1, Scope: strategies.PerClient})
	for range 100 {
		x.Caller.Next(strategies.Event{Kind: strategies.Begin})
		x.Caller.Next(strategies.Event{Kind: strategies.Settled, Attempt: 1, Outcome: &wire.Outcome{Class: wire.Cancelled, RetryAfter: wire.NoHint}})
		x.Caller.Next(strategies.Event{Kind: strategies.Cancelled})
	}
	require.Zero(t, throttleSlices.sum(x.Caller.Driver().Memory[strategies.PerClient]))
	require.Equal(t, 1, x.Calls(wire.Overloaded))
}

func TestThrottleRejectsInvalidSettings(t *testing.T) {
	for _, k := range []Throttle{{K: 0.5, Scope: strategies.PerFleet}, {K: math.NaN(), Scope: strategies.PerFleet}, {Window: 1, Scope: strategies.PerFleet}, {K: math.Inf(1), Scope: strategies.PerFleet}} {
		_, err := strategies.Compile(strategies.Definition{Name: "bad", Layers: []strategies.Layer{k}}, nil)
		require.ErrorContains(t, err, "throttle: k must be 1 to 1000000 and window at least 10ns")
	}
}
