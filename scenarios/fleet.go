package scenarios

import (
	"math"
	"time"

	"go.yaml.in/yaml/v4"

	"herdlab/mockprovider/wire"
	"herdlab/sim"
	"herdlab/sim/draw"
	"herdlab/sim/traffic"
)

// fleet is a fleet as a file describes it.
type fleet struct {
	traffic  traffic.Traffic
	trace    bool // its arrivals come from a trace
	up, down draw.Dist
	patience time.Duration
	key      uint8
	apart    bool // each client has an account of its own
}

func (f *fleet) accounts() int {
	if f.apart {
		return f.traffic.Clients
	}
	return 1
}

// maxCalls bounds how often one closed client calls.
const maxCalls = 1_000_000_000

// fleet reads the fleet of runs that are cut off at the horizon; 0 if that is
// not known.
func (d *decoder) fleet(parent *section, n *yaml.Node, horizon time.Duration) fleet {
	var f fleet
	s := d.section(parent.at, n, "fleet", "clients", "traffic", "tokens", "account", "key", "network", "patience")
	if n == nil {
		return f
	}
	s.at = n
	clients := int(d.integer(s.need("clients", "60"), 1, sim.MaxClients))
	tokens := d.section(s.at, s.get("tokens"), "tokens", "input", "output")
	size := wire.Demand{
		InputTokens:  uint32(d.integer(tokens.get("input"), 0, math.MaxUint32)),
		OutputTokens: uint32(d.integer(tokens.get("output"), 0, math.MaxUint32)),
	}
	f.traffic, f.trace = d.traffic(s.need("traffic", "{one_shot: {within: 1ms}}"), clients, size, horizon)
	if n := s.get("tokens"); n != nil && f.trace {
		d.complain(n, "a trace says itself how many tokens its calls have; leave tokens out")
	}
	f.apart = d.word(s.get("account"), "account", "shared", "per_client") == "per_client"
	f.key = uint8(d.integer(s.get("key"), 0, math.MaxUint8))
	network := d.section(s.at, s.get("network"), "network", "up", "down")
	f.up, f.down = d.dist(network.get("up")), d.dist(network.get("down"))
	if n := s.get("patience"); n != nil {
		f.patience, _ = d.positive(n)
	}
	return f
}

// traffic reads when calls arrive: one_shot, closed, open or trace.
func (d *decoder) traffic(n *yaml.Node, clients int, size wire.Demand, horizon time.Duration) (t traffic.Traffic, trace bool) {
	name, at, body := d.variant(n, "traffic", "one_shot", "closed", "open", "trace")
	switch name {
	case "one_shot":
		s := d.section(at, body, name, "within")
		within := s.need("within", "1ms")
		t = traffic.OneShot(clients, d.duration(within))
		d.startsBefore(horizon, within, t.Start)
	case "closed":
		s := d.section(at, body, name, "start", "think", "calls")
		start := s.get("start")
		t.Start, t.Think = d.dist(start), d.dist(s.need("think", "{exponential: 2s}"))
		d.startsBefore(horizon, start, t.Start)
		t.Calls = int(d.integer(s.get("calls"), 1, maxCalls))
	case "open":
		s := d.section(at, body, name, "rate", "until")
		stream := traffic.Stream{Size: size}
		rateNode := s.need("rate", "120/min")
		if r, ok := d.rate(rateNode); ok {
			// Poisson traffic, so the mean gap may be rounded to nanoseconds.
			gap := time.Duration(math.Round(float64(r.per) / float64(r.count)))
			if gap == 0 {
				d.complain(rateNode, "more than one call in a nanosecond")
			}
			stream.Gap = draw.Expo(gap)
		}
		if n := s.get("until"); n != nil {
			stream.Until, _ = d.positive(n)
		}
		t.Arrivals = stream
	case "trace":
		d.section(at, body, name)
		trace = true
	}
	t.Clients, t.Size = clients, size
	return t, trace
}

// startsBefore complains if first calls are bound to come when the run is over.
// A distribution without an upper end is let be: its tail is meant.
func (d *decoder) startsBefore(horizon time.Duration, n *yaml.Node, start draw.Dist) {
	latest := time.Duration(0)
	switch start.Kind {
	case draw.Constant:
		latest = start.Mean
	case draw.Uniform:
		latest = start.High
	}
	if horizon > 0 && latest >= horizon {
		d.complain(n, "first calls come until %s, but the run is over at the horizon %s, so some clients would never call; let them begin earlier or lengthen the horizon", inFile(latest), inFile(horizon))
	}
}
