package strategies

import (
	"time"

	"herdlab/sim/saturating"
)

// Next implements Strategy: it delivers an event to the runner it concerns and
// turns that runner's decision into one for the call.
func (g *raced) Next(now time.Duration, c *Call, e Event) Decision {
	w := g.start(c)
	var d Decision
	switch e.Kind {
	case Begin:
		d = g.begin(now, c, w)
	case Wake:
		w[startTimer] = 0
		d = g.wake(now, c, w)
	case Admitted:
		if n := w[startInLine]; n > 0 {
			w[startInLine] = 0
			d = g.deliver(now, c, w, uint32(n-1), e)
		}
	case Cancelled:
		g.giveUp(now, c, w, g.runners)
		g.end(c, w)
		return StopCancelled()
	default:
		if n, ok := g.runnerOf(c, w, e); ok {
			d = g.deliver(now, c, w, n, e)
		}
	}
	if d.Settles() {
		return d
	}
	return g.wait(now, c, w, d)
}

// begin starts the race with its first runner.
func (g *raced) begin(now time.Duration, c *Call, w []int64) Decision {
	clear(w)
	g.keep(c, &w[startAim], g.demandOf(w))
	g.race.Start(now, c)
	return g.launch(now, c, w)
}

// launch begins the next runner, with the current target and demand of the call.
func (g *raced) launch(now time.Duration, c *Call, w []int64) Decision {
	n := uint32(w[startBegun])
	w[startBegun]++
	r := g.runner(c, n)
	clear(r)
	r[runnerLive] = 1
	g.keep(c, &r[runnerAim], g.demandOf(r))
	return g.deliver(now, c, w, n, Event{Kind: Begin})
}

// wake wakes a runner that is due, or begins the next one if its time has come.
// If several runners are due, each gets its own Wake at the same instant. So the
// driver can detect that time makes no progress, and the decision of one runner is
// carried out before the next runner decides.
func (g *raced) wake(now time.Duration, c *Call, w []int64) Decision {
	for n := range uint32(w[startBegun]) {
		if r := g.runner(c, n); isDue(r[runnerDue], now) {
			r[runnerDue] = 0
			return g.deliver(now, c, w, n, Event{Kind: Wake})
		}
	}
	if !isDue(w[startNext], now) {
		return Decision{}
	}
	w[startNext] = 0
	g.take(c, w[startAim], g.demandOf(w))
	switch v := g.race.Launch(now, c, uint32(w[startBegun])); v.Kind {
	case Idle:
		return g.launch(now, c, w)
	case Wait:
		w[startNext] = stored(saturating.Add(now, max(v.After, 0)))
	default:
		w[startClosed] = 1
	}
	return Decision{}
}

// deliver passes an event to runner n and returns the decision of the call that
// follows from it, or Idle.
func (g *raced) deliver(now time.Duration, c *Call, w []int64, n uint32, e Event) Decision {
	r := g.runner(c, n)
	d := g.run(now, c, w, n, e)
	switch d.Kind {
	case Send:
		g.fly(r, c.Attempts+1, now)
		g.plan(now, c, w, n)
	case Wait:
		r[runnerDue] = stored(saturating.Add(now, max(d.After, 0)))
		return Decision{}
	case Acquire:
		if w[startInLine] != 0 { // a call waits in one queue at a time
			r[runnerWants] = (int64(d.Take.Pool)<<32 | int64(d.Take.N)) + 1
			return Decision{}
		}
		w[startInLine] = int64(n) + 1
	case Answer, Stop:
		return g.ended(now, c, w, n, e, d)
	}
	return d
}

// plan sets the time when the runner after n begins, once n has sent an attempt.
func (g *raced) plan(now time.Duration, c *Call, w []int64, n uint32) {
	next := n + 1
	if int64(next) == w[startBegun] && next < g.runners && w[startNext] == 0 && w[startClosed] == 0 {
		w[startNext] = stored(saturating.Add(now, max(g.race.Delay(now, c, next), 0)))
	}
}

// ended returns the decision of the race after runner n has ended with d.
func (g *raced) ended(now time.Duration, c *Call, w []int64, n uint32, e Event, d Decision) Decision {
	g.retire(now, c, w, n)
	v := g.race.After(now, c, n, e, d)
	switch {
	case d.Kind == Stop && d.End.Class == cancelledOutcome.Class:
		v = Decision{}
		w[startClosed], w[startNext] = 1, 0
	case v.Settles():
		g.giveUp(now, c, w, n)
		r := g.runner(c, n)
		g.take(c, r[runnerAim], g.demandOf(r))
		g.end(c, w)
		return v
	case v.Kind == Wait && uint32(w[startBegun]) < g.runners && w[startClosed] == 0:
		w[startNext] = stored(saturating.Add(now, max(v.After, 0)))
		return Decision{}
	}
	for m := range uint32(w[startBegun]) {
		if g.runner(c, m)[runnerLive] != 0 {
			return Decision{}
		}
	}
	g.end(c, w)
	return d
}

// giveUp cancels all runners but the winner: it settles each of their attempts,
// and delivers Cancelled to a runner that has not ended by then.
func (g *raced) giveUp(now time.Duration, c *Call, w []int64, winner uint32) {
	for n := range uint32(w[startBegun]) {
		r := g.runner(c, n)
		if n == winner || r[runnerLive] == 0 {
			continue
		}
		e, d := g.settleAttempts(now, c, w, n)
		if !d.Settles() {
			e = Event{Kind: Cancelled}
			d = g.run(now, c, w, n, e)
		}
		g.retire(now, c, w, n)
		g.race.After(now, c, n, e, d)
	}
}

// retire marks runner n as ended, settles its attempts and removes it from the
// queue of a pool.
func (g *raced) retire(now time.Duration, c *Call, w []int64, n uint32) {
	g.settleAttempts(now, c, w, n)
	r := g.runner(c, n)
	r[runnerLive], r[runnerDue], r[runnerWants] = 0, 0, 0
	if w[startInLine] == int64(n)+1 {
		w[startInLine] = 0
		c.Leave()
	}
}

// settleAttempts abandons the attempts of runner n and delivers Settled to it for
// each. It returns the event and the decision that ended the runner, if one did.
func (g *raced) settleAttempts(now time.Duration, c *Call, w []int64, n uint32) (e Event, d Decision) {
	flying := g.flying(g.runner(c, n))
	for i := 0; i < len(flying); i += attemptWords {
		if flying[i] == 0 {
			continue
		}
		settled := Event{Kind: Settled, Attempt: uint32(flying[i]), Outcome: &cancelledOutcome, SentAt: time.Duration(flying[i+1])}
		flying[i] = 0
		c.HangUp(settled.Attempt)
		if v := g.run(now, c, w, n, settled); v.Settles() && !d.Settles() {
			e, d = settled, v
		}
	}
	return e, d
}

// end marks the race as over.
func (g *raced) end(c *Call, w []int64) {
	w[startBegun], w[startNext], w[startTimer] = 0, 0, 0
	g.waiting.Clear(c)
}

// wait adds to a decision what the other runners need: an Acquire for the next
// runner that wants units, and a timer for the earliest runner that is due.
func (g *raced) wait(now time.Duration, c *Call, w []int64, d Decision) Decision {
	at := w[startNext]
	for n := range uint32(w[startBegun]) {
		r := g.runner(c, n)
		if r[runnerWants] != 0 && w[startInLine] == 0 {
			if d.Kind == Idle {
				take := r[runnerWants] - 1
				d = Decision{Kind: Acquire, Take: Take{Pool: PoolID(take >> 32), N: uint32(take)}}
				r[runnerWants], w[startInLine] = 0, int64(n)+1
			} else {
				at = stored(now)
			}
		}
		if due := r[runnerDue]; due != 0 && (at == 0 || due < at) {
			at = due
		}
	}
	g.waiting.Clear(c)
	if d.Kind == Idle || d.Kind == Acquire {
		g.waiting.Set(c)
	}
	if at == 0 || w[startTimer] != 0 && w[startTimer] <= at {
		return d // a Wake that comes too early does nothing
	}
	w[startTimer] = at
	if d.Kind == Idle {
		return Decision{Kind: Wait, After: max(0, time.Duration(at-1)-now)}
	}
	c.WakeAt(max(now, time.Duration(at-1)))
	return d
}

// runnerOf returns the runner that sent the attempt of an event. If the attempt has
// ended, it is removed from those in flight.
func (g *raced) runnerOf(c *Call, w []int64, e Event) (n uint32, ok bool) {
	for n := range uint32(w[startBegun]) {
		if g.forget(g.flying(g.runner(c, n)), e.Attempt, e.Terminal()) {
			return n, true
		}
	}
	return 0, false
}

// forget reports whether an attempt is among those in flight, and removes it if it
// has ended.
func (g *raced) forget(flying []int64, attempt uint32, ended bool) bool {
	for i := 0; i < len(flying); i += attemptWords {
		if flying[i] == int64(attempt) {
			if ended {
				flying[i] = 0
			}
			return true
		}
	}
	return false
}

// fly records that a runner has sent an attempt.
func (g *raced) fly(r []int64, attempt uint32, now time.Duration) {
	flying := g.flying(r)
	for i := 0; i < len(flying); i += attemptWords {
		if flying[i] == 0 {
			flying[i], flying[i+1] = int64(attempt), int64(now)
			return
		}
	}
	panic("strategies: a layer inside a race has more attempts in flight than the race has room for; build that layer with Build.Race")
}
