package mockprovider

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"time"

	"herdlab/sim/saturating"
)

// Autoscale makes slots follow the load: at the end of each Period it wants as
// many as would have been held to Target % on the average, so as many as there
// are × utilisation ÷ target, rounded up (the rule of Kubernetes' horizontal
// pod autoscaler, without its tolerance). Those that are missing come after
// Delay; those that are too many take no new work from then on.
type Autoscale struct {
	Min int `unit:"slots" required:"4" about:"The least number of slots."`
	Max int `unit:"slots" required:"16" about:"The largest number of slots."`
	// Target is a percentage, 1 to 100. At 100 it never grows.
	Target int           `unit:"%" most:"100" required:"70%" about:"The utilisation at which the number of slots is right."`
	Period time.Duration `required:"10s" about:"How often the number is decided."`
	Delay  time.Duration `default:"0s" about:"How long it takes until more slots are there."`
}

// validate reports an error if the autoscaler is invalid for that initial number of
// slots.
func (a *Autoscale) validate(slots int) error {
	switch {
	case a.Min < 1 || a.Max < a.Min:
		return fmt.Errorf("it must keep between at least 1 slot and no fewer at most, not %d to %d", a.Min, a.Max)
	case slots < a.Min || slots > a.Max:
		return fmt.Errorf("it begins with %d slots: that must be %d to %d", slots, a.Min, a.Max)
	case a.Target < 1 || a.Target > 100:
		return fmt.Errorf("the target is a percentage from 1 to 100, not %d", a.Target)
	case a.Period < shortest:
		return fmt.Errorf("the period must be %v or more, not %v", shortest, a.Period)
	case a.Delay < 0 || a.Period > longest || a.Delay > longest:
		return errors.New("the delay must not be negative, and no time beyond all times")
	}
	return nil
}

// scaler is the state of an Autoscale.
type scaler struct {
	Autoscale
	slots  int // that there are, before schedules and faults
	coming ring[batch]
	more   int // how many are coming
	next   time.Duration
	until  time.Duration // what is held and there has been added up until then
	held   area          // slot time held since the period began
	there  area          // slot time there was
}

// batch is slots that will be there at some time.
type batch struct {
	at    time.Duration
	slots int
}

// area is a number of slots over time: 128 bits, since many slots for a long
// time exceed 64.
type area struct{ hi, lo uint64 }

func (a *area) add(n int, d time.Duration) {
	hi, lo := bits.Mul64(uint64(n), uint64(d))
	var carry uint64
	a.lo, carry = bits.Add64(a.lo, lo, 0)
	a.hi += hi + carry
}

func (a *area) float() float64 { return math.Ldexp(float64(a.hi), 64) + float64(a.lo) }

func newScaler(a Autoscale, slots int) *scaler {
	return &scaler{Autoscale: a, slots: slots, next: a.Period}
}

// count adds up to now what has been held of how many slots.
func (a *scaler) count(now time.Duration, held, there int) {
	if d := now - a.until; d > 0 {
		a.held.add(held, d)
		a.there.add(there, d)
		a.until = now
	}
}

// decide lets happen what is due by now. A driver that comes late finds one
// decision, over all the time that has passed.
func (a *scaler) decide(now time.Duration) {
	for a.coming.len() > 0 && a.coming.first().at <= now {
		a.slots += a.coming.first().slots
		a.more -= a.coming.first().slots
		a.coming.pop()
	}
	if now < a.next {
		return
	}
	a.next = saturating.Add(now-now%a.Period, a.Period)
	if a.there != (area{}) {
		a.want(now, a.wanted())
	}
	a.held, a.there = area{}, area{}
}

// wanted is how many slots there should be.
func (a *scaler) wanted() int {
	exact := float64(a.slots) * a.held.float() / a.there.float() * 100 / float64(a.Target)
	return min(max(roundUpSlots(exact), a.Min), a.Max)
}

// want orders or removes slots to reach the wanted number.
func (a *scaler) want(now time.Duration, wanted int) {
	switch missing := wanted - a.slots - a.more; {
	case missing > 0 && a.Delay == 0:
		a.slots = wanted
	case missing > 0:
		a.coming.push(batch{saturating.Add(now, a.Delay), missing})
		a.more += missing
	case wanted < a.slots: // what was ordered is no longer needed either
		a.slots, a.more, a.coming = wanted, 0, ring[batch]{buf: a.coming.buf}
	}
}

// changes is when it acts next.
func (a *scaler) changes() time.Duration {
	if a.coming.len() > 0 {
		return min(a.next, a.coming.first().at)
	}
	return a.next
}
