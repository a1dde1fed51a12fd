package layers

import (
	"fmt"
	"time"
)

// TimeWindow trips a breaker by the share of failures, or of slow attempts,
// within the last while. It is right where traffic comes and goes, since it
// forgets by the clock; it needs enough attempts within the window to go by.
type TimeWindow struct {
	// Within is how far it looks back, in ten steps: what is forgotten is between
	// 0.9 and 1 times as old.
	Within time.Duration `required:"10s" about:"How far back attempts are counted."`
	// Min is how many attempts there must be within the window; 0 means 1.
	Min int `unit:"attempts" default:"1" about:"How many attempts within that time a share needs."`
	// Percent of failures and SlowPercent of slow attempts trip it; 0 means that
	// these do not count.
	Percent     int `unit:"%" most:"100" without:"failures do not count" about:"The share of failures that opens the breaker."`
	SlowPercent int `unit:"%" most:"100" without:"slow attempts do not count" about:"The share of slow attempts that opens the breaker."`
}

const timeSlices = 10

// Validate says what is wrong with the window.
func (w TimeWindow) Validate() error {
	if w.Within < timeSlices || w.Min < 0 {
		return fmt.Errorf("a window of %v with at least %d attempts needs 10 ns or more, and no negative number", w.Within, w.Min)
	}
	return validateShares(w.Percent, w.SlowPercent)
}

// Words implements Trip: sums of all attempts, of failures and of slow ones.
func (TimeWindow) Words() int { return 3 * slidingSum(timeSlices).words() }

// Note implements Trip.
func (w TimeWindow) Note(now time.Duration, m []int64, failed, slow bool) bool {
	const window = slidingSum(timeSlices)
	var sums [3]int64
	for i, counts := range [...]bool{true, failed, slow} {
		part := m[i*window.words() : (i+1)*window.words()]
		window.advance(part, int64(now/(w.Within/timeSlices)))
		if counts {
			window.add(part, 1)
		}
		sums[i] = window.sum(part)
	}
	return sums[0] >= int64(w.Min) && tripped(sums[0], sums[1], sums[2], w.Percent, w.SlowPercent)
}
