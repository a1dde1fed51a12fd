package mockprovider

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"herdlab/mockprovider/wire"
)

// Terms are what limits have in common: which requests are counted together, what
// is counted, and the form of a refusal.
type Terms struct {
	Per    Counted `default:"everyone" about:"Which requests are counted together: those that agree in all of these."`
	Charge Charge  `about:"What is counted of a request, and when."`
	// Keep is which requests stay counted though they are refused.
	Keep Keep `without:"others if the provider has keep_on_refusal: true, otherwise none" about:"Which refused requests stay counted."`
	// Refusal is the form of its refusals; the provider's usual form by default.
	Refusal Refusal `key:"reply" about:"How the limit refuses."`
}

// Validate reports an error if the terms are invalid.
func (t *Terms) Validate() error {
	var keep error
	switch {
	case t.Keep >= numKeeps:
		keep = fmt.Errorf("there is no rule %d of what is kept", t.Keep)
	case t.Keep != KeepNone && t.Charge.When == AtCompletion:
		keep = errors.New("a refused request is not charged at completion; keep nothing")
	}
	return errors.Join(t.Per.Validate(), t.Charge.validate(), keep, t.Refusal.Validate())
}

// Counters returns the number of counters of a limit with these terms.
func (t Terms) Counters(s Space) int { return t.Per.Counters(s) }

// Counts returns what limits with these terms count.
func (t Terms) Counts() Unit { return t.Charge.Count }

// Keep is which refused requests a limit counts. Those that a limit before it
// refuses never come to it. Permits of what is in flight come back whatever is
// kept, because no work holds them.
type Keep uint8

// The rules. The more is kept, the longer the refusals last that retries meet.
const (
	KeepNone   Keep = iota // none: what is refused might as well not have come
	KeepOthers             // those that a later limit, or capacity, refuses
	KeepAll                // also those that this limit itself refuses
	numKeeps   = iota
)

// Counted is which requests a limit counts together: those that agree in all
// that is named, as bits. A limit per Account | Model has a counter for each
// model of each account.
type Counted uint8

// What may be distinguished. Everyone distinguishes nothing: all requests count
// together.
const (
	Account      Counted = 1 << iota // the account that is charged
	Key                              // each key of each account
	Address                          // where requests come from
	Model                            // the model asked for
	Region                           // the region asked
	Organisation                     // a group of accounts
	allCounted   = 1<<iota - 1
	Everyone     = Counted(0)
)

var countedNames = [...]string{"account", "key", "address", "model", "region", "organisation"}

// String returns what c distinguishes, as scenario files spell it.
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

// Validate reports an error if c has an unknown bit.
func (c Counted) Validate() error {
	if c > allCounted {
		return fmt.Errorf("there is no way %v of counting; combine Account, Key, Address, Model, Region and Organisation, or use Everyone", c)
	}
	return nil
}

// Space has the numbers of all that limits may distinguish: the sizes that their
// counters need. Where a number is 0, that is not distinguished.
type Space struct {
	Accounts, Addresses int
	// Keys is how many keys an account has.
	Keys int
	// OrgSize is how many accounts in a row form an organisation.
	OrgSize         int
	Models, Regions int
}

// validate reports an error if a size is invalid.
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

// Counters returns the number of counters of a limit that counts so in a space;
// a very large number if it does not fit into an int.
func (c Counted) Counters(s Space) int {
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

// CounterIndex finds the counter of a request among those of a limit.
type CounterIndex struct {
	way                                       way
	group                                     uint32 // the size of an organisation
	account, key, address, model, region, org axis
	accounts                                  uint32 // how many are distinguished; 0 if they are not
}

// axis is one dimension of a counter. Where it is not distinguished, its stride
// is 0.
type axis struct {
	size, stride uint32
}

// of returns how far n is from 0 on the axis. Numbers beyond it begin anew, so
// that the many addresses of the world share the few counters there are.
func (a *axis) of(n uint32) uint32 {
	if n >= a.size {
		n %= a.size
	}
	return n * a.stride
}

// way is the shortest way to a counter.
type way uint8

const (
	one       way = iota // there is one counter
	byAccount            // one for each account
	mixed                // strides
)

// Index returns the index of the counters of c in a space; there are as many
// as Counters returns.
func (c Counted) Index(s Space) CounterIndex {
	k := CounterIndex{group: uint32(max(s.OrgSize, 1))}
	c = c.with()
	if c&Account != 0 {
		k.accounts = uint32(s.Accounts)
	}
	axes := [...]*axis{&k.account, &k.key, &k.address, &k.model, &k.region, &k.org}
	n, dimensions := 1, 0
	for i, size := range s.sizes() {
		if c>>i&1 == 0 || size <= 1 {
			*axes[i] = axis{size: math.MaxUint32}
			continue
		}
		*axes[i] = axis{uint32(size), uint32(n)}
		n *= size
		dimensions++
	}
	switch {
	case dimensions == 1 && k.account.stride > 0:
		k.way = byAccount
	case dimensions > 0:
		k.way = mixed
	}
	return k
}

// Of returns the number of r's counter.
func (k *CounterIndex) Of(r *wire.Request) uint32 {
	switch k.way {
	case one:
		return 0
	case byAccount:
		return r.Account
	}
	return k.mixed(r)
}

func (k *CounterIndex) mixed(r *wire.Request) uint32 {
	return k.account.of(r.Account) + k.key.of(uint32(r.Target.Key)) + k.address.of(r.Address) +
		k.model.of(uint32(r.Target.Model)) + k.region.of(uint32(r.Target.Region)) + k.org.of(r.Account/k.group)
}

// Forgets implements Forgetter for gates that embed a CounterIndex.
func (k *CounterIndex) Forgets(*wire.Request) bool { return k.accounts > 0 }

// ForgetAccount sets the counters of an account to the zero value, where accounts
// have counters of their own: they are the first axis.
func ForgetAccount[T any](k *CounterIndex, account uint32, counters []T) {
	if k.accounts == 0 {
		return
	}
	var fresh T
	for i := int(account % k.accounts); i < len(counters); i += int(k.accounts) {
		counters[i] = fresh
	}
}
