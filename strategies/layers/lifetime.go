package layers

import (
	"fmt"
	"time"
)

// Lifetime trips a breaker by the share of failures, or of slow attempts, among all
// attempts since it last closed, or since the beginning of the current period of
// length Clear. Use it for short-lived clients. In a long life, old successes hide
// new failures: after a million successes, it takes 111,112 failures to reach 10 %.
type Lifetime struct {
	// Clear is the length of the period after which the counts begin again; 0 means
	// never.
	Clear time.Duration `without:"never" about:"After what time the counts begin again."`
	// Min is the least number of attempts for a share to count; 0 means 1.
	Min int `unit:"attempts" default:"1" about:"How many attempts a share needs."`
	// Percent is the share of failures that trips the breaker, SlowPercent the
	// share of slow attempts; 0 means that these do not count. One of them must be
	// positive.
	Percent     int `unit:"%" most:"100" without:"failures do not count" about:"The share of failures that opens the breaker."`
	SlowPercent int `unit:"%" most:"100" without:"slow attempts do not count" about:"The share of slow attempts that opens the breaker."`
}

// Validate reports an error if a setting is out of range.
func (l Lifetime) Validate() error {
	if l.Clear < 0 || l.Min < 0 {
		return fmt.Errorf("clear and min must not be negative, not %v and %d", l.Clear, l.Min)
	}
	return validateShares(l.Percent, l.SlowPercent)
}

// Words implements Trip: the number of the period, and the counts of all attempts,
// of failures and of slow attempts.
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
