package mockprovider

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"herdlab/mockprovider/wire"
)

// Terms are what all limits have in common: who is counted together, and how a
// refusal is put.
type Terms struct {
	Per Counted
	// Refusal is how the limit says no; the provider's usual form by default.
	Refusal Refusal
}

// validate says what is wrong with the terms.
func (t *Terms) validate() error { return errors.Join(t.Per.validate(), t.Refusal.Validate()) }

// Counted says whose requests a limit counts together: those that agree in all
// that is named, as bits. A limit per Account | Model has a counter for each
// model of each account.
type Counted uint8

// What may be told apart. Everyone tells nothing apart: all requests count
// together.
const (
	Account      Counted = 1 << iota // who is charged
	Key                              // each key of each account
	Address                          // where requests come from
	Model                            // the model asked for
	Region                           // the region asked
	Organisation                     // a group of accounts
	allCounted   = 1<<iota - 1
	Everyone     = Counted(0)
)

var countedNames = [...]string{"account", "key", "address", "model", "region", "organisation"}

// String returns what c tells apart, as scenario files spell it.
func (c Counted) String() string {
	if c == Everyone {
		return "everyone"
	}
	var names []string
	for i, name := range countedNames {
		if c>>i&1 != 0 {
			names = append(names, name)
		}
	}
	if c > allCounted {
		names = append(names, fmt.Sprintf("counted(%#x)", uint8(c&^allCounted)))
	}
	return strings.Join(names, "+")
}

// validate says what is wrong with c.
func (c Counted) validate() error {
	if c > allCounted {
		return fmt.Errorf("there is no way %v of counting; combine Account, Key, Address, Model, Region and Organisation, or use Everyone", c)
	}
	return nil
}

// Space is how many there are of all that limits may tell apart: the sizes that
// their counters need. Where a number is 0, that is not told apart.
type Space struct {
	Accounts, Addresses int
	// Keys is how many keys an account has.
	Keys int
	// OrgSize is how many accounts in a row form an organisation.
	OrgSize         int
	Models, Regions int
}

// validate says what is wrong with the sizes.
func (s *Space) validate() error {
	for i, size := range [...]int{s.Accounts, s.Keys, s.Addresses, s.Models, s.Regions, s.OrgSize} {
		most := math.MaxUint32
		if c := Counted(1 << i); c == Key || c == Model || c == Region {
			most = math.MaxUint8 + 1
		}
		if size < 0 || size > most {
			return fmt.Errorf("there must be 0 to %d of each %v, not %d", most, Counted(1<<i), size)
		}
	}
	return nil
}

// organisations is how many there are.
func (s *Space) organisations() int {
	if s.OrgSize <= 0 {
		return s.Accounts
	}
	return (s.Accounts + s.OrgSize - 1) / s.OrgSize
}

// sizes are the dimensions of a counter, in the order of the bits of Counted.
func (s *Space) sizes() [len(countedNames)]int {
	return [...]int{s.Accounts, s.Keys, s.Addresses, s.Models, s.Regions, s.organisations()}
}

// with adds what c implies: a key is known with its account only, and within
// an account there is one organisation.
func (c Counted) with() Counted {
	if c&Key != 0 {
		c |= Account
	}
	if c&Account != 0 {
		c &^= Organisation
	}
	return c
}

// keys returns how many counters a limit needs, or more than most if that many
// are too many.
func (c Counted) keys(s Space) int {
	const most = 1 << 40
	n := 1
	for i, size := range s.sizes() {
		if c.with()>>i&1 != 0 && size > 1 {
			if n > most/size {
				return most
			}
			n *= size
		}
	}
	return n
}

// keying finds a request's counter.
type keying struct {
	way                                              way
	account, key, address, model, region, org, group uint32 // strides, and the size of an organisation
}

// way is the shortest way to a counter.
type way uint8

const (
	one       way = iota // there is one counter
	byAccount            // one for each account
	mixed                // strides
)

// keying returns the way to the counters of c in a space.
func (c Counted) keying(s Space) keying {
	k := keying{group: uint32(max(s.OrgSize, 1))}
	c = c.with()
	strides := [...]*uint32{&k.account, &k.key, &k.address, &k.model, &k.region, &k.org}
	n := 1
	for i, size := range s.sizes() {
		if c>>i&1 != 0 && size > 1 {
			*strides[i] = uint32(n)
			n *= size
			k.way = mixed
		}
	}
	if k == (keying{way: mixed, account: 1, group: k.group}) {
		k.way = byAccount
	}
	return k
}

// of returns the number of r's counter.
func (k *keying) of(r *wire.Request) uint32 {
	switch k.way {
	case one:
		return 0
	case byAccount:
		return r.Account
	}
	return k.mixed(r)
}

func (k *keying) mixed(r *wire.Request) uint32 {
	return r.Account*k.account + uint32(r.Target.Key)*k.key + r.Address*k.address +
		uint32(r.Target.Model)*k.model + uint32(r.Target.Region)*k.region + r.Account/k.group*k.org
}
