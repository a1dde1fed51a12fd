package validation

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/sim/simtest"
	"herdlab/strategies"
)

// impatient gives each attempt an exponentially distributed timeout.
func impatient(mean time.Duration) strategies.Layer {
	return simtest.Layer(func(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
		p := b.Purpose()
		return simtest.Deciding(func(now time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
			d := inner.Next(now, c, e)
			if d.Kind == strategies.Send {
				d.After = max(1, c.Exponential(p, mean))
			}
			return d
		}), nil
	})
}

// erlangA solves the chain of M/M/c with patience: those that wait leave at the
// rate theta each. It returns which share leaves and which finds no slot free.
func erlangA(slots int, lambda, theta float64) (abandon, wait float64) {
	weight, sum, lq, busy := 1.0, 0.0, 0.0, 0.0
	for n := 0; n < 1000; n++ {
		if n > 0 {
			weight *= lambda / (float64(min(n, slots)) + theta*float64(max(n-slots, 0)))
		}
		sum += weight
		if n >= slots {
			busy += weight
			lq += float64(n-slots) * weight
		}
	}
	return theta * lq / sum / lambda, busy / sum
}

// Erlang-A: callers with a timeout that do not wait for ever. The provider finds
// out when their turn comes; whose turn has come is served, though its caller may
// leave.
func TestErlangA(t *testing.T) {
	for _, c := range []struct {
		slots                       int
		lambda, theta, leave, waits float64
		hours                       float64
	}{
		{5, 4, 0.5, 0.077969, 0.415052, 4}, {5, 8, 0.5, 0.382450, 0.962682, 0.6},
		{5, 8, 2, 0.411977, 0.814775, 0.6}, {10, 10, 1, 0.125110, 0.542070, 1.2},
	} {
		abandon, wait := erlangA(c.slots, c.lambda, c.theta)
		require.InDelta(t, c.leave, abandon, 1e-6)
		require.InDelta(t, c.waits, wait, 1e-6)
		f, cfg := poisson(t, c.lambda), simtest.Serves(c.slots, unbounded/2, exponential)
		f.Program = simtest.Program(t, impatient(time.Duration(1e9/c.theta)))
		cfg.Discipline.DropGone = true
		queue{
			name: fmt.Sprintf("c=%d lambda=%g theta=%g", c.slots, c.lambda, c.theta), fleet: f, cfg: cfg,
			seconds: c.hours * 3600, seeds: 8,
			figures: []figure{
				{"abandon", abandon, func(d day) float64 { return float64(d.dropped) / float64(d.total) }},
				{"wait", wait, func(d day) float64 { return d.atLeast(c.slots) }}, // PASTA
			},
		}.check(t)
	}
}
