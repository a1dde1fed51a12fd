package layers

import (
	"fmt"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// KeyRotation goes on to the next key when one is refused for what it is or has
// used up: its own limits, its quota, its validity, its permissions. All who
// share the rotation move on together, so that a spent key is found out once. A
// call tries each key once, then waits by its Backoff, or until the last time that a
// key's limit has asked for, and goes round those again that are not refused for
// good; or it ends with NothingLeft and an alarm. With Even, calls begin at the keys in turn,
// which spreads the load over all of their limits from the beginning.
//
// It is right for keys with limits of their own, and within what their owner's
// contract allows. Where the limit is the organisation's or the address's, it
// multiplies the refusals by the number of keys and helps nobody.
type KeyRotation struct {
	// Keys are used in order.
	Keys []uint8 `unit:"key number" required:"[0, 1]" about:"The API keys in the order in which they are used."`
	// Even lets calls begin at the keys in turn.
	Even bool `about:"Whether calls begin at the keys in turn, which spreads the load over all keys."`
	// Rounds bounds how often the list is gone through; 0 means no bound.
	Rounds int `unit:"rounds" without:"there is no bound, and a backoff is required" about:"How often the list of keys is tried from its beginning."`
	// Backoff says how long to wait between rounds; nil is for a single round.
	Backoff strategies.Backoff `without:"rounds must be 1" about:"How long it waits between rounds."`
	// On says which failures lead on; its empty set of classes means the
	// caller's own limits, quota, auth and permission.
	On Rules `without:"the limits, quota, auth, permission" about:"Which failures lead to the next key."`
	// Scope is who shares the rotation, PerClient or wider; Name tells
	// rotations apart that everyone shares.
	Scope strategies.Scope `except:"call" about:"Which clients share the memory of the layer."`
	Name  string           `without:"it has none" about:"The name by which layers of several fleets share memory; required with the scope everyone."`
}

// Build implements Layer.
func (k KeyRotation) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	k.On.Classes = k.On.Classes.Or(strategies.Limits | strategies.ClassesOf(wire.Quota, wire.Auth, wire.Permission))
	s, err := withRounds(b, placeRounds{
		places: k.Keys, rounds: k.Rounds, on: k.On, backoff: k.Backoff, follow: true, even: k.Even,
		set: func(t *wire.Target, key uint8) { t.Key = key },
	}, k.Scope, k.Name, "no_key_left", inner)
	if err != nil {
		return nil, fmt.Errorf("key rotation: %w", err)
	}
	return s, nil
}
