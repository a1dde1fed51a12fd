package mockprovider

import (
	"errors"
	"fmt"
	"math"

	"herdlab/mockprovider/wire"
)

// Overload is what load does to requests. Load is the slots that are held, by
// others too, and those that waiting requests ask for, over the slots there
// are: at 1 all are taken and no request waits. Each request meets the load that it
// finds, without itself.
type Overload struct {
	// Latency is the factor on the time that work takes, decided when it
	// starts; 1 if left out. It must not be below 1.
	Latency Curve `about:"A factor on the time that work takes, at least 1, by load."`
	// Refusal is the probability that an arrival is turned away as if there were
	// no room; 0 if left out. That luck belongs to the call and the attempt.
	Refusal Curve `about:"The probability that an arrival is refused as if there were no room, by load."`
	// Rated is at how many slots the load is 1; those that there are, if 0.
	Rated int `unit:"slots" without:"the slots that there are" about:"How many busy slots are a load of 1."`
}

// Curve is a function of load ≥ 0. The zero Curve changes nothing.
type Curve struct {
	Kind CurveKind `about:"The form of the curve."`
	// Points are those of a Linear curve, by ascending load.
	Points []Point `without:"there is no curve" about:"The points of a linear curve, by rising load."`
	// Cap is the most that one of the formulas gives.
	Cap float64 `unit:"value" without:"a linear curve has none" about:"The largest value of the other forms, which require it."`
}

// CurveKind is how a curve is given.
type CurveKind uint8

// The kinds of curves.
const (
	Linear     CurveKind = iota // through points, and constant before and after them
	Hyperbolic                  // 1/(1−load) up to the cap: the time in an M/M/1 system, in service times
	Excess                      // 1−1/load above load 1, up to the cap: what a fluid has to spill
	numCurves  = iota
)

// Point is a point of a curve.
type Point struct{ Load, Value float64 }

// At returns the value at a load; otherwise if the curve is the zero Curve.
func (c *Curve) At(load, otherwise float64) float64 {
	switch {
	case c.Kind == Hyperbolic && load < 1:
		return min(1/(1-load), c.Cap)
	case c.Kind == Hyperbolic:
		return c.Cap
	case c.Kind == Excess && load <= 1:
		return 0
	case c.Kind == Excess:
		return min(1-1/load, c.Cap)
	case len(c.Points) == 0:
		return otherwise
	}
	before := c.Points[0]
	for _, p := range c.Points {
		if load < p.Load {
			if p == before {
				break
			}
			part := (load - before.Load) / (p.Load - before.Load)
			return before.Value + float64(part*(p.Value-before.Value))
		}
		before = p
	}
	return before.Value
}

// empty reports whether it is the zero Curve.
func (c *Curve) empty() bool { return c.Kind == Linear && len(c.Points) == 0 }

// validate reports an error if the curve is invalid, or leaves low to high.
func (c *Curve) validate(low, high float64) error {
	switch {
	case c.Kind >= numCurves:
		return fmt.Errorf("there is no kind %d of curve", c.Kind)
	case c.Kind != Linear && len(c.Points) > 0:
		return errors.New("a formula has no points; leave them out")
	case c.Kind != Linear && !(c.Cap >= low && c.Cap <= high):
		return fmt.Errorf("its cap must be %g to %g, not %g", low, high, c.Cap)
	case c.Kind == Linear && c.Cap != 0:
		return errors.New("points need no cap; leave it out")
	case c.Kind == Excess && low > 0, c.Kind == Hyperbolic && high <= 1:
		return errors.New("this formula does not give such values; use Hyperbolic for latency and Excess for refusals")
	}
	for i, p := range c.Points {
		switch {
		case !(p.Load >= 0) || math.IsInf(p.Load, 1):
			return fmt.Errorf("point %d: %g is no load", i+1, p.Load)
		case i > 0 && p.Load <= c.Points[i-1].Load:
			return fmt.Errorf("point %d must lie at a higher load than the one before it", i+1)
		case !(p.Value >= low && p.Value <= high):
			return fmt.Errorf("point %d must be %g to %g, not %g", i+1, low, high, p.Value)
		}
	}
	return nil
}

// mostSlower is the largest factor on a latency.
const mostSlower = 1e6

// validate reports an error if the curves are invalid for that number of slots.
func (o *Overload) validate(slots int) error {
	if err := o.Latency.validate(1, mostSlower); err != nil {
		return fmt.Errorf("latency: %w", err)
	}
	if err := o.Refusal.validate(0, 1); err != nil {
		return fmt.Errorf("refusal: %w", err)
	}
	switch any := !o.Latency.empty() || !o.Refusal.empty(); {
	case o.Rated < 0:
		return errors.New("the rated number of slots must not be negative")
	case any && slots == 0 && o.Rated == 0:
		return errors.New("without a bounded number of slots load 1 is undefined; state how many slots are rated")
	case !any && o.Rated > 0:
		return errors.New("nothing depends on the load; leave out how many slots are rated")
	}
	return nil
}

// load is the load of a station.
func (s *station) load() float64 {
	there := s.Overload.Rated
	if there == 0 {
		there = s.slots
	}
	if there == 0 {
		return math.MaxFloat64
	}
	waiting := s.backlog
	if s.plain {
		waiting = s.n
	}
	return float64(s.taken+s.used+waiting) / float64(there)
}

// turnsAway reports whether a station refuses r because of its load alone.
func (p *Provider) turnsAway(s *station, r *wire.Request) bool {
	q := s.Overload.Refusal.At(s.load(), 0)
	return q > 0 && p.rnd.For(r.Call).Float(lot(r.Attempt, forOverload)) < q
}

// drag makes work that starts at a station take as long as its load makes it.
func (p *Provider) drag(s *station, w *Work) {
	if f := s.Overload.Latency.At(s.load(), 1); f != 1 {
		w.Head, w.Whole = min(p.rnd.Scale(w.Head, f), longest), min(p.rnd.Scale(w.Whole, f), longest)
	}
}
