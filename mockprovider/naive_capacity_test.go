package mockprovider

import (
	"cmp"
	"math"
	"slices"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// The capacity of a provider, too simple to be wrong: each station has a list
// of who waits and one of who is served, both are searched from end to end, and
// how many slots there are is worked out anew in every step. The control law of
// CoDel is the provider's own; it has a twin in the RFC.
type naiveCapacity struct {
	cfg      Config
	rnd      draw.Rand
	stations []*naiveStation
	noticing []naiveNotice
	ended    map[uint64]Ended
	undone   map[uint64]int
	out      []wire.Effect
}

type naiveStation struct {
	*Capacity
	model, region    int
	waiting, serving []*naiveJob
	open, slots      int
	shed             shedder
	scale            naiveScaler
}

type naiveJob struct {
	ticket            uint32
	r                 wire.Request
	station           *naiveStation
	admitted, started time.Duration
	head, whole       time.Duration
	gone, over        bool
	units             int
	job               uint32 // what the provider calls it
}

type naiveNotice struct {
	at time.Duration
	j  *naiveJob
}

// naiveScaler remembers all that was held and there, in spans of time.
type naiveScaler struct {
	slots int
	next  time.Duration
	due   []batch
	spans []naiveSpan
}

// naiveSpan is what was held and there until some time, since the last.
type naiveSpan struct {
	until       time.Duration
	held, there int
}

func newNaiveCapacity(cfg Config, rnd draw.Rand) *naiveCapacity {
	w := &naiveCapacity{cfg: cfg, rnd: rnd, ended: map[uint64]Ended{}, undone: map[uint64]int{}}
	for m := range max(1, len(cfg.Models)) {
		for r := range max(1, len(cfg.Regions)) {
			own := &cfg.Capacity
			if m < len(cfg.Models) && cfg.Models[m].Capacity != nil {
				own = cfg.Models[m].Capacity
			}
			s := &naiveStation{Capacity: own, model: m, region: r, shed: shedder{CoDel: own.Discipline.CoDel, rnd: rnd}}
			if own.Autoscale != nil {
				s.scale = naiveScaler{slots: own.Slots, next: own.Autoscale.Period}
			}
			w.stations = append(w.stations, s)
		}
	}
	w.pass(0)
	w.out = nil
	return w
}

// naiveAt reads a schedule.
func naiveAt(s Schedule, now time.Duration, otherwise float64) float64 {
	if s.Every > 0 {
		now %= s.Every
		otherwise = s.Steps[len(s.Steps)-1].Value
	}
	for _, t := range s.Steps {
		if t.From <= now {
			otherwise = t.Value
		}
	}
	return otherwise
}

func naiveCeil(x float64) int { return int(math.Ceil(x - 1e-9)) }

func (w *naiveCapacity) region(s *naiveStation) RegionConfig {
	r := RegionConfig{Scale: 1}
	if s.region < len(w.cfg.Regions) {
		r = w.cfg.Regions[s.region]
		if r.Scale == 0 {
			r.Scale = 1
		}
	}
	return r
}

func (w *naiveCapacity) model(s *naiveStation) ModelConfig {
	if s.model < len(w.cfg.Models) {
		return w.cfg.Models[s.model]
	}
	return ModelConfig{}
}

// size says how many slots a station has at now, and how many for us.
func (w *naiveCapacity) size(s *naiveStation, now time.Duration) (slots, open int) {
	percent := 100
	for _, f := range w.cfg.Faults {
		if f.From <= now && now < f.To {
			some := percent > 0 && f.Does.(lessCapacity).percent > 0
			if percent = percent * int(f.Does.(lessCapacity).percent) / 100; some {
				percent = max(percent, 1)
			}
		}
	}
	base := s.Slots
	if s.Autoscale != nil {
		base = s.scale.slots
	}
	if s.Slots == 0 {
		if percent == 0 {
			return 0, 0
		}
		return unbounded, unbounded
	}
	r := w.region(s)
	slots = naiveCeil(float64(base) * r.Scale * naiveAt(s.Day, now, 1) * float64(percent) / 100)
	free := (1 - naiveAt(w.model(s).Others, now, 0)) * (1 - naiveAt(r.Others, now, 0))
	return slots, naiveCeil(float64(slots) * free)
}

func (s *naiveStation) unitsOf(r *wire.Request) int {
	n := 1
	if s.Unit > 0 {
		for tokens := int(r.Demand.InputTokens + r.Demand.Output()); n*int(s.Unit) < tokens; {
			n++
		}
	}
	return n
}

func (s *naiveStation) used() (n int) {
	for _, j := range s.serving {
		n += j.units
	}
	return n
}

func (s *naiveStation) load() float64 {
	n, rated := s.slots-s.open+s.used(), s.Overload.Rated
	for _, j := range s.waiting {
		n += j.units
	}
	if rated == 0 {
		rated = s.slots
	}
	if rated == 0 {
		return math.MaxFloat64
	}
	return float64(n) / float64(rated)
}

// note is called before every change.
func (s *naiveStation) note(now time.Duration) {
	if s.Autoscale != nil {
		s.scale.spans = append(s.scale.spans, naiveSpan{now, s.slots - s.open + s.used(), s.slots})
	}
}

// autoscale lets an autoscaler act.
func (s *naiveStation) autoscale(now time.Duration) {
	a, c := s.Autoscale, &s.scale
	var later []batch
	for _, b := range c.due {
		if b.at <= now {
			c.slots += b.slots
		} else {
			later = append(later, b)
		}
	}
	c.due = later
	if now < c.next {
		return
	}
	var held, there float64
	for i := 1; i < len(c.spans); i++ {
		d := float64(c.spans[i].until - c.spans[i-1].until)
		held, there = held+d*float64(c.spans[i].held), there+d*float64(c.spans[i].there)
	}
	c.spans = c.spans[len(c.spans)-1:]
	c.next += a.Period
	if there == 0 {
		return
	}
	wanted := min(max(naiveCeil(float64(c.slots)*held/there*100/float64(a.Target)), a.Min), a.Max)
	coming := 0
	for _, b := range c.due {
		coming += b.slots
	}
	switch {
	case wanted < c.slots:
		c.slots, c.due = wanted, nil
	case wanted > c.slots+coming && a.Delay == 0:
		c.slots = wanted
	case wanted > c.slots+coming:
		c.due = append(c.due, batch{now + a.Delay, wanted - c.slots - coming})
	}
}

// pass lets time pass until now.
func (w *naiveCapacity) pass(now time.Duration) {
	for _, s := range w.stations {
		s.note(now)
		if s.Autoscale != nil {
			s.autoscale(now)
		}
		was := s.open
		if s.slots, s.open = w.size(s, now); s.open > was {
			w.serve(s, now)
		}
	}
	for len(w.noticing) > 0 && w.noticing[0].at <= now {
		j := w.noticing[0].j
		w.noticing = w.noticing[1:]
		if !j.over {
			w.drop(j, now, wire.Dropped, wire.Cancelled)
			w.serve(j.station, now)
		}
	}
}

func (w *naiveCapacity) stationOf(r *wire.Request) *naiveStation {
	for _, s := range w.stations {
		if (len(w.cfg.Models) == 0 || s.model == int(r.Target.Model)) && (len(w.cfg.Regions) == 0 || s.region == int(r.Target.Region)) {
			return s
		}
	}
	return nil
}

// say expects an effect of the provider.
func (w *naiveCapacity) say(e wire.Effect) { w.out = append(w.out, e) }

func (w *naiveCapacity) refuse(ticket uint32, r *wire.Request, class wire.Class) {
	e := wire.Effect{Kind: wire.Replied, Ticket: ticket, After: w.cfg.RefusalTime, Reply: wire.Reply{Class: class}}
	if int(r.Target.Region) < len(w.cfg.Regions) {
		e.After += w.cfg.Regions[r.Target.Region].Latency
	}
	w.say(e)
}

func (w *naiveCapacity) cost(j *naiveJob, tokens uint32) int64 {
	p := w.model(j.station).Price
	percent := int64(100 + w.region(j.station).Surcharge)
	return (p.Input*percent/100)*int64(j.r.Demand.InputTokens) + (p.Output*percent/100)*int64(tokens)
}

// tokens is how many tokens of an answer there are after a while.
func (j *naiveJob) tokens(after time.Duration) uint32 {
	n, all := uint32(0), j.r.Demand.Output()
	for n < all && (after >= j.whole || after >= j.head+(j.whole-j.head)*time.Duration(n)/time.Duration(all)) {
		n++
	}
	return n
}

// drop ends a job before its time.
func (w *naiveCapacity) drop(j *naiveJob, now time.Duration, kind wire.EffectKind, class wire.Class) {
	s := j.station
	e, ended := wire.Effect{Kind: kind, Ticket: j.ticket}, Ended{Since: j.admitted, Class: class}
	if kind == wire.Replied {
		e.Reply.Class, e.After = class, w.cfg.RefusalTime+w.region(s).Latency
	}
	s.note(now)
	if i := slices.Index(s.serving, j); i >= 0 {
		ended.Tokens = j.tokens(now - j.started)
		e.Slot, e.Cost = now-j.started, w.cost(j, ended.Tokens)
		if j.r.Stream {
			e.Reply.Tokens = ended.Tokens
		}
		s.serving = slices.Delete(s.serving, i, i+1)
	} else {
		i := slices.Index(s.waiting, j)
		s.waiting = slices.Delete(s.waiting, i, i+1)
	}
	w.ended[j.r.Call], j.over = ended, true
	w.say(e)
}

func (s *naiveStation) next() *naiveJob {
	switch d := s.Discipline; {
	case d.Order == LIFO || d.Order == AdaptiveLIFO && len(s.waiting) >= d.Turns:
		return s.waiting[len(s.waiting)-1]
	case d.Order == ShortestFirst:
		return slices.MinFunc(s.waiting, func(a, b *naiveJob) int {
			return cmp.Compare(s.Service.Time(draw.New(0), &a.r), s.Service.Time(draw.New(0), &b.r)) // it is constant here
		})
	case d.Order == UrgentFirst:
		return slices.MinFunc(s.waiting, func(a, b *naiveJob) int { return cmp.Compare(a.r.Demand.Priority, b.r.Demand.Priority) })
	}
	return s.waiting[0]
}

func (w *naiveCapacity) serve(s *naiveStation, now time.Duration) {
	d := &s.Discipline
	shed := func(j *naiveJob) {
		if d.DropGone && j.gone {
			w.drop(j, now, wire.Dropped, wire.Cancelled)
		} else {
			w.drop(j, now, wire.Replied, wire.Overloaded)
		}
	}
	if d.MaxWait > 0 && s.used() < s.open {
		for _, j := range slices.Clone(s.waiting) {
			if now-j.admitted > d.MaxWait {
				shed(j)
			}
		}
	}
	for len(s.waiting) > 0 {
		j := s.next()
		if s.used()+j.units > s.open {
			return
		}
		switch {
		case d.DropGone && j.gone:
			shed(j)
		case d.CoDel.Interval > 0 && s.shed.drops(now, now-j.admitted, len(s.waiting) == 1):
			shed(j)
		default:
			s.waiting = slices.DeleteFunc(s.waiting, func(x *naiveJob) bool { return x == j })
			w.start(j, now)
		}
	}
}

func (w *naiveCapacity) start(j *naiveJob, now time.Duration) {
	s, d := j.station, &j.r.Demand
	j.head = s.Service.First.Mean + time.Duration(d.InputTokens)*s.Service.PerInput
	j.whole = j.head + time.Duration(d.Output())*s.Service.PerToken
	if f := s.Overload.Latency.At(s.load(), 1); f != 1 {
		j.head, j.whole = time.Duration(math.Round(float64(j.head)*f)), time.Duration(math.Round(float64(j.whole)*f))
	}
	s.note(now)
	j.started = now
	s.serving = append(s.serving, j)
	w.say(wire.Effect{Kind: wire.Started, Ticket: j.ticket, After: j.whole, Reply: wire.Reply{Tokens: d.Output()}})
	if j.r.Stream && j.head < j.whole {
		w.say(wire.Effect{Kind: wire.Head, Ticket: j.ticket, After: j.head + w.region(s).Latency, Reply: wire.Reply{Tokens: min(1, d.Output())}})
	}
}

// arrive expects what a request makes of the provider; the job, if it was let
// in.
func (w *naiveCapacity) arrive(ticket uint32, r wire.Request, now time.Duration) *naiveJob {
	s := w.stationOf(&r)
	if s == nil {
		w.refuse(ticket, &r, wire.BadRequest)
		return nil
	}
	j := &naiveJob{ticket: ticket, r: r, station: s, admitted: now, units: s.unitsOf(&r)}
	if s.Unit > 0 && j.units > w.atBest(s) {
		w.refuse(ticket, &r, wire.TooLarge)
		return nil
	}
	q := s.Overload.Refusal.At(s.load(), 0)
	places := naiveCeil(float64(s.Queue) * w.region(s).Scale)
	switch {
	case q > 0 && w.rnd.For(r.Call).Float(lot(r.Attempt, forOverload)) < q:
	case len(s.waiting) == 0 && s.used()+j.units <= s.open:
		w.start(j, now)
		return j
	case len(s.waiting) < places:
		s.waiting = append(s.waiting, j)
		if s.used() < s.open {
			w.serve(s, now)
		}
		return j
	}
	w.undone[r.Call]++
	w.refuse(ticket, &r, wire.Overloaded)
	return nil
}

// atBest is how many slots there are at any time, or a little more.
func (w *naiveCapacity) atBest(s *naiveStation) int {
	base, day, free := s.Slots, 0.0, 1.0
	if s.Autoscale != nil {
		base = s.Autoscale.Max
	}
	most := func(x Schedule, otherwise, sign float64) float64 {
		best := math.Inf(-1)
		for at := time.Duration(0); at < 300*time.Millisecond; at += time.Millisecond {
			best = max(best, sign*naiveAt(x, at, otherwise))
		}
		return sign * best
	}
	day = most(s.Day, 1, 1)
	free *= 1 - most(w.model(s).Others, 0, -1)
	free *= 1 - most(w.region(s).Others, 0, -1)
	return max(1, naiveCeil(float64(naiveCeil(float64(base)*w.region(s).Scale*day))*free))
}

func (w *naiveCapacity) done(j *naiveJob, now time.Duration) {
	s := j.station
	e := wire.Effect{Kind: wire.Replied, Ticket: j.ticket, After: w.region(s).Latency, Slot: now - j.started, Cost: w.cost(j, j.r.Demand.Output())}
	e.Reply.Tokens = j.r.Demand.Output()
	w.say(e)
	s.note(now)
	s.serving = slices.DeleteFunc(s.serving, func(x *naiveJob) bool { return x == j })
	w.ended[j.r.Call], j.over = Ended{Since: j.admitted, Tokens: j.r.Demand.Output()}, true
	w.serve(s, now)
}

func (w *naiveCapacity) abandon(j *naiveJob, now time.Duration) {
	if j.gone || j.over {
		return
	}
	j.gone = true
	switch n := w.cfg.Abandoned; {
	case n.Noticed && n.Delay == 0:
		w.drop(j, now, wire.Dropped, wire.Cancelled)
		w.serve(j.station, now)
	case n.Noticed:
		w.noticing = append(w.noticing, naiveNotice{now + n.Delay, j})
	}
}
