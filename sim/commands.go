package sim

import (
	"time"

	"herdlab/strategies"
)

// The commands of the call in view: *run implements strategies.Commands.

// Leave implements strategies.Commands.
func (r *run) Leave() {
	if r.calls[r.viewRow].state&standing != 0 {
		r.leaveLine(r.viewRow)
	}
}

// Put implements strategies.Commands.
func (r *run) Put(p strategies.PoolID, n uint32) { r.put(r.viewFleet, r.view.Client, p, n) }

// HangUp implements strategies.Commands.
func (r *run) HangUp(attempt uint32) { r.abandon(r.viewRow, attempt) }

// WakeAt implements strategies.Commands.
func (r *run) WakeAt(at time.Duration) {
	if r.calls[r.viewRow].state&active != 0 {
		r.wakeAt(r.viewRow, max(at, r.now))
	}
}

// Raise implements strategies.Commands.
func (r *run) Raise(s strategies.Signal) { r.rec.Raised(r.now, r.viewFleet.signal[s]) }
