package layers

import (
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// ClassAlarm raises an alarm when the kind of failure changes: for example from
// lack of capacity to a missing permission, when a token expires during an outage.
// The kinds are failures that need different remedies: waiting (the transient
// classes), paying (quota), a new key (auth, permission) and a better request
// (bad_request, too_large).
//
// Use it around any loop that waits for days, because the cause of the failures may
// change meanwhile. It costs one word. The alarm is raised once for each change, by
// the first call that fails in the new way.
type ClassAlarm struct {
	// Scope sets which clients share the memory of the alarm, PerClient or wider.
	// Name identifies an alarm with the scope PerEveryone.
	Scope strategies.Scope `except:"call" about:"Which clients share the memory of the layer."`
	Name  string           `without:"it has none" about:"The name by which layers of several fleets share memory; required with the scope everyone."`
}

// Build implements Layer.
func (a ClassAlarm) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	if err := a.Scope.CheckShared(a.Name); err != nil {
		return nil, fmt.Errorf("class alarm: %w", err)
	}
	g := &classAlarm{inner: inner}
	var err error
	if g.last, err = b.Reserve(a.Scope, 1, "class alarm "+a.Name); err != nil {
		return nil, err
	}
	g.alarm, err = b.Alarm("failures_have_changed")
	return g, err
}

type classAlarm struct {
	inner strategies.Strategy
	last  strategies.Slot // the kind of the last failure; 0 for none yet
	alarm strategies.Signal
}

// The kinds of failure.
const (
	kindNone = iota
	kindWait
	kindPay
	kindKey
	kindRequest
)

func kindOf(c wire.Class) int64 {
	switch {
	case c.Transient():
		return kindWait
	case c == wire.Quota:
		return kindPay
	case c == wire.Auth || c == wire.Permission:
		return kindKey
	case c == wire.BadRequest || c == wire.TooLarge:
		return kindRequest
	}
	return kindNone
}

// Next implements Strategy.
func (a *classAlarm) Next(now time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
	if e.Terminal() {
		last := c.Word(a.last, 0)
		if kind := kindOf(e.Outcome.Class); kind != kindNone {
			if *last != kindNone && kind != *last {
				c.Raise(a.alarm)
			}
			*last = kind
		}
	}
	return a.inner.Next(now, c, e)
}
