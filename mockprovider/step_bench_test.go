package mockprovider_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/limits"
	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// busy is a provider with a window, a semaphore and slots that are never all taken.
func busy(tb testing.TB) *mockprovider.Provider {
	p, err := mockprovider.New(mockprovider.Config{
		Limits: []mockprovider.Limit{
			limits.Window{Limit: 1 << 30, Length: time.Second, Terms: mockprovider.Terms{Refusal: mockprovider.As429}},
			limits.Semaphore{Limit: 300, Terms: mockprovider.Terms{Refusal: mockprovider.As14003}},
		},
		Capacity: mockprovider.Capacity{Slots: 100, Queue: 200, Service: mockprovider.Service{First: draw.Expo(time.Second)}},
	}, draw.New(1))
	require.NoError(tb, err)
	return p
}

// four is a provider with four gates that refuse nobody and work that takes no
// time: what is measured is the machine.
func four(tb testing.TB, terms mockprovider.Terms) *mockprovider.Provider {
	const most = 1 << 30
	p, err := mockprovider.New(mockprovider.Config{Limits: []mockprovider.Limit{
		limits.Window{Limit: most, Length: time.Second, Terms: terms},
		limits.TokenBucket{Limit: most, Length: most, Burst: most, Terms: terms},
		limits.SlidingCounter{Limit: most, Length: time.Second, Terms: terms},
		limits.Semaphore{Limit: most},
	}}, draw.New(1))
	require.NoError(tb, err)
	return p
}

// fill adds requests until all slots are taken and some requests
// wait. It returns the jobs in service.
func fill(p *mockprovider.Provider, in *wire.Input) (working []uint32) {
	in.Kind = wire.Arrive
	for p.Queued() < 50 {
		in.Request.Call++
		in.Ticket++
		for _, e := range p.Step(0, in, nil) {
			working = append(working, e.Job)
		}
	}
	return working
}

// relieve lets one more arrive, and a job be done whose slot the next one takes.
func relieve(p *mockprovider.Provider, now time.Duration, in *wire.Input, job *uint32, out []wire.Effect) []wire.Effect {
	in.Kind = wire.Arrive
	in.Request.Call++
	in.Ticket++
	out = p.Step(now, in, out[:0])
	in.Kind, in.Job = wire.Done, *job
	out = p.Step(now, in, out)
	for i := range out {
		if out[i].Kind == wire.Started {
			*job = out[i].Job
		}
	}
	return out
}

// BenchmarkStep measures a request that passes a window, a semaphore and a
// slot, one that waits for its slot, and one that is refused by the semaphore; and requests that pass four
// gates, counted as such or by their tokens.
func BenchmarkStep(b *testing.B) {
	for _, c := range []struct {
		name   string
		charge mockprovider.Charge
	}{{"four gates", mockprovider.Charge{}}, {"four gates, tokens", mockprovider.Charge{Count: mockprovider.AllTokens, When: mockprovider.Reserved}}} {
		b.Run(c.name, func(b *testing.B) {
			p, in, out := four(b, mockprovider.Terms{Charge: c.charge}), &wire.Input{}, make([]wire.Effect, 0, 4)
			in.Request.Demand = wire.Demand{InputTokens: 100, OutputTokens: 100, MaxTokens: 1000}
			now := time.Duration(0)
			b.ReportAllocs()
			for b.Loop() {
				now += time.Microsecond
				out = serve(p, now, in, out)
			}
		})
	}
	b.Run("served", func(b *testing.B) {
		p, in, out := busy(b), &wire.Input{}, make([]wire.Effect, 0, 4)
		now := time.Duration(0)
		b.ReportAllocs()
		for b.Loop() {
			now += time.Microsecond
			in.Request.Call++
			out = serve(p, now, in, out)
		}
	})
	b.Run("queued", func(b *testing.B) {
		p, in, out := busy(b), &wire.Input{}, make([]wire.Effect, 0, 4)
		working := fill(p, in)
		now := time.Duration(0)
		b.ReportAllocs()
		for i := 0; b.Loop(); i = (i + 1) % len(working) {
			now += time.Microsecond
			out = relieve(p, now, in, &working[i], out)
		}
	})
	b.Run("refused", func(b *testing.B) {
		p, in, out := busy(b), &wire.Input{Kind: wire.Arrive}, make([]wire.Effect, 0, 4)
		for range 300 {
			out = p.Step(0, in, out[:0])
		}
		b.ReportAllocs()
		for b.Loop() {
			out = p.Step(0, in, out[:0])
		}
	})
}

// A step allocates nothing once the provider has seen its largest crowd.
func TestStepDoesNotAllocate(t *testing.T) {
	p, in, out := busy(t), &wire.Input{}, make([]wire.Effect, 0, 4)
	serve(p, 0, in, out)
	require.Zero(t, testing.AllocsPerRun(1000, func() { out = serve(p, 0, in, out) }))
}

// Nor does it where much is going on.
func TestStepOfManyPartsDoesNotAllocate(t *testing.T) {
	for order := range mockprovider.UrgentFirst + 1 {
		c := mockprovider.Capacity{
			Slots: 100, Queue: 200, Unit: 1000, Service: mockprovider.Service{First: draw.Expo(time.Second), PerToken: time.Millisecond},
			Discipline: mockprovider.Discipline{Order: order, MaxWait: 50 * time.Microsecond, DropGone: true, CoDel: mockprovider.CoDel{Target: time.Microsecond, Interval: 20 * time.Microsecond}},
			Overload:   mockprovider.Overload{Latency: mockprovider.Curve{Kind: mockprovider.Hyperbolic, Cap: 10}},
			Autoscale:  &mockprovider.Autoscale{Min: 100, Max: 100, Target: 80, Period: time.Millisecond},
		}
		if order == mockprovider.AdaptiveLIFO {
			c.Discipline.Turns = 10
		}
		p, err := mockprovider.New(mockprovider.Config{Capacity: c, Models: make([]mockprovider.ModelConfig, 2), Regions: make([]mockprovider.RegionConfig, 2), Abandoned: mockprovider.Notice{Noticed: true, Delay: time.Microsecond}}, draw.New(1))
		require.NoError(t, err)
		in, out := &wire.Input{}, make([]wire.Effect, 0, 400)
		working := fill(p, in)
		now, i := time.Duration(0), 0
		step := func() {
			now += 3 * time.Microsecond
			in.Ticket %= 1000
			out = relieve(p, now, in, &working[i], out)
			if i = (i + 1) % len(working); i%3 == 0 {
				in.Kind = wire.Abandon
				out = p.Step(now, in, out[:0])
			}
		}
		for range 2000 {
			step()
		}
		require.Zero(t, testing.AllocsPerRun(2000, step), "order %d", order)
	}
}
