package mockprovider

import (
	"errors"
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// Fault is a disturbance with a beginning, an end, a target and a probability.
//
// Faults may overlap. A request meets the last in the list first, like the
// outermost of several layers; what one deals with, those before it never see.
type Fault struct {
	// From ≤ t < To is when it is in force; To may be Forever.
	From, To time.Duration
	// Where is whom it strikes: everybody if left out.
	Where Match
	// Probability is how likely it strikes an attempt that it is for; 0 and 1
	// are both always. That luck belongs to the call, the attempt and the fault:
	// to its place in the list, or to its number if it was injected.
	Probability float64
	// Does is what happens to who is struck.
	Does Disturbance
}

// Forever is the end of a fault that lasts until it is cleared, or for good.
const Forever = never

// Outage is the fault during which the provider refuses every arrival. Work
// that is queued or in service is carried on.
func Outage(from, to time.Duration, refusal Refusal) Fault {
	return Fault{From: from, To: to, Does: Refuse{Refusal: refusal}}
}

// Disturbance is what a fault does. There is one type for each kind: Refuse,
// Errors, Expiry, MaskedPermission, Silence, Unreachable, Reset, Spoil, Stall,
// Latency, Brownout, LimitCut, Skew and Script.
type Disturbance interface {
	// Name is what reports call it.
	Name() string
	// Validate says what is wrong with it, and what to do.
	Validate() error
	// hooks returns where it intervenes, at a provider with such callers.
	hooks(Space) hooks
}

// hooks are where a disturbance intervenes; most need one or two of them.
type hooks struct {
	// arrive acts on a request that arrives, before anything else does. It
	// reports whether it has dealt with it, by an end to its ticket.
	arrive func(p *Provider, now time.Duration, f *fault, in *wire.Input, out []wire.Effect) ([]wire.Effect, bool)
	// work acts on what serving a request takes, when its work starts. Times lie
	// on the grid of rnd.
	work func(w *work, stream bool, rnd draw.Rand)
	// end acts on the end of work that was struck when it started: on what its
	// client gets. The gates hear of the class of the reply, even if none leaves.
	// Where several would act on one end, the last in the list does.
	end func(p *Provider, now time.Duration, j *job, e *wire.Effect)
	// strain acts on the provider as a whole, so that all requests feel it; or
	// byStation, so that those to some models and regions do.
	strain    func(s *strain, where *Match)
	byStation bool
	// answers are what a script does, one after the other; forget makes it begin
	// anew for an account.
	answers []hooks
	forget  func(account uint32)
	// refuses says that all who are struck are refused when they arrive, so
	// that exact hints count until it is over.
	refuses bool
}

// Stage is how far a request has come when something goes wrong with it.
type Stage uint8

// The stages.
const (
	AtArrival Stage = iota // at once: it sees no limit and costs no work
	AfterHead              // when the head of its reply has left, which only streams have by then
	AfterWork              // when its work is done, or in place of the head if it is a stream
	numStages = iota
)

// Validate says what is wrong with the fault, and what to do.
func (f *Fault) Validate() error {
	switch {
	case f.Does == nil:
		return errors.New("it does nothing; say what it does, or leave it out")
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
	h, where := f.Does.hooks(Space{}), f.Where
	if h.byStation {
		where.Models, where.Regions = Range{}, Range{}
	}
	switch {
	case h.strain == nil:
	case where != Match{} && h.byStation:
		return fmt.Errorf("%s: it is for models and regions, so where can name nothing else", f.Does.Name())
	case where != Match{}:
		return fmt.Errorf("%s: it acts on the provider as a whole; leave out where", f.Does.Name())
	case !f.certain():
		return fmt.Errorf("%s: it acts on the provider as a whole; leave out the probability", f.Does.Name())
	}
	return nil
}

// certain reports whether f strikes whoever it is for.
func (f *Fault) certain() bool { return f.Probability == 0 || f.Probability == 1 }

// checkFault says what is wrong with a fault of this provider.
func (c *Config) checkFault(f *Fault) error {
	if err := f.Validate(); err != nil {
		return err
	}
	if d, ok := f.Does.(interface{ fits(*Config, *Match) error }); ok {
		if err := d.fits(c, &f.Where); err != nil {
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
