package layers

import (
	"fmt"
	"time"

	"herdlab/sim/saturating"
	"herdlab/strategies"
)

// ConstantRetrial is the constant retrial rate of retrial queues: calls that have failed
// wait in one line, whose head retries after an exponentially distributed time of
// the given mean, one at a time, however many wait. It is a retry token that all
// share. With one server of mean service 1, arrivals at rate λ and retries at rate
// θ, it is stable if λ(λ + θ) < θ.
//
// It is right for comparing the simulator with the theory (G. Falin and J.
// Templeton, Retrial Queues, 1997), and as the plainest loop that cannot storm:
// its retries never come faster than one in Mean. A reply that asks to wait, of
// which the theory knows nothing, makes all of them wait.
type ConstantRetrial struct {
	// Mean is the mean time between two retries.
	Mean time.Duration `required:"10s" about:"The mean time between two retries of all calls together."`
	// On is what is retried; none means Transient.
	On strategies.Classes `without:"the transient classes" about:"Which classes of failures are retried."`
	// Scope is who shares the line, PerClient or wider; Name tells orbits apart
	// that everyone shares.
	Scope strategies.Scope `except:"call" about:"Which clients share the memory of the layer."`
	Name  string           `without:"it has none" about:"The name by which layers of several fleets share memory; required with the scope everyone."`
}

// Build implements Layer.
func (o ConstantRetrial) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	if o.Mean <= 0 {
		return nil, fmt.Errorf("orbit: the mean time between retries must be positive, not %v", o.Mean)
	}
	if err := o.Scope.CheckShared(o.Name); err != nil {
		return nil, fmt.Errorf("orbit: %w", err)
	}
	o.On = o.On.Or(strategies.Transient)
	id, err := b.Pool(turnstile{o.Mean}, o.Scope, "orbit "+o.Name)
	if err != nil {
		return nil, err
	}
	waiting, err := b.Waiting("orbit")
	return &constantRetrial{Rules{Classes: o.On}, o.Mean, inner, id, b.PoolWords(id), waiting, b.Purpose()}, err
}

// turnstile is the pool of an Orbit; its word is when the next may pass.
type turnstile struct{ mean time.Duration }

// Words implements Pool.
func (turnstile) Words() int { return 1 }

// TryTake implements Pool. Who passes says when the next may.
func (turnstile) TryTake(now time.Duration, m []int64, _ uint32) (bool, time.Duration) {
	if next := time.Duration(m[0]); now < next {
		return false, next
	}
	m[0] = int64(strategies.Never)
	return true, now
}

// Put implements Pool.
func (turnstile) Put(time.Duration, []int64, uint32) {}

type constantRetrial struct {
	rules   Rules
	mean    time.Duration
	inner   strategies.Strategy
	pool    strategies.PoolID
	next    strategies.Slot
	waiting strategies.Waiting // set while the call is in orbit
	purpose strategies.Purpose
}

// Next implements Strategy.
func (o *constantRetrial) Next(now time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
	inOrbit := o.waiting.In(c)
	switch {
	case e.Kind == strategies.Begin:
		o.waiting.Clear(c)
	case inOrbit && e.Kind == strategies.Cancelled:
		o.waiting.Clear(c)
		return strategies.StopCancelled()
	case inOrbit && e.Kind == strategies.Admitted:
		o.waiting.Clear(c)
		*c.Word(o.next, 0) = int64(saturating.Add(now, c.Exponential(o.purpose, o.mean)))
		c.Put(o.pool, 0) // the new head may look at the clock
		e = strategies.Event{Kind: strategies.Begin}
	}
	d := o.inner.Next(now, c, e)
	if d.Kind != strategies.Stop || !o.rules.Retries(e.Outcome, d.End) {
		return d
	}
	// The time to the next retry has no memory: it may as well begin now, if
	// nobody has been waiting for it, and it may begin anew.
	next, hint := c.Word(o.next, 0), max(e.Hint(), 0)
	if after := saturating.Add(now, hint); time.Duration(*next) <= after {
		*next = int64(saturating.Add(after, c.Exponential(o.purpose, o.mean)))
	}
	o.waiting.Set(c)
	return strategies.Decision{Kind: strategies.Acquire, Take: strategies.Take{Pool: o.pool, N: 1}}
}
