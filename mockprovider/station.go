package mockprovider

import (
	"math"
	"time"

	"herdlab/mockprovider/wire"
)

// station is where one model is served in one region: slots, and a queue before
// them.
type station struct {
	// open is how many slots there are for our requests at the moment, used how
	// many of them they hold. Used is more for a while after slots have gone:
	// work in service is finished. most is what is open at the best of times.
	open, used, most int
	busy             int // requests in service
	service          *Service
	scaler           *scaler
	latency          time.Duration // more for each reply
	unit             uint32
	curved           bool // load acts on requests
	plain            bool // first come, first served, no request is dropped, and each takes one slot
	price            Price
	queue
	places  int // in the queue
	backlog int // slots that those in the queue ask for

	*Capacity
	slots, taken int // that there are, and how many of them others hold
	scale        float64
	others       [2]*Schedule // shares of the slots taken by others: of the model, in the region
	changes      time.Duration
}

// unbounded is how many slots there are where nothing bounds them.
const unbounded = math.MaxInt / 2

// units is how many slots a request takes.
func (s *station) units(d *wire.Demand) int {
	if s.unit == 0 {
		return 1
	}
	return s.tokenUnits(d)
}

func (s *station) tokenUnits(d *wire.Demand) int {
	unit := uint64(s.unit)
	return int(max(1, (uint64(d.InputTokens)+uint64(d.Output())+unit-1)/unit))
}

// has reports whether that number of slots is free.
func (s *station) has(units int) bool { return s.used+units <= s.open }

// enter and leave count a request in service that begins and ends to hold that
// number of slots.
func (s *station) enter(now time.Duration, units int) {
	s.count(now)
	s.used += units
	s.busy++
}

func (s *station) leave(now time.Duration, units int) {
	s.count(now)
	s.used -= units
	s.busy--
}

// count keeps the autoscaler informed, before anything changes.
func (s *station) count(now time.Duration) {
	if s.scaler != nil {
		s.scaler.count(now, s.taken+s.used, s.slots)
	}
}

// resize works out how many slots there are at now if faults leave that many
// per cent, and when that changes by itself. Part of a slot is a slot, and
// others take whole ones, so that something is left of something.
func (s *station) resize(now time.Duration, percent int32) {
	s.count(now)
	s.changes = never
	if s.Slots == 0 {
		s.slots, s.open = unbounded, unbounded
		if percent == 0 {
			s.slots, s.open = 0, 0
		}
		return
	}
	base := s.Slots
	if s.scaler != nil {
		s.scaler.decide(now)
		base, s.changes = s.scaler.slots, s.scaler.changes()
	}
	ofDay, until := s.Day.at(now, 1)
	s.changes = min(s.changes, until)
	s.slots = share(base, float64(s.scale*ofDay), percent)
	free := 1.0
	for _, o := range s.others {
		taken, until := o.at(now, 0)
		free = float64(free * (1 - taken))
		s.changes = min(s.changes, until)
	}
	s.open = share(s.slots, free, 100)
	s.taken = s.slots - s.open
}

// share returns that part of n slots, and that many per cent of it, rounded up.
func share(n int, part float64, percent int32) int {
	return roundUpSlots(float64(float64(n)*part) * float64(percent) / 100)
}

// roundUpSlots rounds up what is above a whole number by more than floating
// point makes it: 70 % of 10 are 7.
func roundUpSlots(x float64) int { return int(math.Ceil(float64(x * (1 - 1e-12)))) }

// Occupancy is how full a station is: where one model is served in one region.
type Occupancy struct {
	// Slots is how many slots there are at the moment, -1 if nothing bounds them.
	// Others is how many of them others' requests hold, Used how many ours do.
	Slots, Others, Used int
	// Busy and Queued are how many requests are in service and in the queue.
	Busy, Queued int
}

// Occupancy returns how full the station is that serves a target; the zero Occupancy if
// there is none.
func (p *Provider) Occupancy(t wire.Target) Occupancy {
	k := int(p.stationOf(t))
	if k >= len(p.stations) || uint16(t.Model) >= p.known.models || uint16(t.Region) >= p.known.regions {
		return Occupancy{}
	}
	s := p.stations[k]
	c := Occupancy{Slots: s.slots, Others: s.taken, Used: s.used, Busy: s.busy, Queued: s.n}
	if s.slots == unbounded {
		c.Slots = -1
	}
	return c
}

// Room returns how many slots all stations have together at the moment, -1 if
// nothing bounds them, and how many places there are in their queues.
func (p *Provider) Room() (slots, places int) {
	for _, s := range p.stations {
		if places += s.places; s.slots == unbounded {
			slots = -1
		} else if slots >= 0 {
			slots += s.slots
		}
	}
	return slots, places
}
