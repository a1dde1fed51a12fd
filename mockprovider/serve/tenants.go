package serve

import (
	"crypto/sha256"
	"encoding/hex"
)

// Key is an API key with a configured account.
type Key struct {
	// Secret is the key as clients send it.
	Secret string
	// Account is the account that is charged. Its keys share its limits.
	Account uint32
	// Index is the number of the key within its account, for limits per key and
	// for faults that reject a key.
	Index uint8
}

// tenant is the owner of a request.
type tenant struct {
	account uint32
	key     uint8
	// id is a short hash of the key, for logs and the page.
	id string
}

// tenants maps API keys to accounts. Configured keys have their own; all other keys
// share a bounded number of further accounts.
type tenants struct {
	configured map[[sha256.Size]byte]tenant
	firstOther uint32 // the first account of other keys
	others     *lru[[sha256.Size]byte]
}

// newTenants returns the tenants of a server with a number of accounts for other keys;
// forget is called when one of these gets a new owner.
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

// shortHash returns the part of a key's hash that is shown.
func shortHash(sum [sha256.Size]byte) string { return hex.EncodeToString(sum[:4]) }

// of returns the tenant with an API key; ok is false if the key is not valid.
func (t *tenants) of(key string) (owner tenant, ok bool) {
	if key == "" {
		return tenant{}, false
	}
	sum := sha256.Sum256([]byte(key))
	if owner, ok := t.configured[sum]; ok {
		return owner, true
	}
	place, ok := t.others.of(sum)
	return tenant{t.firstOther + place, 0, shortHash(sum)}, ok
}

func (t *tenants) len() int { return len(t.configured) + t.others.len() }
