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
		return d.layOut([]fleet{d.fleet(top.at, top.needs("fleet", "{clients: 60, …}"), "fleet", horizon)})
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

// fleetForm lists the keys of a fleet.
type fleetForm struct {
	Clients  int            `required:"60" least:"1" most:"10000000" unit:"clients" about:"How many clients there are."`
	Traffic  trafficChoice  `required:"{one_shot: {within: 1ms}}" about:"When calls arrive."`
	Tokens   tokensText     `without:"0 tokens, without a cap" about:"What each call asks for; of a list, each call draws one size."`
	Prompts  uint32         `least:"1" most:"4294967294" without:"no two calls ask the same" unit:"questions" about:"How many different questions are asked."`
	Priority uint8          `default:"0" unit:"priority" about:"How urgent the calls are; 0 is the most urgent."`
	Account  accountUse     `about:"Whose account the clients use."`
	Address  addressUse     `about:"Which address the clients call from."`
	Key      uint8          `default:"0" unit:"key number" about:"Which API key of the account they use."`
	Model    uint8          `names:"models" without:"the first" about:"The model that they ask for."`
	Region   uint8          `names:"regions" without:"the first" about:"The region that they call."`
	Stream   bool           `about:"Whether answers are streamed."`
	Network  networkForm    `without:"both take no time" about:"How long requests and replies travel."`
	Clock    clockForm      `without:"all clocks are right" about:"How far the clocks of clients are off, drawn evenly for each client."`
	Patience time.Duration  `least:"1ns" without:"for ever" about:"How long a caller waits for a call before it is cancelled."`
	Strategy strategyChoice `without:"it does what is compared" about:"The strategy of this fleet, whatever is compared: background traffic."`
}

// networkForm lists the keys of a network.
type networkForm struct {
	Up   draw.Dist `default:"0s" about:"How long a request travels to the provider."`
	Down draw.Dist `default:"0s" about:"How long a reply travels to the client."`
}

// clockForm lists the keys of the clients' clocks.
type clockForm struct {
	Behind time.Duration `default:"0s" about:"How far the slowest clock is behind."`
	Ahead  time.Duration `default:"0s" about:"How far the fastest clock is ahead."`
}

// accountUse is whose account a fleet has.
type accountUse uint8

const (
	sharedAccount accountUse = iota
	ownAccounts
	commonAccount
)

// Names returns the name of each use, as files spell it, and its meaning.
func (accountUse) Names() [][2]string {
	return [][2]string{
		sharedAccount: {"shared", "all clients of the fleet share one"},
		ownAccounts:   {"per_client", "each client has its own"},
		commonAccount: {"common", "all fleets that state this share one"},
	}
}

// addressUse is where the requests of a fleet come from.
type addressUse uint8

const (
	sharedAddress addressUse = iota
	ownAddresses
)

// Names returns the name of each use, as files spell it, and its meaning.
func (addressUse) Names() [][2]string {
	return [][2]string{
		sharedAddress: {"shared", "all clients of the fleet have one"},
		ownAddresses:  {"per_client", "each client has its own"},
	}
}

// fleet reads a fleet.
func (d *decoder) fleet(at, n *yaml.Node, name string, horizon time.Duration) fleet {
	f := fleet{name: name, at: at}
	s := d.section(at, n, "fleet", form[fleetForm]())
	if n == nil {
		return f
	}
	s.at, f.at = n, n
	clients := int(d.integer(s.need("clients"), 1, sim.MaxClients))
	size, mix := d.tokens(s.get("tokens"), uint8(d.integer(s.get("priority"), 0, math.MaxUint8)))
	f.traffic, f.trace = d.traffic(s.need("traffic"), clients, size, horizon)
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
	account := d.enumerated(s.get("account"), "account", sharedAccount)
	f.apart, f.common = accountUse(account) == ownAccounts, accountUse(account) == commonAccount
	f.spread = addressUse(d.enumerated(s.get("address"), "address", sharedAddress)) == ownAddresses
	f.target.Key = uint8(d.integer(s.get("key"), 0, math.MaxUint8))
	f.target.Model = uint8(d.place(s.get("model"), "models"))
	f.target.Region = uint8(d.place(s.get("region"), "regions"))
	f.stream = d.boolean(s.get("stream"))
	f.skew = d.clock(s.at, s.get("clock"))
	network := d.section(s.at, s.get("network"), "network", form[networkForm]())
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
	s := d.section(at, n, "clock", form[clockForm]())
	behind, ahead := d.duration(s.get("behind")), d.duration(s.get("ahead"))
	if behind == 0 && ahead == 0 {
		return draw.Dist{}
	}
	return draw.Between(-behind, ahead)
}
