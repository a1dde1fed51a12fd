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

// Scenario is a valid scenario. Once it has its trace, if it needs one, it is
// not changed any more, and experiments may be made of it on several cores.
type Scenario struct {
	format             *Format
	name, title, about string
	source             string
	horizon, bin       time.Duration
	asked              time.Duration // the horizon in the file, 0 if it has none
	fleets             []fleet
	provider           mockprovider.Config
	dialect            *dialect.Dialect    // of the provider, nil if the file has none
	named              map[string][]string // the models and regions that have names
	choices            []choice
	expects            []expectation
	bound              mockprovider.Bound
	service            time.Duration  // mean, of the mean answer
	input              *metrics.Input // the trace, once it is there
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

// judged is the first fleet that does what is compared: what clients know is what
// the provider can serve of its calls.
func (s *Scenario) judged() *fleet {
	i := slices.IndexFunc(s.fleets, func(f fleet) bool { return f.fixed == nil })
	return &s.fleets[max(i, 0)]
}

// load is the load that calls make, with answers of the given mean length if a
// trace says it.
func (s *Scenario) load(replayed float64) mockprovider.Load {
	f := s.judged()
	if f.trace {
		return s.provider.Load(0, replayed)
	}
	load := s.provider.Load(f.mean(func(d *wire.Demand) uint32 { return d.InputTokens }), f.mean((*wire.Demand).Output))
	load.MeanReserved = f.mean(func(d *wire.Demand) uint32 { return d.MaxTokens })
	return load
}

// compile builds the programs of all strategies for clients who know what the
// provider can serve. All runs of a strategy share its program. The fleets that
// have a strategy of their own get theirs for each strategy that is compared,
// for what everyone shares is shared with them.
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
			err = fmt.Errorf("%w; this provider has neither slots nor limits that its clients could know of", err)
		}
		complain(at, err)
		if at != c.at {
			break // it would be the same with every strategy
		}
	}
}

// Name returns the scenario's name, fit for a directory.
func (s *Scenario) Name() string { return s.name }

// Title returns one line that stands above tables and figures.
func (s *Scenario) Title() string { return s.title }

// About returns the prose on what the scenario shows.
func (s *Scenario) About() string { return s.about }

// Source returns the text of the file.
func (s *Scenario) Source() string { return s.source }

// SHA256 returns the hash of the text, in hexadecimal.
func (s *Scenario) SHA256() string {
	sum := sha256.Sum256([]byte(s.source))
	return hex.EncodeToString(sum[:])
}

// Strategies returns what the scenario compares, in the order of its file.
func (s *Scenario) Strategies() []Choice {
	all := make([]Choice, len(s.choices))
	for i := range s.choices {
		all[i] = s.choices[i].Choice
	}
	return all
}

// Plan returns what is recorded of a run. The horizon, the capacity and the
// service time of a scenario that needs a trace are known once it has it.
func (s *Scenario) Plan() metrics.Plan {
	begin, end := s.provider.FaultSpan()
	f := s.judged()
	return metrics.Plan{
		Bin: s.bin, FaultBegin: begin, FaultEnd: end, Horizon: s.horizon,
		Capacity: s.bound.PerSecond(), Service: f.up.Average() + s.service + f.down.Average(),
		OneShot: s.oneShot(), Supply: s.supply(),
	}
}

// supply says for how long calls come, if that is the same for all fleets.
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

// accounts is how many accounts all fleets have.
func (s *Scenario) accounts() (n int) {
	for i := range s.fleets {
		f := &s.fleets[i]
		n = max(n, f.account+max(f.accounts(), 1))
	}
	return n
}

// clients is how many there are in all fleets.
func (s *Scenario) clients() (n int) {
	for i := range s.fleets {
		n += s.fleets[i].traffic.Clients
	}
	return n
}

// Describe returns what readers of results need to know of the scenario.
func (s *Scenario) Describe() metrics.Scenario {
	m := metrics.Scenario{
		Name: s.name, Title: s.title, SHA256: s.SHA256(), Text: s.source,
		Clients: s.clients(), Capacity: s.bound.PerSecond(), OneShot: s.oneShot(),
		Bin: s.bin.Seconds(), Horizon: s.horizon.Seconds(), Input: s.input,
	}
	if len(s.fleets) > 1 {
		for i := range s.fleets {
			m.Fleets = append(m.Fleets, s.fleets[i].describe())
		}
	}
	for _, f := range s.provider.Faults {
		if f.To == mockprovider.Forever {
			continue // it is the way the provider is
		}
		m.Faults = append(m.Faults, metrics.Span{Name: f.Does.Name(), From: f.From.Seconds(), To: f.To.Seconds()})
	}
	return m
}

// The owners of the draws of a run, below its seed.
const (
	ofProvider = iota + 1
	ofFleets
)

// ErrNeedsTrace is the error of Experiment for a scenario that replays a trace
// and has none yet.
var ErrNeedsTrace = errors.New("it replays a trace and has none; give it one")

// Experiment returns a run of the strategy with that index in Strategies, with
// a provider in its initial state. Runs with the same seed face the same day,
// whatever the strategy.
func (s *Scenario) Experiment(strategy int, seed uint64) (*sim.Experiment, error) {
	if s.NeedsTrace() {
		return nil, fmt.Errorf("scenario %s: %w", s.name, ErrNeedsTrace)
	}
	if strategy < 0 || strategy >= len(s.choices) {
		return nil, fmt.Errorf("scenario %s: there is no strategy %d; it has %d", s.name, strategy, len(s.choices))
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
