package validation

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/faults"
	"herdlab/mockprovider/limits"
	"herdlab/mockprovider/wire"
	"herdlab/sim"
	"herdlab/sim/draw"
	"herdlab/sim/metrics"
	"herdlab/sim/simtest"
	"herdlab/sim/traffic"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
)

// The arithmetic of herds: what a crowd that was refused together looks like when
// it comes back.

// With a fixed wait the herd stays whole: N, N−C, N−2C … come back until all
// are served, C in each round.
func TestRounds(t *testing.T) {
	const wait = 30 * time.Second
	for _, c := range []struct{ clients, slots, rounds, attempts int }{
		{10, 1, 10, 55}, {40, 6, 7, 154}, {60, 6, 10, 330}, {60, 10, 6, 210}, {100, 1, 100, 5050}, {100, 10, 10, 550},
	} {
		t.Run(fmt.Sprintf("N=%d/C=%d", c.clients, c.slots), func(t *testing.T) {
			var peaks []uint32
			sum := 0
			for left := c.clients; left > 0; left -= c.slots {
				peaks = append(peaks, uint32(left))
				sum += left
			}
			require.Equal(t, c.rounds, (c.clients+c.slots-1)/c.slots)
			require.Len(t, peaks, c.rounds)
			require.Equal(t, c.attempts, sum)
			rep := simtest.Run(t, sim.Experiment{
				Fleets:   []sim.Fleet{simtest.OneShot(c.clients, simtest.Program(t, layers.Retry{Backoff: backoffs.Fixed{Every: wait}}))},
				Provider: simtest.Provider(t, simtest.Serves(c.slots, 0, draw.Const(2*time.Second)), 1),
				Plan:     metrics.Plan{Horizon: 2 * time.Hour, Bin: wait},
			})
			require.EqualValues(t, sum, rep.Belief.Attempts)
			require.Equal(t, peaks, rep.Series.Attempts[:c.rounds])
			require.Equal(t, time.Duration(c.rounds-1)*wait+2*time.Second, rep.End)
		})
	}
}

// Told when the window is over, N clients of a limit of L need ⌈N/L⌉ windows and
// Σ(N−kL) attempts: the hint is a fixed wait for all of them.
func TestHintOfAWindow(t *testing.T) {
	cfg := mockprovider.Config{Limits: []mockprovider.Limit{limits.Window{Limit: 20, Length: time.Minute,
		Terms: mockprovider.Terms{Refusal: mockprovider.As429.WithHint(mockprovider.Hint{Kind: mockprovider.Exact})}}}}
	rep := simtest.Run(t, sim.Experiment{
		Fleets:   []sim.Fleet{simtest.OneShot(60, simtest.Program(t, layers.Retry{Backoff: backoffs.Fixed{}}))},
		Provider: simtest.Provider(t, cfg, 1), Plan: metrics.Plan{Horizon: time.Hour, Bin: time.Minute},
	})
	require.EqualValues(t, 120, rep.Belief.Attempts)
	require.Equal(t, []uint32{60, 40, 20}, rep.Series.Attempts)
}

// The ten clients of the reference article with waits of 1, 2, 4, 8, 16 s and U(0, 0.5 s)
// on each. The first wave is N even draws from [0, J): the mean of the smallest
// gap is J/(N²−1), that of their span J(N−1)/(N+1). In fixed bins of 50 ms it has
// a peak of 2.75. Wherever the 50 ms begin, and over all five waves, it is 3.66,
// by an independent program; and in half a second they are still ten.
func TestTenPointsApart(t *testing.T) {
	statistics(t)
	const n, waves = 10, 5
	seeds := 1400
	if simtest.Long {
		seeds = 2000
	}
	p := simtest.Program(t, layers.Retry{Backoff: backoffs.Exponential{Base: time.Second, Jitter: 500 * ms}, MaxAttempts: waves + 1})
	busiest := func(at []time.Duration, width time.Duration) (most int) {
		first := 0
		for i, x := range at {
			for x-at[first] >= width {
				first++
			}
			most = max(most, i-first+1)
		}
		return most
	}
	var gaps, spans, fixed, sliding sample
	for seed := range seeds {
		var back [waves + 1][]time.Duration
		simtest.Run(t, sim.Experiment{
			Fleets: []sim.Fleet{simtest.OneShot(n, p)}, Rand: draw.New(uint64(seed)), Plan: minute,
			Provider: &simtest.Server{Arrive: func(now time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
				k := in.Request.Attempt - 1
				back[k] = append(back[k], now)
				return append(out, simtest.Reply(in.Ticket, 0, wire.Overloaded))
			}},
		})
		first, least, most := back[1], time.Hour, 0
		require.GreaterOrEqual(t, first[0], time.Second)
		require.Less(t, first[n-1], 1500*ms, "all ten in half a second")
		var bins [10]int
		for i, at := range first {
			if i > 0 {
				least = min(least, at-first[i-1])
			}
			bins[(at-time.Second)/(50*ms)]++
		}
		for _, wave := range back[1:] {
			most = max(most, busiest(wave, 50*ms))
		}
		gaps, spans = append(gaps, least.Seconds()), append(spans, (first[n-1]-first[0]).Seconds())
		fixed, sliding = append(fixed, float64(slices.Max(bins[:]))), append(sliding, float64(most))
	}
	gaps.agrees(t, "smallest gap", reference{value: 0.5 / (n*n - 1)}, 0.1)
	spans.agrees(t, "span", reference{value: 0.5 * (n - 1) / (n + 1)}, 0.02)
	fixed.agrees(t, "peak, fixed", reference{value: occupy(10, 10).mean()}, 0.03)
	sliding.agrees(t, "peak, sliding", reference{value: 3.663}, 0.03)
}

// If each holds a slot for longer than the jitter is wide, all are there
// together in the end: jitter spreads arrivals and not concurrency.
func TestJitterDoesNotLowerConcurrency(t *testing.T) {
	for _, c := range []struct {
		holds time.Duration
		all   bool
	}{{500 * ms, true}, {50 * ms, false}} {
		w := &watched{Provider: simtest.Provider(t, mockprovider.Config{
			Capacity: mockprovider.Capacity{Slots: 1000, Service: mockprovider.Service{First: draw.Const(c.holds)}},
			Faults:   []mockprovider.Fault{faults.Outage(0, time.Second, mockprovider.As503)},
		}, 1)}
		most := 0
		look := &simtest.Server{Arrive: func(now time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
			out = w.Step(now, in, out)
			most = max(most, w.Busy())
			return out
		}, Other: w.Step}
		simtest.Run(t, sim.Experiment{
			Fleets:   []sim.Fleet{simtest.OneShot(40, simtest.Program(t, layers.Retry{Backoff: backoffs.Fixed{Every: time.Second, Jitter: 500 * ms}}))},
			Provider: look, Plan: minute, Rand: draw.New(1),
		})
		require.Equal(t, c.all, most == 40, "%d at a time", most)
	}
}

// Slotted ALOHA: of a Poisson stream of G a slot, Ge^−G slots have exactly one,
// at most 0.367879; without slots, one that meets nobody within a slot before and
// after it, Ge^−2G, at most 0.183940. Of N that spread over N slots each is alone
// with the chance (1−1/N)^(N−1).
func TestAloha(t *testing.T) {
	statistics(t)
	for _, c := range []struct{ g, slotted, pure float64 }{
		{1, 0.367879, math.Exp(-2)}, {0.5, 0.5 * math.Exp(-0.5), 0.183940}, {2, 2 * math.Exp(-2), 2 * math.Exp(-4)},
	} {
		require.InDelta(t, c.slotted, c.g*math.Exp(-c.g), 1e-6)
		require.InDelta(t, c.pure, c.g*math.Exp(-2*c.g), 1e-6)
		if c.g == 2 && !simtest.Long {
			continue
		}
		const slots = 40_000
		var at []time.Duration
		f := poisson(t, c.g)
		f.Traffic.Arrivals = traffic.Stream{Gap: draw.Expo(time.Duration(1e9 / c.g)), Until: slots * time.Second}
		rep := simtest.Run(t, sim.Experiment{
			Fleets: []sim.Fleet{f}, Rand: draw.New(3), Plan: metrics.Plan{Horizon: 2 * slots * time.Second},
			Provider: &simtest.Server{Arrive: func(now time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
				at = append(at, now)
				return append(out, simtest.Reply(in.Ticket, 0, wire.OK))
			}},
		})
		alone := 0
		for _, n := range rep.Series.Attempts {
			if n == 1 {
				alone++
			}
		}
		share(t, "slotted", c.slotted, alone, slots)
		alone = 0
		for i := range at {
			if (i == 0 || at[i]-at[i-1] > time.Second) && (i == len(at)-1 || at[i+1]-at[i] > time.Second) {
				alone++
			}
		}
		// Neighbours are not independent: one in three standard deviations more.
		assert.InDelta(t, c.pure, float64(alone)/slots, 6*math.Sqrt(c.pure/slots))
	}
	for n, want := range map[int]float64{2: 0.5, 10: 0.387420, 100: 0.369730} {
		require.InDelta(t, want, math.Pow(1-1/float64(n), float64(n-1)), 1e-6)
		var alone sample
		spreadOver(t, n, n, 4000/n, func(rep *metrics.Report) {
			ones := 0
			for _, k := range rep.Series.Attempts[time.Second/rep.Plan.Bin:] {
				if k == 1 {
					ones++
				}
			}
			alone = append(alone, float64(ones)/float64(n))
		})
		alone.agrees(t, fmt.Sprintf("alone of %d", n), reference{value: want}, 0.1)
	}
}
