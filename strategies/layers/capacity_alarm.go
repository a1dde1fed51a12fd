package layers

import (
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// CapacityAlarm raises an alarm when a model has had no capacity for too long:
// every attempt at it, of all clients in the scope, has failed for lack of capacity
// for After, and there were at least Least attempts. The cause is then probably not
// load, but a permission or quota that the provider reports as lack of capacity,
// and no retry helps. With GiveUp, such a failure is from then on reported to the
// layers outside as a missing permission, so that loops stop (a ladder too: leave
// out GiveUp inside a ladder). The first attempt that ends in another way clears
// the alarm.
//
// Use it inside every loop that retries for a long time. It costs two words for
// each model. An outage that lasts longer than After also raises the alarm, and it
// needs attention too.
type CapacityAlarm struct {
	// After is how long all attempts at a model must have failed; it must be
	// positive.
	After time.Duration `required:"1h" about:"How long all attempts at a model must have failed."`
	// Least is the least number of consecutive failed attempts; 0 means 5.
	Least int64 `unit:"attempts" default:"5" about:"How many attempts must have failed in a row."`
	// On is the set of failures that mean lack of capacity; the empty set means
	// overloaded.
	On strategies.Classes `without:"overloaded" about:"Which classes of failures mean that capacity lacks."`
	// GiveUp turns the failure into a permanent one, of the class permission.
	GiveUp bool `about:"Whether such a failure then counts as a missing permission, so that loops stop."`
	// Scope sets which clients share the memory of the alarm, PerClient or wider.
	// Name identifies an alarm with the scope PerEveryone.
	Scope strategies.Scope `except:"call" about:"Which clients share the memory of the layer."`
	Name  string           `without:"it has none" about:"The name by which layers of several fleets share memory; required with the scope everyone."`
}

// watchedModels is the number of models with memory of their own; higher model
// numbers share the last.
const watchedModels = 8

// Build implements Layer.
func (a CapacityAlarm) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	if a.Least == 0 {
		a.Least = 5
	}
	a.On = a.On.Or(strategies.ClassesOf(wire.Overloaded))
	if a.After <= 0 || a.Least < 0 {
		return nil, fmt.Errorf("capacity alarm: after must be positive and least not negative, but they are %v and %d", a.After, a.Least)
	}
	if err := a.Scope.CheckShared(a.Name); err != nil {
		return nil, fmt.Errorf("capacity alarm: %w", err)
	}
	g := &capacityAlarm{CapacityAlarm: a, inner: inner}
	var err error
	if g.shared, err = b.ReserveShared(a.Scope, 2*watchedModels, "capacity alarm", a.Name, fmt.Sprint(a.After, a.Least, a.On)); err != nil {
		return nil, err
	}
	g.alarm, err = b.Alarm("at_capacity_for_too_long")
	return g, err
}

// capacityAlarm has two words for each model: the time of the first failure for
// lack of capacity since the last other outcome, plus one, or 0; and the number of
// such failures since then, below 0 once the alarm has been raised.
type capacityAlarm struct {
	CapacityAlarm
	inner  strategies.Strategy
	shared strategies.Slot
	alarm  strategies.Signal
}

// Next implements Strategy.
func (a *capacityAlarm) Next(now time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
	model := uint32(min(c.Target.Model, watchedModels-1))
	d := a.inner.Next(now, c, e)
	if !e.Terminal() || e.Kind == strategies.Settled {
		return d
	}
	since, count := c.Word(a.shared, 2*model), c.Word(a.shared, 2*model+1)
	switch {
	case !a.On.Has(e.Outcome.Class):
		*since, *count = 0, 0
		return d
	case *since == 0:
		*since, *count = int64(now)+1, 1
	case *count >= 0:
		*count++
	}
	if *count >= a.Least && int64(now)+1-*since >= int64(a.After) {
		*count = -1
		c.Raise(a.alarm)
	}
	if a.GiveUp && *count < 0 && d.Kind == strategies.Stop && a.On.Has(d.End.Class) {
		d.End.Class = wire.Permission
	}
	return d
}
