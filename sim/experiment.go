// Package sim runs one experiment: fleets of clients, a provider and a virtual
// clock, from the first call to a report.
//
// Most callers need three names: an Experiment, its method Run, and Fleet.
//
// A run has one goroutine and integer state: the same experiment gives the same
// report, byte for byte, on any machine. Clients are rows in flat slabs without
// pointers: a client needs no goroutine, heap object or lock, and an event no
// allocation.
package sim

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
	"herdlab/sim/metrics"
	"herdlab/sim/traffic"
	"herdlab/strategies"
)

// Provider is a server. mockprovider.Provider implements it; an experiment may
// have another one.
type Provider interface {
	// Step advances the provider to now, handles the input and appends the
	// effects to out. now never decreases.
	Step(now time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect
	// NextTick returns the time of the next Tick, at which the provider changes
	// by itself: after now, or the largest Duration for never. It is called after
	// every step.
	NextTick() time.Duration
}

// Fleet is many clients with one configuration and one source of traffic.
type Fleet struct {
	Name    string
	Traffic traffic.Traffic
	// Program is the compiled strategy of its clients. Programs of one experiment
	// that share memory with everyone must be compiled with the same Commons.
	Program *strategies.Program
	// Target is the target of attempts unless a strategy changes it.
	Target wire.Target
	// Account is the account of client 0; if AccountPerClient, client i has
	// Account + i, and else all have Account.
	Account          uint32
	AccountPerClient bool
	// Address is the address of client 0; if AddressPerClient, client i has
	// Address + i, and else all have Address.
	Address          uint32
	AddressPerClient bool
	// Up and Down are the network delays of requests and of replies.
	Up, Down draw.Dist
	// Skew is the time of a client's clock minus that of the provider's. Each
	// client draws its own. Dates and reset times in replies are read against the
	// client's clock.
	Skew draw.Dist
	// Patience is the longest time that a caller waits for a call; 0 means no
	// limit.
	Patience time.Duration
	// Stream requests streamed replies.
	Stream bool
}

// Experiment is the configuration of one run.
type Experiment struct {
	Fleets []Fleet
	// Provider is the server in its initial state; a run changes it.
	Provider Provider
	// Rand is the root of the fleets' draws.
	Rand draw.Rand
	// Commons is what all programs were compiled with; nil if none shares
	// memory with everyone.
	Commons *strategies.SharedMemory
	// Plan is what is recorded and when the run ends.
	Plan metrics.Plan
}

// MaxClients bounds the clients of an experiment, MaxBins the bins of its
// series: more do not fit into the memory of a common machine.
const (
	MaxClients = 10_000_000
	MaxBins    = 1 << 26
)

// ErrNoProgress is wrapped by the error of a run that makes no progress in time.
var ErrNoProgress = errors.New("no progress in time")

func (x *Experiment) validate() error {
	bin := x.Plan.Bin
	if bin == 0 {
		bin = time.Second
	}
	switch {
	case len(x.Fleets) == 0:
		return errors.New("sim: an experiment needs at least one fleet")
	case len(x.Fleets) > 255:
		return errors.New("sim: an experiment has at most 255 fleets")
	case x.Provider == nil:
		return errors.New("sim: an experiment needs a provider")
	case x.Plan.Horizon <= 0:
		return errors.New("sim: the horizon must be positive")
	case bin < 0:
		return errors.New("sim: the width of a bin must be positive, or 0 for a second")
	case x.Plan.Horizon/bin >= MaxBins:
		return fmt.Errorf("sim: the horizon of %v is more than %d bins away; shorten it, or widen the bins", x.Plan.Horizon, MaxBins)
	case x.Plan.FaultBegin < 0 || x.Plan.FaultEnd < x.Plan.FaultBegin:
		return errors.New("sim: the fault must not begin before 0, nor end before it begins")
	}
	clients, shared := 0, 0
	if x.Commons != nil {
		shared = x.Commons.Words()
	}
	for i := range x.Fleets {
		f := &x.Fleets[i]
		if err := f.validate(shared); err != nil {
			return fmt.Errorf("sim: fleet %q %w", f.Name, err)
		}
		if clients += f.Traffic.Clients; clients > MaxClients {
			return fmt.Errorf("sim: the fleets have more than %d clients together", MaxClients)
		}
	}
	return nil
}

// validate reports an error if f is invalid; shared is the number of words that
// everyone shares.
func (f *Fleet) validate(shared int) error {
	t := &f.Traffic
	switch {
	case t.Clients < 1 || t.Clients > MaxClients:
		return fmt.Errorf("needs 1 to %d clients, not %d", MaxClients, t.Clients)
	case t.Calls < 0:
		return errors.New("needs a positive number of calls, or 0 for no bound")
	case t.Mix != nil && t.Mix.Validate() != nil:
		return fmt.Errorf("has calls that cannot be drawn: %w", t.Mix.Validate())
	case f.Program == nil || f.Program.Root == nil || f.Program.Reader == nil:
		return errors.New("has no strategy: compile one with strategies.Compile")
	case f.Program.Words[strategies.PerEveryone] > shared:
		return fmt.Errorf("runs strategy %q, which shares memory with everyone: compile it with the experiment's Commons", f.Program.Name)
	case f.Patience < 0:
		return errors.New("needs a positive patience, or 0 for no limit")
	}
	for _, d := range []struct {
		what string
		dist draw.Dist
	}{{"start", t.Start}, {"think time", t.Think}, {"way up", f.Up}, {"way down", f.Down}} {
		if d.dist.Mean < 0 || d.dist.Low < 0 || d.dist.High < d.dist.Low || !(d.dist.CV >= 0) {
			return fmt.Errorf("has the %s %v: it must not be negative, nor end before it begins", d.what, d.dist)
		}
	}
	return nil
}

// waitsEndEarly reports whether a call can end or decide again before a wait is
// over: if callers have limited patience, or if calls can have other events while
// they wait.
func (x *Experiment) waitsEndEarly() bool {
	for i := range x.Fleets {
		f := &x.Fleets[i]
		if f.Patience > 0 || f.Stream || f.Program.WantsSent || f.Program.Races {
			return true
		}
	}
	return false
}

// races reports whether calls may have a timer while attempts are in flight.
func (x *Experiment) races() bool {
	return slices.ContainsFunc(x.Fleets, func(f Fleet) bool { return f.Program.Races })
}
