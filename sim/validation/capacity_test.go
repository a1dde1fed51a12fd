package validation

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/wire"
	"herdlab/sim"
	"herdlab/sim/draw"
	"herdlab/sim/metrics"
	"herdlab/sim/simtest"
	"herdlab/sim/traffic"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
)

// The closed forms of systems that tell requests apart: pools of units, several
// stations, disciplines. Figures are means over seeds, as in closed_forms_test.

// ward is a provider that is watched class by class.
type ward struct {
	*mockprovider.Provider
	class func(*wire.Request) int
	// tells, if there is one, adds to seen what is so for a length of time.
	tells   func(p *mockprovider.Provider, seen *[4]float64, seconds float64)
	seen    [4]float64
	arrived [4]float64
	refused [4]float64 // at once or later
	started [4]float64
	wait    [4]float64 // of those that were started
	last    time.Duration
	tickets []entry
}

type entry struct {
	class int
	at    time.Duration
}

func (w *ward) Step(now time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
	if w.tells != nil {
		w.tells(w.Provider, &w.seen, (now - w.last).Seconds())
	}
	w.last = now
	if in.Kind == wire.Arrive {
		for int(in.Ticket) >= len(w.tickets) {
			w.tickets = append(w.tickets, entry{})
		}
		c := w.class(&in.Request)
		w.tickets[in.Ticket] = entry{c, now}
		w.arrived[c]++
	}
	n := len(out)
	out = w.Provider.Step(now, in, out)
	for _, e := range out[n:] {
		x := w.tickets[e.Ticket]
		switch {
		case e.Kind == wire.Started:
			w.started[x.class]++
			w.wait[x.class] += (now - x.at).Seconds()
		case e.Kind == wire.Replied && e.Reply.Class != wire.OK:
			w.refused[x.class]++
		}
	}
	return out
}

// system is a provider and its traffic, in which figures are known.
type system struct {
	name    string
	cfg     mockprovider.Config
	fleets  []sim.Fleet
	class   func(*wire.Request) int
	tells   func(p *mockprovider.Provider, seen *[4]float64, seconds float64)
	seconds float64
	seeds   int
	figures []wardFigure
	long    bool // it runs in long proofs only
}

type wardFigure struct {
	name string
	want float64
	of   func(*ward) float64
}

func (s system) check(t *testing.T) {
	t.Run(s.name, func(t *testing.T) {
		if simtest.Racing {
			t.Skip("statistics, without a race in them")
		}
		longOnly(t, s.long)
		t.Parallel()
		seeds := s.seeds
		if simtest.Long {
			seeds *= 10
		}
		wards, errs := make([]*ward, seeds), make([]error, seeds)
		simtest.InParallel(seeds, func(seed int) {
			root := draw.New(uint64(seed + 1))
			p, err := mockprovider.New(s.cfg, root.For(1))
			if err != nil {
				errs[seed] = err
				return
			}
			wards[seed] = &ward{Provider: p, class: s.class, tells: s.tells}
			x := sim.Experiment{
				Fleets: s.fleets, Provider: wards[seed], Rand: root.For(2),
				Plan: metrics.Plan{Horizon: time.Duration(s.seconds * 1e9), Bin: time.Hour},
			}
			_, errs[seed] = x.Run(ctx)
		})
		for _, err := range errs {
			require.NoError(t, err)
		}
		for _, f := range s.figures {
			values := make([]float64, seeds)
			for i, w := range wards {
				values[i] = f.of(w)
			}
			mean, se := meanAndError(values)
			within := tolerance() * f.want
			t.Logf("%-14s %.6f ± %.6f (want %.6f, %+.2f %%)", f.name, mean, se, f.want, 100*(mean/f.want-1))
			assert.InDelta(t, f.want, mean, within, "%s: standard error %.2g", f.name, se)
			assert.Less(t, se, within/2.5, "%s: the run is too short to tell", f.name)
		}
	})
}

// kaufmanRoberts is how likely two classes of Poisson arrivals, of b1 and b2
// units and a1 and a2 Erlang, find too few of c units free: the recursion
// n·q(n) = Σ aᵢbᵢ q(n−bᵢ).
func kaufmanRoberts(c int, a1 float64, b1 int, a2 float64, b2 int) (block1, block2 float64) {
	q := make([]float64, c+1)
	q[0] = 1
	sum := 1.0
	for n := 1; n <= c; n++ {
		if n >= b1 {
			q[n] += a1 * float64(b1) * q[n-b1]
		}
		if n >= b2 {
			q[n] += a2 * float64(b2) * q[n-b2]
		}
		q[n] /= float64(n)
		sum += q[n]
	}
	for n := range q {
		if n > c-b1 {
			block1 += q[n] / sum
		}
		if n > c-b2 {
			block2 += q[n] / sum
		}
	}
	return block1, block2
}

// prompts is a Poisson stream of requests of that many input tokens.
func prompts(t testing.TB, rate float64, tokens uint32) sim.Fleet {
	return sim.Fleet{Name: fmt.Sprint(tokens), Program: simtest.Program(t), Traffic: traffic.Traffic{
		Clients: 1, Arrivals: traffic.Stream{Gap: draw.Expo(time.Duration(1e9 / rate)), Size: wire.Demand{InputTokens: tokens}},
	}}
}

// Requests of 50,000 tokens fail several times more often than those of 5,000
// where both come out of one pool: of 100 units of 5,000. That does not depend
// on how long they take but on the average.
func TestHeavyRequestsFailMoreOften(t *testing.T) {
	type row struct {
		light, heavy           float64 // Erlang
		blockLight, blockHeavy float64 // published
		service                draw.Dist
		hours                  float64
	}
	rows := []row{
		{80, 4, 0.072445, 0.588933, exponential, 0.6},
		{120, 6, 0.222125, 0.942185, deterministic, 0.3},
		{40, 2, 0.001540, 0.025783, exponential, 20}, // rare events need long runs
		{50, 3, 0.012155, 0.152791, exponential, 4},
		{60, 4, 0.034251, 0.346839, lognormal(1), 4},
	}
	for i, c := range rows {
		light, heavy := kaufmanRoberts(100, c.light, 1, c.heavy, 10)
		require.InDelta(t, c.blockLight, light, 1e-6)
		require.InDelta(t, c.blockHeavy, heavy, 1e-6)
		system{
			name:   fmt.Sprintf("%g+%g", c.light, c.heavy),
			cfg:    mockprovider.Config{Capacity: mockprovider.Capacity{Slots: 100, Unit: 5000, Service: mockprovider.Service{First: c.service}}},
			fleets: []sim.Fleet{prompts(t, c.light, 5000), prompts(t, c.heavy, 50_000)},
			class:  func(r *wire.Request) int { return int(r.Demand.InputTokens / 50_000) },
			tells: func(p *mockprovider.Provider, seen *[4]float64, seconds float64) {
				switch used := p.Occupancy(wire.Target{}).Used; {
				case used > 99:
					seen[0] += seconds
					fallthrough
				case used > 90:
					seen[1] += seconds
				}
			},
			seconds: c.hours * 3600, seeds: 8, long: i >= 1,
			figures: []wardFigure{
				{"light", light, func(w *ward) float64 { return w.seen[0] / w.last.Seconds() }}, // Poisson arrivals see time averages
				{"heavy", heavy, func(w *ward) float64 { return w.seen[1] / w.last.Seconds() }},
				{"light refused", light, func(w *ward) float64 { return w.refused[0] / w.arrived[0] }},
				{"heavy refused", heavy, func(w *ward) float64 { return w.refused[1] / w.arrived[1] }},
			},
		}.check(t)
	}
}

// aimed is a Poisson stream of calls to a target that try once.
func aimed(t testing.TB, rate float64, to wire.Target, layers ...strategies.Layer) sim.Fleet {
	f := poisson(t, rate)
	f.Target, f.Program = to, simtest.Program(t, layers...)
	return f
}

// elsewhere tries once more in another region, at once.
func elsewhere(region uint8) strategies.Layer {
	return simtest.Script(func(_ time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
		switch {
		case e.Kind == strategies.Begin:
			return simtest.Send()
		case e.Outcome.OK():
			return simtest.Stop(strategies.Succeeded)
		case c.Attempts == 1:
			c.Target.Region = region
			return simtest.Send()
		}
		return simtest.Stop(strategies.Failed)
	})
}

// overflow solves the chain of two regions of c slots each, the first of which
// sends what it cannot take to the second: how much of each one's own traffic
// is lost.
func overflow(c int, a, b float64) (lostOfA, lostOfB float64) {
	n := c + 1
	p := make([]float64, n*n)
	for k := range p {
		p[k] = 1
	}
	for range 2000 {
		sum := 0.0
		for i := range n {
			for j := range n {
				in, out := 0.0, float64(i+j)
				if i > 0 {
					in += a * p[(i-1)*n+j]
				}
				if i < c {
					in += float64(i+1) * p[(i+1)*n+j]
					out += a
				}
				if j > 0 {
					in += b * p[i*n+j-1]
					if i == c {
						in += a * p[i*n+j-1]
					}
				}
				if j < c {
					in += float64(j+1) * p[i*n+j+1]
					out += b
					if i == c {
						out += a
					}
				}
				p[i*n+j] = in / out
				sum += p[i*n+j]
			}
		}
		for k := range p {
			p[k] /= sum
		}
	}
	for i := range n {
		lostOfB += p[i*n+c]
	}
	return p[c*n+c], lostOfB
}

// Regions differ: one that is offered 25 Erlang on 20 slots loses 28 % of them
// alone, and a few per cent if what it refuses goes to one that has room.
func TestOverflowToAnotherRegion(t *testing.T) {
	cfg := simtest.Serves(20, 0, exponential)
	cfg.Regions = make([]mockprovider.RegionConfig, 2)
	byRegion := func(r *wire.Request) int { return int(r.Target.Region) }
	alone := []sim.Fleet{aimed(t, 25, wire.Target{}), aimed(t, 10, wire.Target{Region: 1})}
	system{
		name: "alone", cfg: cfg, fleets: alone, class: byRegion, seconds: 7200, seeds: 8, long: true,
		figures: []wardFigure{{"of A", 0.279890, func(w *ward) float64 { return w.refused[0] / w.arrived[0] }}},
	}.check(t)

	lostOfA, lostOfB := overflow(20, 25, 10)
	require.Greater(t, lostOfA, 0.2799*0.0858, "an overflow comes in bursts: that of Poisson traffic would be lost less")
	require.Less(t, lostOfA, 2*0.2799*0.0858)
	system{
		name: "overflow", cfg: cfg, fleets: []sim.Fleet{aimed(t, 25, wire.Target{}, elsewhere(1)), aimed(t, 10, wire.Target{Region: 1})},
		class:   func(r *wire.Request) int { return byRegion(r) + int(r.Attempt-1) }, // A, B, and in B those from A
		seconds: 10_000, seeds: 8,
		figures: []wardFigure{
			{"of A", lostOfA, func(w *ward) float64 { return w.refused[2] / w.arrived[0] }},
			{"of B", lostOfB, func(w *ward) float64 { return w.refused[1] / w.arrived[1] }},
		},
	}.check(t)
}

// A switch to the light model helps at once: of 25 Erlang on the flagship's 20
// slots 72 % succeed, of 10 on the light model's 99.8 %.
func TestLightModel(t *testing.T) {
	cfg := simtest.Serves(20, 0, exponential)
	cfg.Models = make([]mockprovider.ModelConfig, 2)
	served := func(class int) func(w *ward) float64 {
		return func(w *ward) float64 { return w.started[class] / w.arrived[class] }
	}
	system{
		name: "flagship and light", cfg: cfg,
		fleets: []sim.Fleet{aimed(t, 25, wire.Target{}), aimed(t, 10, wire.Target{Model: 1})},
		class:  func(r *wire.Request) int { return int(r.Target.Model) }, seconds: 7200, seeds: 6,
		figures: []wardFigure{{"flagship", 1 - erlangB(20, 25), served(0)}, {"light", 1 - erlangB(20, 10), served(1)}},
	}.check(t)
}

// Two classes on one slot, of which the first is always served before the
// second: because it is more urgent, or because it is shorter. Cobham: the mean
// waits are R/(1−ρ₁) and R/((1−ρ₁)(1−ρ)), R the mean rest of the work in
// service. In a LIFO queue the mean wait is that of FIFO, R/(1−ρ).
func TestDisciplines(t *testing.T) {
	const lambda1, lambda2, s1, s2 = 0.6, 0.15, 0.5, 2.0
	rho1, rho := lambda1*s1, lambda1*s1+lambda2*s2
	rest := (lambda1*s1*s1 + lambda2*s2*s2) / 2
	in := func(class int) func(w *ward) float64 {
		return func(w *ward) float64 { return w.wait[class] / w.started[class] }
	}
	two := func(rate, seconds float64, priority uint8) sim.Fleet {
		f := poisson(t, rate)
		f.Traffic.Arrivals = traffic.Stream{
			Gap: draw.Expo(time.Duration(1e9 / rate)), Size: wire.Demand{OutputTokens: uint32(seconds * 1000), Priority: priority},
		}
		return f
	}
	for order, c := range map[mockprovider.Order]struct {
		name  string
		wants [2]float64
	}{
		mockprovider.ShortestFirst: {"shortest first", [2]float64{rest / (1 - rho1), rest / ((1 - rho1) * (1 - rho))}},
		mockprovider.UrgentFirst:   {"urgent first", [2]float64{rest / (1 - rho1), rest / ((1 - rho1) * (1 - rho))}},
		mockprovider.LIFO:          {"LIFO", [2]float64{rest / (1 - rho), rest / (1 - rho)}},
		mockprovider.FIFO:          {"FIFO", [2]float64{rest / (1 - rho), rest / (1 - rho)}},
	} {
		cfg := simtest.Serves(1, unbounded/2, draw.Dist{})
		cfg.Service.PerToken, cfg.Discipline.Order = time.Millisecond, order
		system{
			name: c.name, cfg: cfg, fleets: []sim.Fleet{two(lambda1, s1, 1), two(lambda2, s2, 2)},
			class: func(r *wire.Request) int { return int(r.Demand.Priority) - 1 }, seconds: 100_000, seeds: 8, long: order == mockprovider.FIFO,
			figures: []wardFigure{{"short", c.wants[0], in(0)}, {"long", c.wants[1], in(1)}},
		}.check(t)
	}
}

// Those that have waited longer than τ are dropped when they are next: M/M/1
// with deterministic patience (Barrer 1957). The work in front of an arrival
// has the density λp₀·e^(−(1−λ)x) up to τ, where arrivals stop to add to it, and
// so even more load than one slot can take does no harm.
func TestDropExpired(t *testing.T) {
	for _, c := range []struct{ lambda, tau float64 }{{0.8, 2}, {1.5, 3}} {
		d := math.Exp(-(1 - c.lambda) * c.tau)
		p0 := 1 / (1 + c.lambda*(1-d)/(1-c.lambda) + c.lambda*d)
		cfg := simtest.Serves(1, unbounded/2, exponential)
		cfg.Discipline.MaxWait = time.Duration(c.tau * 1e9)
		system{
			name: fmt.Sprintf("rho=%g tau=%g", c.lambda, c.tau), cfg: cfg, fleets: []sim.Fleet{poisson(t, c.lambda)},
			class: func(*wire.Request) int { return 0 }, seconds: 60_000, seeds: 8,
			figures: []wardFigure{{"dropped", p0 * c.lambda * d, func(w *ward) float64 { return w.refused[0] / w.arrived[0] }}},
		}.check(t)
	}
}

// A provider that hears its clients hang up does no work for nobody. Two slots
// are offered half as much again as they can serve, and who waits longer than
// two service times leaves.
func TestNoticingSavesWork(t *testing.T) {
	hour := func(n mockprovider.Notice) (useful, wasted float64) {
		cfg := simtest.Serves(2, 50, exponential)
		cfg.Abandoned = n
		f := poisson(t, 3)
		f.Program = simtest.Program(t, simtest.Timeout(2*time.Second))
		rep := simtest.Run(t, sim.Experiment{
			Fleets: []sim.Fleet{f}, Provider: simtest.Provider(t, cfg, 1), Rand: draw.New(1), Plan: metrics.Plan{Horizon: time.Hour},
		})
		return float64(rep.Belief.Useful) / 3600, rep.Truth.WastedSlotTime.Seconds() / rep.Truth.SlotTime.Seconds()
	}
	useful, wasted := map[string]float64{}, map[string]float64{}
	for name, n := range map[string]mockprovider.Notice{
		"never": {}, "late": {Noticed: true, Delay: 5 * time.Second}, "soon": {Noticed: true, Delay: 100 * time.Millisecond}, "at once": {Noticed: true},
	} {
		useful[name], wasted[name] = hour(n)
	}
	require.Less(t, useful["never"], 0.1, "everybody waits behind work for nobody")
	for _, pair := range [][2]string{{"never", "late"}, {"late", "soon"}, {"soon", "at once"}} {
		require.Less(t, useful[pair[0]], useful[pair[1]])
		require.Greater(t, wasted[pair[0]], wasted[pair[1]])
	}
	require.Greater(t, useful["at once"], 1.2, "of 2 that two slots can serve")
}

// anyProvider is a provider with a bit of everything, all of whose times are k
// times as long.
func anyProvider(seed uint64, k time.Duration) mockprovider.Config {
	luck, drawn := draw.New(seed), uint64(0)
	upTo := func(n uint64) int { drawn++; return int(luck.Below(drawn, n+1)) }
	maybe := func() bool { return upTo(1) == 1 }
	times := func(n uint64, unit time.Duration) time.Duration { return k * time.Duration(upTo(n)) * unit }
	c := mockprovider.Capacity{
		Slots: 1 + upTo(5), Queue: 1 + upTo(20), Unit: uint32(upTo(3) * 50),
		Service:    mockprovider.Service{First: draw.Expo(times(20, 10*ms)), PerInput: times(1, ms/10), PerToken: times(2, ms)},
		Discipline: mockprovider.Discipline{Order: mockprovider.Order(upTo(4)), MaxWait: times(50, 10*ms), DropGone: maybe()},
		Overload:   mockprovider.Overload{Latency: mockprovider.Curve{Kind: mockprovider.Hyperbolic, Cap: 1 + float64(upTo(5))}},
	}
	if c.Discipline.Order == mockprovider.AdaptiveLIFO {
		c.Discipline.Turns = 2 + upTo(5)
	}
	if i := times(20, 10*ms); i > 0 {
		c.Discipline.CoDel = mockprovider.CoDel{Target: i / 10, Interval: i}
	}
	if maybe() {
		c.Autoscale = &mockprovider.Autoscale{Min: 1, Max: 10, Target: 60, Period: k * time.Second, Delay: times(300, 10*ms)}
	}
	if maybe() {
		c.Day = mockprovider.Schedule{Steps: []mockprovider.Step{{From: 0, Value: 0.5}, {From: k * 3 * time.Second, Value: 2}}, Every: k * 7 * time.Second}
	}
	cfg := mockprovider.Config{
		Capacity: c, Models: []mockprovider.ModelConfig{{Price: mockprovider.Price{Input: 1, Output: 4}}, {Others: mockprovider.Always(0.5)}},
		Regions:   []mockprovider.RegionConfig{{}, {Scale: 1.5, Latency: times(5, 10*ms)}},
		Abandoned: mockprovider.Notice{Noticed: maybe()},
	}
	if cfg.Abandoned.Noticed {
		cfg.Abandoned.Delay = times(50, 10*ms)
	}
	return cfg
}

// Whatever a provider is like, a run keeps the laws, loses nobody, can be
// repeated, and is the same if all times are k times as long.
func TestAnyCapacityKeepsTheLaws(t *testing.T) {
	for seed := range uint64(60) {
		once := func(k time.Duration) *metrics.Report {
			cfg, root := anyProvider(seed, k), draw.New(seed).WithQuantum(k)
			var fleets []sim.Fleet
			for i := range 3 {
				f := sim.Fleet{Name: "poisson", Target: wire.Target{Model: uint8(i % 2), Region: uint8(i / 2)}, Stream: i == 1}
				f.Program = simtest.Program(t, layers.Retry{MaxAttempts: 4, Backoff: backoffs.FullJitter{Base: k * 100 * ms, Cap: k * time.Second}}, simtest.Timeout(k*500*ms))
				f.Traffic = traffic.Traffic{Clients: 1, Arrivals: traffic.Stream{
					Gap: draw.Expo(k * 100 * ms), Size: wire.Demand{InputTokens: 60, OutputTokens: 40}, Until: k * 20 * time.Second,
				}}
				fleets = append(fleets, f)
			}
			p, err := mockprovider.New(cfg, root.For(1))
			require.NoError(t, err)
			return simtest.Run(t, sim.Experiment{ // which checks the laws
				Fleets: fleets, Provider: p, Rand: root.For(2), Plan: metrics.Plan{Horizon: k * time.Hour, Bin: k * time.Second},
			})
		}
		first := once(1)
		require.Equal(t, first, once(1))
		require.Equal(t, first.Belief.Calls, first.Belief.Succeeded+first.Belief.Failed, "nobody is forgotten")
		longer := once(7)
		longer.Series.Width = first.Series.Width
		require.Equal(t, first.Series, longer.Series, "seed %d", seed)
		require.Equal(t, simtest.Endings(first), simtest.Endings(longer))
		held := 7 * first.Truth.SlotTime.Seconds()
		require.InDelta(t, held, longer.Truth.SlotTime.Seconds(), 1e-12*held)
	}
}
