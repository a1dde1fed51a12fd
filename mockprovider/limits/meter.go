package limits

import (
	"fmt"
	"math"
	"time"

	"herdlab/mockprovider"
	"herdlab/mockprovider/wire"
)

// meter is what gates that count have in common: the way to a request's
// counter, what it is charged, and the limit in force.
type meter struct {
	mockprovider.CounterIndex
	plain   bool              // each request is charged 1 when it is let in
	ones    bool              // and for good
	settles bool              // what is charged may change in the end
	simple  bool              // a refusal is of the usual class, and has a time to come back
	keep    mockprovider.Keep // which refused requests stay counted
	limit   int32             // in force, see Scaler
	full    int32             // as configured
	quick   int32             // the limit in force where each is charged 1 for good; otherwise 0
	class   wire.Class
	charge  mockprovider.Charge
	refusal *mockprovider.Refusal
}

// newMeter returns the meter of a limit with those terms.
func newMeter(t *mockprovider.Terms, limit int32, s mockprovider.Space) meter {
	m := meter{CounterIndex: t.Per.Index(s), settles: t.Charge.Settles(), keep: t.Keep, full: limit, class: wire.Rate, charge: t.Charge, refusal: &t.Refusal}
	if t.Charge.Count != mockprovider.Requests {
		m.class = wire.TokenRate
	}
	m.plain = t.Charge.Count == mockprovider.Requests && t.Charge.When != mockprovider.AtCompletion
	m.ones = m.plain && !m.settles
	m.scale(100)
	return m
}

// cost is what is charged for r when it is let in.
func (m *meter) cost(r *wire.Request) int32 {
	if m.plain {
		return 1
	}
	return m.tokens(r)
}

func (m *meter) tokens(r *wire.Request) int32 {
	if m.charge.When == mockprovider.AtCompletion {
		return 0
	}
	return m.charge.Upfront(r)
}

// room is what must be left for a request of that cost to be let in: there must
// be something, also for what costs nothing as yet.
func room(cost int32) int32 { return max(cost, 1) }

// change is by how much the end of r changes what it was charged.
func (m *meter) change(r *wire.Request, e *mockprovider.Ended) int32 {
	return m.charge.Final(r, e) - m.cost(r)
}

// late reports whether requests are charged when they end.
func (m *meter) late() bool { return m.charge.When == mockprovider.AtCompletion }

// scale cuts the limit to that percentage.
func (m *meter) scale(percent int32) {
	m.limit = int32(cut(int64(m.full), percent, 1))
	m.simple = m.plain && m.limit > 0
	if m.ones {
		m.quick = m.limit
	}
}

// cut returns that percentage of n, but no less than least; nothing of 0 %.
func cut(n int64, percent int32, least int64) int64 {
	p := int64(min(max(percent, 0), 100))
	if p == 0 {
		return 0
	}
	return max(least, n/100*p+n%100*p/100)
}

// standing returns the standing of a caller that has used that much of the limit.
func (m *meter) standing(used int32, reset time.Duration) mockprovider.Standing {
	return mockprovider.Standing{
		Allowance: mockprovider.Allowance{Limit: m.limit, Remaining: max(0, m.limit-used)}, Used: used, Reset: reset,
	}
}

// unknown is a time until admission that a limit does not know.
const unknown time.Duration = -1

// verdict is the refusal of r by a limit that would otherwise admit r after
// ready. Where the request needs more than the whole limit, no waiting helps: the
// class is TooLarge then, and no time is known.
func (m *meter) verdict(r *wire.Request, limit, remaining int32, ready, reset time.Duration) mockprovider.Verdict {
	class := m.class
	if !m.simple {
		class, ready = m.judge(r, ready)
	}
	v := mockprovider.Verdict{Class: class, Allowance: mockprovider.Allowance{Limit: limit, Remaining: remaining}, Reset: reset}
	if ready != unknown {
		v.Admission = mockprovider.AdmittedAfter(ready)
	}
	return v
}

// judge returns the class of a refusal of r, and the time until admission, if
// that is ready otherwise.
func (m *meter) judge(r *wire.Request, ready time.Duration) (wire.Class, time.Duration) {
	switch n := room(m.cost(r)); {
	case n > m.full:
		return wire.TooLarge, unknown
	case n > m.limit: // as long as it is cut
		return m.class, unknown
	}
	return m.class, ready
}

// Form implements Gate.
func (m *meter) Form(*wire.Request) *mockprovider.Refusal { return m.refusal }

// validateCount reports an error if a limit of that name, which counts up to
// limit in each length of time, is invalid.
func validateCount(name string, limit int32, length time.Duration, terms mockprovider.Terms) error {
	switch {
	case limit < 1:
		return fmt.Errorf("%s: the limit must be at least 1", name)
	case length <= 0:
		return fmt.Errorf("%s: the length must be positive", name)
	}
	if err := terms.Validate(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// atMost32 returns n, or the largest int32 if that is less.
func atMost32(n uint64) int32 { return int32(min(n, math.MaxInt32)) }

// plus returns used + n, or the most or the least that may be used.
func plus(used, n int32) int32 {
	return int32(min(max(int64(used)+int64(n), 0), math.MaxInt32))
}
