package layers

import (
	"errors"
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/saturating"
	"herdlab/strategies"
)

// Bulkhead gives one kind of work its own permits, so that it cannot take all
// capacity from other kinds. A call that finds no permit waits in a short line or
// is refused at once: an early refusal is better for a caller than a long wait. A
// call holds its permit until the inner strategy ends.
//
// Use it where several kinds of work share a provider, one bulkhead for each, with
// its own name. Where waiting is harmless, Concurrency is the simpler layer.
type Bulkhead struct {
	// Permits is the number of attempts that may be in flight, at least 1.
	Permits int64 `unit:"attempts" least:"1" required:"5" about:"How many attempts may be in flight."`
	// Line is the number of calls that may wait for a permit; 0 refuses at once.
	Line int64 `unit:"calls" default:"0" about:"How many calls may wait for a permit; the others are refused at once."`
	// Patience is how long a call may wait for a permit; 0 means no bound.
	Patience time.Duration `without:"there is no bound" about:"How long a call may wait for a permit."`
	// Scope sets which clients share the permits, PerClient or wider. Name is the
	// kind of work; it identifies a bulkhead with the scope PerEveryone.
	Scope strategies.Scope `except:"call" about:"Which clients share the memory of the layer."`
	Name  string           `without:"it has none" about:"The name by which layers of several fleets share memory; required with the scope everyone."`
}

// Build implements Layer.
func (h Bulkhead) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	g := &bulkhead{Bulkhead: h, inner: inner}
	switch {
	case h.Permits < 1:
		return nil, fmt.Errorf("bulkhead: permits must be at least 1, not %d", h.Permits)
	case h.Line < 0 || h.Patience < 0:
		return nil, errors.New("bulkhead: line and patience must not be negative")
	case h.Patience > 0 && b.Races():
		return nil, errors.New("bulkhead: patience does not work around a race (a hedge); put the bulkhead inside the race")
	}
	var err error
	if g.inLine, err = b.ReserveShared(h.Scope, 1, "bulkhead line", h.Name, fmt.Sprint(h.Permits)); err != nil {
		return nil, fmt.Errorf("bulkhead: %w", err)
	}
	if g.pool, err = b.Pool(permits{h.Permits}, h.Scope, "bulkhead "+h.Name); err != nil {
		return nil, err
	}
	g.inUse = b.PoolWords(g.pool)
	if g.held, err = b.Reserve(strategies.PerCall, 1, ""); err != nil {
		return nil, err
	}
	g.waiting, err = b.Waiting("bulkhead")
	return g, err
}

type bulkhead struct {
	Bulkhead
	inner   strategies.Strategy
	pool    strategies.PoolID
	inUse   strategies.Slot    // the pool's word
	inLine  strategies.Slot    // the number of calls in line
	held    strategies.Slot    // the number of permits that the call holds
	waiting strategies.Waiting // set while the call waits in line
}

// Next implements Strategy.
func (g *bulkhead) Next(now time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
	queued := g.waiting.In(c)
	switch {
	case e.Kind == strategies.Begin:
		return g.enter(now, c)
	case queued && e.Kind == strategies.Admitted:
		g.leave(c)
		return g.begin(now, c)
	case queued && e.Kind == strategies.Wake: // its patience is over
		g.leave(c)
		c.Leave()
		return strategies.StopWith(strategies.LimiterRefused, wire.Concurrency)
	case queued && e.Kind == strategies.Cancelled:
		g.leave(c)
		return strategies.StopCancelled()
	}
	return g.settled(c, g.inner.Next(now, c, e))
}

// enter lets the call through, puts it into the line, or refuses it.
func (g *bulkhead) enter(now time.Duration, c *strategies.Call) strategies.Decision {
	take, waiting := strategies.Take{Pool: g.pool, N: 1}, c.Word(g.inLine, 0)
	if c.TryTake(take) {
		return g.begin(now, c)
	}
	free := *waiting == 0 && *c.Word(g.inUse, 0) < g.Permits
	if !free && *waiting >= g.Line {
		return strategies.StopWith(strategies.LimiterRefused, wire.Concurrency)
	}
	*waiting++
	g.waiting.Set(c)
	if g.Patience > 0 && !free {
		c.WakeAt(saturating.Add(now, g.Patience))
	}
	return strategies.Decision{Kind: strategies.Acquire, Take: take}
}

func (g *bulkhead) leave(c *strategies.Call) {
	g.waiting.Clear(c)
	*c.Word(g.inLine, 0)--
}

func (g *bulkhead) begin(now time.Duration, c *strategies.Call) strategies.Decision {
	*c.Word(g.held, 0)++
	return g.settled(c, g.inner.Next(now, c, strategies.Event{Kind: strategies.Begin}))
}

// settled releases the permit if d ends the inner strategy.
func (g *bulkhead) settled(c *strategies.Call, d strategies.Decision) strategies.Decision {
	if held := c.Word(g.held, 0); d.Settles() && *held > 0 {
		*held--
		c.Put(g.pool, 1)
	}
	return d
}
