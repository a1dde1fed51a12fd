package traffic

import (
	"errors"
	"fmt"
	"math"
	"sort"
	"time"
)

// Rhythm is a factor on the rate of a stream that changes at given times, such as
// the hours of a day or a spike. The zero Rhythm is always 1.
type Rhythm struct {
	// Steps are in the order of time. Before the first step the factor is 1 or,
	// if the rhythm repeats, that of the last step.
	Steps []Beat `without:"the rate is constant" about:"The factors, each from its time on."`
	// Every is the period, 24 h for a day; 0 if the rhythm does not repeat.
	Every time.Duration `without:"it does not repeat" about:"The period, such as 24h."`
}

// Beat sets the factor from a time on, until the next beat.
type Beat struct {
	From   time.Duration `default:"0s" about:"When the factor begins."`
	Factor float64       `unit:"times" default:"0" about:"The factor on the rate from then on."`
}

// Validate reports an error if the rhythm is invalid.
func (y *Rhythm) Validate() error {
	beats := len(y.Steps) == 0
	for i, s := range y.Steps {
		switch {
		case s.From < 0 || i > 0 && s.From <= y.Steps[i-1].From:
			return fmt.Errorf("step %d must come after the one before it, and not before 0", i+1)
		case y.Every > 0 && s.From >= y.Every:
			return fmt.Errorf("step %d begins after the period ends", i+1)
		case !(s.Factor >= 0) || math.IsInf(s.Factor, 1):
			return fmt.Errorf("step %d needs a factor of 0 or more", i+1)
		}
		beats = beats || s.Factor > 0
	}
	switch {
	case y.Every < 0:
		return errors.New("the period must not be negative")
	case !beats:
		return errors.New("no call ever arrives: one of the factors must be above 0")
	}
	return nil
}

// after returns the end of a gap that begins at from, where time passes at the
// speed of the factor; false if the gap never ends.
func (y *Rhythm) after(from, gap time.Duration) (time.Duration, bool) {
	if len(y.Steps) == 0 {
		return from + gap, true
	}
	left := float64(gap)
	if y.Every > 0 { // whole rounds at once: there may be very many
		round := y.round()
		n := math.Floor(left / round)
		if n > float64(math.MaxInt64/4/y.Every) {
			return 0, false
		}
		from += time.Duration(n) * y.Every
		left = max(0, left-float64(n*round))
	}
	for {
		factor, until := y.at(from)
		if until == math.MaxInt64 {
			if factor == 0 {
				return 0, false
			}
			return from + time.Duration(math.Round(left/factor)), left/factor < math.MaxInt64/4
		}
		if passes := float64(factor * float64(until-from)); passes < left {
			left -= passes
			from = until
			continue
		}
		if factor == 0 { // left is 0
			return from, true
		}
		return from + time.Duration(math.Round(left/factor)), true
	}
}

// round returns the part of a gap that passes in one period.
func (y *Rhythm) round() (sum float64) {
	for i, s := range y.Steps {
		end := y.Every + y.Steps[0].From
		if i+1 < len(y.Steps) {
			end = y.Steps[i+1].From
		}
		sum += float64(s.Factor * float64(end-s.From))
	}
	return sum
}

// at returns the factor at now and the time of its next change.
func (y *Rhythm) at(now time.Duration) (factor float64, until time.Duration) {
	begin := time.Duration(0)
	if y.Every > 0 {
		begin = now / y.Every * y.Every
	}
	i := sort.Search(len(y.Steps), func(i int) bool { return begin+y.Steps[i].From > now })
	switch {
	case i > 0:
		factor = y.Steps[i-1].Factor
	case y.Every > 0:
		factor = y.Steps[len(y.Steps)-1].Factor
	default:
		factor = 1
	}
	switch {
	case i < len(y.Steps):
		return factor, begin + y.Steps[i].From
	case y.Every > 0:
		return factor, begin + y.Every + y.Steps[0].From
	}
	return factor, math.MaxInt64
}
