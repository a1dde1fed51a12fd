package mockprovider

import (
	"fmt"

	"herdlab/mockprovider/wire"
)

// Match matches requests: those that are in all of its ranges.
// The zero Match is for all of them. A tier is a range of accounts.
type Match struct {
	Accounts   Range `names:"accounts" without:"all" about:"The accounts, by number or by the name of their fleet."`
	Addresses  Range `without:"all" about:"The addresses, by number."`
	Keys       Range `without:"all" about:"The API keys, by number."`
	Models     Range `names:"models" without:"all" about:"The models."`
	Regions    Range `names:"regions" without:"all" about:"The regions."`
	Priorities Range `without:"all" about:"The priorities; 0 is the most urgent."`
}

// Range is the numbers From ≤ n < To; where To is 0, all from From on. So the
// zero Range is all numbers.
type Range struct {
	From, To uint32
}

// Just returns the range of one number, which must not be the largest.
func Just(n uint32) Range { return Range{n, n + 1} }

// Has reports whether n is in the range.
func (x Range) Has(n uint32) bool { return n >= x.From && (x.To == 0 || n < x.To) }

// Of reports whether it is for r.
func (m *Match) Of(r *wire.Request) bool {
	return m.Accounts.Has(r.Account) && m.Addresses.Has(r.Address) && m.Keys.Has(uint32(r.Target.Key)) &&
		m.Models.Has(uint32(r.Target.Model)) && m.Regions.Has(uint32(r.Target.Region)) && m.Priorities.Has(uint32(r.Demand.Priority))
}

// Validate reports an error if a range is empty.
func (m *Match) Validate() error {
	names := [...]string{"accounts", "addresses", "keys", "models", "regions", "priorities"}
	for i, x := range [len(names)]Range{m.Accounts, m.Addresses, m.Keys, m.Models, m.Regions, m.Priorities} {
		if x.To != 0 && x.To <= x.From {
			return fmt.Errorf("match: no %s are from %d to below %d; a range ends after it begins", names[i], x.From, x.To)
		}
	}
	return nil
}
