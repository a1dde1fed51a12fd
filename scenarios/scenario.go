package scenarios

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.yaml.in/yaml/v4"

	"herdlab/mockprovider"
	"herdlab/mockprovider/dialect"
	"herdlab/mockprovider/wire"
	"herdlab/sim"
	"herdlab/sim/draw"
	"herdlab/sim/metrics"
)

// Scenario is a valid scenario. It is immutable once it has its trace, if it needs
// one, and strategies have been added; experiments may then be made from it
// concurrently.
type Scenario struct {
	format             *Format
	name, title, about string
	source             string
	horizon, bin       time.Duration
	asked              time.Duration // the horizon in the file, 0 if it has none
	fleets             []fleet
	provider           mockprovider.Config
	dialect            *dialect.Dialect    // of the provider, nil if the file has none
	named              map[string][]string // the names of models and regions
	choices            []choice
	expects            []expectation
	bound              mockprovider.Bound
	service            time.Duration  // the mean service time
	input              *metrics.Input // the trace, nil before Replay
}

// Parse is the function Parse with the parts of the format.
func (f *Format) Parse(file string, src []byte) (*Scenario, error) {
	d := newDecoder(f, file, src)
	root := d.document(src)
	if root == nil {
		return nil, d.err()
	}
	s := d.scenario(root)
	if err := d.err(); err != nil {
		return nil, err
	}
	s.source, s.format = string(src), f
	s.compile(s.load(1), func(at *yaml.Node, err error) { d.complain(at, "%v", err) })
	if err := d.err(); err != nil {
		return nil, err
	}
	return s, nil
}

// judged returns the first fleet that uses the compared strategies. The capacity
// that strategies are built for is that of its calls.
func (s *Scenario) judged() *fleet {
	i := slices.IndexFunc(s.fleets, func(f fleet) bool { return f.fixed == nil })
	return &s.fleets[max(i, 0)]
}

// load returns the mean load of a call of the judged fleet. replayed is the mean
// length of the answers of a trace.
func (s *Scenario) load(replayed float64) mockprovider.Load {
	f := s.judged()
	if f.trace {
		return s.provider.Load(0, replayed)
	}
	load := s.provider.Load(f.mean(func(d *wire.Demand) uint32 { return d.InputTokens }), f.mean((*wire.Demand).Output))
	load.MeanReserved = f.mean(func(d *wire.Demand) uint32 { return d.MaxTokens })
	return load
}

// compile builds the programs of all strategies for the provider's capacity. All
// runs of a strategy share its program. The programs of fleets with their own
// strategy are built once for each compared strategy, because layers of scope
// everyone share memory with them.
func (s *Scenario) compile(load mockprovider.Load, complain func(at *yaml.Node, err error)) {
	s.bound, s.service = s.provider.Bound(load), load.MeanService
	k := knowledge(s.bound)
	for i := range s.choices {
		c := &s.choices[i]
		at, err := c.compile(k, s.fleets)
		if err == nil {
			continue
		}
		if s.bound.Per == 0 {
			err = fmt.Errorf("%w; this provider has neither slots nor limits, so its capacity is unbounded; add one, or write the rate in a stack", err)
		}
		complain(at, err)
		if at != c.at {
			break // the fleet's own strategy is at fault, the error would repeat
		}
	}
}

// Name returns the scenario's name, which is valid as the name of a directory.
func (s *Scenario) Name() string { return s.name }

// Title returns one line, which is printed above the table.
func (s *Scenario) Title() string { return s.title }

// About returns the description of the scenario.
func (s *Scenario) About() string { return s.about }

// Source returns the text of the file.
func (s *Scenario) Source() string { return s.source }

// SHA256 returns the hash of the text, in hexadecimal.
func (s *Scenario) SHA256() string {
	sum := sha256.Sum256([]byte(s.source))
	return hex.EncodeToString(sum[:])
}

// Strategies returns the compared strategies, in the order of the file.
func (s *Scenario) Strategies() []Choice {
	all := make([]Choice, len(s.choices))
	for i := range s.choices {
		all[i] = s.choices[i].Choice
	}
	return all
}

// Plan returns the settings of the recorder. In a scenario that replays a trace
// the horizon, the capacity and the service time depend on the trace.
func (s *Scenario) Plan() metrics.Plan {
	begin, end := s.provider.FaultSpan()
	f := s.judged()
	p := metrics.Plan{
		Bin: s.bin, FaultBegin: begin, FaultEnd: end, Horizon: s.horizon,
		Capacity: s.bound.PerSecond(), Service: f.up.Average() + s.service + f.down.Average(),
		OneShot: s.oneShot(), Supply: s.supply(),
	}
	if p.Supply != metrics.Open {
		p.Clients = s.clients()
	}
	for i := range s.provider.Faults {
		f := &s.provider.Faults[i]
		p.Faults = append(p.Faults, metrics.FaultSpan{From: f.From, To: f.To, Refuses: f.TakesRoom()})
	}
	return p
}

// supply returns the kind of supply of calls if all fleets have the same, and
// Counted otherwise.
func (s *Scenario) supply() metrics.Supply {
	first := s.fleets[0].supply()
	for i := range s.fleets {
		if s.fleets[i].supply() != first {
			return metrics.Counted
		}
	}
	return first
}

func (s *Scenario) oneShot() bool {
	return !slices.ContainsFunc(s.fleets, func(f fleet) bool { return !f.oneShot() })
}

// accounts returns the number of accounts of all fleets.
func (s *Scenario) accounts() (n int) {
	for i := range s.fleets {
		f := &s.fleets[i]
		n = max(n, f.account+max(f.accounts(), 1))
	}
	return n
}

// clients returns the number of clients of all fleets.
func (s *Scenario) clients() (n int) {
	for i := range s.fleets {
		n += s.fleets[i].traffic.Clients
	}
	return n
}

// Describe returns the scenario's part of a result.
func (s *Scenario) Describe() metrics.Scenario {
	m := metrics.Scenario{
		Name: s.name, Title: s.title, SHA256: s.SHA256(), Text: s.source,
		Clients: s.clients(), Capacity: s.bound.PerSecond(), OneShot: s.oneShot(), Endless: s.supply() == metrics.Endless,
		Bin: s.bin.Seconds(), Horizon: s.horizon.Seconds(), Input: s.input,
	}
	if len(s.fleets) > 1 {
		for i := range s.fleets {
			m.Fleets = append(m.Fleets, s.fleets[i].describe())
		}
	}
	for _, f := range s.provider.Faults {
		if f.To == mockprovider.Forever {
			continue // it is a permanent property of the provider
		}
		m.Faults = append(m.Faults, metrics.Span{Name: f.Does.Name(), From: f.From.Seconds(), To: f.To.Seconds()})
	}
	return m
}

// The owners of the random draws of a run, below its seed.
const (
	ofProvider = iota + 1
	ofFleets
)

// ErrNeedsTrace is the error of Experiment for a scenario that replays a trace
// and has none.
var ErrNeedsTrace = errors.New("the scenario replays a trace and has none; call Replay, or use --trace FILE")

// Experiment returns a run of the strategy with that index in Strategies, with
// a provider in its initial state. Runs with the same seed have the same random
// arrivals and faults, whatever the strategy.
func (s *Scenario) Experiment(strategy int, seed uint64) (*sim.Experiment, error) {
	if s.NeedsTrace() {
		return nil, fmt.Errorf("scenario %s: %w", s.name, ErrNeedsTrace)
	}
	if strategy < 0 || strategy >= len(s.choices) {
		return nil, fmt.Errorf("scenario %s: there is no strategy with index %d; it has %d strategies", s.name, strategy, len(s.choices))
	}
	root := draw.New(seed)
	p, err := mockprovider.New(s.provider, root.For(ofProvider))
	if err != nil {
		return nil, fmt.Errorf("scenario %s: %w", s.name, err)
	}
	c := &s.choices[strategy]
	x := &sim.Experiment{Provider: p, Rand: root.For(ofFleets), Commons: c.commons, Plan: s.Plan()}
	for i := range s.fleets {
		x.Fleets = append(x.Fleets, s.fleets[i].experiment(c.programs[i]))
	}
	return x, nil
}
