// Package sim runs one experiment: fleets of clients, a provider and a virtual
// clock, from the first call to a report.
//
// Everything is single-threaded and integer: the same experiment gives the
// same report, byte for byte, on any machine. Clients are rows in flat slabs
// without pointers; there is no goroutine, no heap object and no lock per
// client, and nothing is allocated per event.
package sim

import (
	"errors"
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
	"herdlab/sim/metrics"
	"herdlab/sim/traffic"
	"herdlab/strategies"
)

// Provider is all that sim knows of a server. mockprovider.Provider is one; an
// experiment may bring another.
type Provider interface {
	// Step advances the provider to now, tells it what happened, and appends
	// to out what it does. now never decreases.
	Step(now time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect
	// NextTick returns when the provider changes by itself and wants to be
	// stepped with a Tick: a time after now, or the largest Duration for
	// never. It is asked after every step.
	NextTick() time.Duration
}

// Fleet is many clients with one configuration and one source of traffic.
type Fleet struct {
	Name    string
	Traffic traffic.Traffic
	// Program is what its clients do. The programs of one experiment that
	// share memory with everyone must be compiled with the same Commons.
	Program *strategies.Program
	// Target is where a call's attempts go unless a strategy decides otherwise.
	Target wire.Target
	// Account is who is charged for client 0; if AccountPerClient, client i is
	// charged to Account + i.
	Account          uint32
	AccountPerClient bool
	// Up and Down are how long a request and its reply travel.
	Up, Down draw.Dist
	// Patience is how long a caller waits for a call; 0 means for ever.
	Patience time.Duration
	// Stream asks for replies in pieces.
	Stream bool
}

// Experiment is one run: who meets whom, for how long, with which luck.
type Experiment struct {
	Fleets []Fleet
	// Provider is the server in its initial state; a run uses it up.
	Provider Provider
	// Rand is the root of the fleets' draws.
	Rand draw.Rand
	// Commons is what all programs were compiled with; nil if none shares
	// memory with everyone.
	Commons *strategies.Commons
	// Plan is what is recorded, and until when the run goes on.
	Plan metrics.Plan
}

// MaxClients bounds the clients of an experiment.
const MaxClients = 10_000_000

// ErrNoProgress is wrapped by the error of a run whose time stands still.
var ErrNoProgress = errors.New("no progress in time")

func (x *Experiment) validate() error {
	if len(x.Fleets) == 0 {
		return errors.New("sim: an experiment needs at least one fleet")
	}
	if len(x.Fleets) > 255 {
		return errors.New("sim: an experiment has at most 255 fleets")
	}
	if x.Provider == nil {
		return errors.New("sim: an experiment needs a provider")
	}
	if x.Plan.Horizon <= 0 {
		return errors.New("sim: the horizon must be positive")
	}
	clients := 0
	for i := range x.Fleets {
		f := &x.Fleets[i]
		if f.Traffic.Clients < 1 || f.Traffic.Clients > MaxClients {
			return fmt.Errorf("sim: fleet %q needs 1 to %d clients, not %d", f.Name, MaxClients, f.Traffic.Clients)
		}
		if clients += f.Traffic.Clients; clients > MaxClients {
			return fmt.Errorf("sim: the fleets have more than %d clients together", MaxClients)
		}
		if f.Program == nil {
			return fmt.Errorf("sim: fleet %q has no strategy", f.Name)
		}
		if f.Traffic.Arrivals == nil && f.Traffic.Calls == 0 && f.Traffic.Think.Average() <= 0 && f.Patience <= 0 {
			continue // endless calls without a pause: the guard against standing time watches it
		}
	}
	return nil
}
