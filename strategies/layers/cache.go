package layers

import (
	"errors"
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/saturating"
	"herdlab/strategies"
)

// Cache answers a question that has been answered less than TTL ago from
// memory. Questions are equal if prompt, model and cap on the output are; those of
// prompt 0 are like no other. A hit does not prolong an entry's life, and a
// degraded answer is not kept, unless Degraded, lest it outlive the shortage.
//
// It is right where questions repeat and an old answer is as good as a new one:
// a question that comes λ times a second is answered from memory λT/(1 + λT) of
// the times, and the provider sees the rest. It costs memory, and staleness up to
// TTL; and when a popular entry runs out in an outage, everybody asks: put a
// SingleFlight inside.
type Cache struct {
	// TTL is how long an answer is good, > 0.
	TTL time.Duration `required:"5m" about:"How long an answer is used again."`
	// Entries is how many answers are kept at most, in sets of four of which
	// the one that would run out first makes place; 0 means 256, at most
	// MaxEntries, or 512 for each client.
	Entries int `unit:"answers" most:"65536" default:"256" about:"How many answers are kept at most; 512 with the scope client."`
	// Degraded keeps degraded answers too.
	Degraded bool `about:"Whether degraded answers are kept too."`
	// Scope is who shares the memory, PerClient or wider; Name tells caches
	// apart that everyone shares.
	Scope strategies.Scope `except:"call" about:"Which clients share the memory of the layer."`
	Name  string           `without:"it has none" about:"The name by which layers of several fleets share memory; required with the scope everyone."`
}

// MaxEntries bounds Cache.Entries.
const MaxEntries = 1 << 16

const (
	ways       = 4                     // entries in a set
	entryWords = 2                     // the question, and when the answer runs out
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
		return nil, errors.New("cache: answers must be good for a positive time")
	case k.Entries < 0 || k.Entries > MaxEntries:
		return nil, fmt.Errorf("cache: it keeps 1 to %d entries, not %d", MaxEntries, k.Entries)
	case k.Scope == strategies.PerClient && k.Entries > slabSets*ways:
		return nil, fmt.Errorf("cache: each client keeps at most %d entries, not %d; share it per fleet to keep more", slabSets*ways, k.Entries)
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
	asked strategies.Slot // what the call has asked; 0 for what is like no other
}

// question is what a call asks, as a number that other questions hardly ever
// have; 0 if it is like no other.
func question(c *strategies.Call) int64 {
	d := &c.Demand
	if d.Prompt == 0 {
		return 0
	}
	how := scramble(uint64(c.Target.Model)<<32 | uint64(d.MaxTokens))
	return int64(uint64(d.Prompt)<<32 | how>>32)
}

// scramble is the finaliser of SplitMix64.
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
