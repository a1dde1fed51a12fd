package strategies

import (
	"time"

	"herdlab/mockprovider/wire"
)

// The words of a race: those of its start, then those of each runner. Times are
// stored plus one, so that 0 means no time.

// The words of the start, followed by the demand that runners begin with.
const (
	startBegun  = iota // number of runners that have begun
	startClosed        // not 0 if no more runners begin
	startInLine        // the runner that waits in the queue of a pool, plus one
	startTimer         // when the call's timer fires
	startNext          // when the next runner begins
	startAim           // the target that runners begin with
	startWords  = iota // number of words of the start
)

// The words of a runner, followed by two for each attempt that it may have in
// flight, its number and when it was sent, and by its demand.
const (
	runnerLive  = iota // not 0 while it runs
	runnerPhase        // its bits of Call.Phase
	runnerAim          // its target
	runnerDue          // when its wait ends
	runnerWants        // pool and units that it waits to ask for, plus one, while another runner is in a queue
	runnerWords = iota // number of these words
)

const (
	demandWords  = 3
	attemptWords = 2
)

// offset is where the words of runner n begin.
func (g *raced) offset(n uint32) uint32 {
	return startWords + g.demand + n*(runnerWords+attemptWords*g.width+g.demand)
}

// start returns the words of the start.
func (g *raced) start(c *Call) []int64 {
	at := c.driver.From[PerCall] + g.own.at
	return c.driver.Memory[PerCall][at : at+startWords+g.demand]
}

// runner returns the words of runner n.
func (g *raced) runner(c *Call, n uint32) []int64 {
	at := c.driver.From[PerCall] + g.own.at + g.offset(n)
	return c.driver.Memory[PerCall][at : at+g.offset(1)-g.offset(0)]
}

// flying returns the attempts in flight among the words of a runner.
func (g *raced) flying(w []int64) []int64 { return w[runnerWords : runnerWords+attemptWords*g.width] }

// demandOf returns the demand at the end of the words of a runner or of the
// start.
func (g *raced) demandOf(w []int64) []int64 { return w[len(w)-int(g.demand):] }

// keep stores the target and the demand of the call, among the words of a
// runner or of the start; take puts them back.
func (g *raced) keep(c *Call, target *int64, demand []int64) {
	t, d := c.Target, &c.Demand
	*target = int64(t.Model) | int64(t.Region)<<8 | int64(t.Key)<<16
	if g.demand > 0 {
		demand[0] = int64(d.InputTokens)<<32 | int64(d.OutputTokens)
		demand[1] = int64(d.MaxTokens)<<32 | int64(d.Prompt)
		demand[2] = int64(d.Priority)
	}
}

func (g *raced) take(c *Call, target int64, demand []int64) {
	c.Target = wire.Target{Model: uint8(target), Region: uint8(target >> 8), Key: uint8(target >> 16)}
	if g.demand > 0 {
		c.Demand = wire.Demand{
			InputTokens: uint32(demand[0] >> 32), OutputTokens: uint32(demand[0]),
			MaxTokens: uint32(demand[1] >> 32), Prompt: uint32(demand[1]), Priority: uint8(demand[2]),
		}
	}
}

// stored returns a time as a word; Never is stored as 0, no time.
func stored(t time.Duration) int64 {
	if t == Never {
		return 0
	}
	return int64(t) + 1
}

// isDue reports whether a stored time has come.
func isDue(w int64, now time.Duration) bool { return w != 0 && w <= int64(now)+1 }

// run calls the layers inside for runner n, with its words, phase, target and
// demand in the call. The race intercepts those of its commands that concern what
// a call has only once: its timer and its place in a queue, and it keeps track of
// the attempts that the runner hangs up on.
func (g *raced) run(now time.Duration, c *Call, w []int64, n uint32, e Event) Decision {
	r := g.runner(c, n)
	from, phase, pools, a := c.driver.From[PerCall], c.driver.Phase, c.driver.Pools, &c.commands
	which, hungUp := a.which&(leaveCommand|wakeCommand), len(a.hangUps)
	a.which &^= leaveCommand | wakeCommand
	if n > 0 {
		c.driver.From[PerCall] += g.banks.at + (n-1)*g.bank
	}
	if w[startInLine] != 0 {
		c.driver.Pools = nil // while the call waits in a queue, no runner takes units directly
	}
	c.driver.Phase = uint32(r[runnerPhase])
	g.take(c, r[runnerAim], g.demandOf(r))

	d := g.inner.Next(now, c, e)

	g.keep(c, &r[runnerAim], g.demandOf(r))
	r[runnerPhase] = int64(c.driver.Phase)
	c.driver.From[PerCall], c.driver.Phase, c.driver.Pools = from, phase, pools
	if a.which&wakeCommand != 0 {
		r[runnerDue] = stored(a.wakeAt)
	}
	// A Leave by a race inside is dropped: retire leaves the queue for the runner.
	a.which = a.which&^(leaveCommand|wakeCommand) | which
	for _, attempt := range a.hangUps[hungUp:] {
		g.forget(g.flying(r), attempt, true)
	}
	return d
}
