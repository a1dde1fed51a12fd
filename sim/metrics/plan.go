package metrics

import "time"

// Plan says what a recorder must know in advance.
type Plan struct {
	// Bin is the width of the bins of all series; 0 means one second.
	Bin time.Duration
	// FaultEnd is when the last fault ends; 0 if there is none. "After" in a
	// metric's name means from then on, and bins are aligned to it.
	FaultEnd time.Duration
	// FaultBegin is when the first fault begins.
	FaultBegin time.Duration
	// Horizon is when the run is cut off.
	Horizon time.Duration
	// Capacity is what the provider can serve, in requests per second; 0 if it
	// is unlimited.
	Capacity float64
	// Service is the mean time from the arrival of an attempt to its answer where
	// nothing is in the way, the network included; 0 if it is not known.
	Service time.Duration
	// OneShot says that no calls arrive after the first wave, so that recovery
	// is undefined and drain is judged.
	OneShot bool
	// Supply is what makes calls come, where that is the same for all fleets.
	Supply Supply
}

// Supply is what makes calls come, and so for how long they do.
type Supply uint8

// The supplies of calls.
const (
	// Counted is so many calls for each client: how long they come is up to the
	// strategy. It is also said of fleets that differ.
	Counted Supply = iota
	// Open means that calls come whatever becomes of the earlier ones.
	Open
	// Endless means that clients call again until the horizon.
	Endless
)
