package mockprovider

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// busy is a provider with a window, a semaphore and slots that nobody fills.
func busy(tb testing.TB) *Provider {
	p, err := New(Config{
		Limits: []Limit{
			Window{Limit: 1 << 30, Length: time.Second, Terms: Terms{Refusal: As429}},
			Semaphore{Limit: 300, Terms: Terms{Refusal: As14003}},
		},
		Capacity: Capacity{Slots: 100, Queue: 200, Service: Service{First: draw.Expo(time.Second)}},
	}, draw.New(1))
	require.NoError(tb, err)
	return p
}

// serve lets one request arrive and be done.
func serve(p *Provider, now time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
	in.Kind = wire.Arrive
	out = p.Step(now, in, out[:0])
	in.Kind, in.Job = wire.Done, out[0].Job
	return p.Step(now, in, out)
}

// BenchmarkStep measures a request that passes a window, a semaphore and a
// slot, and one that is refused by the last of them.
func BenchmarkStep(b *testing.B) {
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
