package mockprovider

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

func TestCurves(t *testing.T) {
	line := Curve{Points: []Point{{0.5, 1}, {1, 2}, {3, 10}}}
	for _, c := range []struct {
		curve      Curve
		load, want float64
	}{
		{Curve{}, 5, 7},
		{line, 0, 1}, {line, 0.5, 1}, {line, 0.75, 1.5}, {line, 1, 2}, {line, 2, 6}, {line, 3, 10}, {line, 100, 10},
		{Curve{Points: []Point{{1, 4}}}, 0.1, 4}, {Curve{Points: []Point{{1, 4}}}, 2, 4},
		{Curve{Kind: Hyperbolic, Cap: 20}, 0, 1}, {Curve{Kind: Hyperbolic, Cap: 20}, 0.9, 10},
		{Curve{Kind: Hyperbolic, Cap: 20}, 0.99, 20}, {Curve{Kind: Hyperbolic, Cap: 20}, 1, 20}, {Curve{Kind: Hyperbolic, Cap: 20}, 5, 20},
		{Curve{Kind: Excess, Cap: 1}, 0, 0}, {Curve{Kind: Excess, Cap: 1}, 1, 0}, {Curve{Kind: Excess, Cap: 1}, 2, 0.5},
		{Curve{Kind: Excess, Cap: 0.75}, 1000, 0.75}, {Curve{Kind: Excess, Cap: 1}, math.MaxFloat64, 1},
	} {
		require.InDelta(t, c.want, c.curve.At(c.load, 7), 1e-12, "%+v at %g", c.curve, c.load)
	}
}

// Each request takes as long as the load that it finds makes it: 1 + load, on
// two slots.
func TestLatencyGrowsWithLoad(t *testing.T) {
	slower := Curve{Points: []Point{{0, 1}, {10, 11}}}
	service := Service{First: draw.Const(2 * time.Second), PerToken: time.Second}
	play(t, Config{Capacity: Capacity{Slots: 2, Queue: 4, Service: service, Overload: Overload{Latency: slower}}}, `
		arrive 1 -> 1 started 2s
		arrive 2 tokens=2 stream=1 -> 2 started 6s; 2 head in 3s  # half of the slots are taken
		arrive 3 -> queued
		arrive 4 -> queued
		@2s done 1 -> 1 200 ok slot=2s; 3 started 4s               # with one in service and one behind it
		@6s done 3 -> 3 200 ok slot=4s; 4 started 3s
		done 2 -> 2 200 ok slot=6s`)
	// Slots without bound know a load where it is said what they are rated.
	play(t, Config{Capacity: Capacity{Service: takes(time.Second), Overload: Overload{Latency: slower, Rated: 4}}}, `
		arrive 1 -> 1 started 1s
		arrive 2 -> 2 started 1.25s
		arrive 3 -> 3 started 1.5s`)
	// What others hold is load, too.
	play(t, Config{Models: []ModelConfig{{Others: Always(0.5)}}, Capacity: Capacity{Slots: 4, Service: takes(time.Second), Overload: Overload{Latency: slower}}}, `
		arrive 1 -> 1 started 1.5s
		arrive 2 -> 2 started 1.75s
		arrive 3 -> 3 503 overloaded`)
	// Tokens in flight make the load of a pool.
	play(t, Config{Capacity: Capacity{Slots: 10, Unit: 1000, Service: takes(time.Second), Overload: Overload{Latency: slower}}}, `
		arrive 1 input=4000 -> 1 started 1s
		arrive 2 input=3500 -> 2 started 1.4s
		arrive 3 -> 3 started 1.8s`)
}

// A refusal curve refuses with its probability, by the luck of call and attempt.
func TestRefusalGrowsWithLoad(t *testing.T) {
	cfg := Config{Capacity: Capacity{Slots: 10, Full: As429, Overload: Overload{Refusal: Curve{Points: []Point{{0, 0}, {1, 1}}}}}, Limits: []Limit{few{Limit: 10}}}
	p, err := New(cfg, draw.New(1))
	require.NoError(t, err)
	const n = 20_000
	for busy := range 10 {
		refused := 0
		arrive := func(call uint64, attempt uint32) bool {
			e := p.Step(0, &wire.Input{Request: wire.Request{Call: call, Attempt: attempt}}, nil)[0]
			if e.Kind == wire.Started {
				p.Step(0, &wire.Input{Kind: wire.Done, Job: e.Job}, nil)
				return true
			}
			require.Equal(t, wire.Overloaded, e.Reply.Class)
			require.Equal(t, uint16(429), e.Reply.Status)
			return false
		}
		differ := 0
		for call := range uint64(n) {
			first, again := arrive(call, 1), arrive(call, 1)
			require.Equal(t, first, again, "the same attempt has the same luck")
			if arrive(call, 2) != first {
				differ++
			}
			if !first {
				refused++
			}
		}
		q := float64(busy) / 10
		sd := math.Sqrt(q * (1 - q) / n)
		require.InDelta(t, q, float64(refused)/n, 4*sd, "load %g", q)
		require.InDelta(t, 2*q*(1-q), float64(differ)/n, 8*sd, "attempts are independent")
		// One more for the next round.
		for call := uint64(n); ; call++ {
			if p.Step(0, &wire.Input{Request: wire.Request{Call: call, Attempt: 1}}, nil)[0].Kind == wire.Started {
				break
			}
		}
	}
}

func TestOverloadValidate(t *testing.T) {
	slow := Curve{Points: []Point{{0, 1}}}
	for want, o := range map[string]Overload{
		"latency: there is no kind 3 of curve":                                                                {Latency: Curve{Kind: 3}},
		"latency: a formula has no points; leave them out":                                                    {Latency: Curve{Kind: Hyperbolic, Cap: 2, Points: []Point{{0, 1}}}},
		"latency: its cap must be 1 to 1e+06, not 0":                                                          {Latency: Curve{Kind: Hyperbolic}},
		"refusal: its cap must be 0 to 1, not NaN":                                                            {Refusal: Curve{Kind: Excess, Cap: math.NaN()}},
		"latency: points need no cap; leave it out":                                                           {Latency: Curve{Points: slow.Points, Cap: 1}},
		"latency: this formula does not give such values; use Hyperbolic for latency and Excess for refusals": {Latency: Curve{Kind: Excess, Cap: 1}},
		"refusal: this formula does not give such values; use Hyperbolic for latency and Excess for refusals": {Refusal: Curve{Kind: Hyperbolic, Cap: 1}},
		"latency: point 1: NaN is no load":                                                                    {Latency: Curve{Points: []Point{{math.NaN(), 1}}}},
		"latency: point 1: +Inf is no load":                                                                   {Latency: Curve{Points: []Point{{math.Inf(1), 1}}}},
		"latency: point 2 must lie at a higher load than the one before it":                                   {Latency: Curve{Points: []Point{{1, 1}, {1, 2}}}},
		"latency: point 1 must be 1 to 1e+06, not 0.5":                                                        {Latency: Curve{Points: []Point{{0, 0.5}}}},
		"refusal: point 1 must be 0 to 1, not 1.5":                                                            {Refusal: Curve{Points: []Point{{0, 1.5}}}},
		"the rated number of slots must not be negative":                                                      {Latency: slow, Rated: -1},
		"nothing depends on the load; leave out how many slots are rated":                                     {Rated: 1},
	} {
		require.EqualError(t, o.validate(1), want)
	}
	require.EqualError(t, (&Overload{Latency: slow}).validate(0), "without a bounded number of slots load 1 is undefined; state how many slots are rated")
	require.NoError(t, (&Overload{Latency: slow, Rated: 1}).validate(0))
	require.NoError(t, (&Overload{}).validate(0))
	require.NoError(t, (&Overload{Latency: Curve{Kind: Hyperbolic, Cap: 50}, Refusal: Curve{Kind: Excess, Cap: 1}}).validate(1))
}
