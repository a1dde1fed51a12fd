package layers

import (
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// Failover sends a call to the next region when one fails, at once: each region
// once, then it waits by its Backoff, or until the last time that one of them has
// asked for, and begins again; or it ends with NothingLeft and an alarm. Calls begin
// at home, the first region; one that has been answered elsewhere keeps the others
// there for Stay, so that not each of them must find out that home is down.
//
// It is right where regions fail apart from each other: with Erlang B blocking B₁
// at home and B₂ abroad about B₁·B₂ of the calls are lost. It costs the second
// region the room for the first one's load; two regions that are each more than
// half full fail together.
type Failover struct {
	// Regions are tried in order, home first.
	Regions []uint8 `names:"regions" required:"[eu, us]" about:"The regions in the order in which they are tried, the home region first."`
	// Rounds bounds how often the list is gone through; 0 means no bound.
	Rounds int `unit:"rounds" without:"there is no bound, and a backoff is required" about:"How often the list of regions is tried from its beginning."`
	// Backoff says how long to wait between rounds; nil is for a single round.
	Backoff strategies.Backoff `without:"rounds must be 1" about:"How long it waits between rounds."`
	// On says which failures lead on; its empty set of classes means
	// overloaded, server_error, timeout and disconnected.
	On Rules `without:"overloaded, server_error, timeout, disconnected" about:"Which failures lead to the next region."`
	// Stay is how long others begin where a call was answered last; 0 means
	// that all begin at home.
	Stay time.Duration `default:"0s" about:"How long other calls begin in the region that answered last, in place of the home region."`
	// Scope is who shares that knowledge, PerClient or wider; Name tells those
	// apart that everyone shares.
	Scope strategies.Scope `except:"call" about:"Which clients share the memory of the layer."`
	Name  string           `without:"it has none" about:"The name by which layers of several fleets share memory; required with the scope everyone."`
}

// Build implements Layer.
func (f Failover) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	if f.Stay < 0 {
		return nil, fmt.Errorf("failover: the stay must not be negative, but %v", f.Stay)
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
