package mockprovider

import (
	"errors"
	"fmt"
	"time"
)

// Fault is a disturbance with a beginning, an end, a target and a probability.
//
// Faults may overlap. The last in the list acts first, like the outermost of
// several layers; a request that one of them ends does not meet those before it.
type Fault struct {
	// From ≤ t < To is when it is in force; To may be Forever.
	From, To time.Duration
	// Where matches the requests that it is for; the zero Match is all of them.
	Where Match
	// Probability is the probability that it strikes an attempt that it is for; 0
	// and 1 both mean always. The draw belongs to the call, the attempt and the
	// fault: to its place in the list, or to its number if it was injected.
	Probability float64
	// Does is what happens to the requests that it strikes.
	Does Disturbance
}

// Forever is the end of a fault that lasts until it is cleared, or for good.
const Forever = never

// Disturbance is what a fault does. Package faults has one type for each kind.
type Disturbance interface {
	// Name returns the name of the kind for reports.
	Name() string
	// Validate reports an error if the disturbance is invalid; the error also
	// says what to do.
	Validate() error
	// Hooks returns the places where it intervenes, at a provider with that space
	// of callers. Each call returns hooks with a state of their own.
	Hooks(s Space) Hooks
}

// ConfigChecker is a disturbance that does not fit every provider.
type ConfigChecker interface {
	// CheckConfig reports an error if the disturbance, for the requests that where
	// matches, has no place in a provider with that configuration.
	CheckConfig(c *Config, where *Match) error
}

// Validate reports an error if the fault is invalid; the error also says what
// to do.
func (f *Fault) Validate() error {
	switch {
	case f.Does == nil:
		return errors.New("it does nothing; state what it does, or leave it out")
	case f.From < 0:
		return errors.New("it must not begin before 0")
	case f.To <= f.From:
		return errors.New("it must end after it begins; write Forever for one that does not end")
	case !(f.Probability >= 0 && f.Probability <= 1):
		return fmt.Errorf("%g is no probability; use 0 to 1, where 0 is always, as 1 is", f.Probability)
	}
	if err := f.Where.Validate(); err != nil {
		return err
	}
	if err := f.Does.Validate(); err != nil {
		return fmt.Errorf("%s: %w", f.Does.Name(), err)
	}
	h, where := f.Does.Hooks(Space{}), f.Where
	if h.ByStation {
		where.Models, where.Regions = Range{}, Range{}
	}
	switch {
	case len(h.Answers) > MaxAnswers:
		return fmt.Errorf("%s: it has %d answers; %d are the most", f.Does.Name(), len(h.Answers), MaxAnswers)
	case h.Strain == nil:
	case where != Match{} && h.ByStation:
		return fmt.Errorf("%s: it is for models and regions, so where can name nothing else", f.Does.Name())
	case where != Match{}:
		return fmt.Errorf("%s: it acts on the provider as a whole; leave out where", f.Does.Name())
	case !f.certain():
		return fmt.Errorf("%s: it acts on the provider as a whole; leave out the probability", f.Does.Name())
	}
	return nil
}

// certain reports whether f strikes every request that it is for.
func (f *Fault) certain() bool { return f.Probability == 0 || f.Probability == 1 }

// checkFault reports an error if a fault is invalid, or does not fit this
// provider.
func (c *Config) checkFault(f *Fault) error {
	if err := f.Validate(); err != nil {
		return err
	}
	if d, ok := f.Does.(ConfigChecker); ok {
		if err := d.CheckConfig(c, &f.Where); err != nil {
			return fmt.Errorf("%s: %w", f.Does.Name(), err)
		}
	}
	return nil
}

// FaultSpan returns when the first fault begins and the last one ends; both 0
// if there are none. Faults that last forever do not count: nothing comes after
// them, they are the way the provider is.
func (c *Config) FaultSpan() (begin, end time.Duration) {
	begin = never
	for i := range c.Faults {
		if f := &c.Faults[i]; f.To != Forever {
			begin, end = min(begin, f.From), max(end, f.To)
		}
	}
	if end == 0 {
		begin = 0
	}
	return begin, end
}

// TakesRoom reports whether the fault refuses requests, stops work on them or leaves
// them unanswered, or cuts what the provider can serve; others only delay replies or
// change what is in them.
func (f *Fault) TakesRoom() bool {
	h := f.Does.Hooks(Space{})
	return h.takesRoom()
}
