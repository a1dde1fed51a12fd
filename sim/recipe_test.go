package sim_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/mockprovider"
	"herdlab/mockprovider/faults"
	"herdlab/mockprovider/limits"
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

// recipe is a random small experiment, in a form that can be cooked again and
// again, and slower: every duration times k.
type recipe struct {
	seed         uint64
	slots, queue int
	service      draw.Dist
	perToken     time.Duration
	refusalTime  time.Duration
	outages      [][2]time.Duration
	faults       []func(k time.Duration) mockprovider.Fault
	window       limits.Window // Limit 0 means none
	semaphore    int32         // 0 means none
	keep         bool
	fleets       []fleetRecipe
	horizon, bin time.Duration
}

type fleetRecipe struct {
	sim.Fleet
	layers []func(k time.Duration) strategies.Layer
	reader wire.Reader
}

// experiment cooks the recipe with every duration, and the grid of drawn ones,
// multiplied by k.
func (c recipe) experiment(t require.TestingT, k time.Duration) sim.Experiment {
	root := draw.New(c.seed).WithQuantum(k)
	cfg := mockprovider.Config{
		Capacity: mockprovider.Capacity{Slots: c.slots, Queue: c.queue, Full: mockprovider.As503, Service: mockprovider.Service{First: slower(c.service, k), PerToken: k * c.perToken}}, RefusalTime: k * c.refusalTime, Space: mockprovider.Space{Accounts: 100},
	}
	plan := metrics.Plan{Horizon: k * c.horizon, Bin: k * c.bin, OneShot: true}
	for _, o := range c.outages {
		refusal := mockprovider.As503.WithHint(mockprovider.Hint{Kind: mockprovider.Exact})
		cfg.Faults = append(cfg.Faults, faults.Outage(k*o[0], k*o[1], refusal))
	}
	for _, f := range c.faults {
		cfg.Faults = append(cfg.Faults, f(k))
	}
	plan.FaultBegin, plan.FaultEnd = cfg.FaultSpan()
	if w := c.window; w.Limit > 0 {
		w.Length *= k
		w.Refusal.Hint.Value *= k
		if c.keep {
			w.Keep = mockprovider.KeepOthers
		}
		cfg.Limits = append(cfg.Limits, w)
	}
	if c.semaphore > 0 {
		cfg.Limits = append(cfg.Limits, limits.Semaphore{Limit: c.semaphore, Terms: mockprovider.Terms{Per: mockprovider.Account, Refusal: mockprovider.As14003}})
	}
	mock, err := mockprovider.New(cfg, root.For(1))
	require.NoError(t, err)
	x := sim.Experiment{Provider: mock, Rand: root.For(2), Commons: strategies.NewSharedMemory(), Plan: plan}
	for _, f := range c.fleets {
		var layers []strategies.Layer
		for _, l := range f.layers {
			layers = append(layers, l(k))
		}
		p, err := strategies.Compile(strategies.Definition{Name: "test", Layers: layers, Reader: f.reader}, x.Commons)
		require.NoError(t, err)
		spec := f.Fleet
		spec.Program = p
		spec.Up, spec.Down, spec.Patience = slower(f.Up, k), slower(f.Down, k), k*f.Patience
		spec.Traffic.Start, spec.Traffic.Think = slower(f.Traffic.Start, k), slower(f.Traffic.Think, k)
		switch a := f.Traffic.Arrivals.(type) {
		case traffic.Stream:
			a.Gap, a.Until = slower(a.Gap, k), k*a.Until
			spec.Traffic.Arrivals = a
		case simtest.At:
			var later simtest.At
			for _, when := range a {
				later = append(later, k*when)
			}
			spec.Traffic.Arrivals = later
		}
		x.Fleets = append(x.Fleets, spec)
	}
	return x
}

// run cooks and eats.
func (c recipe) run(t require.TestingT, k time.Duration) *metrics.Report {
	x := c.experiment(t, k)
	rep, err := x.Run(ctx)
	require.NoError(t, err)
	return rep
}

func slower(d draw.Dist, k time.Duration) draw.Dist {
	d.Mean, d.Low, d.High = k*d.Mean, k*d.Low, k*d.High
	return d
}

// lot draws the ingredients of recipes.
type lot struct{ *rapid.T }

func (l lot) dur(name string, lo, hi time.Duration) time.Duration {
	return time.Duration(rapid.Int64Range(int64(lo), int64(hi)).Draw(l.T, name))
}

func (l lot) num(name string, lo, hi int) int { return rapid.IntRange(lo, hi).Draw(l.T, name) }

func (l lot) coin(name string) bool { return rapid.Bool().Draw(l.T, name) }

func (l lot) oneOf(name string, options ...time.Duration) time.Duration {
	return rapid.SampledFrom(options).Draw(l.T, name)
}

// dist draws a distribution whose mean is about at most hi.
func (l lot) dist(name string, hi time.Duration) draw.Dist {
	mean := l.dur(name, 0, hi)
	switch l.num(name+" kind", 0, 3) {
	case 1:
		return draw.Between(mean/2, mean+mean/2)
	case 2:
		return draw.Expo(mean)
	case 3:
		return draw.Dist{Kind: draw.Lognormal, Mean: mean, CV: 0.7}
	default:
		return draw.Const(mean)
	}
}

// anyRecipe draws a recipe with a bit of everything. A calm one needs no luck
// of the driver's own (starts, thinking and ways are constant), and has no
// deadlines that fall on the same nanosecond, whose order is nobody's business.
func anyRecipe(r *rapid.T, calm bool) recipe {
	l := lot{r}
	c := recipe{
		seed: uint64(l.num("seed", 1, 1000)), slots: l.num("slots", 1, 4), queue: l.num("queue", 0, 3),
		service: l.dist("service", 100*ms), perToken: l.oneOf("per token", 0, ms), keep: l.coin("keep"),
		refusalTime: l.oneOf("refusal time", 0, 5*ms, 5*ms+1), horizon: 3 * time.Second, bin: l.oneOf("bin", 10*ms, 7*ms+1),
	}
	for range l.num("outages", 0, 2) {
		from := l.dur("outage from", 0, 300*ms)
		c.outages = append(c.outages, [2]time.Duration{from, from + l.dur("outage", 1, 500*ms)})
	}
	for range l.num("faults", 0, 2) {
		c.faults = append(c.faults, anyFault(l, c.slots > 0))
	}
	if l.coin("window") {
		c.window = limits.Window{Limit: int32(l.num("limit", 1, 9)), Length: 100 * ms, Anchored: l.coin("anchored"),
			Terms: mockprovider.Terms{Refusal: mockprovider.As14003.WithHint(mockprovider.Hint{Kind: mockprovider.HintKind(l.num("hint", 0, 2)), Value: 30 * ms})}}
	}
	c.semaphore = int32(l.num("semaphore", 0, 2))
	permits := int64(l.num("permits", 1, 3)) // those who share must agree
	for i := range l.num("fleets", 1, 3) {
		c.fleets = append(c.fleets, anyFleet(l, i, calm, permits))
	}
	return c
}

// anyFault is a fault that may strike one attempt and not the next.
func anyFault(l lot, bounded bool) func(k time.Duration) mockprovider.Fault {
	from, lasts, prob := l.dur("fault from", 0, 300*ms), l.dur("fault", 1, 500*ms), float64(l.num("chance", 0, 3))/4
	does := []func(k time.Duration) mockprovider.Disturbance{
		func(time.Duration) mockprovider.Disturbance { return faults.Errors{} },
		func(time.Duration) mockprovider.Disturbance {
			return faults.Errors{Class: wire.Overloaded, When: faults.AfterWork}
		},
		func(time.Duration) mockprovider.Disturbance { return faults.Silence{} },
		func(time.Duration) mockprovider.Disturbance {
			return faults.Silence{When: faults.AfterWork}
		},
		func(k time.Duration) mockprovider.Disturbance { return faults.Unreachable{After: k * 3 * ms} },
		func(time.Duration) mockprovider.Disturbance { return faults.Reset{When: faults.AfterWork} },
		func(time.Duration) mockprovider.Disturbance { return faults.Spoil{Body: wire.SilentEnd} },
		func(time.Duration) mockprovider.Disturbance { return faults.Spoil{Body: wire.TruncatedBody, Tokens: 3} },
		func(k time.Duration) mockprovider.Disturbance {
			return faults.Latency{Factor: 1.37, Plus: k * 5 * ms}
		},
		func(time.Duration) mockprovider.Disturbance {
			return faults.Script{ByCall: true, Answers: []mockprovider.Disturbance{faults.Silence{}, nil, faults.Reset{}}}
		},
	}[l.num("kind", 0, 9)]
	brown := bounded && l.num("brown", 0, 5) == 0
	return func(k time.Duration) mockprovider.Fault {
		f := mockprovider.Fault{From: k * from, To: k * (from + lasts), Probability: prob, Does: does(k)}
		if brown {
			f.Probability, f.Does = 0, faults.Brownout{Percent: 50}
		}
		return f
	}
}

func anyFleet(l lot, i int, calm bool, permits int64) fleetRecipe {
	f := fleetRecipe{Fleet: sim.Fleet{
		Name: fmt.Sprint("fleet ", i), Account: uint32(10 * i), AccountPerClient: i == 1, Target: wire.Target{Model: uint8(i)},
		Traffic: traffic.Traffic{
			Clients: l.num("clients", 1, 6), Calls: l.num("calls", 1, 4), Size: wire.Demand{InputTokens: 40, OutputTokens: uint32(10 * i)},
			Start: draw.Const(l.dur("start", 0, 50*ms)), Think: draw.Const(l.dur("think", 0, 100*ms)),
		},
	}}
	f.Up, f.Down = draw.Const(l.oneOf("up", 0, 0, 10*ms)), draw.Const(l.oneOf("down", 0, 0, 7*ms))
	if !calm {
		f.Traffic.Start, f.Traffic.Think = l.dist("start", 50*ms), l.dist("think", 100*ms)
		if l.coin("ways") {
			f.Up, f.Down = l.dist("up", 20*ms), l.dist("down", 20*ms)
		}
		if l.coin("status only") {
			f.reader = wire.ByStatus{}
		}
	}
	if l.coin("open") {
		f.Traffic.Calls = 0
		if l.coin("stream") {
			f.Traffic.Arrivals = traffic.Stream{Gap: draw.Expo(l.dur("gap", 20*ms, 100*ms)), Until: 600 * ms, Size: f.Traffic.Size}
		} else {
			var times simtest.At
			for range l.num("arrivals", 1, 12) {
				times = append(times, l.dur("at", 0, 600*ms))
			}
			slices.Sort(times)
			f.Traffic.Arrivals = slices.Compact(times)
		}
	}
	single := !calm || f.Traffic.Arrivals != nil || f.Traffic.Clients == 1
	if single {
		f.Patience = l.oneOf("patience", 0, 0, l.dur("patience", 20*ms, 400*ms))
		f.Traffic.Start.Mean += time.Duration(i) * 7919
	}
	add := func(layer func(k time.Duration) strategies.Layer) { f.layers = append(f.layers, layer) }
	if l.coin("retry") {
		least := time.Duration(1)
		if calm && single {
			least = ms // no two waits end at the same instant
		}
		tries, base := l.num("tries", 1, 9), 2*l.dur("base", least, 25*ms) // even, to be halved
		backoffs := []func(k time.Duration) strategies.Backoff{
			func(k time.Duration) strategies.Backoff {
				return backoffs.FullJitter{Base: k * base, Cap: k * 400 * ms}
			},
			func(k time.Duration) strategies.Backoff {
				return backoffs.EqualJitter{Base: k * base, Cap: k * 400 * ms}
			},
			func(k time.Duration) strategies.Backoff {
				return backoffs.DecorrelatedJitter{Base: k * base, Cap: k * 400 * ms}
			},
			func(k time.Duration) strategies.Backoff {
				return backoffs.Exponential{Base: k * base, Cap: k * 400 * ms, Jitter: k * ms}
			},
			func(k time.Duration) strategies.Backoff { return backoffs.Fixed{Every: k * base} },
		}
		if calm && single {
			backoffs = backoffs[:1] // the others may bring deadlines together
		}
		b := backoffs[l.num("backoff", 0, len(backoffs)-1)]
		deaf := l.coin("deaf") || calm && single
		var hints layers.Hints
		if deaf {
			hints.Use = layers.HintIgnored
		}
		add(func(k time.Duration) strategies.Layer {
			return layers.Retry{Backoff: b(k), MaxAttempts: tries, Hints: hints}
		})
	}
	scope := rapid.SampledFrom([]strategies.Scope{strategies.PerClient, strategies.PerFleet, strategies.PerEveryone})
	if l.coin("flight") {
		s, n := scope.Draw(l.T, "scope"), l.num("questions", 1, 3)
		add(func(time.Duration) strategies.Layer { return asking(n) })
		add(func(time.Duration) strategies.Layer { return flight{scope: s, name: "flight"} })
	}
	hedging := 0
	if single {
		hedging = l.num("hedging", 0, 4)
	}
	if after := l.dur("hedge after", ms, 60*ms); hedging > 2 {
		runners := l.num("runners", 2, 3)
		add(func(k time.Duration) strategies.Layer {
			return race{after: k * after, runners: runners, spread: k * ms}
		})
		if l.coin("nested") {
			add(func(k time.Duration) strategies.Layer {
				return race{after: k * (after / 3), runners: 2, spread: k * ms}
			})
		}
		if l.coin("retry inside") {
			add(func(k time.Duration) strategies.Layer {
				return layers.Retry{Backoff: backoffs.FullJitter{Base: k * 30 * ms, Cap: k * 400 * ms}, MaxAttempts: 3, Hints: layers.Hints{Use: layers.HintIgnored}}
			})
		}
	}
	if l.coin("shrink") {
		after := l.dur("shrink after", ms, 20*ms)
		add(func(k time.Duration) strategies.Layer { return shrink{after: k * after} })
	}
	if after := l.dur("hedge after", ms, 60*ms); hedging == 1 {
		add(func(k time.Duration) strategies.Layer { return hedge{after: k * after, most: 2} })
	} else {
		if l.coin("breaker") {
			s := scope.Draw(l.T, "scope")
			add(func(k time.Duration) strategies.Layer {
				return layers.Breaker{Failures: 3, OpenFor: k * 70 * ms, MinWait: k * ms, Jitter: k * 30 * ms, Scope: s, Name: "breaker"}
			})
		}
		if l.coin("limit of permits") {
			s := scope.Draw(l.T, "scope")
			add(func(time.Duration) strategies.Layer {
				return layers.Concurrency{Permits: permits, Scope: s, Name: "permits"}
			})
		}
		if l.coin("bucket") {
			s := scope.Draw(l.T, "scope")
			add(func(k time.Duration) strategies.Layer {
				return layers.TokenBucket{Rate: 1, Per: k * 30 * ms, Burst: 2, Scope: s, Name: "bucket"}
			})
		}
	}
	if single && l.coin("timeout") {
		d := l.dur("timeout", 5*ms, 150*ms)
		add(func(k time.Duration) strategies.Layer { return simtest.GrowingTimeout(k*d, k*1009) })
	}
	return f
}
