package layers

import (
	"fmt"
	"time"

	"herdlab/sim/saturating"
	"herdlab/strategies"
)

// ConstantRetrial is the constant retrial rate of retrial queues: calls that have
// failed wait in one line (the orbit), whose head retries after an exponentially
// distributed time of the given mean, one at a time, for any number of waiting
// calls. It acts as one retry token for all. With one server of mean service 1,
// arrivals at rate λ and retries at rate θ, it is stable if λ(λ + θ) < θ.
//
// Use it to compare the simulator with the theory (G. Falin and J. Templeton,
// Retrial Queues, 1997), and as the simplest loop that cannot cause a storm: on
// average its retries are at least Mean apart. A reply that asks for a wait makes
// all calls in the line wait; the theory has no such replies.
type ConstantRetrial struct {
	// Mean is the mean time between two retries of all calls together; it must be
	// positive.
	Mean time.Duration `required:"10s" about:"The mean time between two retries of all calls together."`
	// On is the set of classes that are retried; the empty set means Transient.
	On strategies.Classes `without:"the transient classes" about:"Which classes of failures are retried."`
	// Scope sets which clients share the line, PerClient or wider. Name identifies
	// a line with the scope PerEveryone.
	Scope strategies.Scope `except:"call" about:"Which clients share the memory of the layer."`
	Name  string           `without:"it has none" about:"The name by which layers of several fleets share memory; required with the scope everyone."`
}

// Build implements Layer.
func (o ConstantRetrial) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	if o.Mean <= 0 {
		return nil, fmt.Errorf("orbit: mean must be positive, not %v", o.Mean)
	}
	if err := o.Scope.CheckShared(o.Name); err != nil {
		return nil, fmt.Errorf("orbit: %w", err)
	}
	o.On = o.On.Or(strategies.Transient)
	id, err := b.Pool(retrialPool{o.Mean}, o.Scope, "orbit "+o.Name)
	if err != nil {
		return nil, err
	}
	waiting, err := b.Waiting("orbit")
	return &constantRetrial{Rules{Classes: o.On}, o.Mean, inner, id, b.PoolWords(id), waiting, b.Purpose()}, err
}

// retrialPool is the pool of a ConstantRetrial; its word is the time of the next
// retry.
type retrialPool struct{ mean time.Duration }

// Words implements Pool.
func (retrialPool) Words() int { return 1 }

// TryTake implements Pool. The admitted call then draws the time of the next retry.
func (retrialPool) TryTake(now time.Duration, m []int64, _ uint32) (bool, time.Duration) {
	if next := time.Duration(m[0]); now < next {
		return false, next
	}
	m[0] = int64(strategies.Never)
	return true, now
}

// Put implements Pool.
func (retrialPool) Put(time.Duration, []int64, uint32) {}

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
		c.Put(o.pool, 0) // lets the driver check the new head of the line
		e = strategies.Event{Kind: strategies.Begin}
	}
	d := o.inner.Next(now, c, e)
	if d.Kind != strategies.Stop || !o.rules.Retries(e.Outcome, d.End) {
		return d
	}
	// The time to the next retry is memoryless: it may begin now if the line was
	// empty, and it may begin again.
	next, hint := c.Word(o.next, 0), max(e.Hint(), 0)
	if after := saturating.Add(now, hint); time.Duration(*next) <= after {
		*next = int64(saturating.Add(after, c.Exponential(o.purpose, o.mean)))
	}
	o.waiting.Set(c)
	return strategies.Decision{Kind: strategies.Acquire, Take: strategies.Take{Pool: o.pool, N: 1}}
}
