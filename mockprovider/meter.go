package mockprovider

import (
	"math"
	"time"

	"herdlab/mockprovider/wire"
)

// meter is what gates that count have in common: the way to a request's
// counter, what it is charged, and the limit in force.
type meter struct {
	keying
	plain   bool  // each request is charged 1 when it is let in
	ones    bool  // and for good
	settles bool  // what is charged may change in the end
	simple  bool  // a refusal is of the usual class, and has a time to come back
	keep    Keep  // which refused requests stay counted
	limit   int32 // in force, see Scaler
	full    int32 // as configured
	quick   int32 // the limit in force where each is charged 1 for good; otherwise 0
	class   wire.Class
	charge  Charge
}

// meter returns the meter of a limit with these terms.
func (t *Terms) meter(limit int32, s Space) meter {
	m := meter{keying: t.Per.keying(s), settles: t.Charge.settles(), keep: t.Keep, full: limit, class: wire.Rate, charge: t.Charge}
	if t.Charge.Count != Requests {
		m.class = wire.TokenRate
	}
	m.plain = t.Charge.Count == Requests && t.Charge.When != AtCompletion
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
	if m.charge.When == AtCompletion {
		return 0
	}
	return m.charge.whole(r)
}

// room is what must be left for a request of that cost to be let in: there must
// be something, also for what costs nothing as yet.
func room(cost int32) int32 { return max(cost, 1) }

// change is by how much the end of r changes what it was charged.
func (m *meter) change(r *wire.Request, e *Ended) int32 { return m.charge.due(r, e) - m.cost(r) }

// late reports whether requests are charged when they end.
func (m *meter) late() bool { return m.charge.When == AtCompletion }

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

// standing is how one stands who has used so much of the limit.
func (m *meter) standing(used int32, reset time.Duration) Standing {
	return Standing{Limit: m.limit, Used: used, Remaining: max(0, m.limit-used), Reset: reset}
}

// verdict is the class of a refusal of r, and how long until r would be let in
// if that is ready otherwise. Where the request needs more than the whole limit,
// no waiting helps: the class is TooLarge then, and no time is known.
func (m *meter) verdict(r *wire.Request, ready time.Duration) (wire.Class, time.Duration) {
	if m.simple {
		return m.class, ready
	}
	return m.judge(r, ready)
}

func (m *meter) judge(r *wire.Request, ready time.Duration) (wire.Class, time.Duration) {
	switch n := room(m.cost(r)); {
	case n > m.full:
		return wire.TooLarge, wire.NoHint
	case n > m.limit: // as long as it is cut
		return m.class, wire.NoHint
	}
	return m.class, ready
}

// plus returns used + n, or the most or the least that may be used.
func plus(used, n int32) int32 {
	return int32(min(max(int64(used)+int64(n), 0), math.MaxInt32))
}
