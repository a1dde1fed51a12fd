package strategytest

import (
	"time"

	"herdlab/strategies"
)

// Discard is a driver that ignores all commands.
type Discard struct{}

func (Discard) Leave()                                           {}
func (Discard) Put(strategies.PoolID, uint32)                    {}
func (Discard) HangUp(uint32)                                    {}
func (Discard) Land(strategies.FlightID, uint32, strategies.End) {}
func (Discard) WakeAt(time.Duration)                             {}
func (Discard) Raise(strategies.Signal)                          {}
