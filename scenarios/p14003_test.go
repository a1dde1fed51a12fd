package scenarios_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/scenarios"
	"herdlab/sim"
	"herdlab/sim/draw"
	"herdlab/sim/metrics"
	"herdlab/sim/traffic"
	"herdlab/strategies"
)

// gateway stands before a provider and writes down what it refuses.
type gateway struct {
	sim.Provider
	arrivals, refusals int
	first              int             // the number of the first request that was refused; 0 if none
	touched            map[uint64]bool // the calls that were refused at least once
}

func (g *gateway) Step(now time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
	n := len(out)
	out = g.Provider.Step(now, in, out)
	if in.Kind == wire.Arrive {
		if dump { println(now/1000, out[n].Kind == wire.Started) }
		g.arrivals++
		if e := &out[n]; e.Kind == wire.Replied {
			if g.refusals++; g.first == 0 {
				g.first = g.arrivals
			}
			g.touched[in.Request.Call] = true
		}
	}
	return out
}

var dump bool

// workload is what meets the provider of a scenario in a test.
type workload struct {
	fleets []sim.Fleet
	layers []strategies.Layer // what every fleet does; nothing is a single attempt
}

// meet runs a workload against the provider of the built-in p14003.
func meet(t *testing.T, w workload) (*gateway, *metrics.Report) {
	t.Helper()
	s, err := scenarios.Builtin("p14003")
	require.NoError(t, err)
	x, err := s.Experiment(0, 1)
	require.NoError(t, err)
	program, err := strategies.Compile(strategies.Definition{Name: "test", Layers: w.layers}, nil)
	require.NoError(t, err)
	g := &gateway{Provider: x.Provider, touched: map[uint64]bool{}}
	x.Provider, x.Plan.Horizon = g, 24*time.Hour
	x.Fleets = w.fleets
	for i := range x.Fleets {
		x.Fleets[i].Program = program
	}
	r, err := x.Run(context.Background())
	require.NoError(t, err)
	require.Equal(t, r.Belief.Calls, r.Belief.Succeeded+r.Belief.Failed)
	return g, r
}

// workers are n threads, started 1 ms apart, that make so many calls each and
// pause between them.
func workers(n, calls int, pause time.Duration) (all []sim.Fleet) {
	for i := range n {
		all = append(all, sim.Fleet{Name: "worker", Traffic: traffic.Traffic{
			Clients: 1, Calls: calls, Start: draw.Const(time.Duration(i) * time.Millisecond), Think: draw.Const(pause),
		}})
	}
	return all
}

// batches are calls that arrive all at once at each of the given times.
type batches struct {
	size int
	at   []time.Duration
}

func (b batches) Next(_ draw.Rand, i uint64, _ time.Duration) (time.Duration, bool) {
	k := int(i) / b.size
	if k >= len(b.at) {
		return 0, false
	}
	return b.at[k], true
}

func (batches) Demand(draw.Rand, uint64) wire.Demand { return wire.Demand{} }

// pool is a thread pool: a batch of calls of which c are under way at a time.
func pool(size int, at ...time.Duration) []sim.Fleet {
	return []sim.Fleet{{Name: "pool", Traffic: traffic.Traffic{Clients: 1, Arrivals: batches{size, at}}}}
}


type list []time.Duration

func (a list) Next(_ draw.Rand, i uint64, _ time.Duration) (time.Duration, bool) {
	if i >= uint64(len(a)) {
		return 0, false
	}
	return a[i], true
}
func (list) Demand(draw.Rand, uint64) wire.Demand { return wire.Demand{} }

func staged(size, c int, step time.Duration) []sim.Fleet {
	var l list
	for i := range size {
		l = append(l, time.Duration(min(i, c-1))*step)
	}
	return []sim.Fleet{{Name: "pool", Traffic: traffic.Traffic{Clients: 1, Arrivals: l}}}
}

func TestExplore(t *testing.T) {
	hint := strategies.Retry{Backoff: strategies.Fixed{}}
	sem := strategies.Concurrency{Permits: 10, Scope: strategies.PerFleet}
	dump = true
	meet(t, workload{staged(2000, 10, time.Millisecond), []strategies.Layer{sem, hint}})
}
