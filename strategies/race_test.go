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

// second is a simple race as a layer: each runner begins a fixed time after the one
// before has sent. It records how runners end.
type second struct {
	after    time.Duration
	runners  int
	launch   func(n uint32) strategies.Decision // Idle if nil
	verdict  func(n uint32, d strategies.Decision) strategies.Decision
	models   bool // runner n goes to model n
	diary    *[]string
	forgoing bool // Delay returns Never
}

func (s second) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	return b.Race(s, inner)
}

func (s second) Runners() int { return s.runners }

func (s second) Start(time.Duration, *strategies.Call) {}

func (s second) Delay(time.Duration, *strategies.Call, uint32) time.Duration {
	if s.forgoing {
		return strategies.Never
	}
	return s.after
}

func (s second) Launch(_ time.Duration, c *strategies.Call, n uint32) strategies.Decision {
	if s.models {
		c.Target.Model = uint8(n)
	}
	if s.launch != nil {
		return s.launch(n)
	}
	return strategies.Decision{}
}

func (s second) After(_ time.Duration, _ *strategies.Call, n uint32, _ strategies.Event, d strategies.Decision) strategies.Decision {
	if s.diary != nil {
		*s.diary = append(*s.diary, "runner "+string(rune('0'+n))+" "+d.End.Reason.String()+" "+d.End.Class.String())
	}
	if s.verdict != nil {
		return s.verdict(n, d)
	}
	if d.End.Reason == strategies.Succeeded || d.Kind == strategies.Answer {
		return d
	}
	return strategies.Decision{}
}

func TestRace(t *testing.T) {
	stack := []strategies.Layer{second{after: 50 * time.Millisecond, runners: 3}}
	strategytest.Play(t, stack, `
		a: begin                -> send + wake 50ms
		@20ms a: 200            -> stop succeeded ok
		a: wake                 -> idle                     # the timer is nobody's
		@1s b: begin            -> send + wake 50ms
		b: wake                 -> send + wake 50ms         # at 1.05
		@1.06s b: 503 attempt=1 -> idle                     # the second may still bring it
		@1.07s b: 200 attempt=2 -> stop succeeded ok
		@2s c: begin            -> send + wake 50ms
		c: wake                 -> send + wake 50ms
		c: wake                 -> send
		@2.2s c: 200 attempt=2  -> stop succeeded ok + hang up 1 + hang up 3
		c: settled attempt=3    -> idle                     # it is not heard twice
	`)
	strategytest.Play(t, stack, `
		a: begin                -> send + wake 50ms
		a: wake                 -> send + wake 50ms
		a: wake                 -> send
		@1s a: 503 attempt=2    -> idle
		a: lost attempt=3       -> idle
		a: 429 attempt=1        -> stop failed rate         # the last one's is the race's
	`)
	strategytest.Play(t, stack, `
		a: begin                -> send + wake 50ms
		@40ms a: 503            -> stop failed overloaded   # nobody is under way: no second begins
	`)
}

// The decision of After: some failures end a race at once, others start the next
// runner earlier.
func TestVerdicts(t *testing.T) {
	strategytest.Play(t, []strategies.Layer{second{after: 50 * time.Millisecond, runners: 4, verdict: func(n uint32, d strategies.Decision) strategies.Decision {
		switch d.End.Class {
		case wire.OK, wire.Auth:
			return d
		case wire.Rate:
			return strategies.Decision{Kind: strategies.Wait, After: 7 * time.Millisecond}
		case wire.Overloaded:
			return strategies.Decision{Kind: strategies.Wait}
		}
		return strategies.Decision{}
	}}}, `
		a: begin                -> send + wake 50ms
		@1ms a: 429             -> wait 7ms                 # although nobody is under way
		a: wake                 -> send + wake 50ms         # at 8
		@9ms a: 503             -> wait 0s
		a: wake                 -> send + wake 50ms
		@10ms a: auth           -> stop failed auth
		@1s b: begin            -> send + wake 50ms
		b: wake                 -> send + wake 50ms
		@1.06s b: auth attempt=1 -> stop failed auth + hang up 2
		@2s c: begin            -> send + wake 50ms
		c: wake                 -> send + wake 50ms
		c: wake                 -> send + wake 50ms
		c: wake                 -> send
		c: 429 attempt=4        -> idle                     # there is no fifth
		c: 429 attempt=3        -> idle
		c: 429 attempt=2        -> idle
		c: 429 attempt=1        -> stop failed rate
	`)
}

// Launch may delay a runner, or cancel it and all later ones; Delay may plan none.
func TestLaunches(t *testing.T) {
	asked := 0
	strategytest.Play(t, []strategies.Layer{second{after: 50 * time.Millisecond, runners: 3, launch: func(n uint32) strategies.Decision {
		if asked++; asked%3 == 1 {
			return strategies.Decision{Kind: strategies.Wait, After: 5 * time.Millisecond}
		} else if asked%3 == 2 {
			return strategies.Decision{}
		}
		return strategies.StopWith(strategies.BudgetSpent, wire.OK)
	}}}, `
		a: begin        -> send + wake 50ms
		a: wake         -> wait 5ms
		a: wake         -> send + wake 50ms
		a: wake         -> idle
		a: 200          -> stop succeeded ok + hang up 1
	`)
	strategytest.Play(t, []strategies.Layer{second{runners: 2, forgoing: true}}, `
		a: begin -> send
		a: 503   -> stop failed overloaded
	`)
}

// Each runner has its own retry inside a race: its count, its waits and its end.
func TestRetriesInsideARace(t *testing.T) {
	var heard []string
	strategytest.Play(t, []strategies.Layer{
		second{after: 30 * time.Millisecond, runners: 2, diary: &heard},
		layers.Retry{Backoff: backoffs.Exponential{Base: 20 * time.Millisecond}, MaxAttempts: 3},
	}, `
		a: begin                -> send + wake 30ms
		@10ms a: 503            -> idle                     # comes back at 30, as the second begins
		@30ms a: wake           -> send + wake 0s           # the first again: who waits for long goes first
		a: wake                 -> send                     # and then the second
		@31ms a: 503 attempt=3  -> wait 20ms                # the second's first retry: until 51
		@32ms a: 503 attempt=2  -> idle                     # the first's second one: 40 ms, until 72
		a: wake                 -> send + wake 21ms         # at 51
		@60ms a: 503 attempt=4  -> idle                     # the second's second: 40 ms, until 100
		a: wake                 -> send + wake 28ms         # at 72
		@73ms a: 503 attempt=5  -> idle                     # the first is through with its three
		a: wake                 -> send                     # at 100
		a: 503 attempt=6        -> stop tries_exhausted
	`)
	require.Equal(t, []string{"runner 0 tries_exhausted overloaded", "runner 1 tries_exhausted overloaded"}, heard[:2])
	strategytest.Play(t, []strategies.Layer{
		second{after: 30 * time.Millisecond, runners: 2, diary: &heard},
		layers.Retry{Backoff: backoffs.Exponential{Base: 20 * time.Millisecond}, MaxAttempts: 3},
	}, `
		a: begin                -> send + wake 30ms
		a: wake                 -> send
		@40ms a: 503 attempt=1  -> wait 20ms
		@50ms a: 200 attempt=2  -> stop succeeded ok        # who waits is told that it is over
		@1s b: begin            -> send + wake 30ms
		b: wake                 -> send
		@1.04s b: 503 attempt=2 -> wait 20ms
		b: settled attempt=1    -> idle                     # the caller withdraws
		b: cancelled            -> stop withdrawn cancelled
	`)
}

// After an attempt is cancelled no more runners begin.
func TestNoRunnerBeginsAfterACancellation(t *testing.T) {
	strategytest.Play(t, []strategies.Layer{
		second{after: 30 * time.Millisecond, runners: 3},
		layers.Retry{Backoff: backoffs.Fixed{Every: time.Second}, MaxAttempts: 2},
	}, `
		a: begin                -> send + wake 30ms
		@10ms a: 503            -> idle                     # until 1.01
		a: wake                 -> send + wake 30ms
		a: settled attempt=2    -> idle
		a: wake                 -> wait 950ms               # at 60: the third does not begin
		a: wake                 -> send
	`)
}

// The attempt in flight of a runner that stops is abandoned.
func TestARunnerThatStopsByItself(t *testing.T) {
	in := &listener{}
	strategytest.Play(t, []strategies.Layer{second{after: 10 * time.Millisecond, runners: 2}, choosy{}, in}, `
		a: begin                -> send + wake 10ms
		a: wake                 -> send
		a: head attempt=2       -> idle + hang up 2
		a: 200 attempt=1        -> stop succeeded ok
	`)
	require.Equal(t, "attempt 2 of 10ms: failed cancelled", in.heard[0])
}

// choosy is a layer that stops at the head of an answer.
type choosy struct{}

func (choosy) Build(_ *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	return picky{inner}, nil
}

type picky struct{ inner strategies.Strategy }

func (p picky) Next(now time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
	if e.Kind == strategies.Head {
		return strategies.StopWith(strategies.NotGoodEnough, wire.OK)
	}
	return p.inner.Next(now, c, e)
}

// A call waits in one queue at a time: a runner that wants units while another one
// waits is delayed until that one is admitted. A waiting runner does not cause another
// one to begin, and a losing runner returns its units and leaves the queue.
func TestPermitsInsideARace(t *testing.T) {
	stack := []strategies.Layer{
		second{after: 10 * time.Millisecond, runners: 3},
		layers.Concurrency{Permits: 2, Scope: strategies.PerFleet},
	}
	strategytest.Play(t, stack, `
		x: begin                  -> send + wake 10ms
		y: begin                  -> send + wake 10ms
		a: begin                  -> queued                 # not hedged while it stands
		x: 200                    -> stop succeeded ok
		a: admitted               -> send + wake 10ms
		a: wake                   -> queued                 # its second
		y: wake                   -> queued
		a: 200 attempt=1          -> stop succeeded ok + leave
		y: admitted               -> send + wake 10ms       # y has both
		y: wake                   -> queued
		y: 503 attempt=1          -> idle
		y: admitted               -> send
		y: 200 attempt=3          -> stop succeeded ok + hang up 2
		b: begin                  -> send + wake 10ms       # all are back
		c: begin                  -> send + wake 10ms
		d: begin                  -> queued
	`)
	// Two runners of one call want units at once.
	strategytest.Play(t, []strategies.Layer{
		second{after: 10 * time.Millisecond, runners: 2},
		layers.Retry{Backoff: backoffs.Fixed{Every: 5 * time.Millisecond}, MaxAttempts: 3},
		layers.TokenBucket{Rate: 1, Per: 100 * time.Millisecond, Burst: 1, Scope: strategies.PerFleet},
	}, `
		a: begin                  -> send + wake 10ms
		a: wake                   -> queued until 100ms     # the second stands
		@20ms a: 503 attempt=1    -> wait 5ms
		a: wake                   -> idle                   # the first wants one too, but the call stands
		@100ms a: admitted        -> send + wake 0s
		a: wake                   -> queued until 200ms     # now for the first
		@200ms a: admitted        -> send
		a: 200 attempt=2          -> stop succeeded ok + hang up 3
	`)
}

// A breaker inside a race observes each losing runner once; one outside observes the
// call.
func TestBreakersObserveLosers(t *testing.T) {
	in, out := &listener{}, &listener{}
	strategytest.Play(t, []strategies.Layer{out, second{after: 10 * time.Millisecond, runners: 3}, in}, `
		a: begin                -> send + wake 10ms
		a: wake                 -> send + wake 10ms
		a: 503 attempt=1        -> idle
		a: wake                 -> send
		a: 200 attempt=3        -> stop succeeded ok + hang up 2
		a: settled attempt=2    -> idle
	`)
	heard := []string{"attempt 1 of 0s: failed overloaded", "attempt 3 of 20ms: succeeded ok", "attempt 2 of 10ms: failed cancelled"}
	require.Equal(t, heard, in.heard[:3])
	require.Equal(t, []string{"attempt 3 of 20ms: succeeded ok"}, out.heard[:1])
	require.Len(t, in.heard, 6, "the script is played twice")
	require.Len(t, out.heard, 2)
}

// listener is a guard that records what it observes.
type listener struct{ heard []string }

func (l *listener) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	return b.Guard(l, inner)
}

func (*listener) Admit(time.Duration, *strategies.Call) strategies.Decision {
	return strategies.Decision{}
}

func (l *listener) Observe(_ time.Duration, _ *strategies.Call, e strategies.Event, d strategies.Decision) {
	l.heard = append(l.heard, "attempt "+string(rune('0'+e.Attempt))+" of "+e.SentAt.String()+": "+d.End.Reason.String()+" "+d.End.Class.String())
}

// Races nest: each runner of the outer race is a race, and the call has one timer and
// one place in a queue for all.
func TestNestedRaces(t *testing.T) {
	in := &listener{}
	strategytest.Play(t, []strategies.Layer{
		second{after: 25 * time.Millisecond, runners: 2},
		second{after: 10 * time.Millisecond, runners: 2},
		in,
	}, `
		a: begin                -> send + wake 10ms
		a: wake                 -> send + wake 15ms         # the inner second of the first
		a: wake                 -> send + wake 10ms         # the second, at 25
		a: wake                 -> send                     # and its second
		a: 503 attempt=1        -> idle
		a: 503 attempt=2        -> idle                     # the first has failed
		a: 200 attempt=4        -> stop succeeded ok + hang up 3
	`)
	require.Equal(t, "attempt 3 of 25ms: failed cancelled", in.heard[3])
	in.heard = nil
	strategytest.Play(t, []strategies.Layer{
		second{after: 25 * time.Millisecond, runners: 2},
		second{after: 10 * time.Millisecond, runners: 2},
		in,
		layers.Concurrency{Permits: 2, Scope: strategies.PerFleet},
	}, `
		a: begin                -> send + wake 10ms
		a: wake                 -> send + wake 15ms
		a: wake                 -> queued
		a: 200 attempt=1        -> stop succeeded ok + leave + hang up 2
		b: begin                -> send + wake 10ms
		b: wake                 -> send + wake 15ms
	`)
	require.Equal(t, []string{"attempt 1 of 0s: succeeded ok", "attempt 2 of 10ms: failed cancelled", "attempt 0 of 0s: withdrawn cancelled"}, in.heard[:3])
}

// A loop around a race begins it again, without state of the race before.
func TestALoopAroundARace(t *testing.T) {
	strategytest.Play(t, []strategies.Layer{
		layers.Retry{Backoff: backoffs.Fixed{Every: time.Second}, MaxAttempts: 2},
		second{after: 10 * time.Millisecond, runners: 2, verdict: func(_ uint32, d strategies.Decision) strategies.Decision { return d }},
		layers.Concurrency{Permits: 2, Scope: strategies.PerFleet},
	}, `
		a: begin                -> send + wake 10ms
		a: wake                 -> send
		a: 503 attempt=2        -> wait 1s + hang up 1
		a: wake                 -> send + wake 10ms
		a: wake                 -> send
		a: 503 attempt=3        -> stop tries_exhausted + hang up 4
		b: begin                -> send + wake 10ms
		b: wake                 -> send
	`)
}

// Each runner has its own target, and the call keeps that of the winner.
func TestTargetsInARace(t *testing.T) {
	w := strategytest.NewWorld(t, map[string][]strategies.Layer{"": {second{after: 10 * time.Millisecond, runners: 2, models: true}, elsewhere{}}}, 1)
	c := w.Call("a")
	require.Equal(t, strategies.Send, c.Next(strategies.Event{Kind: strategies.Begin}).Kind)
	require.Equal(t, wire.Target{Region: 7}, c.Target)
	w.Now = 10 * time.Millisecond
	require.Equal(t, strategies.Send, c.Next(strategies.Event{Kind: strategies.Wake}).Kind)
	require.Equal(t, wire.Target{Model: 1}, c.Target, "it begins with what the race began with, and no region yet")
	ok := &wire.Outcome{Class: wire.OK}
	require.Equal(t, strategies.Stop, c.Next(strategies.Event{Kind: strategies.Reply, Attempt: 1, Outcome: ok}).Kind)
	require.Equal(t, wire.Target{Region: 7}, c.Target)
}

// elsewhere sends the first attempt of a call to another region.
type elsewhere struct{}

func (elsewhere) Build(_ *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	return away{inner}, nil
}

type away struct{ inner strategies.Strategy }

func (a away) Next(now time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
	if e.Kind == strategies.Begin && c.Attempts == 0 {
		c.Target.Region = 7
	}
	return a.inner.Next(now, c, e)
}

func TestInvalidRaces(t *testing.T) {
	for name, layers := range map[string][]strategies.Layer{
		"a race has 2 to 8 runners, not 1":                   {second{runners: 1}},
		"a race has 2 to 8 runners, not 9":                   {second{runners: 9}},
		"may have 512 attempts of one call in flight":        {second{runners: 8}, second{runners: 8}, second{runners: 8}},
		"a single flight inside a race would make a call wa": {second{runners: 2}, single{}},
	} {
		_, err := strategies.Compile(strategies.Definition{Name: "test", Layers: layers}, nil)
		require.ErrorContains(t, err, name)
	}
}

// single is a single flight as a layer, by prompt.
type single struct {
	scope strategies.Scope
	name  string
}

func (s single) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	if s.scope == strategies.PerCall {
		s.scope = strategies.PerFleet
	}
	return b.Flight(strategies.Flight{Scope: s.scope, Name: s.name}, inner)
}
