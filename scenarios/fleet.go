package scenarios

import (
	"math"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"herdlab/mockprovider"
	"herdlab/mockprovider/wire"
	"herdlab/sim"
	"herdlab/sim/draw"
	"herdlab/sim/metrics"
	"herdlab/sim/traffic"
	"herdlab/strategies"
)

// fleet is a fleet as a file describes it.
type fleet struct {
	name     string
	at       *yaml.Node // the place of errors
	traffic  traffic.Traffic
	trace    bool // its arrivals are those of a trace
	up, down draw.Dist
	patience time.Duration
	target   wire.Target
	common   bool // it uses the account that all common fleets share
	apart    bool // each client has its own account
	spread   bool // each client has its own address
	stream   bool
	skew     draw.Dist
	fixed    *choice // its own strategy, which is not compared; nil for the compared ones
	// account and address are the numbers of its first client's.
	account, address int
}

// accounts returns the number of accounts that only this fleet uses.
func (f *fleet) accounts() int {
	switch {
	case f.apart:
		return f.traffic.Clients
	case f.common:
		return 0
	}
	return 1
}

// addresses returns the number of the fleet's addresses.
func (f *fleet) addresses() int {
	if f.spread {
		return f.traffic.Clients
	}
	return 1
}

// oneShot reports whether each client makes a single call.
func (f *fleet) oneShot() bool { return !f.trace && f.traffic.IsOneShot() }

// supply returns how the number of the fleet's calls is bounded.
func (f *fleet) supply() metrics.Supply {
	switch {
	case f.trace || f.traffic.Arrivals != nil:
		return metrics.Open
	case f.traffic.Calls == 0:
		return metrics.Endless
	}
	return metrics.Counted
}

// sizes returns the demands of its calls, unless a trace has them.
func (f *fleet) sizes() []wire.Demand {
	if f.traffic.Mix == nil {
		return []wire.Demand{f.traffic.Size}
	}
	var all []wire.Demand
	for _, s := range f.traffic.Mix.Sizes {
		all = append(all, s.Demand)
	}
	return all
}

// mean returns the mean of a property of its calls, unless a trace has it.
func (f *fleet) mean(of func(*wire.Demand) uint32) float64 {
	if f.traffic.Mix != nil {
		return f.traffic.Mix.Mean(of)
	}
	return float64(of(&f.traffic.Size))
}

// describe returns the part of a result about one of several fleets.
func (f *fleet) describe() metrics.Fleet {
	d := metrics.Fleet{Name: f.name, Clients: f.traffic.Clients}
	if f.fixed != nil {
		d.Strategy = f.fixed.Name
	}
	return d
}

// experiment returns the fleet in a run of the program.
func (f *fleet) experiment(p *strategies.Program) sim.Fleet {
	return sim.Fleet{
		Name: f.name, Traffic: f.traffic, Program: p, Target: f.target,
		Account: uint32(f.account), AccountPerClient: f.apart, Address: uint32(f.address), AddressPerClient: f.spread,
		Up: f.up, Down: f.down, Skew: f.skew, Patience: f.patience, Stream: f.stream,
	}
}

// maxFleets bounds the fleets of a scenario.
const maxFleets = 64

// fleets reads the fleets: one under fleet, or several by name under fleets. The
// horizon is 0 if it is not known.
func (d *decoder) fleets(top *section, horizon time.Duration) []fleet {
	one, several := top.get("fleet"), top.get("fleets")
	switch {
	case several == nil:
		return d.layOut([]fleet{d.fleet(top.at, top.need("fleet", "{clients: 60, …}"), "fleet", horizon)})
	case one != nil:
		d.complain(one, "write fleet for one fleet or fleets for several, not both")
		return nil
	case several.Kind != yaml.MappingNode || len(several.Content) == 0:
		d.complain(several, "expected a mapping of fleets by name, found %s", found(several))
		return nil
	case len(several.Content)/2 > maxFleets:
		d.complain(several, "%d fleets; expected at most %d", len(several.Content)/2, maxFleets)
		return nil
	}
	var all []fleet
	judged := false
	for i := 0; i < len(several.Content); i += 2 {
		name := d.name(several.Content[i])
		if slices.ContainsFunc(all, func(f fleet) bool { return f.name == name }) {
			d.complain(several.Content[i], "duplicate fleet %s; rename one", quoted(name))
			continue
		}
		f := d.fleet(several.Content[i], several.Content[i+1], name, horizon)
		judged = judged || f.fixed == nil
		if f.trace && slices.ContainsFunc(all, func(f fleet) bool { return f.trace }) {
			d.complain(f.at, "only one fleet may replay the trace; choose other traffic for this one")
		}
		all = append(all, f)
	}
	if !judged {
		d.complain(several, "every fleet has its own strategy, so there is nothing to compare; remove strategy from one of them")
	}
	return d.layOut(all)
}

// layOut numbers the accounts and addresses of fleets in the order of the file. The
// account that common fleets share is number 0.
func (d *decoder) layOut(all []fleet) []fleet {
	accounts, addresses := 0, 0
	if slices.ContainsFunc(all, func(f fleet) bool { return f.common }) {
		accounts = 1
	}
	for i := range all {
		f := &all[i]
		if !f.common {
			f.account = accounts
		}
		f.address = addresses
		accounts += f.accounts()
		addresses += f.addresses()
		if len(all) > 1 {
			d.accounts[f.name] = mockprovider.Range{From: uint32(f.account), To: uint32(f.account + max(f.accounts(), 1))}
		}
	}
	return all
}

// The keys of a fleet and of its parts.
var (
	fleetKeys = []string{
		"clients", "traffic", "tokens", "prompts", "priority", "account", "address",
		"key", "model", "region", "stream", "network", "clock", "patience", "strategy",
	}
	networkKeys = []string{"up", "down"}
	clockKeys   = []string{"behind", "ahead"}
)

// accountWords are the accounts of a fleet: one for the fleet, one for each client,
// or the one that all fleets with common share.
var accountWords = []string{"shared", "per_client", "common"}

// fleet reads a fleet.
func (d *decoder) fleet(at, n *yaml.Node, name string, horizon time.Duration) fleet {
	f := fleet{name: name, at: at}
	s := d.section(at, n, "fleet", fleetKeys...)
	if n == nil {
		return f
	}
	s.at, f.at = n, n
	clients := int(d.integer(s.need("clients", "60"), 1, sim.MaxClients))
	size, mix := d.tokens(s.get("tokens"), uint8(d.integer(s.get("priority"), 0, math.MaxUint8)))
	f.traffic, f.trace = d.traffic(s.need("traffic", "{one_shot: {within: 1ms}}"), clients, size, horizon)
	if n := s.get("prompts"); n != nil {
		if mix == nil {
			mix = &traffic.Mix{Sizes: []traffic.Share{{Demand: size, Weight: 1}}}
		}
		mix.Prompts = uint32(d.integer(n, 1, math.MaxUint32-1))
	}
	f.traffic.Mix = mix
	for _, key := range []string{"tokens", "prompts"} {
		if n := s.get(key); n != nil && f.trace {
			d.complain(n, "the trace contains the sizes of its calls; remove %s", key)
		}
	}
	account := d.word(s.get("account"), "account", accountWords...)
	f.apart, f.common = account == "per_client", account == "common"
	f.spread = d.word(s.get("address"), "address", "shared", "per_client") == "per_client"
	f.target.Key = uint8(d.integer(s.get("key"), 0, math.MaxUint8))
	f.target.Model = uint8(d.place(s.get("model"), "models"))
	f.target.Region = uint8(d.place(s.get("region"), "regions"))
	f.stream = d.boolean(s.get("stream"))
	f.skew = d.clock(s.at, s.get("clock"))
	network := d.section(s.at, s.get("network"), "network", networkKeys...)
	f.up, f.down = d.dist(network.get("up")), d.dist(network.get("down"))
	if n := s.get("patience"); n != nil {
		f.patience, _ = d.positive(n)
	}
	if n := s.get("strategy"); n != nil {
		if c, ok := d.strategy(n); ok {
			f.fixed = &c
		}
	}
	return f
}

// place reads the name of a model or a region.
func (d *decoder) place(n *yaml.Node, what string) int {
	names := d.named[what]
	if n != nil && len(names) == 0 {
		d.complain(n, "the provider has no named %s; add them to provider", what)
		return 0
	}
	return max(0, slices.Index(names, d.word(n, strings.TrimSuffix(what, "s"), names...)))
}

// clock reads the error of the clients' clocks, uniform from behind to ahead.
func (d *decoder) clock(at, n *yaml.Node) draw.Dist {
	s := d.section(at, n, "clock", clockKeys...)
	behind, ahead := d.duration(s.get("behind")), d.duration(s.get("ahead"))
	if behind == 0 && ahead == 0 {
		return draw.Dist{}
	}
	return draw.Between(-behind, ahead)
}
