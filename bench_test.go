// Package herdlab benchmarks the simulator as a whole.
package herdlab

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"herdlab/mockprovider"
	"herdlab/mockprovider/faults"
	"herdlab/mockprovider/limits"
	"herdlab/sim"
	"herdlab/sim/des"
	"herdlab/sim/draw"
	"herdlab/sim/metrics"
	"herdlab/sim/traffic"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
)

// Workload W: n clients with exponential think time, n/100 slots with
// exponential service and a queue of twice as many, 5 ms to the provider, and
// full jitter after a refusal: about twice as much load as it can serve.
const (
	wThink   = 5 * time.Second
	wService = 100 * time.Millisecond
	wLatency = 5 * time.Millisecond
	wBase    = 100 * time.Millisecond
	wCap     = wBase << 6
)

// sizes are the numbers of clients, each with a virtual duration for which a run has
// about ten million events.
var sizes = []struct {
	clients int
	virtual time.Duration
}{
	{1_000, 20_000 * time.Second},
	{100_000, 200 * time.Second},
	{1_000_000, 20 * time.Second},
}

// wExperiment is workload W with all parts of the simulator: retries with full jitter,
// a breaker and a token bucket for each client; a window, a semaphore and a
// queue at the provider; and the recorder.
func wExperiment(tb testing.TB, clients int, virtual time.Duration, faults ...mockprovider.Fault) *sim.Experiment {
	tb.Helper()
	program, err := strategies.Compile(strategies.Definition{
		Name: "w",
		Layers: []strategies.Layer{
			layers.Retry{Backoff: backoffs.FullJitter{Base: wBase, Cap: wCap}},
			layers.Breaker{Failures: 20, OpenFor: time.Second, MinWait: wBase, Jitter: time.Second, Scope: strategies.PerClient},
			layers.TokenBucket{Rate: 5, Per: time.Second, Burst: 5, Scope: strategies.PerClient},
		},
	}, nil)
	if err != nil {
		tb.Fatal(err)
	}
	slots := clients / 100
	root := draw.New(1)
	cfg := mockprovider.Config{
		Limits: []mockprovider.Limit{
			limits.Window{Limit: int32(clients), Length: time.Second, Terms: mockprovider.Terms{Refusal: mockprovider.As429}},
			limits.Semaphore{Limit: int32(3 * slots), Terms: mockprovider.Terms{Refusal: mockprovider.As14003}},
		},
		Capacity: mockprovider.Capacity{Slots: slots, Queue: 2 * slots, Full: mockprovider.As503, Service: mockprovider.Service{First: draw.Expo(wService)}},
		Faults:   faults,
	}
	provider, err := mockprovider.New(cfg, root.For(0))
	if err != nil {
		tb.Fatal(err)
	}
	_, end := cfg.FaultSpan()
	return &sim.Experiment{
		Fleets: []sim.Fleet{{
			Name:    "w",
			Program: program,
			Traffic: traffic.Traffic{Clients: clients, Start: draw.Between(0, wThink), Think: draw.Expo(wThink)},
			Up:      draw.Const(wLatency),
		}},
		Provider: provider,
		Rand:     root.For(1),
		Plan:     metrics.Plan{Horizon: virtual, FaultEnd: end, Capacity: cfg.Bound(cfg.Load(0, 0)).PerSecond()},
	}
}

func BenchmarkFleet(b *testing.B) {
	for _, s := range sizes {
		b.Run(fmt.Sprintf("clients=%d", s.clients), func(b *testing.B) {
			measure(b, s.clients, func() uint64 {
				rep, err := wExperiment(b, s.clients, s.virtual).Run(context.Background())
				if err != nil {
					b.Fatal(err)
				}
				return rep.Events
			})
		})
	}
}

// BenchmarkOutageRecovery is a million clients over 120 virtual seconds, with
// the provider out from 20 s to 50 s.
func BenchmarkOutageRecovery(b *testing.B) {
	const clients = 1_000_000
	outage := faults.Outage(20*time.Second, 50*time.Second, mockprovider.As503)
	measure(b, clients, func() uint64 {
		rep, err := wExperiment(b, clients, 120*time.Second, outage).Run(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		return rep.Events
	})
}

// measure runs fn, which returns its number of events, and reports events per second,
// allocated bytes per client and allocations per event. All bytes that a run allocates
// count, also those that are already garbage.
func measure(b *testing.B, clients int, fn func() uint64) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var events uint64
	n := 0
	for b.Loop() {
		events += fn()
		n++
	}
	b.StopTimer()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(n)/float64(clients), "B/client")
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/float64(events), "allocs/event")
}

// bareLoop is workload W written directly on the event queue, without strategies, gates
// or a recorder: the baseline for BenchmarkFleet.
type bareLoop struct {
	queue   des.Queue
	rnd     draw.Rand
	draws   uint64
	attempt []uint8
	waiting []uint32
	head    int
	busy    int
	slots   int
	touched uint32
}

func newBareLoop(clients int) *bareLoop {
	l := &bareLoop{rnd: draw.New(1), attempt: make([]uint8, clients), slots: clients / 100}
	l.queue.Grow(clients)
	l.queue.Opened = func(es []des.Event) {
		for i := range es {
			l.touched += uint32(l.attempt[es[i].Ref])
		}
	}
	for i := range uint32(clients) {
		l.queue.Push(des.Event{At: l.rnd.Uniform(l.draw(), 0, wThink), Ref: i, Kind: bareSend})
	}
	return l
}

func (l *bareLoop) draw() uint64 { l.draws++; return l.draws }

const (
	bareDone = iota
	bareArrive
	bareSend
)

func (l *bareLoop) run(until time.Duration) (events uint64) {
	for {
		e, ok := l.queue.Pop()
		if !ok || e.At >= until {
			return events
		}
		events++
		switch e.Kind {
		case bareSend:
			e.At += wLatency
			e.Kind = bareArrive
			l.queue.Push(e)
		case bareArrive:
			switch {
			case l.busy < l.slots:
				l.busy++
				l.start(e)
			case len(l.waiting)-l.head < 2*l.slots:
				l.waiting = append(l.waiting, e.Ref)
			default:
				a := min(l.attempt[e.Ref], 6)
				l.attempt[e.Ref]++
				e.At += l.rnd.Uniform(l.draw(), 0, wBase<<a)
				e.Kind = bareSend
				l.queue.Push(e)
			}
		case bareDone:
			l.attempt[e.Ref] = 0
			done := e
			done.At += l.rnd.Exp(l.draw(), wThink)
			done.Kind = bareSend
			l.queue.Push(done)
			if l.head < len(l.waiting) {
				e.Ref = l.waiting[l.head]
				l.head++
				if l.head == 4*l.slots {
					l.waiting = l.waiting[:copy(l.waiting, l.waiting[l.head:])]
					l.head = 0
				}
				l.start(e)
			} else {
				l.busy--
			}
		}
	}
}

func (l *bareLoop) start(e des.Event) {
	e.At += l.rnd.Exp(l.draw(), wService)
	e.Kind = bareDone
	l.queue.Push(e)
}

func BenchmarkBareLoop(b *testing.B) {
	for _, s := range sizes {
		b.Run(fmt.Sprintf("clients=%d", s.clients), func(b *testing.B) {
			measure(b, s.clients, func() uint64 { return newBareLoop(s.clients).run(s.virtual) })
		})
	}
}
