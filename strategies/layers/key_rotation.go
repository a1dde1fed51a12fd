package layers

import (
	"fmt"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// KeyRotation sends with the next key when one is refused because of its own
// limits, its quota, its validity or its permissions. All clients that share the
// rotation change the key together, so that a spent key is found once. A call tries
// each key once, then waits by Backoff, or until the latest time that a key's limit
// has asked for, and tries again the keys that have not failed permanently; or it
// ends with NothingLeft and an alarm. With Even, calls begin at the keys in turn,
// which spreads the load over all of their limits from the beginning.
//
// Use it for keys with separate limits, if the contract of their owner allows it.
// Where the limit belongs to the organisation or the address, it multiplies the
// refusals by the number of keys and helps no call.
type KeyRotation struct {
	// Keys are used in this order. There must be at least two, all different.
	Keys []uint8 `unit:"key number" required:"[0, 1]" about:"The API keys in the order in which they are used."`
	// Even makes calls begin at the keys in turn.
	Even bool `about:"Whether calls begin at the keys in turn, which spreads the load over all keys."`
	// Rounds bounds how often the list is tried from its beginning; 0 means no
	// bound.
	Rounds int `unit:"rounds" without:"there is no bound, and a backoff is required" about:"How often the list of keys is tried from its beginning."`
	// Backoff sets how long to wait between rounds; it may be nil only if Rounds is
	// 1.
	Backoff strategies.Backoff `without:"rounds must be 1" about:"How long it waits between rounds."`
	// On sets which failures lead to the next key; its empty set of classes means
	// the caller's own limits, quota, auth and permission.
	On Rules `without:"the limits, quota, auth, permission" about:"Which failures lead to the next key."`
	// Scope sets which clients share the rotation, PerClient or wider. Name
	// identifies a rotation with the scope PerEveryone.
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
