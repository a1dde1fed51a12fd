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
	name string
	read func(d *decoder, at, body *yaml.Node, t *traffic.Traffic, horizon time.Duration)
}

// sources are all of them.
var sources = []source{
	{"one_shot", (*decoder).oneShot},
	{"closed", (*decoder).closed},
	{"open", (*decoder).open},
	{"bursts", (*decoder).bursts},
	{"at", (*decoder).calledAt},
	{"periodic", (*decoder).periodic},
	{"trace", nil},
}

// traffic reads the arrivals of calls.
func (d *decoder) traffic(n *yaml.Node, clients int, size wire.Demand, horizon time.Duration) (t traffic.Traffic, trace bool) {
	names := make([]string, len(sources))
	for i, s := range sources {
		names[i] = s.name
	}
	t.Clients, t.Size = clients, size
	name, at, body := d.variant(n, "traffic", names...)
	for _, s := range sources {
		switch {
		case s.name != name:
		case s.read == nil:
			d.section(at, body, name)
			return t, true
		default:
			s.read(d, at, body, &t, horizon)
		}
	}
	return t, false
}

// The keys of the sources.
var (
	oneShotKeys  = []string{"within"}
	closedKeys   = []string{"start", "think", "calls"}
	openKeys     = []string{"rate", "until", "rhythm"}
	batchKeys    = []string{"from", "to", "calls"}
	periodicKeys = []string{"every", "phase", "until"}
)

// oneShot reads one call of each client, at the start.
func (d *decoder) oneShot(at, body *yaml.Node, t *traffic.Traffic, horizon time.Duration) {
	within := d.section(at, body, "one_shot", oneShotKeys...).need("within", "1ms")
	size := t.Size
	*t = traffic.OneShot(t.Clients, d.duration(within))
	t.Size = size
	d.startsBefore(horizon, within, t.Start)
}

// closed reads clients that call again a think time after each answer.
func (d *decoder) closed(at, body *yaml.Node, t *traffic.Traffic, horizon time.Duration) {
	s := d.section(at, body, "closed", closedKeys...)
	start := s.get("start")
	t.Start, t.Think = d.dist(start), d.dist(s.need("think", "{exponential: 2s}"))
	d.startsBefore(horizon, start, t.Start)
	t.Calls = int(d.integer(s.get("calls"), 1, maxCalls))
}

// open reads Poisson arrivals.
func (d *decoder) open(at, body *yaml.Node, t *traffic.Traffic, _ time.Duration) {
	s := d.section(at, body, "open", openKeys...)
	stream := traffic.Stream{Size: t.Size}
	rateNode := s.need("rate", "120/min")
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
		s := d.section(item, item, "burst", batchKeys...)
		from := s.need("from", "59s")
		batch := traffic.Batch{From: d.duration(from), Calls: int(d.integer(s.need("calls", "200"), 1, maxArrivals))}
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
	s := d.section(at, body, "periodic", periodicKeys...)
	before := d.count()
	p := traffic.Periodic{Clients: t.Clients, Size: t.Size}
	p.Period, _ = d.positive(s.need("every", "10s"))
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
