package serve

import (
	"crypto/sha256"
	"encoding/hex"
)

// Key is an API key that the server knows.
type Key struct {
	// Secret is the key as clients send it.
	Secret string
	// Account is who is charged. Keys of one account share its limits.
	Account uint32
	// Index is which of its account's keys this one is: what limits per key and
	// the provider's rejected keys go by.
	Index uint8
}

// tenant is whom a request is charged to.
type tenant struct {
	account uint32
	key     uint8
	// hash stands for the key where a key must not: in logs and on the page.
	id string
}

// tenants turns API keys into accounts. The keys that were configured have
// theirs; any other key lodges in one of a bounded number beyond them.
type tenants struct {
	configured map[[sha256.Size]byte]tenant
	firstOther uint32 // the account of the first lodger
	others     *lru[[sha256.Size]byte]
}

// newTenants returns the tenants of a server. Others than keys share most
// accounts; forget is told when one gets a new owner.
func newTenants(keys []Key, most int, forget func(account uint32)) *tenants {
	t := &tenants{configured: make(map[[sha256.Size]byte]tenant), firstOther: nextAccount(keys)}
	t.others = newLRU[[sha256.Size]byte](most, func(place uint32) { forget(t.firstOther + place) })
	for _, k := range keys {
		sum := sha256.Sum256([]byte(k.Secret))
		t.configured[sum] = tenant{k.Account, k.Index, shortHash(sum)}
	}
	return t
}

// nextAccount returns the first account that no key has.
func nextAccount(keys []Key) uint32 {
	var next uint32
	for _, k := range keys {
		next = max(next, k.Account+1)
	}
	return next
}

// shown is what may be shown of a key.
func shortHash(sum [sha256.Size]byte) string { return hex.EncodeToString(sum[:4]) }

// of returns the tenant with an API key; ok is false if there is none.
func (t *tenants) of(key string) (who tenant, ok bool) {
	if key == "" {
		return tenant{}, false
	}
	sum := sha256.Sum256([]byte(key))
	if who, ok := t.configured[sum]; ok {
		return who, true
	}
	place, ok := t.others.of(sum)
	return tenant{t.firstOther + place, 0, shortHash(sum)}, ok
}

func (t *tenants) len() int { return len(t.configured) + t.others.len() }
