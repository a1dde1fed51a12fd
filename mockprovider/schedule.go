package mockprovider

import (
	"errors"
	"fmt"
	"time"

	"herdlab/sim/saturating"
)

// Schedule is a number that changes at set times: a step function. The zero
// Schedule never changes; its meaning is documented where it is used.
type Schedule struct {
	// Steps are in the order of time. Before the first of them the schedule is
	// that of the zero Schedule or, if it repeats, that of the last step.
	Steps []Step `without:"it has no effect" about:"The values, each from its time on."`
	// Every is after how long it begins anew, 24 h for a day; 0 for never.
	Every time.Duration `without:"it does not repeat" about:"The period, such as 24h."`
}

// Step sets a number to Value from then on, until the next step.
type Step struct {
	From  time.Duration `default:"0s" about:"When the value begins."`
	Value float64       `unit:"value" default:"0" about:"The value from then on."`
}

// Always returns the schedule that is v at all times.
func Always(v float64) Schedule { return Schedule{Steps: []Step{{Value: v}}} }

// shortest is the shortest time after which anything repeats by itself: below
// it a run would be busy with nothing else.
const shortest = time.Millisecond

// validate reports an error if the schedule is invalid, or leaves low to high.
func (s *Schedule) validate(low, high float64) error {
	switch {
	case s.Every == 0:
	case s.Every < shortest:
		return fmt.Errorf("it must repeat after %v or more, not %v; leave that out if it does not repeat", shortest, s.Every)
	case len(s.Steps) == 0:
		return errors.New("it repeats nothing; give it steps")
	}
	for i, t := range s.Steps {
		switch {
		case t.From < 0:
			return fmt.Errorf("step %d must not begin before 0", i+1)
		case i > 0 && t.From <= s.Steps[i-1].From:
			return fmt.Errorf("step %d must begin after the one before it", i+1)
		case s.Every > 0 && t.From >= s.Every:
			return fmt.Errorf("step %d must begin before the schedule is over, at %v", i+1, s.Every)
		case !(t.Value >= low && t.Value <= high):
			return fmt.Errorf("step %d must be %g to %g, not %g", i+1, low, high, t.Value)
		}
	}
	return nil
}

// at returns the value at now, and when it changes next; the value of the zero
// Schedule is otherwise.
func (s *Schedule) at(now time.Duration, otherwise float64) (value float64, until time.Duration) {
	value, until = otherwise, never
	if len(s.Steps) == 0 {
		return value, until
	}
	begun := time.Duration(0)
	if s.Every > 0 {
		begun = now - now%s.Every
		value, until = s.Steps[len(s.Steps)-1].Value, saturating.Add(saturating.Add(begun, s.Every), s.Steps[0].From)
	}
	for _, t := range s.Steps {
		if from := saturating.Add(begun, t.From); from > now {
			return value, from
		}
		value = t.Value
	}
	return value, until
}

// span returns the least and the greatest value.
func (s *Schedule) span(otherwise float64) (least, most float64) {
	if len(s.Steps) == 0 {
		return otherwise, otherwise
	}
	least, most = s.Steps[0].Value, s.Steps[0].Value
	if s.Every == 0 && s.Steps[0].From > 0 {
		least, most = otherwise, otherwise
	}
	for _, t := range s.Steps {
		least, most = min(least, t.Value), max(most, t.Value)
	}
	return least, most
}
