package layers

import (
	"errors"
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/saturating"
	"herdlab/strategies"
)

// Merge sends several calls as one request: the first waits until Size calls have
// come, or for Window, and sends one request for all. The request has the sum of
// their tokens, and all calls get its answer, or its failure.
//
// Use it where the number of requests is limited and their size is not: with ten
// calls per request, a tenth of the requests and a tenth of the time under a quota
// remain. The first call waits up to Window, service takes longer for all, and ten
// calls fail where one would have; put a retry loop inside. A request that is too
// large fails all its calls permanently: keep Size well below what the model takes.
type Merge struct {
	// Size is the number of calls in one request, 2 to 1,000.
	Size int `unit:"calls" least:"1" most:"1000" required:"10" about:"How many calls make one request, at least 2."`
	// Window is how long the first call waits for the others; it must be positive.
	Window time.Duration `required:"1s" about:"How long the first call waits for the others."`
	// Scope sets which clients' calls are merged, PerClient or wider. Name
	// identifies a merger with the scope PerEveryone.
	Scope strategies.Scope `except:"call" about:"Which clients share the memory of the layer."`
	Name  string           `without:"it has none" about:"The name by which layers of several fleets share memory; required with the scope everyone."`
}

// Build implements Layer: a shared flight for each batch, and inside it, for the
// call that leads, the pool that admits the leader when the batch is complete.
func (m Merge) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	switch {
	case m.Size < 2 || m.Size > 1000:
		return nil, fmt.Errorf("merge: size must be 2 to 1000, not %d", m.Size)
	case m.Window <= 0:
		return nil, errors.New("merge: window must be positive")
	}
	if err := m.Scope.CheckShared(m.Name); err != nil {
		return nil, fmt.Errorf("merge: %w", err)
	}
	b.ChangesDemand()
	p := batches{int64(m.Size), m.Window}
	id, err := b.Pool(p, m.Scope, "merge "+m.Name)
	if err != nil {
		return nil, err
	}
	g := &merge{inner: inner, size: p.size, take: strategies.Take{Pool: id, N: 1}, words: b.PoolWords(id)}
	if g.own, err = b.Reserve(strategies.PerCall, 3, ""); err != nil {
		return nil, err
	}
	if g.waiting, err = b.Waiting("merge"); err != nil {
		return nil, err
	}
	s, err := b.Flight(strategies.Flight{Scope: m.Scope, Name: m.Name, Key: g.join, Merges: true, Left: g.leave}, g)
	if err != nil {
		return nil, fmt.Errorf("merge: %w", err)
	}
	return s, nil
}

// batches is the pool of a Merge: leaders wait in it, in the order of their
// batches, until their batch is complete.
type batches struct {
	size   int64
	window time.Duration
}

// The words of batches. Batches are numbered from 1; the sizes of the latest
// follow.
const (
	latest     = iota // the latest batch
	gone              // the latest batch that was sent; the one after it may be open
	goesAt            // when the next batch is sent at the latest; 0 if it has no leader yet
	sizes             // the sizes of batches, by number modulo remembered
	remembered = 64   // the number of sizes
)

// sizeOf returns the word with the size of a batch.
func sizeOf(m []int64, batch int64) *int64 { return &m[sizes+batch%remembered] }

// Words implements Pool.
func (batches) Words() int { return sizes + remembered }

// TryTake implements Pool.
func (p batches) TryTake(now time.Duration, m []int64, _ uint32) (bool, time.Duration) {
	if m[goesAt] == 0 {
		m[goesAt] = int64(saturating.Add(now, p.window))
	}
	next := m[gone] + 1
	if next >= m[latest] && *sizeOf(m, next) < p.size && int64(now) < m[goesAt] {
		return false, time.Duration(m[goesAt])
	}
	m[gone], m[goesAt] = next, 0
	return true, now
}

// Put implements Pool.
func (batches) Put(time.Duration, []int64, uint32) {}

// merge is inside the flight of a batch: its leader waits and sends one request for
// all calls.
type merge struct {
	inner   strategies.Strategy
	size    int64
	take    strategies.Take
	words   strategies.Slot
	own     strategies.Slot    // the batch of the call, and its demand at the beginning
	waiting strategies.Waiting // set while the call waits in line
}

// join puts a call into a batch and returns the key of its flight.
func (g *merge) join(c *strategies.Call) uint32 {
	askAsAtFirst(c, c.Word(g.own, 1), c.Word(g.own, 2)) // without the calls of an earlier batch
	m := c.Words(g.words)
	if m[gone] == m[latest] || *sizeOf(m, m[latest]) >= g.size {
		m[latest]++
		*sizeOf(m, m[latest]) = 0
	}
	size := sizeOf(m, m[latest])
	if *size++; *size == g.size {
		c.Put(g.take.Pool, 0) // lets the driver check the line, where the leader waits
	}
	*c.Word(g.own, 0) = m[latest]
	return uint32(m[latest])
}

// leave takes a call out of its batch, so that the request no longer includes it.
func (g *merge) leave(c *strategies.Call) {
	m, own := c.Words(g.words), c.Word(g.own, 0)
	if *own == 0 || m[latest]-*own >= remembered {
		return
	}
	if *sizeOf(m, *own)--; *sizeOf(m, *own) == 0 && *own > m[gone] {
		m[goesAt] = 0
	}
	*own = 0
}

// Next implements Strategy.
func (g *merge) Next(now time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
	m, own := c.Words(g.words), *c.Word(g.own, 0)
	queued := g.waiting.In(c)
	switch {
	case e.Kind == strategies.Begin && own > m[gone] && !c.TryTake(g.take):
		g.waiting.Set(c)
		return strategies.Decision{Kind: strategies.Acquire, Take: g.take}
	case e.Kind == strategies.Begin:
		g.askForAll(c, *sizeOf(m, own))
	case queued && e.Kind == strategies.Admitted:
		g.waiting.Clear(c)
		g.askForAll(c, *sizeOf(m, own))
		e = strategies.Event{Kind: strategies.Begin}
	case queued && e.Kind == strategies.Cancelled: // another call may lead
		g.waiting.Clear(c)
		g.leave(c)
		return strategies.StopCancelled()
	}
	d := g.inner.Next(now, c, e)
	if d.Kind == strategies.Stop && d.End.Class == wire.Cancelled { // the other calls go on
		g.leave(c)
	}
	return d
}

// askForAll turns the demand of the leader into that of n calls.
func (g *merge) askForAll(c *strategies.Call, n int64) {
	d := &c.Demand
	d.InputTokens, d.OutputTokens, d.MaxTokens = scaled(d.InputTokens, n), scaled(d.OutputTokens, n), scaled(d.MaxTokens, n)
}

// scaled returns n·x, at most the greatest uint32.
func scaled(x uint32, n int64) uint32 {
	return uint32(min(int64(x)*n, 1<<32-1))
}
