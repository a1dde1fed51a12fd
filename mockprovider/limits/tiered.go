package limits

import (
	"errors"
	"fmt"
	"math"
	"time"

	"herdlab/mockprovider"
	"herdlab/mockprovider/wire"
)

// Tiered are limits for different requests: the first one that is for a request
// decides, and what none is for passes. So tiers of accounts have different
// limits, or a model has its own and all others share one.
type Tiered []Only

// Only is a limit for some requests; others pass.
type Only struct {
	Match mockprovider.Match `about:"Which requests the limit is for: those that match all that is listed."`
	Limit mockprovider.Limit `required:"{concurrency: {limit: 10}}" about:"The limit."`
}

// Validate implements Limit.
func (o Only) Validate() error {
	if o.Limit == nil {
		return errors.New("only: it has no limit; leave it out")
	}
	return errors.Join(o.Match.Validate(), o.Limit.Validate())
}

// Bound implements Limit: that of the limit, if it is for all requests.
func (o Only) Bound(load mockprovider.Load) mockprovider.Bound { return Tiered{o}.Bound(load) }

// Gate implements Limit.
func (o Only) Gate(space mockprovider.Space) mockprovider.Gate { return Tiered{o}.Gate(space) }

func (o Only) Counters(s mockprovider.Space) int { return o.Limit.Counters(s) }

// Validate implements Limit.
func (t Tiered) Validate() error {
	if len(t) == 0 {
		return errors.New("tiered: there are no tiers; leave it out")
	}
	for i, o := range t {
		if err := o.Validate(); err != nil {
			return fmt.Errorf("tier %d: %w", i+1, err)
		}
	}
	return nil
}

func (t Tiered) Counters(s mockprovider.Space) (n int) {
	for _, o := range t {
		n += o.Counters(s)
	}
	return n
}

// Bound implements Limit: the sum of what the tiers let through, if there is one
// for each request. Tiers that differ in more than one respect, say in accounts
// and models, are each taken to match all requests.
func (t Tiered) Bound(load mockprovider.Load) mockprovider.Bound {
	respect, simple := t.respect()
	left := spans{{0, widths[respect]}}
	if size := sizesOf(&load.Space)[respect]; size != nil && *size > 0 {
		left[0].to = uint64(*size)
	}
	var sum mockprovider.Bound
	first := true
	for _, o := range t {
		part := load
		if simple {
			mine := left.cut(rangesOf(&o.Match)[respect])
			if mine == 0 {
				continue
			}
			if n := sizesOf(&part.Space)[respect]; n != nil && *n > 0 && load.OrgSize <= 1 {
				*n = int(mine)
			}
		} else if o.Match == (mockprovider.Match{}) {
			left = nil
		}
		b := o.Limit.Bound(part)
		if !first {
			b = sum.Plus(b)
		}
		sum, first = b, false
	}
	if len(left) > 0 {
		return mockprovider.Bound{} // the others are not limited
	}
	return sum
}

// respect is the one in which the tiers differ, as an index of rangesOf; simple
// reports whether it is the only one.
func (t Tiered) respect() (index int, simple bool) {
	simple, index = true, -1
	for _, o := range t {
		for i, x := range rangesOf(&o.Match) {
			if x != (mockprovider.Range{}) {
				simple = simple && (index < 0 || index == i)
				index = i
			}
		}
	}
	return max(0, index), simple
}

// respects is the number of ranges in a Match.
const respects = 6

// rangesOf returns the ranges of a Match, sizesOf the numbers that a space has of
// each, in the same order; nil where it states none.
func rangesOf(m *mockprovider.Match) [respects]mockprovider.Range {
	return [...]mockprovider.Range{m.Accounts, m.Addresses, m.Keys, m.Models, m.Regions, m.Priorities}
}

func sizesOf(s *mockprovider.Space) [respects]*int {
	return [...]*int{&s.Accounts, &s.Addresses, &s.Keys, &s.Models, &s.Regions, nil}
}

// widths are how many numbers there are of what a Match looks at, where a space
// does not say it.
var widths = [respects]uint64{1 << 32, 1 << 32, 1 << 8, 1 << 8, 1 << 8, 1 << 8}

// spans are numbers, in order.
type spans []struct{ from, to uint64 }

// cut removes the numbers of a range, and returns how many they were.
func (s *spans) cut(x mockprovider.Range) (n uint64) {
	to := uint64(x.To)
	if to == 0 {
		to = math.MaxUint64
	}
	var rest spans
	for _, p := range *s {
		before, after := p, p
		before.to = min(p.to, max(p.from, uint64(x.From)))
		after.from = max(p.from, min(p.to, to), before.to)
		n += after.from - before.to
		for _, q := range [...]struct{ from, to uint64 }{before, after} {
			if q.from < q.to {
				rest = append(rest, q)
			}
		}
	}
	*s = rest
	return n
}

// Gate implements Limit.
func (t Tiered) Gate(space mockprovider.Space) mockprovider.Gate {
	g := make(tiers, len(t))
	for i, o := range t {
		g[i] = tier{o.Match, o.Limit.Gate(space)}
	}
	return g
}

// tiers are the gates of tiers.
type tiers []tier

type tier struct {
	match mockprovider.Match
	gate  mockprovider.Gate
}

// of returns the tier of r; one that is open if there is none.
func (t tiers) of(r *wire.Request) *tier {
	for i := range t {
		if t[i].match.Of(r) {
			return &t[i]
		}
	}
	return &unlimited
}

// Take implements Gate.
func (t tiers) Take(now time.Duration, r *wire.Request) bool { return t.of(r).gate.Take(now, r) }

// Refuse implements Gate.
func (t tiers) Refuse(now time.Duration, r *wire.Request) mockprovider.Verdict {
	return t.of(r).gate.Refuse(now, r)
}

// Form implements Gate.
func (t tiers) Form(r *wire.Request) *mockprovider.Refusal { return t.of(r).gate.Form(r) }

// Undo implements Gate.
func (t tiers) Undo(now time.Duration, r *wire.Request) { t.of(r).gate.Undo(now, r) }

// Release implements Gate.
func (t tiers) Release(now time.Duration, r *wire.Request, e mockprovider.Ended) {
	t.of(r).gate.Release(now, r, e)
}

// Standing implements StandingReporter.
func (t tiers) Standing(now time.Duration, r *wire.Request) mockprovider.Standing {
	if g, ok := t.of(r).gate.(mockprovider.StandingReporter); ok {
		return g.Standing(now, r)
	}
	return mockprovider.Standing{}
}

// Scale implements Scaler.
func (t tiers) Scale(now time.Duration, percent int32) {
	for i := range t {
		if g, ok := t[i].gate.(mockprovider.Scaler); ok {
			g.Scale(now, percent)
		}
	}
}

// Forget implements Forgetter.
func (t tiers) Forget(account uint32) {
	for i := range t {
		if g, ok := t[i].gate.(mockprovider.Forgetter); ok {
			g.Forget(account)
		}
	}
}

// Forgets implements Forgetter.
func (t tiers) Forgets(r *wire.Request) bool {
	g, ok := t.of(r).gate.(mockprovider.Forgetter)
	return ok && g.Forgets(r)
}

// unlimited is the tier of requests that are in no tier.
var unlimited = tier{gate: open{}}

// open is a gate that lets everything in.
type open struct{}

func (open) Take(time.Duration, *wire.Request) bool                   { return true }
func (open) Refuse(time.Duration, *wire.Request) mockprovider.Verdict { return mockprovider.Verdict{} }
func (open) Form(*wire.Request) *mockprovider.Refusal                 { return nil }
func (open) Undo(time.Duration, *wire.Request)                        {}
func (open) Release(time.Duration, *wire.Request, mockprovider.Ended) {}

// SetClock implements ClockSetter.
func (t tiers) SetClock(now, ahead time.Duration) {
	for i := range t {
		if g, ok := t[i].gate.(mockprovider.ClockSetter); ok {
			g.SetClock(now, ahead)
		}
	}
}
