package layers

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/strategytest"
)

// asking begins a call that asks a question.
func asking(l *strategytest.Lab, client string, number int, d wire.Demand) *strategytest.Caller {
	c := l.Call(fmt.Sprintf("%s.%d", client, number))
	c.Demand = d
	l.Step(c, strategies.Event{Kind: strategies.Begin})
	return c
}

func TestCache(t *testing.T) {
	l := strategytest.NewLab(t, Cache{TTL: time.Minute, Scope: strategies.PerClient})
	l.Serve = func(c *strategytest.Caller) (time.Duration, wire.Outcome) {
		if c.Demand.Prompt == 13 {
			return time.Second, strategytest.Refused(wire.Overloaded)
		}
		return time.Second, strategytest.Answered
	}
	var ends []strategies.Decision
	l.Settled = func(_ *strategytest.Caller, d strategies.Decision) { ends = append(ends, d) }
	number := 0
	ask := func(client string, d wire.Demand) (hit bool) {
		t.Helper()
		number++
		sent := len(l.Sent)
		asking(l, client, number, d)
		l.Run(l.Now + 1001*time.Millisecond)
		if hit = len(l.Sent) == sent; hit {
			require.Equal(t, strategies.Decision{Kind: strategies.Answer, End: strategies.End{Reason: strategies.ServedFromMemory, Class: wire.OK}}, ends[len(ends)-1])
		}
		return hit
	}
	seven := wire.Demand{Prompt: 7}
	require.False(t, ask("a", seven))
	answered := l.Now - time.Millisecond
	require.True(t, ask("a", seven))
	require.False(t, ask("b", seven), "another client's memory")
	require.False(t, ask("a", wire.Demand{Prompt: 8}))
	require.False(t, ask("a", wire.Demand{Prompt: 7, MaxTokens: 100}), "another question")
	require.False(t, ask("a", wire.Demand{}), "like no other")
	require.False(t, ask("a", wire.Demand{}))
	require.False(t, ask("a", wire.Demand{Prompt: 13}))
	require.False(t, ask("a", wire.Demand{Prompt: 13}), "failures are not kept")
	l.Run(answered + time.Minute - 1)
	require.True(t, ask("a", seven), "and a hit does not prolong its life")
	require.False(t, ask("a", seven))
}

func TestCacheKeepsNoDegradedAnswers(t *testing.T) {
	for keep, want := range map[bool]int{false: 4, true: 2} {
		l := strategytest.NewLab(t, Cache{TTL: time.Minute, Degraded: keep, Scope: strategies.PerFleet}, Ladder{Rungs: []Rung{{Model: 0}, {Model: 1}}})
		l.Serve = func(c *strategytest.Caller) (time.Duration, wire.Outcome) {
			if c.Target.Model == 0 {
				return 0, strategytest.Refused(wire.Overloaded)
			}
			return 0, strategytest.Answered
		}
		for i := range 2 {
			asking(l, "a", i, wire.Demand{Prompt: 7})
			l.Run(l.Now + 1)
		}
		require.Len(t, l.Sent, want)
	}
}

// However many questions there are, what is kept is bounded; a question is never
// answered with another's answer, because each is found by all of its number.
func TestCacheIsBounded(t *testing.T) {
	const entries = 1000
	p, err := strategies.Compile(strategies.Definition{Name: "x", Layers: []strategies.Layer{Cache{TTL: time.Hour, Entries: entries, Scope: strategies.PerFleet}}}, nil)
	require.NoError(t, err)
	require.Equal(t, 2*entries, p.Words[strategies.PerFleet])
	l := strategytest.NewLab(t, Cache{TTL: time.Hour, Entries: entries, Scope: strategies.PerFleet})
	ask := func(prompt int) (hit bool) {
		sent := len(l.Sent)
		asking(l, "a", 0, wire.Demand{Prompt: uint32(prompt)})
		l.Run(l.Now + 2*time.Millisecond)
		return len(l.Sent) == sent
	}
	for i := range 5000 {
		require.False(t, ask(i+1))
	}
	hits := 0
	for i := range 5000 { // the latest are there, but for sets that have had more than their share
		if ask(5000 - i) {
			hits++
		}
		if i == entries/4 {
			require.Greater(t, hits, entries/4*9/10)
		}
	}
	require.LessOrEqual(t, hits, entries)
}

// Case A22: a question that comes at Poisson rate λ is answered from memory
// λT/(1 + λT) of the times; at λ = 1/450 s and T = 300 s, of 40 %.
func TestCacheClosedForm(t *testing.T) {
	const calls = 30_000
	for _, gap := range []time.Duration{450 * time.Second, 100 * time.Second} {
		l := strategytest.NewLab(t, Cache{TTL: 300 * time.Second, Scope: strategies.PerFleet})
		l.Serve = func(*strategytest.Caller) (time.Duration, wire.Outcome) { return 1, strategytest.Answered }
		at := time.Duration(0)
		for i := range calls {
			at += l.Fleets[""].Rand.For(1<<40).Exp(uint64(i), gap)
			l.At(at, func() { asking(l, "a", 0, wire.Demand{Prompt: 7}) })
		}
		l.Run(strategies.Never)
		lambdaT := 300 / gap.Seconds()
		require.InEpsilon(t, 1/(1+lambdaT), float64(len(l.Sent))/calls, 0.02)
	}
}

// An answer is good for less than its TTL, for everybody; a failure is no answer.
func TestCacheScript(t *testing.T) {
	strategytest.Play(t, []strategies.Layer{strategytest.Asking{Demand: wire.Demand{Prompt: 7, InputTokens: 100, OutputTokens: 100}}, Cache{TTL: 10 * time.Second, Scope: strategies.PerFleet}}, `
		a.1: begin -> send
		a.1: 503 -> stop failed
		a.2: begin -> send
		@1s a.2: 200 -> stop succeeded
		@10s b.1: begin -> answer
		@11s b.2: begin -> send
	`)
}
