package layers

import (
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// A limitUpdater changes the limit of a pool by the outcomes of the attempts that
// the pool has admitted. It is immutable; m is the memory of its pool.
type limitUpdater interface {
	// update is called with the sample s of every attempt that has ended.
	update(now time.Duration, c *strategies.Call, m []int64, s sample)
}

// sample is the measurement of one attempt.
type sample struct {
	// sentAt is when the attempt was sent; rtt is how long it took, at least 1 ns.
	sentAt, rtt time.Duration
	// ok is true after a success, dropped after a refusal or a timeout, which is a
	// sign of overload. An attempt that failed for another reason is neither and
	// shows nothing.
	ok, dropped bool
	outcome     *wire.Outcome
}

// tooMuch is the set of classes that are a sign of overload.
const tooMuch = strategies.Limits | 1<<wire.Overloaded | 1<<wire.Timeout

// withSampler wraps a pool around inner and lets t change its limit.
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

// sampler is inside a pool and measures the attempts that the pool has admitted.
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
		c.Put(g.pool, 0) // lets the driver check the line again
	}
	return g.inner.Next(now, c, e)
}
