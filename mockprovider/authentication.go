package mockprovider

import (
	"math"

	"herdlab/mockprovider/wire"
)

// known is how many accounts, keys of each, models and regions are known.
type known struct {
	accounts              uint64
	keys, models, regions uint16
}

// allKnown is what is known where nothing is distinguished.
var allKnown = known{math.MaxUint64, math.MaxUint16, math.MaxUint16, math.MaxUint16}

// known returns which numbers are valid at a provider of that space. Every number
// of what is not distinguished is valid.
func (s *Space) known() known {
	k := allKnown
	if s.Accounts > 0 {
		k.accounts = uint64(s.Accounts)
	}
	for i, size := range [...]int{s.Keys, s.Models, s.Regions} {
		if size > 0 {
			*[...]*uint16{&k.keys, &k.models, &k.regions}[i] = uint16(size)
		}
	}
	return k
}

// reject returns why r is refused before any limit: wire.Auth if its account or
// key is not known or not valid, wire.BadRequest if there is no such model or
// region; otherwise wire.OK.
func (p *Provider) reject(r *wire.Request) wire.Class {
	key := uint16(r.Target.Key)
	switch {
	case uint64(r.Account) >= p.known.accounts || key >= p.known.keys || p.badKeys[key>>6&3]>>(key&63)&1 != 0:
		return wire.Auth
	case uint16(r.Target.Model) >= p.known.models || uint16(r.Target.Region) >= p.known.regions:
		return wire.BadRequest
	}
	return wire.OK
}

// rejection is the form of that refusal.
func (p *Provider) rejection(class wire.Class) *Refusal {
	if class == wire.Auth {
		return &p.cfg.BadKey
	}
	return &usual
}
