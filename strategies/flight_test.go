package strategies_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
	"herdlab/strategies/strategytest"
)

// playAsking plays a script whose calls all have the same prompt.
func playAsking(t *testing.T, layers []strategies.Layer, script string) {
	t.Helper()
	strategytest.Play(t, append([]strategies.Layer{oneQuestion(7)}, layers...), script)
}

// oneQuestion is a layer that gives all calls the same prompt.
type oneQuestion uint32

func (p oneQuestion) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	b.ChangesDemand()
	return questioner{p, inner}, nil
}

type questioner struct {
	prompt oneQuestion
	inner  strategies.Strategy
}

func (a questioner) Next(now time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
	c.Demand.Prompt = uint32(a.prompt)
	return a.inner.Next(now, c, e)
}

// The first of equal calls leads; the others follow and end with its answer or its
// failure.
func TestFlight(t *testing.T) {
	playAsking(t, []strategies.Layer{single{}}, `
		a: begin        -> send
		b: begin        -> follow
		c: begin        -> follow
		@1s a: 200      -> stop succeeded ok + land 2
		b: joined       -> stop succeeded ok
		d: begin        -> send                          # the flight is over: a new one
		c: joined       -> stop succeeded ok
		e: begin        -> follow
		d: auth         -> stop failed auth + land 1
		e: joined       -> stop failed auth              # singleflight shares errors too
	`)
	strategytest.Play(t, []strategies.Layer{single{}}, `
		a: begin        -> send                          # asks like no other
		b: begin        -> send
		a: 200          -> stop succeeded ok
	`)
}

// A loop outside retries each follower, and the first to return leads; a loop inside
// runs for the leader, and all followers wait for it.
func TestFlightsAndLoops(t *testing.T) {
	retry := layers.Retry{Backoff: backoffs.Fixed{Every: time.Second}, MaxAttempts: 2}
	playAsking(t, []strategies.Layer{retry, single{}}, `
		a: begin        -> send
		b: begin        -> follow
		@1s a: 503      -> wait 1s + land 1
		b: joined       -> wait 1s
		a: wake         -> send
		b: wake         -> follow
		a: 200          -> stop succeeded ok + land 1
		b: joined       -> stop succeeded ok
	`)
	playAsking(t, []strategies.Layer{single{}, retry}, `
		a: begin        -> send
		b: begin        -> follow
		a: 503          -> wait 1s
		a: wake         -> send
		a: 503          -> stop tries_exhausted + land 1
		b: joined       -> stop tries_exhausted overloaded
	`)
}

// When a leader is cancelled, its first follower leads; a cancelled follower only
// leaves the flight.
func TestCancelledLeaders(t *testing.T) {
	w := strategytest.NewWorld(t, map[string][]strategies.Layer{"": {oneQuestion(7), single{}}}, 1)
	a, b, c := w.Call("a"), w.Call("b"), w.Call("c")
	require.Equal(t, strategies.Send, a.Next(strategies.Event{Kind: strategies.Begin}).Kind)
	require.Equal(t, strategies.Join, b.Next(strategies.Event{Kind: strategies.Begin}).Kind)
	require.Equal(t, strategies.Join, c.Next(strategies.Event{Kind: strategies.Begin}).Kind)
	w.Withdraw(a)
	require.EqualValues(t, 1, b.Attempts, "the first of the followers leads")
	require.Zero(t, c.Attempts)
	require.Same(t, b, c.Follows)
	w.Withdraw(c)
	require.Nil(t, c.Follows)
	require.Equal(t, strategies.Stop, b.Next(strategies.Event{Kind: strategies.Reply, Attempt: 1, Outcome: &wire.Outcome{Class: wire.OK}}).Kind)
	require.Empty(t, w.Flights)
	require.False(t, c.Landed)
}

// If the leader is answered from memory, so are its followers.
func TestFlightFromMemory(t *testing.T) {
	playAsking(t, []strategies.Layer{single{}, layers.Retry{Backoff: backoffs.Fixed{Every: time.Second}}, remembering{}}, `
		a: begin        -> send
		b: begin        -> follow
		a: 503          -> wait 1s
		a: wake         -> answer + land 1
		b: joined       -> answer
	`)
}

// remembering is a guard that answers each second call from memory.
type remembering struct{}

func (r remembering) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	return b.Guard(r, inner)
}

func (remembering) Admit(_ time.Duration, c *strategies.Call) strategies.Decision {
	if c.Attempts == 0 {
		return strategies.Decision{}
	}
	return strategies.Decision{Kind: strategies.Answer, End: strategies.End{Reason: strategies.ServedFromMemory}}
}

func (remembering) Observe(time.Duration, *strategies.Call, strategies.Event, strategies.Decision) {}

func TestInvalidFlights(t *testing.T) {
	for want, layers := range map[string][]strategies.Layer{
		"may have one single flight only":   {single{}, single{}},
		"what everyone shares needs a name": {single{scope: strategies.PerEveryone}},
		"cannot be shared per scope(9)":     {single{scope: 9}},
	} {
		_, err := strategies.Compile(strategies.Definition{Name: "test", Layers: layers}, nil)
		require.ErrorContains(t, err, want)
	}
	commons := strategies.NewSharedMemory()
	var at []uint32
	for _, name := range []string{"x", "y", "x"} {
		p, err := strategies.Compile(strategies.Definition{Name: "test", Layers: []strategies.Layer{single{scope: strategies.PerEveryone, name: name}}}, commons)
		require.NoError(t, err)
		at = append(at, p.Flights[0].At)
	}
	require.Equal(t, at[0], at[2])
	require.NotEqual(t, at[0], at[1])
}
