package layers

import (
	"errors"
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/saturating"
	"herdlab/strategies"
)

// Ladder tries lesser models when the model asked for has no capacity: each rung is
// a model and the number of tries. Only failures of capacity lead to the next try
// and, after the last try of a rung, to the next rung; a bad key is bad on every
// rung. An answer from any rung but the first is marked as degraded and counted.
// When the last rung fails, the call ends with NothingLeft and raises an alarm,
// because no layer outside can help.
//
// Use it where a lesser answer now is worth more than the best one later, and each
// model has capacity of its own. With a chance p of failure at each try, 2/1/1
// degrades p² of the calls and loses p⁴ of them at 1 + p + p² + p³ tries each. It
// costs quality, and it moves an overload: the calls that the flagship model
// refuses arrive at the standard model, which must have room for them.
type Ladder struct {
	// Rungs are tried in this order, the model asked for first. There must be at
	// least one, each with another model.
	Rungs []Rung `required:"[{model: flagship, tries: 2}, {model: light}]" about:"The models in the order in which they are tried."`
	// On sets which failures lead to the next try; its empty set of classes means
	// overloaded.
	On Rules `without:"overloaded" about:"Which failures lead to the next try."`
	// Backoff sets how long to wait before each try but the first; nil means not at
	// all. A hint counts if the next try uses the same model.
	Backoff strategies.Backoff `without:"it tries at once" about:"How long it waits before each try but the first."`
}

// Rung is one model of a ladder.
type Rung struct {
	// Model is the model number of wire.Target. Tries is the number of tries, 1 to
	// 1048576; 0 means 1.
	Model uint8 `names:"models" without:"the first" about:"The model of this rung."`
	Tries int   `unit:"attempts" most:"1048576" default:"1" about:"How often it is tried."`
}

// maxTries bounds Rung.Tries.
const maxTries = 1 << 20

// Build implements Layer.
func (l Ladder) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	if err := l.validate(); err != nil {
		return nil, fmt.Errorf("ladder: %w", err)
	}
	l.On.Classes = l.On.Classes.Or(strategies.ClassesOf(wire.Overloaded))
	g := &ladder{Ladder: l, purpose: b.Purpose()}
	var err error
	if g.degraded, err = b.Note("degraded"); err != nil {
		return nil, err
	}
	if g.nothing, err = b.Alarm("no_model_left"); err != nil {
		return nil, err
	}
	if g.tries, err = b.Reserve(strategies.PerCall, 1, ""); err != nil {
		return nil, err
	}
	return b.Loop(g, inner)
}

func (l *Ladder) validate() error {
	if len(l.Rungs) == 0 {
		return errors.New("rungs must have at least one entry: a model and its number of tries")
	}
	seen := [256]bool{}
	for i, r := range l.Rungs {
		switch {
		case r.Tries < 0 || r.Tries > maxTries:
			return fmt.Errorf("rung %d: tries must not be %d; write 1 to %d, or 0 for once", i+1, r.Tries, maxTries)
		case seen[r.Model]:
			return fmt.Errorf("model %d has two rungs; give one of them more tries", r.Model)
		}
		seen[r.Model] = true
	}
	if l.Backoff != nil {
		if err := strategies.ValidateBackoff(l.Backoff); err != nil {
			return err
		}
	}
	return l.On.Validate()
}

// ladder is the loop of a Ladder. The word of a call is the number of its tries on
// all rungs.
type ladder struct {
	Ladder
	tries             strategies.Slot
	degraded, nothing strategies.Signal
	purpose           strategies.Purpose
}

// rung returns the index of the rung of the given try; ok is false after the last.
func (l *ladder) rung(try int64) (rung int, ok bool) {
	for i, r := range l.Rungs {
		if try -= int64(max(1, r.Tries)); try <= 0 {
			return i, true
		}
	}
	return 0, false
}

// Start implements Loop.
func (l *ladder) Start(_ time.Duration, c *strategies.Call) {
	*c.Word(l.tries, 0) = 1
	c.Target.Model = l.Rungs[0].Model
}

// After implements Loop.
func (l *ladder) After(_ time.Duration, c *strategies.Call, e strategies.Event, d strategies.Decision) strategies.Decision {
	tries := c.Word(l.tries, 0)
	rung, _ := l.rung(*tries)
	if d.End.Reason == strategies.Succeeded {
		if rung > 0 {
			d.End.Degraded = true
			c.Raise(l.degraded)
		}
		return d
	}
	if !l.On.Retries(e.Outcome, d.End) {
		return d
	}
	next, ok := l.rung(*tries + 1)
	if !ok {
		d.End.Reason = strategies.NothingLeft
		c.Raise(l.nothing)
		return d
	}
	*tries++
	hint := e.Hint()
	if next != rung {
		c.Target.Model = l.Rungs[next].Model
		hint = wire.NoHint // the hint was for another model
	}
	return strategies.Decision{Kind: strategies.Wait, After: pause(c, l.Backoff, l.purpose, *tries, d.End.Class, hint)}
}

// pause returns how long a loop that changes its target waits before the given try,
// by a backoff that may be nil. A hint replaces a shorter base.
func pause(c *strategies.Call, b strategies.Backoff, p strategies.Purpose, tries int64, class wire.Class, hint time.Duration) time.Duration {
	var base, jitter time.Duration
	if x, ok := b.(strategies.Discerning); ok {
		b = x.For(class)
	}
	if b != nil {
		base, jitter = b.Delay(c, p, max(0, tries-2), 0)
	}
	return saturating.Add(max(base, hint, 0), max(jitter, 0))
}
