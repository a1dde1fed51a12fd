package metrics

import (
	"time"

	"herdlab/mockprovider/wire"
)

// Failure is what is to be known about an attempt that failed: enough to see
// why, and to try the same again.
type Failure struct {
	// At is when it ended, SentAt when it was sent.
	At, SentAt time.Duration
	// Fleet, Client, Call and Attempt say whose it was: the index of the fleet,
	// that of the client in it, the call's number, the attempt's within the call.
	Fleet   int
	Client  uint32
	Call    uint64
	Attempt uint32
	// Target is where it went, Demand what it asked for.
	Target wire.Target
	Demand wire.Demand
	// Truth is the class that the provider meant, Outcome what the client made
	// of it, hint included.
	Truth   wire.Class
	Outcome wire.Outcome
}

// Of many failures a sample is kept: the first few, and from then on every one
// whose number exceeds that of the last by a quarter. So the beginning is there
// in detail, the rest in outline, and a million failures leave about sixty.
const (
	samplesInFull = 8
	sampleStep    = 4 // the divisor of the number
)

// Sampled records that an attempt failed, and reports whether the recorder
// wants to know more: Sample must follow then.
func (r *Recorder) Sampled() bool {
	r.failed++
	return r.failed == r.nextSample
}

// Sample keeps a failure.
func (r *Recorder) Sample(f Failure) {
	r.failures = append(r.failures, f)
	r.nextSample++
	if r.failed >= samplesInFull {
		r.nextSample = r.failed + r.failed/sampleStep
	}
}
