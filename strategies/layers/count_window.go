package layers

import (
	"fmt"
	"time"
)

// CountWindow trips a breaker by the share of failures, or of slow attempts,
// among the last attempts. It is right where traffic is steady; in a quiet hour
// it remembers for long. A short window trips by bad luck: at a failure rate of
// 5 %, one failure in ten is there 40 % of the time.
type CountWindow struct {
	// Last is how many attempts it looks back at, 1 to 10,000.
	Last int `unit:"attempts" most:"10000" required:"10" about:"How many of the last attempts count."`
	// Min is how many there must have been since the breaker closed, at most Last;
	// 0 means Last.
	Min int `unit:"attempts" most:"10000" without:"as many as last" about:"How many attempts a share needs since the breaker closed."`
	// Percent of failures and SlowPercent of slow attempts trip it; 0 means that
	// these do not count.
	Percent     int `unit:"%" most:"100" without:"failures do not count" about:"The share of failures that opens the breaker."`
	SlowPercent int `unit:"%" most:"100" without:"slow attempts do not count" about:"The share of slow attempts that opens the breaker."`
}

// Validate says what is wrong with the window.
func (w CountWindow) Validate() error {
	if w.Last < 1 || w.Last > 10_000 || w.Min < 0 || w.Min > w.Last {
		return fmt.Errorf("a window of the last %d attempts, and at least %d of them, is not within 1 to 10,000", w.Last, w.Min)
	}
	return validateShares(w.Percent, w.SlowPercent)
}

// validateShares says what is wrong with what trips a breaker.
func validateShares(percent, slow int) error {
	if percent < 0 || percent > 100 || slow < 0 || slow > 100 || percent == 0 && slow == 0 {
		return fmt.Errorf("failures of %d %% and slow attempts of %d %% are not within 1 to 100 %%; 0 for one of them means that it does not count", percent, slow)
	}
	return nil
}

// tripped reports whether failures or slow attempts make up their share of all.
func tripped(all, failed, slow int64, percent, slowPercent int) bool {
	return percent > 0 && 100*failed >= int64(percent)*all || slowPercent > 0 && 100*slow >= int64(slowPercent)*all
}

// The words: where the next attempt is noted, how many were, how many of those
// failed and were slow; then a bit for each that failed, and for each slow one.
func (w CountWindow) bits() int { return (w.Last + 63) / 64 }

// Words implements Trip.
func (w CountWindow) Words() int { return 4 + 2*w.bits() }

// Note implements Trip.
func (w CountWindow) Note(_ time.Duration, m []int64, failed, slow bool) bool {
	at := m[0]
	m[0] = (at + 1) % int64(w.Last)
	m[1] = min(m[1]+1, int64(w.Last))
	m[2] += turn(m[4:], at, failed)
	m[3] += turn(m[4+w.bits():], at, slow)
	least := int64(w.Min)
	if least == 0 {
		least = int64(w.Last)
	}
	return m[1] >= least && tripped(m[1], m[2], m[3], w.Percent, w.SlowPercent)
}

// turn sets bit i and returns by how much that changes the number of bits set.
func turn(m []int64, i int64, to bool) int64 {
	word, bit := &m[i/64], int64(1)<<(i%64)
	was := *word & bit
	*word &^= bit
	change := int64(0)
	if to {
		*word |= bit
		change++
	}
	if was != 0 {
		change--
	}
	return change
}

// isSet reports whether bit i is set.
func isSet(m []int64, i int64) bool { return m[i/64]>>(i%64)&1 != 0 }
