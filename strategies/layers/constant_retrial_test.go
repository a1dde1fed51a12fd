package layers

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/strategytest"
)

func TestOrbit(t *testing.T) {
	strategytest.Play(t, []strategies.Layer{ConstantRetrial{Mean: time.Second, Scope: strategies.PerFleet}}, `
		a: begin -> send
		a: 400 -> stop failed                     # nothing that waiting cures
		a: begin -> send
		a: 200 -> stop succeeded`)

	// Three in orbit, one at a time; the others learn nothing of it.
	w := strategytest.NewWorld(t, map[string][]strategies.Layer{"": {ConstantRetrial{Mean: time.Second, Scope: strategies.PerFleet}}}, 1)
	for _, name := range []string{"a", "b", "c"} {
		w.Call(name).Next(strategies.Event{Kind: strategies.Begin})
		d := w.Call(name).Next(strategies.Event{Kind: strategies.Reply, Attempt: 1, Outcome: strategytest.Refusal(wire.NoHint)})
		require.Equal(t, strategies.Acquire, d.Kind)
	}
	next := func() time.Duration { return time.Duration(w.Fleets[""].Words[0]) }
	for _, name := range []string{"a", "b", "c"} {
		require.Greater(t, next(), w.Now)
		w.AdmitAll()
		require.NotNil(t, w.Call(name).Line, "not before its time")
		w.Now = next()
		w.AdmitAll()
		require.Nil(t, w.Call(name).Line)
		require.EqualValues(t, 2, w.Call(name).Attempts)
	}
	w.Call("b").Next(strategies.Event{Kind: strategies.Reply, Attempt: 2, Outcome: strategytest.Refusal(wire.NoHint)})
	require.NotNil(t, w.Call("b").Line)
	w.Withdraw(w.Call("b"))
	require.Nil(t, w.Call("b").Line)
}

// All calls wait for the hint that one of them got; and a call that received a part
// of an answer makes no other attempt.
func TestOrbitHears(t *testing.T) {
	w := strategytest.NewWorld(t, map[string][]strategies.Layer{"": {ConstantRetrial{Mean: time.Second, Scope: strategies.PerFleet}}}, 1)
	next := func() time.Duration { return time.Duration(w.Fleets[""].Words[0]) }
	for i, hint := range []time.Duration{wire.NoHint, time.Minute, time.Second} {
		c := w.Call(string(rune('a' + i)))
		c.Next(strategies.Event{Kind: strategies.Begin})
		require.Equal(t, strategies.Acquire, c.Next(strategies.Event{Kind: strategies.Reply, Attempt: 1, Outcome: strategytest.Refusal(hint)}).Kind)
		if i == 0 {
			require.Less(t, next(), time.Minute)
			continue
		}
		require.Greater(t, next(), time.Minute)
	}
	strategytest.Play(t, []strategies.Layer{ConstantRetrial{Mean: time.Second, Scope: strategies.PerFleet}}, `
		begin -> send
		overloaded tokens=9 -> stop failed
		begin -> send
		503 says=stop -> stop failed`)
}

// retrialQueue serves Poisson arrivals at rate λ, one at a time for an
// exponential time of mean 1 s, and refuses attempts while it is busy. It
// returns the mean number of calls in orbit and of attempts for each success.
func retrialQueue(t *testing.T, lambda float64, calls int, layers ...strategies.Layer) (orbit, attempts float64) {
	l := strategytest.NewLab(t, layers...)
	luck, busy := draw.New(3), time.Duration(0)
	var wait time.Duration
	l.Serve = func(c *strategytest.Caller) (time.Duration, wire.Outcome) {
		if l.Now < busy {
			return 0, strategytest.Refused(wire.Overloaded)
		}
		s := luck.For(c.ID).Exp(1<<60, time.Second)
		busy = l.Now + s
		wait += l.Now - c.Born
		return s, strategytest.Answered
	}
	at := time.Duration(0)
	for i := range calls {
		at += luck.Exp(uint64(i), time.Duration(float64(time.Second)/lambda))
		l.At(at, func() { l.Begin("a", i) })
	}
	l.Run(at + time.Hour)
	n := float64(calls)
	return lambda * wait.Seconds() / n, float64(len(l.Sent)) / n
}

// Constant retrial rate: with r = λ(λ+θ)/θ, N = λ(r + λ/θ)/(1−r).
func TestOrbitClosedForm(t *testing.T) {
	for _, c := range []struct{ lambda, theta, n, attempts float64 }{
		{0.3, 1, 0.339344, 1.690}, {0.5, 2, 1.166667, 2.750},
	} {
		r := c.lambda * (c.lambda + c.theta) / c.theta
		require.InDelta(t, c.n, c.lambda*(r+c.lambda/c.theta)/(1-r), 1e-6)
		n, attempts := retrialQueue(t, c.lambda, 25_000, ConstantRetrial{Mean: time.Duration(float64(time.Second) / c.theta), Scope: strategies.PerFleet})
		require.InEpsilon(t, c.n, n, 0.08, "λ = %v, θ = %v", c.lambda, c.theta)
		require.InEpsilon(t, c.attempts, attempts, 0.03, "λ = %v, θ = %v", c.lambda, c.theta)
	}
}

// Each in orbit retries at the rate θ: N = ρ(λ+ρθ)/((1−ρ)θ), and (λ+θN)/λ
// attempts for a success.
func TestMemorylessClosedForm(t *testing.T) {
	for _, c := range []struct{ lambda, theta, n, attempts float64 }{{0.5, 1, 1, 3}} {
		require.InDelta(t, c.n, c.lambda*(c.lambda+c.lambda*c.theta)/((1-c.lambda)*c.theta), 1e-9)
		n, attempts := retrialQueue(t, c.lambda, 25_000, Retry{Backoff: backoffs.Memoryless{Mean: time.Duration(float64(time.Second) / c.theta)}})
		require.InEpsilon(t, c.n, n, 0.08, "λ = %v, θ = %v", c.lambda, c.theta)
		require.InEpsilon(t, c.attempts, attempts, 0.05, "λ = %v, θ = %v", c.lambda, c.theta)
	}
}

func TestOrbitRejectsInvalidSettings(t *testing.T) {
	_, err := strategies.Compile(strategies.Definition{Name: "bad", Layers: []strategies.Layer{ConstantRetrial{Scope: strategies.PerFleet}}}, nil)
	require.EqualError(t, err, `strategy "bad": orbit: mean must be positive, not 0s`)
	_, err = strategies.Compile(strategies.Definition{Name: "bad", Layers: []strategies.Layer{ConstantRetrial{Mean: 1}}}, nil)
	require.EqualError(t, err, `strategy "bad": orbit: it cannot be shared per call; use client, fleet or everyone`)
}
