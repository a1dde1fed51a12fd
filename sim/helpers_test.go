package sim_test

import (
	"context"
	"fmt"
	"math"
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

// ctx never ends.
var ctx = context.Background()

const never = time.Duration(math.MaxInt64)

// long asks for the long proofs: ten times the runs at a third of the
// tolerance. Set HERDLAB_LONG to anything.
var long = os.Getenv("HERDLAB_LONG") != ""

// program compiles a stack of layers, outermost first.
func program(t testing.TB, layers ...strategies.Layer) *strategies.Program {
	t.Helper()
	return programIn(t, nil, layers...)
}

func programIn(t testing.TB, commons *strategies.Commons, layers ...strategies.Layer) *strategies.Program {
	t.Helper()
	p, err := strategies.Compile(strategies.Definition{Name: "test", Layers: layers}, commons)
	require.NoError(t, err)
	return p
}

// provider is a mock provider whose luck comes from the given seed.
func provider(t testing.TB, cfg mockprovider.Config, seed uint64) *mockprovider.Provider {
	t.Helper()
	p, err := mockprovider.New(cfg, draw.New(seed).For(1))
	require.NoError(t, err)
	return p
}

// serves is a provider of so many slots, with room for so many to wait.
func serves(slots, queue int, service draw.Dist) mockprovider.Config {
	return mockprovider.Config{Capacity: mockprovider.Capacity{Slots: slots, Queue: queue, Service: mockprovider.Service{First: service}}}
}

// run runs an experiment that must not fail.
func run(t testing.TB, x sim.Experiment) *metrics.Report {
	t.Helper()
	rep, err := x.Run(context.Background())
	require.NoError(t, err)
	return rep
}

// oneShot is a fleet whose clients all call once, at 0.
func oneShot(clients int, p *strategies.Program) sim.Fleet {
	return sim.Fleet{Name: "fleet", Traffic: traffic.Traffic{Clients: clients, Calls: 1}, Program: p}
}

// at is an open fleet's traffic: one call at each of the given times.
type at []time.Duration

func (a at) Next(_ draw.Rand, i uint64, _ time.Duration) (time.Duration, bool) {
	if i >= uint64(len(a)) {
		return 0, false
	}
	return a[i], true
}

func (a at) Demand(draw.Rand, uint64) wire.Demand { return wire.Demand{} }

// arriving is an open fleet of one client whose calls arrive at the given times.
func arriving(p *strategies.Program, times ...time.Duration) sim.Fleet {
	return sim.Fleet{Name: "fleet", Traffic: traffic.Traffic{Clients: 1, Arrivals: at(times)}, Program: p}
}

// server is a provider written for a test: what it does with an arrival, and
// with any other input. The zero value answers everything at once.
type server struct {
	arrive func(now time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect
	other  func(now time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect
	tick   time.Duration // the next tick it wants; 0 means never
}

func (s *server) Step(now time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
	switch {
	case in.Kind == wire.Arrive && s.arrive != nil:
		return s.arrive(now, in, out)
	case in.Kind == wire.Arrive:
		return append(out, reply(in.Ticket, 0, wire.OK))
	case s.other != nil:
		return s.other(now, in, out)
	}
	return out
}

func (s *server) NextTick() time.Duration {
	if s.tick == 0 {
		return never
	}
	return s.tick
}

// reply is the effect that answers a ticket after a while.
func reply(ticket uint32, after time.Duration, c wire.Class) wire.Effect {
	return wire.Effect{Kind: wire.Replied, Ticket: ticket, After: after,
		Reply: wire.Reply{Class: c, Shown: c, Status: statusOf(c), RetryAfter: wire.NoHint}}
}

func statusOf(c wire.Class) uint16 {
	if c == wire.OK {
		return 200
	}
	return 503
}

// answering replies to attempt k of any call after delays[k-1]; the last delay
// holds for all that follow, and a negative one drops the attempt.
func answering(delays ...time.Duration) *server {
	return &server{arrive: func(_ time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
		d := delays[min(int(in.Request.Attempt), len(delays))-1]
		if d < 0 {
			return append(out, wire.Effect{Kind: wire.Dropped, Ticket: in.Ticket})
		}
		return append(out, reply(in.Ticket, d, wire.OK))
	}}
}

// refusing refuses the first n arrivals at once, and answers the others at once.
func refusing(n int) *server {
	return &server{arrive: func(_ time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
		if n--; n >= 0 {
			return append(out, reply(in.Ticket, 0, wire.Overloaded))
		}
		return append(out, reply(in.Ticket, 0, wire.OK))
	}}
}

// inParallel calls f for 0 … n−1 on as many goroutines as there are cores, and
// waits.
func inParallel(n int, f func(i int)) {
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

func scan(t testing.TB, line, format string, to ...any) {
	t.Helper()
	_, err := fmt.Sscanf(line, format, to...)
	require.NoError(t, err, line)
}
