package validation

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

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

// afresh is a provider for which every attempt takes a time of its own. Ours takes
// as long for a call whenever it is asked.
type afresh struct{ *mockprovider.Provider }

func (p afresh) Step(now time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
	if in.Kind == wire.Arrive {
		other := *in
		other.Request.Call = in.Request.Call<<8 | uint64(in.Request.Attempt)
		in = &other
	}
	return p.Provider.Step(now, in, out)
}

// Load of 9, 20, 9, 7, 5 and 3 a second, of which 10 can be served, with a timeout of
// half a second (the profile of an example of happy-simulator): what
// share of the calls of each phase is answered. Five attempts never recover, not
// even at 3 a second, for 3·5 is more than 10; a single attempt does. In the first
// phase it matters whether late answers count, and whether a retry has another
// chance to be short: where what takes long takes as long again, less gets through.
func TestStepProfile(t *testing.T) {
	statistics(t)
	ends := []float64{20, 30, 60, 75, 90, 100}
	rates := []float64{9, 20, 9, 7, 5, 3}
	profile := func(s float64) float64 {
		for i, end := range ends {
			if s < end {
				return rates[i]
			}
		}
		return 0
	}
	hedge := []strategies.Layer{layers.Hedge{After: 500 * ms, Attempts: 5, Scope: strategies.PerFleet}}
	again := timed(500*ms, 5, backoffs.Fixed{})
	for name, c := range map[string]struct {
		layers   []strategies.Layer
		patience time.Duration
		same     bool // a call takes as long each time
		want     []float64
	}{
		"one attempt":                 {timed(500*ms, 1, backoffs.Fixed{}), 0, false, []float64{.672, .032, 0, .030, .647, .987}},
		"five, late answers count":    {hedge, 2500 * ms, false, []float64{.391, .009, 0, 0, 0, 0}},
		"five, late answers are lost": {again, 0, false, []float64{.278}},
		"five, what is long is long":  {again, 0, true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			longOnly(t, c.same || len(c.want) == 1)
			const seeds, theirs = 80, 200
			shares := make([]sample, len(ends))
			for seed := range uint64(seeds) {
				p := simtest.Provider(t, simtest.Serves(1, unbounded/2, draw.Expo(100*ms)), seed)
				x := sim.Experiment{
					Fleets: []sim.Fleet{{Name: "clients", Patience: c.patience, Program: simtest.Program(t, c.layers...),
						Traffic: traffic.Traffic{Clients: 1, Arrivals: even{profile}}}},
					Provider: afresh{p}, Rand: draw.New(seed), Plan: metrics.Plan{Horizon: 100 * time.Second},
				}
				if c.same {
					x.Provider = p
				}
				rep := simtest.Run(t, x)
				begin := 0
				for i, end := range ends {
					var calls, useful float64
					for k := begin; k < min(int(end), len(rep.Series.Calls)); k++ {
						calls += float64(rep.Series.Calls[k])
						useful += float64(rep.Series.Useful[k])
					}
					shares[i] = append(shares[i], useful/calls)
					begin = int(end)
				}
			}
			for i, want := range c.want {
				mean, se := meanAndError(shares[i])
				t.Logf("%g a second: %.3f ± %.3f, wanted %.3f", rates[i], mean, se, want)
				assert.InDelta(t, want, mean, 4*se*math.Sqrt(1+float64(seeds)/theirs)+0.0005)
			}
			if c.same {
				mean, _ := meanAndError(shares[0])
				assert.Less(t, mean, 0.25)
			}
		})
	}
}
