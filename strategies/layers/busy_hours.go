package layers

import (
	"errors"
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/saturating"
	"herdlab/strategies"
)

// BusyHours learns in which hours of the day attempts fail for lack of capacity,
// and delays work in such an hour to the next hour that is not busy, at a random
// time within it. The counts are halved every HalfLife days.
//
// Use it for batches at a provider with a daily rhythm: it learns by itself that
// ten to six is busy, and needs only a threshold. It costs up to a day of delay and
// a day of failures to learn from. Since no calls are sent in a busy hour, the
// layer finds out that the hour has become quiet only after its counts have
// decayed.
type BusyHours struct {
	// Percent is the share of an hour's attempts that must fail for the hour to be
	// busy, 1 to 100 %; 0 means 10.
	Percent int64 `unit:"%" most:"100" default:"10%" about:"An hour is busy if at least this share of its attempts failed."`
	// Least is the least number of attempts in an hour for that share to count; 0
	// means 10.
	Least int64 `unit:"attempts" default:"10" about:"How many attempts that share needs."`
	// Day is the length of the rhythm; 0 means 24 h. Parts is the number of hours
	// into which it is divided, 2 to 512; 0 means 24.
	Day   time.Duration `default:"24h" about:"The length of the daily rhythm."`
	Parts int           `unit:"hours" most:"512" default:"24" about:"Into how many hours the day is divided, at least 2."`
	// HalfLife is the number of days after which the counts are halved; 0 means 7.
	HalfLife int64 `unit:"days" default:"7" about:"After how many days half of what was learned is forgotten."`
	// Priority lets calls pass whose priority number is lower, that is, which are
	// more urgent. 0 delays all calls.
	Priority uint8 `unit:"priority" default:"0" about:"Calls that are more urgent, with a lower number, pass; with 0 all calls wait."`
	// On is the set of failures that make an hour busy; the empty set means
	// overloaded.
	On strategies.Classes `without:"overloaded" about:"Which classes of failures make an hour busy."`
	// Scope sets which clients share the counts, PerClient or wider. Name
	// identifies counts with the scope PerEveryone.
	Scope strategies.Scope `except:"call" about:"Which clients share the memory of the layer."`
	Name  string           `without:"it has none" about:"The name by which layers of several fleets share memory; required with the scope everyone."`
}

// Build implements Layer.
func (h BusyHours) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	if h.Percent == 0 {
		h.Percent = 10
	}
	if h.Least == 0 {
		h.Least = 10
	}
	if h.Day == 0 {
		h.Day = 24 * time.Hour
	}
	if h.Parts == 0 {
		h.Parts = 24
	}
	if h.HalfLife == 0 {
		h.HalfLife = 7
	}
	h.On = h.On.Or(strategies.ClassesOf(wire.Overloaded))
	switch {
	case h.Percent < 1 || h.Percent > 100 || h.Least < 0 || h.HalfLife < 0:
		return nil, errors.New("busy hours: percent must be 1 to 100, and least and half_life must not be negative")
	case h.Parts < 2 || h.Parts > strategies.MaxWords/2:
		return nil, fmt.Errorf("busy hours: parts must be 2 to %d, not %d", strategies.MaxWords/2, h.Parts)
	case h.Day < time.Duration(h.Parts):
		return nil, errors.New("busy hours: day must be at least 1 ns for each of its parts")
	}
	if err := h.Scope.CheckShared(h.Name); err != nil {
		return nil, fmt.Errorf("busy hours: %w", err)
	}
	if h.Priority > 0 {
		b.AsksDemand()
	}
	g := &busyHours{BusyHours: h, hour: h.Day / time.Duration(h.Parts), purpose: b.Purpose()}
	agreed := fmt.Sprint(h.Day, h.Parts, h.HalfLife, h.On)
	var err error
	if g.shared, err = b.ReserveShared(h.Scope, 2*h.Parts, "busy hours", h.Name, agreed); err != nil {
		return nil, err
	}
	if g.put, err = b.Note("put_off"); err != nil {
		return nil, err
	}
	return b.Guard(g, inner)
}

// busyHours has two words for each hour of the day: the number of half-lives since
// the start of the run at the last count, and the counts, failures in the upper
// half and attempts in the lower.
type busyHours struct {
	BusyHours
	hour    time.Duration
	shared  strategies.Slot
	put     strategies.Signal
	purpose strategies.Purpose
}

// counts halves the counts of an hour for the half-lives that have passed until the
// given day, and returns them.
func (h *busyHours) counts(c *strategies.Call, hour int, day int64) *failureShare {
	counted, counts := c.Word(h.shared, uint32(2*hour)), (*failureShare)(c.Word(h.shared, uint32(2*hour+1)))
	if age := min(day/h.HalfLife-*counted, 63); age > 0 {
		*counts = shareOf(counts.failures()>>age, counts.attempts()>>age)
		*counted = day / h.HalfLife
	}
	return counts
}

// busy reports whether an hour is busy on the given day.
func (h *busyHours) busy(c *strategies.Call, hour int, day int64) bool {
	n := h.counts(c, hour, day)
	return n.attempts() >= h.Least && n.failures()*100 >= n.attempts()*h.Percent
}

// Admit implements Guard.
func (h *busyHours) Admit(now time.Duration, c *strategies.Call) strategies.Decision {
	day, hour := int64(now/h.Day), int(now%h.Day/h.hour)
	if c.Demand.Priority < h.Priority || hour >= h.Parts || !h.busy(c, hour, day) {
		return strategies.Decision{}
	}
	for ahead := 1; ahead < h.Parts; ahead++ {
		if next := (hour + ahead) % h.Parts; !h.busy(c, next, day) {
			begins := time.Duration(hour+ahead)*h.hour - now%h.Day
			if hour+ahead >= h.Parts { // the hour belongs to the next day
				begins = h.Day - now%h.Day + time.Duration(next)*h.hour
			}
			c.Raise(h.put)
			return strategies.Decision{Kind: strategies.Wait, After: saturating.Add(begins, c.Uniform(h.purpose, 0, h.hour))}
		}
	}
	return strategies.Decision{} // all hours are busy
}

// Observe implements Guard.
func (h *busyHours) Observe(now time.Duration, c *strategies.Call, e strategies.Event, d strategies.Decision) {
	if !e.Terminal() || e.Kind == strategies.Settled {
		return
	}
	hour := int(now % h.Day / h.hour)
	if hour >= h.Parts {
		return // the remainder of a day that is no multiple of its parts
	}
	counts := h.counts(c, hour, int64(now/h.Day))
	counts.addAttempt()
	if h.On.Has(e.Outcome.Class) {
		counts.addFailure()
	}
}
