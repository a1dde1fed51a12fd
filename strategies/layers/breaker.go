package layers

import (
	"errors"
	"fmt"
	"time"

	"herdlab/strategies"
)

// Breaker stops attempts for a while after too many failures. Closed, it lets
// everything in and counts; at Failures consecutive failures, or when Trip says
// so, it opens for OpenFor. Then it is half open: it lets in a probe, or so many
// of them. A probe that succeeds closes it, a failed probe opens it again, and a
// probe that ends otherwise gives its permit to another, as does one that does
// not end within ProbeTimeout. Failures of attempts that were under way when it
// opened do not prolong it, and what another layer refuses without an attempt is
// no failure.
//
// It is right where many attempts share one fate, and best with memory shared
// by all who share it; it protects the provider, and needs jitter to protect
// it from the waiting crowd as well.
type Breaker struct {
	// Failures is how many consecutive failures open it, 1 to MaxFailures; 0 with
	// a Trip.
	Failures int `unit:"failures" most:"1073741823" without:"trip is required" about:"How many consecutive failures open the breaker."`
	// Trip, if it is not nil, decides when it opens, and Failures must be 0.
	Trip Trip `without:"failures opens it" about:"What opens the breaker in place of consecutive failures."`
	// Counts is the failures that say something about the provider; none means
	// Transient. Others are neutral: a bad request opens no breaker, and closes
	// none.
	Counts strategies.Classes `without:"the transient classes" about:"Which failures count; the others neither open nor close it."`
	// SlowAfter is when an attempt counts as slow, for a Trip; 0 means never.
	SlowAfter time.Duration `without:"no attempt is slow" about:"An attempt that takes longer counts as slow, for a trip with slow_percent."`
	// OpenFor is how long it stays open, plus U(0, OpenJitter), so that local
	// breakers do not probe together.
	OpenFor    time.Duration `required:"30s" about:"How long the breaker stays open before it lets a probe through."`
	OpenJitter time.Duration `default:"0s" about:"The width of what is drawn evenly and added to that time."`
	// Probes is how many permits there are while it is half open; 0 means 1. Then
	// CloseAfter successes close it and OpenAfter failures open it, whatever comes
	// first; 0 means 1. CloseAfter + OpenAfter ≤ Probes + 1, so that something
	// does.
	Probes     int `unit:"attempts" most:"1000" default:"1" about:"How many probes it lets through while it is half open."`
	CloseAfter int `unit:"successes" default:"1" about:"How many successful probes close it."`
	OpenAfter  int `unit:"failures" default:"1" about:"How many failed probes open it again; with close_after at most one more than the probes."`
	// AllProbes makes it wait until all probes have ended before these numbers
	// count: with half of ten, a provider that is only half well opens it again.
	AllProbes bool `about:"Whether it waits until all probes have ended before those numbers count."`
	// ProbeTimeout is when probes that have not ended are given up; 0 means
	// OpenFor.
	ProbeTimeout time.Duration `without:"as long as open_for" about:"When a probe that has not ended is given up."`
	// IgnoreStragglers goes by the probes alone once it has opened. Otherwise a
	// success closes it at once, also that of an attempt sent before it opened:
	// the provider answers again. A Trip implies it, as do several probes.
	IgnoreStragglers bool `about:"Whether only probes can close it; otherwise the late success of an attempt sent before it opened closes it too. Implied by a trip and by several probes."`
	// FailFast settles a refused call at once. Otherwise it waits until the
	// breaker may close, at least MinWait, plus U(0, Jitter), and asks again.
	FailFast bool          `about:"Whether a refused call fails at once; otherwise it waits until the breaker may let it through."`
	MinWait  time.Duration `without:"fail_fast is required" about:"The shortest wait of a refused call before it asks again."`
	Jitter   time.Duration `default:"0s" about:"The width of what is drawn evenly and added to that wait."`
	// Scope is who shares the breaker, PerClient or wider; Name tells
	// breakers apart that everyone shares. Those who share one must agree on
	// all that is said above FailFast.
	Scope strategies.Scope `except:"call" about:"Which clients share the memory of the layer."`
	Name  string           `without:"it has none" about:"The name by which layers of several fleets share memory; required with the scope everyone."`
}

// Trip decides when a closed breaker opens. It is an immutable program; m is its
// memory, shared with the breaker, and zero at first.
type Trip interface {
	// Words is how many words it needs.
	Words() int
	// Note counts an attempt, failed or slow or neither, and reports whether the
	// breaker is to open.
	Note(now time.Duration, m []int64, failed, slow bool) bool
}

// MaxFailures bounds Breaker.Failures, MaxProbes the permits.
const (
	MaxFailures = 1<<30 - 1
	MaxProbes   = 1000
)

// Build implements Layer.
func (k Breaker) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	if err := k.validate(); err != nil {
		return nil, fmt.Errorf("breaker: %w", err)
	}
	if k.ProbeTimeout == 0 {
		k.ProbeTimeout = k.OpenFor
	}
	k.Counts = k.Counts.Or(strategies.Transient)
	k.Probes, k.CloseAfter, k.OpenAfter = max(k.Probes, 1), max(k.CloseAfter, 1), max(k.OpenAfter, 1)
	k.IgnoreStragglers = k.IgnoreStragglers || k.Trip != nil || k.Probes > 1
	g := &breaker{Breaker: k, trip: 2}
	words := g.trip
	if k.Probes > 1 {
		g.trip++
		words++
	}
	if k.Trip != nil {
		words += uint32(k.Trip.Words())
	}
	var err error
	if g.shared, err = b.ReserveShared(k.Scope, int(words), "breaker", k.Name, k.agreement()); err != nil {
		return nil, err
	}
	if g.own, err = b.Reserve(strategies.PerCall, 1, ""); err != nil {
		return nil, err
	}
	g.purpose = b.Purpose()
	return b.Guard(g, inner)
}

// agreement is what those who share a breaker must agree on.
func (k Breaker) agreement() string {
	s := fmt.Sprintf("{%d failures, open for %v, probe timeout %v}", k.Failures, k.OpenFor, k.ProbeTimeout)
	k.FailFast, k.MinWait, k.Jitter, k.Scope, k.Name = false, 0, 0, 0, ""
	if plain := (Breaker{Failures: k.Failures, OpenFor: k.OpenFor, ProbeTimeout: k.ProbeTimeout, Counts: strategies.Transient,
		Probes: 1, CloseAfter: 1, OpenAfter: 1}); k.Trip != nil || k != plain {
		s = fmt.Sprintf("%T%+v", k.Trip, k)
	}
	return s
}

func (k *Breaker) validate() error {
	switch {
	case k.Trip == nil && (k.Failures < 1 || k.Failures > MaxFailures):
		return fmt.Errorf("failures must be 1 to %d, not %d", MaxFailures, k.Failures)
	case k.Trip != nil && k.Failures != 0:
		return errors.New("it opens by its trip or by consecutive failures; with a trip, failures must be 0")
	case k.OpenFor <= 0:
		return errors.New("the open time must be positive")
	case k.OpenJitter < 0 || k.SlowAfter < 0:
		return errors.New("the jitter of the open time and the time after which an attempt is slow must not be negative")
	case k.Probes < 0 || k.Probes > MaxProbes || k.CloseAfter < 0 || k.OpenAfter < 0:
		return fmt.Errorf("probes must be 0 to %d, and what closes or opens it not negative", MaxProbes)
	case max(k.CloseAfter, 1)+max(k.OpenAfter, 1) > max(k.Probes, 1)+1:
		return fmt.Errorf("%d probes cannot bring %d successes or %d failures for certain; the sum may be one more than the probes",
			max(k.Probes, 1), max(k.CloseAfter, 1), max(k.OpenAfter, 1))
	case k.ProbeTimeout < 0:
		return errors.New("the probe timeout must not be negative; 0 means the open time")
	case !k.FailFast && k.MinWait <= 0:
		return errors.New("a refused call must wait a positive time or fail fast")
	case k.Jitter < 0:
		return errors.New("the jitter must not be negative")
	}
	if k.Trip != nil {
		if v, ok := k.Trip.(interface{ Validate() error }); ok {
			if err := v.Validate(); err != nil {
				return err
			}
		}
	}
	return k.Scope.CheckShared(k.Name)
}
