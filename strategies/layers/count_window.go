package layers

import (
	"fmt"
	"time"
)

// CountWindow trips a breaker by the share of failures, or of slow attempts, among
// the last attempts. Use it where traffic is steady; with little traffic, old
// attempts count for a long time. A short window trips by chance: at a failure rate
// of 5 %, 40 % of windows of ten attempts contain a failure.
type CountWindow struct {
	// Last is the number of last attempts that count, 1 to 10,000.
	Last int `unit:"attempts" most:"10000" required:"10" about:"How many of the last attempts count."`
	// Min is the least number of attempts since the breaker closed, at most Last; 0
	// means Last.
	Min int `unit:"attempts" most:"10000" without:"as many as last" about:"How many attempts a share needs since the breaker closed."`
	// Percent is the share of failures that trips the breaker, SlowPercent the
	// share of slow attempts; 0 means that these do not count. One of them must be
	// positive.
	Percent     int `unit:"%" most:"100" without:"failures do not count" about:"The share of failures that opens the breaker."`
	SlowPercent int `unit:"%" most:"100" without:"slow attempts do not count" about:"The share of slow attempts that opens the breaker."`
}

// Validate reports an error if a setting of the window is out of range.
func (w CountWindow) Validate() error {
	if w.Last < 1 || w.Last > 10_000 || w.Min < 0 || w.Min > w.Last {
		return fmt.Errorf("last must be 1 to 10000 and min 0 to last, not %d and %d", w.Last, w.Min)
	}
	return validateShares(w.Percent, w.SlowPercent)
}

// validateShares reports an error if the shares that trip a breaker are out of
// range.
func validateShares(percent, slow int) error {
	if percent < 0 || percent > 100 || slow < 0 || slow > 100 || percent == 0 && slow == 0 {
		return fmt.Errorf("percent and slow_percent must be 0 to 100 %% and not both 0, not %d %% and %d %%", percent, slow)
	}
	return nil
}

// tripped reports whether failures or slow attempts reach their share of all
// attempts.
func tripped(all, failed, slow int64, percent, slowPercent int) bool {
	return percent > 0 && 100*failed >= int64(percent)*all || slowPercent > 0 && 100*slow >= int64(slowPercent)*all
}

// The words of a CountWindow: the index of the next attempt, the numbers of
// attempts, of failures and of slow attempts in the window; then a bit for each
// attempt that failed, and a bit for each slow one. bits returns the number of
// words for one bit per attempt.
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

// turn sets or clears bit i and returns the change of the number of set bits.
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
