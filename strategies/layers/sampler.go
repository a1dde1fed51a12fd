package layers

import (
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// A limitUpdater moves the limit of a pool by how the attempts end that the pool has
// let through. It is an immutable program; m is the memory of its pool.
type limitUpdater interface {
	// update hears of every attempt that has ended with its sample s.
	update(now time.Duration, c *strategies.Call, m []int64, s sample)
}

// sample is what one attempt shows of the state of the provider.
type sample struct {
	// sentAt is when the attempt was sent, rtt how long it took, ≥ 1.
	sentAt, rtt time.Duration
	// ok is a success, dropped a refusal or a timeout: a sign of too much. An
	// attempt that failed for another reason is neither, and shows nothing.
	ok, dropped bool
	outcome     *wire.Outcome
}

// tooMuch is the classes that say there is too much of something.
const tooMuch = strategies.Limits | 1<<wire.Overloaded | 1<<wire.Timeout

// withSampler wraps a pool around inner and lets t move its limit.
func withSampler(b *strategies.Build, name string, p strategies.Pool, scope strategies.Scope, shared string, held bool, t limitUpdater, inner strategies.Strategy) (strategies.Strategy, error) {
	if err := scope.CheckShared(shared); err != nil {
		return nil, err
	}
	id, err := b.Pool(p, scope, name+" "+shared)
	if err != nil {
		return nil, err
	}
	inner = &sampler{inner, t, id, b.PoolWords(id)}
	if held {
		return b.Hold(name, id, inner)
	}
	return b.Spend(name, id, inner)
}

// sampler stands inside a pool and measures the attempts that it has let through.
type sampler struct {
	inner   strategies.Strategy
	updater limitUpdater
	pool    strategies.PoolID
	memory  strategies.Slot
}

// Next implements Strategy.
func (g *sampler) Next(now time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
	if e.Terminal() && e.Kind != strategies.Settled {
		g.updater.update(now, c, c.Words(g.memory), sample{
			sentAt: e.SentAt, rtt: max(1, now-e.SentAt), outcome: e.Outcome,
			ok: e.Outcome.OK(), dropped: tooMuch.Has(e.Outcome.Class),
		})
		c.Put(g.pool, 0) // the driver looks at the line again
	}
	return g.inner.Next(now, c, e)
}
