package layers

import (
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// Failover sends a call to the next region at once when one fails. After each
// region was tried once, the call waits by Backoff, or until the latest time that
// one of the regions has asked for, and begins again; or it ends with NothingLeft
// and an alarm. Calls begin in the home region, the first of Regions. After a call
// was answered in another region, other calls begin there for Stay, so that not
// every call has to find out that the home region is down.
//
// Use it where regions fail independently: with Erlang B blocking B₁ at home and B₂
// in the second region, about B₁·B₂ of the calls are lost. The second region needs
// room for the load of the first; two regions that are each more than half full
// fail together.
type Failover struct {
	// Regions are tried in this order; the first is the home region. There must be
	// at least two, all different.
	Regions []uint8 `names:"regions" required:"[eu, us]" about:"The regions in the order in which they are tried, the home region first."`
	// Rounds bounds how often the list is tried from its beginning; 0 means no
	// bound.
	Rounds int `unit:"rounds" without:"there is no bound, and a backoff is required" about:"How often the list of regions is tried from its beginning."`
	// Backoff sets how long to wait between rounds; it may be nil only if Rounds is
	// 1.
	Backoff strategies.Backoff `without:"rounds must be 1" about:"How long it waits between rounds."`
	// On sets which failures lead to the next region; its empty set of classes
	// means overloaded, server_error, timeout and disconnected.
	On Rules `without:"overloaded, server_error, timeout, disconnected" about:"Which failures lead to the next region."`
	// Stay is how long other calls begin in the region that answered last; 0 means
	// that all begin in the home region.
	Stay time.Duration `default:"0s" about:"How long other calls begin in the region that answered last, in place of the home region."`
	// Scope sets which clients share that memory, PerClient or wider. Name
	// identifies it with the scope PerEveryone.
	Scope strategies.Scope `except:"call" about:"Which clients share the memory of the layer."`
	Name  string           `without:"it has none" about:"The name by which layers of several fleets share memory; required with the scope everyone."`
}

// Build implements Layer.
func (f Failover) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	if f.Stay < 0 {
		return nil, fmt.Errorf("failover: stay must not be negative, but is %v", f.Stay)
	}
	f.On.Classes = f.On.Classes.Or(strategies.ClassesOf(wire.Overloaded, wire.ServerError) | strategies.Unanswered)
	s, err := withRounds(b, placeRounds{
		places: f.Regions, rounds: f.Rounds, on: f.On, backoff: f.Backoff, stay: f.Stay,
		set: func(t *wire.Target, region uint8) { t.Region = region },
	}, f.Scope, f.Name, "no_region_left", inner)
	if err != nil {
		return nil, fmt.Errorf("failover: %w", err)
	}
	return s, nil
}
