package layers

import (
	"errors"
	"fmt"
	"time"

	"herdlab/strategies"
)

// Breaker is a circuit breaker: it stops attempts for a while after too many
// failures. While closed, it lets every attempt through and counts failures; after
// Failures consecutive failures, or when Trip decides it, it opens for OpenFor.
// Then it is half open and lets Probes attempts through. A successful probe closes
// it, a failed probe opens it again. A probe that ends in another way, or does not
// end within ProbeTimeout, releases its permit for another attempt. Failures of
// attempts that were in flight when the breaker opened do not keep it open longer,
// and a refusal by another layer, without an attempt, does not count as a failure.
//
// Use it where many attempts fail for the same reason, best with memory that all
// their clients share. It protects the provider; the calls that wait need jitter so
// that they do not all come back at once.
type Breaker struct {
	// Failures is the number of consecutive failures that open the breaker, 1 to
	// MaxFailures; it must be 0 if there is a Trip.
	Failures int `unit:"failures" most:"1073741823" without:"trip is required" about:"How many consecutive failures open the breaker."`
	// Trip, if it is not nil, decides when the breaker opens, and Failures must be
	// 0.
	Trip Trip `without:"failures opens it" about:"What opens the breaker in place of consecutive failures."`
	// Counts is the set of failures that count; the empty set means Transient.
	// Other failures are neutral: a bad request neither opens nor closes the
	// breaker.
	Counts strategies.Classes `without:"the transient classes" about:"Which failures count; the others neither open nor close it."`
	// SlowAfter is the duration from which an attempt counts as slow for a Trip; 0
	// means that no attempt is slow.
	SlowAfter time.Duration `without:"no attempt is slow" about:"An attempt that takes longer counts as slow, for a trip with slow_percent."`
	// OpenFor is how long the breaker stays open; it must be positive. A draw from
	// U(0, OpenJitter) is added, so that the breakers of several clients do not
	// probe at the same time.
	OpenFor    time.Duration `required:"30s" about:"How long the breaker stays open before it lets a probe through."`
	OpenJitter time.Duration `default:"0s" about:"The width of what is drawn evenly and added to that time."`
	// Probes is the number of probes while the breaker is half open, at most
	// MaxProbes. CloseAfter successes close it and OpenAfter failures open it,
	// whatever comes first. 0 means 1 for each of the three. CloseAfter + OpenAfter
	// must not be more than Probes + 1, so that the probes always decide.
	Probes     int `unit:"attempts" most:"1000" default:"1" about:"How many probes it lets through while it is half open."`
	CloseAfter int `unit:"successes" default:"1" about:"How many successful probes close it."`
	OpenAfter  int `unit:"failures" default:"1" about:"How many failed probes open it again; with close_after at most one more than the probes."`
	// AllProbes makes the breaker wait until all probes have ended before these
	// numbers count: if 5 of 10 failures open it, a provider that fails half of its
	// attempts opens it again.
	AllProbes bool `about:"Whether it waits until all probes have ended before those numbers count."`
	// ProbeTimeout is how long the breaker waits for a probe to end; 0 means
	// OpenFor.
	ProbeTimeout time.Duration `without:"as long as open_for" about:"When a probe that has not ended is given up."`
	// IgnoreStragglers lets only probes close an open breaker. Otherwise a success
	// closes it at once, also that of an attempt sent before it opened, because it
	// shows that the provider answers again. A Trip and several probes imply
	// IgnoreStragglers.
	IgnoreStragglers bool `about:"Whether only probes can close it; otherwise the late success of an attempt sent before it opened closes it too. Implied by a trip and by several probes."`
	// FailFast makes a refused call fail at once. Otherwise the call waits until
	// the breaker may let it through, at least MinWait, plus U(0, Jitter), and asks
	// again.
	FailFast bool          `about:"Whether a refused call fails at once; otherwise it waits until the breaker may let it through."`
	MinWait  time.Duration `without:"fail_fast is required" about:"The shortest wait of a refused call before it asks again."`
	Jitter   time.Duration `default:"0s" about:"The width of what is drawn evenly and added to that wait."`
	// Scope sets which clients share the breaker, PerClient or wider. Name
	// identifies a breaker with the scope PerEveryone. Layers that share a breaker
	// must agree in all fields above FailFast.
	Scope strategies.Scope `except:"call" about:"Which clients share the memory of the layer."`
	Name  string           `without:"it has none" about:"The name by which layers of several fleets share memory; required with the scope everyone."`
}

// Trip decides when a closed breaker opens. It is immutable; its memory m is stored
// with the breaker's and is zero at first and after the breaker closes.
type Trip interface {
	// Words returns the number of words that the trip needs.
	Words() int
	// Note counts an attempt, which may have failed or been slow, and reports
	// whether the breaker must open.
	Note(now time.Duration, m []int64, failed, slow bool) bool
}

// MaxFailures bounds Breaker.Failures, MaxProbes bounds Breaker.Probes.
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

// agreement returns a text of all settings in which the layers that share a breaker
// must agree.
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
		return errors.New("either trip or failures opens it; with a trip, leave out failures")
	case k.OpenFor <= 0:
		return errors.New("open_for must be positive")
	case k.OpenJitter < 0 || k.SlowAfter < 0:
		return errors.New("open_jitter and slow_after must not be negative")
	case k.Probes < 0 || k.Probes > MaxProbes || k.CloseAfter < 0 || k.OpenAfter < 0:
		return fmt.Errorf("probes must be 0 to %d, and close_after and open_after must not be negative", MaxProbes)
	case max(k.CloseAfter, 1)+max(k.OpenAfter, 1) > max(k.Probes, 1)+1:
		return fmt.Errorf("with %d probes, close_after %d and open_after %d leave cases undecided; their sum may be at most one more than probes",
			max(k.Probes, 1), max(k.CloseAfter, 1), max(k.OpenAfter, 1))
	case k.ProbeTimeout < 0:
		return errors.New("probe_timeout must not be negative; 0 means as long as open_for")
	case !k.FailFast && k.MinWait <= 0:
		return errors.New("min_wait must be positive, or fail_fast true")
	case k.Jitter < 0:
		return errors.New("jitter must not be negative")
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
