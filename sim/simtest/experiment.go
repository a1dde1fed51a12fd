package simtest

import (
	"context"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/wire"
	"herdlab/sim"
	"herdlab/sim/draw"
	"herdlab/sim/metrics"
	"herdlab/sim/traffic"
	"herdlab/strategies"
)

// Long reports whether the long proofs are asked for: more runs at smaller
// tolerances. Set HERDLAB_LONG to any value.
var Long = os.Getenv("HERDLAB_LONG") != ""

// Program compiles a stack of layers, outermost first.
func Program(t testing.TB, layers ...strategies.Layer) *strategies.Program {
	t.Helper()
	return ProgramIn(t, nil, layers...)
}

// ProgramIn is Program with the state that several fleets share.
func ProgramIn(t testing.TB, commons *strategies.SharedMemory, layers ...strategies.Layer) *strategies.Program {
	t.Helper()
	p, err := strategies.Compile(strategies.Definition{Name: "test", Layers: layers}, commons)
	require.NoError(t, err)
	return p
}

// Provider returns a mock provider whose draws have the given seed.
func Provider(t testing.TB, cfg mockprovider.Config, seed uint64) *mockprovider.Provider {
	t.Helper()
	p, err := mockprovider.New(cfg, draw.New(seed).For(1))
	require.NoError(t, err)
	return p
}

// Serves returns the configuration of a provider with the given numbers of slots
// and of places in the queue.
func Serves(slots, queue int, service draw.Dist) mockprovider.Config {
	return mockprovider.Config{Capacity: mockprovider.Capacity{Slots: slots, Queue: queue, Service: mockprovider.Service{First: service}}}
}

// Run runs an experiment, which must not fail.
func Run(t testing.TB, x sim.Experiment) *metrics.Report {
	t.Helper()
	rep, err := x.Run(context.Background())
	require.NoError(t, err)
	return rep
}

// Endings returns how attempts ended, without the endings that did not occur.
func Endings(rep *metrics.Report) map[metrics.Ending]uint64 {
	m := map[metrics.Ending]uint64{}
	for how, n := range rep.Belief.Endings {
		if n > 0 {
			m[metrics.Ending(how)] = n
		}
	}
	return m
}

// OneShot is a fleet whose clients all call once, at time 0.
func OneShot(clients int, p *strategies.Program) sim.Fleet {
	return sim.Fleet{Name: "fleet", Traffic: traffic.Traffic{Clients: clients, Calls: 1}, Program: p}
}

// At is the traffic of an open fleet with one call at each of the given times.
type At []time.Duration

// Next implements traffic.Arrivals.
func (a At) Next(_ draw.Rand, i uint64, _ time.Duration) (time.Duration, bool) {
	if i >= uint64(len(a)) {
		return 0, false
	}
	return a[i], true
}

// Demand implements traffic.Arrivals.
func (At) Demand(draw.Rand, uint64) wire.Demand { return wire.Demand{} }

// Arriving is an open fleet of one client with calls at the given times.
func Arriving(p *strategies.Program, times ...time.Duration) sim.Fleet {
	return sim.Fleet{Name: "fleet", Traffic: traffic.Traffic{Clients: 1, Arrivals: At(times)}, Program: p}
}

// InParallel calls f for 0 … n−1 on as many goroutines as there are cores, and
// waits.
func InParallel(n int, f func(i int)) {
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range next {
				f(i)
			}
		}()
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}
