package layers

import (
	"fmt"
	"time"
)

// Lifetime trips a breaker by all attempts since it last closed, or since the
// beginning of the running period of length Clear. It is right for short-lived
// clients. In a long life the good days outvote the bad hour: after a million
// successes at 10 %, it takes 111,112 failures to trip it.
type Lifetime struct {
	// Clear begins the count afresh that often; 0 means never.
	Clear time.Duration `without:"never" about:"After what time the counts begin again."`
	// Min is how many attempts there must be; 0 means 1.
	Min int `unit:"attempts" default:"1" about:"How many attempts a share needs."`
	// Percent of failures and SlowPercent of slow attempts trip it; 0 means that
	// these do not count.
	Percent     int `unit:"%" most:"100" without:"failures do not count" about:"The share of failures that opens the breaker."`
	SlowPercent int `unit:"%" most:"100" without:"slow attempts do not count" about:"The share of slow attempts that opens the breaker."`
}

// Validate says what is wrong with the count.
func (l Lifetime) Validate() error {
	if l.Clear < 0 || l.Min < 0 {
		return fmt.Errorf("a count cleared every %v with at least %d attempts must not have negative numbers", l.Clear, l.Min)
	}
	return validateShares(l.Percent, l.SlowPercent)
}

// Words implements Trip: the number of the period, and the counts of all, of
// failures and of slow attempts.
func (Lifetime) Words() int { return 4 }

// Note implements Trip.
func (l Lifetime) Note(now time.Duration, m []int64, failed, slow bool) bool {
	if l.Clear > 0 && m[0] != int64(now/l.Clear) {
		clear(m)
		m[0] = int64(now / l.Clear)
	}
	m[1]++
	if failed {
		m[2]++
	}
	if slow {
		m[3]++
	}
	return m[1] >= int64(l.Min) && tripped(m[1], m[2], m[3], l.Percent, l.SlowPercent)
}
