package metrics

import (
	"time"

	"herdlab/mockprovider/wire"
)

// Failure describes an attempt that failed: why, and what to send to repeat it.
type Failure struct {
	// At is the time when it ended, SentAt that when it was sent.
	At, SentAt time.Duration
	// Fleet is the index of its fleet, Client that of its client in the fleet, Call
	// the ID of its call, Attempt its number within the call.
	Fleet   int
	Client  uint32
	Call    uint64
	Attempt uint32
	// Target and Demand are those of its request.
	Target wire.Target
	Demand wire.Demand
	// Truth is the true class of the reply, Outcome what the client read, hint
	// included.
	Truth   wire.Class
	Outcome wire.Outcome
}

// A sample of the failures is kept: the first 8, and then each failure whose number
// exceeds that of the last one by a quarter. Of a million failures about sixty are
// kept.
const (
	samplesInFull = 8
	sampleStep    = 4 // the divisor of the number
)

// Sampled counts a failed attempt and reports whether it is kept: the caller must
// then call Sample.
func (r *Recorder) Sampled() bool {
	r.failed++
	return r.failed == r.nextSample
}

// Sample keeps a failure in the sample.
func (r *Recorder) Sample(f Failure) {
	r.failures = append(r.failures, f)
	r.nextSample++
	if r.failed >= samplesInFull {
		r.nextSample = r.failed + r.failed/sampleStep
	}
}
