package layers

import (
	"errors"
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/saturating"
	"herdlab/strategies"
)

// Cache answers a call from memory if an equal call was answered less than TTL ago.
// Calls are equal if prompt, model and cap on the output are equal; calls with
// prompt 0 are equal to no other. A hit does not extend the life of an entry. A
// degraded answer is not kept, unless Degraded is set, so that it does not outlive
// the shortage.
//
// Use it where questions repeat and an old answer is as good as a new one: of a
// question that arrives λ times per second, the share λT/(1 + λT) is answered from
// memory, where T is the TTL. It costs memory, and answers are up to TTL old. When
// an entry with many readers expires in an outage, all of them send a request: put
// a SingleFlight inside.
type Cache struct {
	// TTL is how long an answer is used again; it must be positive.
	TTL time.Duration `required:"5m" about:"How long an answer is used again."`
	// Entries is the greatest number of answers kept, at most MaxEntries, or 512
	// with the scope PerClient; 0 means 256. They are kept in sets of four; in a
	// full set, a new entry replaces the one that expires first.
	Entries int `unit:"answers" most:"65536" default:"256" about:"How many answers are kept at most; 512 with the scope client."`
	// Degraded makes the cache keep degraded answers too.
	Degraded bool `about:"Whether degraded answers are kept too."`
	// Scope sets which clients share the cache, PerClient or wider. Name identifies
	// a cache with the scope PerEveryone.
	Scope strategies.Scope `except:"call" about:"Which clients share the memory of the layer."`
	Name  string           `without:"it has none" about:"The name by which layers of several fleets share memory; required with the scope everyone."`
}

// MaxEntries bounds Cache.Entries.
const MaxEntries = 1 << 16

const (
	ways       = 4                     // entries in a set
	entryWords = 2                     // the question, and the time when the answer expires
	slabSets   = strategies.MaxWords / // sets in one reservation
		(ways * entryWords)
)

// Build implements Layer.
func (k Cache) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	if k.Entries == 0 {
		k.Entries = 256
	}
	switch {
	case k.TTL <= 0:
		return nil, errors.New("cache: ttl must be positive")
	case k.Entries < 0 || k.Entries > MaxEntries:
		return nil, fmt.Errorf("cache: entries must be 1 to %d, not %d", MaxEntries, k.Entries)
	case k.Scope == strategies.PerClient && k.Entries > slabSets*ways:
		return nil, fmt.Errorf("cache: entries must be at most %d with the scope client, not %d; use the scope fleet to keep more", slabSets*ways, k.Entries)
	}
	if err := k.Scope.CheckShared(k.Name); err != nil {
		return nil, fmt.Errorf("cache: %w", err)
	}
	g := &cache{Cache: k, sets: uint64((k.Entries + ways - 1) / ways)}
	for left := int(g.sets); left > 0; left -= slabSets {
		sets := min(left, slabSets)
		s, err := b.ReserveShared(k.Scope, sets*ways*entryWords, fmt.Sprintf("cache part %d", len(g.slabs)), k.Name, k.TTL.String())
		if err != nil {
			return nil, err
		}
		g.slabs = append(g.slabs, s)
	}
	b.Remembers()
	var err error
	if g.asked, err = b.Reserve(strategies.PerCall, 1, ""); err != nil {
		return nil, err
	}
	return b.Guard(g, inner)
}

type cache struct {
	Cache
	sets  uint64
	slabs []strategies.Slot
	asked strategies.Slot // the question of the call; 0 if it is equal to no other
}

// question returns a hash of what a call asks; 0 if the call is equal to no other.
func question(c *strategies.Call) int64 {
	d := &c.Demand
	if d.Prompt == 0 {
		return 0
	}
	how := scramble(uint64(c.Target.Model)<<32 | uint64(d.MaxTokens))
	return int64(uint64(d.Prompt)<<32 | how>>32)
}

// scramble returns z hashed by the finaliser of SplitMix64.
func scramble(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// set returns the words of the set in which q is kept.
func (k *cache) set(c *strategies.Call, q int64) []int64 {
	n := scramble(uint64(q)) % k.sets
	at := n % slabSets * ways * entryWords
	return c.Words(k.slabs[n/slabSets])[at : at+ways*entryWords]
}

// Admit implements Guard.
func (k *cache) Admit(now time.Duration, c *strategies.Call) strategies.Decision {
	q := question(c)
	*c.Word(k.asked, 0) = q
	if q != 0 {
		set := k.set(c, q)
		for i := 0; i < len(set); i += entryWords {
			if set[i] == q && int64(now) < set[i+1] {
				return strategies.Decision{Kind: strategies.Answer, End: strategies.End{Reason: strategies.ServedFromMemory, Class: wire.OK}}
			}
		}
	}
	return strategies.Decision{}
}

// Observe implements Guard.
func (k *cache) Observe(now time.Duration, c *strategies.Call, _ strategies.Event, d strategies.Decision) {
	q := *c.Word(k.asked, 0)
	if q == 0 || d.End.Reason != strategies.Succeeded || d.End.Degraded && !k.Degraded {
		return
	}
	set, place := k.set(c, q), 0
	for i := 0; i < len(set); i += entryWords {
		if set[i] == q {
			place = i
			break
		}
		if set[i+1] < set[place+1] {
			place = i
		}
	}
	set[place], set[place+1] = q, int64(saturating.Add(now, k.TTL))
}
