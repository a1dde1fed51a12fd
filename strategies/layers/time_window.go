package layers

import (
	"fmt"
	"time"
)

// TimeWindow trips a breaker by the share of failures, or of slow attempts, within
// the last time of length Within. Use it where traffic varies, since it forgets by
// the clock; it needs enough attempts within the window.
type TimeWindow struct {
	// Within is the time for which attempts count, at least 10 ns, in ten steps: an
	// attempt is forgotten between 0.9 and 1 times Within after its end.
	Within time.Duration `required:"10s" about:"How far back attempts are counted."`
	// Min is the least number of attempts within the window for a share to count; 0
	// means 1.
	Min int `unit:"attempts" default:"1" about:"How many attempts within that time a share needs."`
	// Percent is the share of failures that trips the breaker, SlowPercent the
	// share of slow attempts; 0 means that these do not count. One of them must be
	// positive.
	Percent     int `unit:"%" most:"100" without:"failures do not count" about:"The share of failures that opens the breaker."`
	SlowPercent int `unit:"%" most:"100" without:"slow attempts do not count" about:"The share of slow attempts that opens the breaker."`
}

const timeSlices = 10

// Validate reports an error if a setting of the window is out of range.
func (w TimeWindow) Validate() error {
	if w.Within < timeSlices || w.Min < 0 {
		return fmt.Errorf("within must be at least 10ns and min not negative, not %v and %d", w.Within, w.Min)
	}
	return validateShares(w.Percent, w.SlowPercent)
}

// Words implements Trip: sliding sums of all attempts, of failures and of slow
// attempts.
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
