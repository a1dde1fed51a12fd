package layers

import (
	"errors"
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/saturating"
	"herdlab/strategies"
)

// Deployments chooses a deployment at random, all with the same probability, for
// each attempt, and leaves out for a while (benches) those that fail. A deployment
// is benched for the wait that its reply asks for, otherwise for CoolDown, after
//
//   - a refusal by its limits, or a failure of the deployment that waiting does not
//     cure, such as a bad key;
//   - more than Percent of its attempts in the current minute failed, of at least
//     Least;
//   - with Fails > 0, more than Fails failures in the current minute;
//   - any failure whose reply asks for a wait.
//
// A bad request is an error of the caller and benches no deployment.
//
// A retry is sent at once while another deployment is available, and waits by
// Backoff otherwise. If all are benched, calls wait for the first to come back. A
// single deployment is benched only if its reply asks for a wait, or if all
// attempts of a minute, at least 1,000, have failed, because there is no other.
//
// Use it for many deployments that fail independently. A cool-down of 5 s is short:
// if all deployments share one limit, they are benched in turn and all attempts are
// refused.
//
// Source: LiteLLM's router (BerriAI/litellm, constants.py and
// router_utils/cooldown_handlers.py, read in 2026-11); there, calls that find all
// deployments benched fail and are retried.
type Deployments struct {
	// Targets are the deployments, 1 to 256.
	Targets []wire.Target `required:"[{key: 0}, {key: 1}]" about:"Where attempts may go, 1 to 256 deployments."`
	// MaxAttempts bounds the attempts of a call, the first one included; 0 means 3.
	MaxAttempts int `unit:"attempts" default:"3" about:"How many attempts a call makes, the first one included."`
	// CoolDown is how long a failed deployment is left out if its reply asks for no
	// wait; 0 means 5 s.
	CoolDown time.Duration `default:"5s" about:"How long a failed deployment is left out if its reply does not ask for a wait."`
	// Percent is the share of a deployment's attempts in the current minute above
	// which failures bench it, 1 to 100 %; 0 means 50. Least is the least number of
	// attempts for that share to count; 0 means 5.
	Percent int64 `unit:"%" most:"100" default:"50%" about:"A deployment is left out if more than this share of its attempts in the current minute failed."`
	Least   int64 `unit:"attempts" default:"5" about:"How many attempts in the current minute that share needs."`
	// Fails is the number of failures in the current minute above which a
	// deployment is benched; 0 means no bound.
	Fails int64 `unit:"failures" without:"only the share counts" about:"A deployment is also left out after more than this number of failures in the current minute."`
	// On sets which failures are retried; its empty set of classes means Transient.
	On Rules `without:"the transient classes" about:"Which failures are retried."`
	// Backoff sets how long a retry waits if no other deployment is available; nil
	// means not at all. A hint in the reply counts then.
	Backoff strategies.Backoff `without:"it retries at once" about:"How long a retry waits when no other deployment is available."`
	// Jitter is the width of the random time that is added to the wait of calls
	// that found all deployments benched.
	Jitter time.Duration `default:"0s" about:"The width of what is drawn evenly and added to the wait of calls that found all deployments left out."`
	// Scope sets which clients share the memory of the deployments, PerClient or
	// wider. Name identifies it with the scope PerEveryone.
	Scope strategies.Scope `except:"call" about:"Which clients share the memory of the layer."`
	Name  string           `without:"it has none" about:"The name by which layers of several fleets share memory; required with the scope everyone."`
}

// leastAttemptsAlone is the least number of attempts in a minute that must all have failed
// before the only deployment is benched.
const leastAttemptsAlone = 1000

// Build implements Layer: a loop that retries, around a guard that chooses.
func (d Deployments) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	if err := d.fill(); err != nil {
		return nil, fmt.Errorf("deployments: %w", err)
	}
	g := &deployments{Deployments: d, purpose: b.Purpose()}
	agreed := fmt.Sprint(d.Targets, d.CoolDown, d.Percent, d.Least, d.Fails)
	var err error
	if g.shared, err = b.ReserveShared(d.Scope, benchWords*len(d.Targets), "deployments", d.Name, agreed); err != nil {
		return nil, err
	}
	if g.own, err = b.Reserve(strategies.PerCall, 2, ""); err != nil {
		return nil, err
	}
	if inner, err = b.Guard((*chooser)(g), inner); err != nil {
		return nil, err
	}
	return b.Loop(g, inner)
}

// fill sets defaults and reports an error if a setting is invalid.
func (d *Deployments) fill() error {
	or := func(v *int64, other int64) {
		if *v == 0 {
			*v = other
		}
	}
	or(&d.Percent, 50)
	or(&d.Least, 5)
	if d.CoolDown == 0 {
		d.CoolDown = 5 * time.Second
	}
	if d.MaxAttempts == 0 {
		d.MaxAttempts = 3
	}
	d.On.Classes = d.On.Classes.Or(strategies.Transient)
	switch {
	case len(d.Targets) == 0 || len(d.Targets) > 256:
		return fmt.Errorf("targets must have 1 to 256 entries, not %d", len(d.Targets))
	case d.MaxAttempts < 0 || d.CoolDown < 0 || d.Jitter < 0:
		return errors.New("max_attempts, cool_down and jitter must not be negative")
	case d.Percent < 1 || d.Percent > 100 || d.Least < 0 || d.Fails < 0:
		return errors.New("percent must be 1 to 100, and least and fails must not be negative")
	}
	if d.Backoff != nil {
		if err := strategies.ValidateBackoff(d.Backoff); err != nil {
			return err
		}
	}
	if err := d.On.Validate(); err != nil {
		return err
	}
	return d.Scope.CheckShared(d.Name)
}

// deployments is the loop. Each deployment has the words below. The words of a call
// are the number of its attempts and its deployment.
type deployments struct {
	Deployments
	shared, own strategies.Slot
	purpose     strategies.Purpose
}

const (
	benchUntil  = iota // the time until which the deployment is left out
	benchMinute        // the number of the minute that is counted
	benchCounts        // failures of it in the upper half, attempts in the lower
	benchWords
)

// word returns a word of deployment i.
func (d *deployments) word(c *strategies.Call, i, which int) *int64 {
	return c.Word(d.shared, uint32(i*benchWords+which))
}

// fit returns the number of available deployments and the time when the first of
// the others comes back.
func (d *deployments) fit(now time.Duration, c *strategies.Call) (n int, first time.Duration) {
	first = strategies.Never
	for i := range d.Targets {
		if until := time.Duration(*d.word(c, i, benchUntil)); until <= now {
			n++
		} else {
			first = min(first, until)
		}
	}
	return n, first
}

// Start implements Loop.
func (d *deployments) Start(_ time.Duration, c *strategies.Call) { *c.Word(d.own, 0) = 1 }

// After implements Loop.
func (d *deployments) After(now time.Duration, c *strategies.Call, e strategies.Event, v strategies.Decision) strategies.Decision {
	tries := c.Word(d.own, 0)
	switch {
	case v.End.Reason == strategies.Succeeded || !d.On.Retries(e.Outcome, v.End):
		return v
	case *tries >= int64(d.MaxAttempts):
		v.End.Reason = strategies.TriesExhausted
		return v
	}
	*tries++
	here := time.Duration(*d.word(c, int(*c.Word(d.own, 1)), benchUntil))
	if n, _ := d.fit(now, c); n > 1 || n == 1 && here > now { // another one
		return strategies.Decision{Kind: strategies.Wait}
	}
	return strategies.Decision{Kind: strategies.Wait, After: pause(c, d.Backoff, d.purpose, *tries, v.End.Class, e.Hint())}
}

// chooser is the guard inside the loop.
type chooser deployments

// Admit implements Guard: it chooses among the available deployments.
func (g *chooser) Admit(now time.Duration, c *strategies.Call) strategies.Decision {
	d := (*deployments)(g)
	n, first := d.fit(now, c)
	if n == 0 {
		return strategies.Decision{Kind: strategies.Wait, After: saturating.Add(first-now, c.Uniform(d.purpose.Second(), 0, d.Jitter))}
	}
	nth := min(int(float64(c.Float(d.purpose)*float64(n))), n-1)
	for i := range d.Targets {
		if time.Duration(*d.word(c, i, benchUntil)) > now {
			continue
		}
		if nth--; nth < 0 {
			*c.Word(d.own, 1) = int64(i)
			c.Target = d.Targets[i]
			break
		}
	}
	return strategies.Decision{}
}

// Observe implements Guard: it counts the outcome and benches the deployment if
// needed.
func (g *chooser) Observe(now time.Duration, c *strategies.Call, e strategies.Event, v strategies.Decision) {
	d := (*deployments)(g)
	if !e.Terminal() || e.Kind == strategies.Settled {
		return // nothing was sent, or the outcome is unknown
	}
	i := int(*c.Word(d.own, 1))
	counts := (*failureShare)(d.word(c, i, benchCounts))
	if minute := int64(now / time.Minute); minute != *d.word(c, i, benchMinute) {
		*d.word(c, i, benchMinute), *counts = minute, 0
	}
	counts.addAttempt()
	class := v.End.Class
	if v.End.Reason == strategies.Succeeded || class == wire.BadRequest || class == wire.TooLarge {
		return
	}
	counts.addFailure()
	bench := max(e.Hint(), 0)
	if bench == 0 && d.bench(class, counts.failures(), counts.attempts()) {
		bench = d.CoolDown
	}
	until := d.word(c, i, benchUntil)
	*until = max(*until, int64(saturating.Add(now, bench)))
}

// bench reports whether a failure of the given class benches a deployment with
// these numbers of failures and attempts in the current minute.
func (d *deployments) bench(class wire.Class, fails, attempts int64) bool {
	if len(d.Targets) == 1 {
		return fails == attempts && attempts >= leastAttemptsAlone
	}
	return strategies.Limits.Has(class) || !class.Transient() ||
		attempts >= d.Least && fails*100 > attempts*d.Percent ||
		d.Fails > 0 && fails > d.Fails
}
