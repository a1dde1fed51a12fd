package scenarios

import (
	"math"
	"reflect"
	"time"

	"go.yaml.in/yaml/v4"

	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
	"herdlab/sim/traffic"
)

// maxCalls bounds the calls of one closed client, maxBursts the bursts of a fleet.
const (
	maxCalls  = 1_000_000_000
	maxBursts = 100
)

// source is a kind of traffic.
type source struct {
	Kind
	read func(d *decoder, at, body *yaml.Node, t *traffic.Traffic, horizon time.Duration)
}

// sources returns all of them.
func sources() []source {
	return []source{
		{Kind{Name: "one_shot", Summary: "One call of each client, at the beginning.", Prototype: oneShotForm{}}, (*decoder).oneShot},
		{Kind{Name: "closed", Summary: "Each client calls again a pause after its last answer.", Prototype: closedForm{}}, (*decoder).closed},
		{Kind{Name: "open", Summary: "Calls come at random (Poisson), whatever became of earlier ones.", Prototype: openForm{}}, (*decoder).open},
		{Kind{Name: "bursts", Summary: "A list of batches of calls, each spread evenly over its time.", Prototype: []batchForm{}}, (*decoder).bursts},
		{Kind{Name: "at", Summary: "A list of times, in their order: one call at each.", Prototype: []time.Duration{}}, (*decoder).calledAt},
		{Kind{Name: "periodic", Summary: "One call of each client in every period.", Prototype: periodicForm{}}, (*decoder).periodic},
		{Kind{Name: "trace", Summary: "The rows of a file: compare … --trace FILE.", Prototype: struct{}{}}, nil},
	}
}

// trafficChoice stands for one of the sources in forms.
type trafficChoice interface{ isTraffic() }

// trafficKinds returns the kinds of the sources.
func trafficKinds() (kinds []Kind) {
	for _, s := range sources() {
		kinds = append(kinds, s.Kind)
	}
	return kinds
}

// oneShotForm, closedForm, openForm, batchForm and periodicForm list the keys of
// the sources.
type oneShotForm struct {
	Within time.Duration `required:"1ms" about:"The length of time over which the first calls are spread evenly."`
}

type closedForm struct {
	Start draw.Dist `default:"0s" about:"When each client calls first."`
	Think draw.Dist `required:"{exponential: 2s}" about:"The pause between an answer and the next call."`
	Calls int       `least:"1" most:"1000000000" without:"they never stop" unit:"calls" about:"How many calls each client makes."`
}

type openForm struct {
	Rate   rateText       `required:"120/min" about:"The mean rate of calls."`
	Until  time.Duration  `least:"1ns" without:"to the end" about:"When calls stop."`
	Rhythm traffic.Rhythm `without:"the rate is constant" about:"A factor on the rate, by time."`
}

type batchForm struct {
	From  time.Duration `required:"59s" about:"When the batch begins."`
	To    time.Duration `without:"all come at once" about:"When the batch ends."`
	Calls int           `required:"200" least:"1" most:"100000000" unit:"calls" about:"How many calls there are in the batch."`
}

type periodicForm struct {
	Every time.Duration `required:"10s" least:"1ns" about:"The length of a period."`
	Phase phaseText     `default:"0s" about:"When in its period a client calls: the same for all, or drawn for each."`
	Until time.Duration `least:"1ns" without:"to the end" about:"When calls stop."`
}

// traffic reads the arrivals of calls.
func (d *decoder) traffic(n *yaml.Node, clients int, size wire.Demand, horizon time.Duration) (t traffic.Traffic, trace bool) {
	all := sources()
	names := make([]string, len(all))
	for i := range all {
		names[i] = all[i].Name
	}
	t.Clients, t.Size = clients, size
	name, at, body := d.variant(n, "traffic", names...)
	for _, s := range all {
		switch {
		case s.Name != name:
		case s.read == nil:
			d.section(at, body, name, nil)
			return t, true
		default:
			s.read(d, at, body, &t, horizon)
		}
	}
	return t, false
}

// oneShot reads one call of each client, at the start.
func (d *decoder) oneShot(at, body *yaml.Node, t *traffic.Traffic, horizon time.Duration) {
	within := d.section(at, body, "one_shot", form[oneShotForm]()).need("within")
	size := t.Size
	*t = traffic.OneShot(t.Clients, d.duration(within))
	t.Size = size
	d.startsBefore(horizon, within, t.Start)
}

// closed reads clients that call again a think time after each answer.
func (d *decoder) closed(at, body *yaml.Node, t *traffic.Traffic, horizon time.Duration) {
	s := d.section(at, body, "closed", form[closedForm]())
	start := s.get("start")
	t.Start, t.Think = d.dist(start), d.dist(s.need("think"))
	d.startsBefore(horizon, start, t.Start)
	t.Calls = int(d.integer(s.get("calls"), 1, maxCalls))
}

// open reads Poisson arrivals.
func (d *decoder) open(at, body *yaml.Node, t *traffic.Traffic, _ time.Duration) {
	s := d.section(at, body, "open", form[openForm]())
	stream := traffic.Stream{Size: t.Size}
	rateNode := s.need("rate")
	if r, ok := d.rate(rateNode); ok {
		// Poisson traffic, so the mean gap may be rounded to nanoseconds.
		gap := time.Duration(math.Round(float64(r.per) / float64(r.count)))
		if gap == 0 {
			d.complain(rateNode, "the rate is above one call per nanosecond; lower it")
		}
		stream.Gap = draw.Expo(gap)
	}
	if n := s.get("until"); n != nil {
		stream.Until, _ = d.positive(n)
	}
	if n := s.get("rhythm"); n != nil {
		d.rhythm(n, &stream.Rhythm)
	}
	t.Arrivals = stream
}

// rhythm reads the factor of a rate over time.
func (d *decoder) rhythm(n *yaml.Node, y *traffic.Rhythm) {
	before := d.count()
	d.bind(n, n, "rhythm", reflect.ValueOf(y).Elem())
	if d.count() > before {
		return
	}
	if err := y.Validate(); err != nil {
		d.complain(n, "%v", err)
	}
}

// bursts reads batches of calls, each evenly spaced in its time.
func (d *decoder) bursts(at, body *yaml.Node, t *traffic.Traffic, horizon time.Duration) {
	b := traffic.Bursts{Size: t.Size}
	before := d.count()
	if body == nil {
		d.complain(at, "expected a list of bursts, such as [{from: 59s, to: 60s, calls: 200}]")
		return
	}
	for _, item := range d.list(body, "bursts", maxBursts) {
		s := d.section(item, item, "burst", form[batchForm]())
		from := s.need("from")
		batch := traffic.Batch{From: d.duration(from), Calls: int(d.integer(s.need("calls"), 1, maxArrivals))}
		batch.To = batch.From
		if to := s.get("to"); to != nil {
			batch.To = d.duration(to)
		}
		if from != nil && horizon > 0 && batch.From >= horizon {
			d.complain(from, "the burst begins at or after the horizon %s, where the run ends; begin it earlier", inFile(horizon))
		}
		b.Batches = append(b.Batches, batch)
	}
	if d.count() == before {
		if err := b.Validate(); err != nil {
			d.complain(body, "%v", err)
			return
		}
	}
	t.Arrivals = b
}

// calledAt reads calls at given times.
func (d *decoder) calledAt(at, body *yaml.Node, t *traffic.Traffic, horizon time.Duration) {
	if body == nil {
		d.complain(at, "expected a list of times, such as [0s, 1s, 11s]")
		return
	}
	var times []time.Duration
	for _, item := range d.list(body, "times", maxItems) {
		when := d.duration(item)
		switch {
		case len(times) > 0 && when < times[len(times)-1]:
			d.complain(item, "the call at %s is earlier than the one before it; sort the times", inFile(when))
		case horizon > 0 && when >= horizon:
			d.complain(item, "the call at %s is at or after the horizon %s, where the run ends", inFile(when), inFile(horizon))
		}
		times = append(times, when)
	}
	t.Arrivals = traffic.At(t.Size, times...)
}

// periodic reads jobs that call in every period, independent of earlier calls.
func (d *decoder) periodic(at, body *yaml.Node, t *traffic.Traffic, horizon time.Duration) {
	s := d.section(at, body, "periodic", form[periodicForm]())
	before := d.count()
	p := traffic.Periodic{Clients: t.Clients, Size: t.Size}
	p.Period, _ = d.positive(s.need("every"))
	phase := s.get("phase")
	switch dist := d.dist(phase); dist.Kind {
	case draw.Constant:
		p.First = dist.Mean
	case draw.Uniform:
		p.First, p.Spread = dist.Low, dist.High-dist.Low
	default:
		d.complain(phase, "expected a phase that is constant, such as 3s, or uniform, such as {uniform: [0s, 10s]}")
	}
	d.startsBefore(horizon, phase, draw.Between(p.First, p.First+p.Spread))
	if n := s.get("until"); n != nil {
		p.Until, _ = d.positive(n)
	}
	if d.count() == before {
		if err := p.Validate(); err != nil {
			d.complain(at, "%v", err)
		}
	}
	t.Arrivals = p
}

// startsBefore reports an error if first calls may arrive after the end of the run.
// It accepts distributions without an upper end: their tail is intended.
func (d *decoder) startsBefore(horizon time.Duration, n *yaml.Node, start draw.Dist) {
	latest := time.Duration(0)
	switch start.Kind {
	case draw.Constant:
		latest = start.Mean
	case draw.Uniform:
		latest = start.High
	}
	if n != nil && horizon > 0 && latest >= horizon {
		d.complain(n, "first calls arrive up to %s, but the run ends at the horizon %s, so some clients would never call; start them earlier or extend the horizon", inFile(latest), inFile(horizon))
	}
}

// atMost returns a bound on the mean number of calls before the horizon, 0 if the
// file does not determine one.
func atMost(t *traffic.Traffic, horizon time.Duration) int64 {
	switch a := t.Arrivals.(type) {
	case traffic.Stream:
		if a.Gap.Mean <= 0 {
			return 0 // an error has been reported
		}
		if a.Until > 0 {
			horizon = min(horizon, a.Until)
		}
		most := 1.0
		for _, beat := range a.Rhythm.Steps {
			most = max(most, beat.Factor)
		}
		return int64(min(float64(float64(horizon/a.Gap.Mean)*most), math.MaxInt64/2))
	case traffic.Periodic:
		if a.Period <= 0 {
			return 0
		}
		if a.Until > 0 {
			horizon = min(horizon, a.Until)
		}
		rounds := int64(horizon/a.Period) + 1
		return min(rounds, math.MaxInt64/int64(max(a.Clients, 1))) * int64(a.Clients)
	case traffic.Bursts:
		var sum int64
		for _, b := range a.Batches {
			sum += int64(b.Calls)
		}
		return sum
	}
	return 0
}
