package layers

import (
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// CapacityAlarm raises an alarm when a model has had no capacity for anybody for
// too long: every attempt at it has failed for lack of capacity, for After and at
// least Least attempts. Then it is hardly load any more, but a permission or a
// quota that the provider shows as capacity, and no retry will cure it. With
// GiveUp, such a failure is from then on told to the layers outside as a missing
// permission, so that loops stop (a ladder too: leave GiveUp out there); the first
// attempt that ends in any other way clears the alarm.
//
// It is right inside every patient loop. It costs a few words for each model; an
// outage that lasts longer than After raises it too, which somebody should look
// at anyway.
type CapacityAlarm struct {
	// After is how long, > 0.
	After time.Duration `required:"1h" about:"How long all attempts at a model must have failed."`
	// Least is how many attempts in a row, 0 for 5.
	Least int64 `unit:"attempts" default:"5" about:"How many attempts must have failed in a row."`
	// On is what counts as lack of capacity; none means overloaded.
	On strategies.Classes `without:"overloaded" about:"Which classes of failures mean that capacity lacks."`
	// GiveUp makes the failure permanent.
	GiveUp bool `about:"Whether such a failure then counts as a missing permission, so that loops stop."`
	// Scope is who looks together, PerClient or wider; Name tells those apart
	// that everyone shares.
	Scope strategies.Scope `except:"call" about:"Which clients share the memory of the layer."`
	Name  string           `without:"it has none" about:"The name by which layers of several fleets share memory; required with the scope everyone."`
}

// watchedModels is how many models are told apart; others are taken for the
// last.
const watchedModels = 8

// Build implements Layer.
func (a CapacityAlarm) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	if a.Least == 0 {
		a.Least = 5
	}
	a.On = a.On.Or(strategies.ClassesOf(wire.Overloaded))
	if a.After <= 0 || a.Least < 0 {
		return nil, fmt.Errorf("capacity alarm: it needs a positive time and number of attempts, not %v and %d", a.After, a.Least)
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

// capacityAlarm has two words for each model: when it was first at capacity, plus
// one, 0 if it is not; and how many attempts have found it so since, below 0 once
// the alarm has been raised.
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
