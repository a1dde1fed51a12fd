package traffic

import (
	"fmt"
	"math"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// Row is one recorded call.
type Row struct {
	// At is the time of arrival since the beginning of the trace.
	At time.Duration
	// Demand is the call's demand.
	Demand wire.Demand
}

// Trace is recorded traffic in time order; calls at the same time keep the order
// of their file. It is immutable: Cut and Scale return new traces, and runs share
// one.
type Trace struct {
	// Name is the origin of the trace, for messages and results.
	Name string
	Rows []Row
}

// MaxSpan is the longest duration of a trace.
const MaxSpan = 10 * 365 * 24 * time.Hour

// Span returns the time of the last call, 0 for an empty trace.
func (t *Trace) Span() time.Duration {
	if len(t.Rows) == 0 {
		return 0
	}
	return t.Rows[len(t.Rows)-1].At
}

// MeanOutputTokens returns the mean length of the answers, 0 for an empty
// trace.
func (t *Trace) MeanOutputTokens() float64 {
	if len(t.Rows) == 0 {
		return 0
	}
	var sum uint64 // rows and tokens are below 2³² each
	for i := range t.Rows {
		sum += uint64(t.Rows[i].Demand.OutputTokens)
	}
	return float64(sum) / float64(len(t.Rows))
}

// Cut returns the calls with from ≤ At < to, shifted so that from becomes 0. A
// to of 0 means the end of the trace.
func (t *Trace) Cut(from, to time.Duration) *Trace {
	cut := &Trace{Name: t.Name}
	for _, r := range t.Rows {
		if r.At >= from && (to == 0 || r.At < to) {
			r.At -= from
			cut.Rows = append(cut.Rows, r)
		}
	}
	return cut
}

// Scale returns the same calls at rate × the speed: 2 is twice as fast. It
// returns an error if the rate is not a positive finite number or stretches the
// trace over MaxSpan.
func (t *Trace) Scale(rate float64) (*Trace, error) {
	if !(rate > 0) || math.IsInf(rate, 1) {
		return nil, fmt.Errorf("trace: rate %v: expected a positive number, such as 2 for twice as fast", rate)
	}
	if float64(t.Span())/rate > float64(MaxSpan) {
		return nil, fmt.Errorf("trace: rate %v stretches %v to more than %v", rate, t.Span(), MaxSpan)
	}
	scaled := &Trace{Name: t.Name, Rows: make([]Row, len(t.Rows))}
	for i, r := range t.Rows {
		if rate != 1 { // a division would lose the last digits of very long traces
			r.At = time.Duration(math.Round(float64(r.At) / rate))
		}
		scaled.Rows[i] = r
	}
	return scaled, nil
}

// Arrivals returns the trace as the calls of an open fleet: one call for each
// row, independent of the seed.
func (t *Trace) Arrivals() Arrivals { return replay(t.Rows) }

type replay []Row

// Next implements Arrivals.
func (p replay) Next(_ draw.Rand, i uint64, _ time.Duration) (time.Duration, bool) {
	if i >= uint64(len(p)) {
		return 0, false
	}
	return p[i].At, true
}

// Demand implements Arrivals.
func (p replay) Demand(_ draw.Rand, i uint64) wire.Demand { return p[i].Demand }
