package strategies

import "time"

// discard is a driver that carries out nothing.
type Discard struct{}

func (Discard) Leave()                     {}
func (Discard) Put(PoolID, uint32)         {}
func (Discard) HangUp(uint32)              {}
func (Discard) Land(FlightID, uint32, End) {}
func (Discard) WakeAt(time.Duration)       {}
func (Discard) Raise(Signal)               {}
