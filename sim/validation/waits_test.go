package validation

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/faults"
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

// The closed forms of retry loops, of our own strategies in our own simulator:
// how long they wait, how often they try, and how loops inside loops multiply.

// totals is one jitter's law: the mean and the standard deviation of the sum of
// the first n waits and the most that it can be, for a base of 1 s, in seconds;
// and what is published of it.
type totals struct {
	name      string
	backoff   strategies.Backoff
	mean, sd  func(n int) float64 // sd nil: unknown
	most      func(n int) float64
	published map[int]published
	err       float64 // of a published figure that is no formula
}

// published is a mean with its standard deviation; 0 if it has none.
type published struct{ mean, sd float64 }

// sumOf adds up a term for each of the first n waits.
func sumOf(term func(k int) float64) func(n int) float64 {
	return func(n int) (sum float64) {
		for k := range n {
			sum += term(k)
		}
		return sum
	}
}

// capped is a wait of 1, 2, 4 … s up to a limit.
func capped(limit float64) func(k int) float64 {
	return func(k int) float64 { return math.Min(limit, math.Exp2(float64(k))) }
}

// times is a term times a factor.
func times(factor float64, term func(int) float64) func(int) float64 {
	return func(k int) float64 { return factor * term(k) }
}

// jittered is the deviation of a sum of draws that are each even over a width.
func jittered(width func(k int) float64) func(n int) float64 {
	variance := sumOf(func(k int) float64 { return width(k) * width(k) / 12 })
	return func(n int) float64 { return math.Sqrt(variance(n)) }
}

func totalWaits() []totals {
	const s = time.Second
	whole, at20 := capped(math.Inf(1)), capped(20)
	half := func(int) float64 { return 0.5 }
	none := func(int) float64 { return 0 }
	tripled := sumOf(func(k int) float64 { return math.Pow(3, float64(k+1)) })
	upTo := func(limit float64) func(int) float64 { return func(n int) float64 { return limit * float64(n) } }
	published0 := func(means ...float64) map[int]published {
		m := map[int]published{}
		for i, mean := range means {
			m[i+1] = published{mean: mean}
		}
		return m
	}
	return []totals{
		{"none", backoffs.Exponential{Base: s}, sumOf(whole), none, sumOf(whole),
			map[int]published{3: {7, 0}, 4: {15, 0}, 5: {31, 0}, 6: {63, 0}, 8: {255, 0}}, 0},
		{"full-jitter", backoffs.FullJitter{Base: s}, sumOf(times(0.5, whole)), jittered(whole), sumOf(whole),
			map[int]published{3: {3.5, 1.322876}, 4: {7.5, 2.661453}, 5: {15.5, 5.330729}, 6: {31.5, 10.665365}, 8: {127.5, 42.666341}}, 0},
		{"equal-jitter", backoffs.EqualJitter{Base: s}, sumOf(times(0.75, whole)), jittered(times(0.5, whole)), sumOf(whole),
			map[int]published{3: {5.25, 0.661438}, 4: {11.25, 1.330727}, 5: {23.25, 2.665364}, 6: {47.25, 5.332682}, 8: {191.25, 21.333171}}, 0},
		{"decorrelated-jitter", backoffs.DecorrelatedJitter{Base: s}, sumOf(func(k int) float64 { return 2*math.Pow(1.5, float64(k+1)) - 1 }), nil, tripled,
			map[int]published{3: {11.25, 0}, 4: {20.375, 0}, 5: {34.5625, 0}, 6: {56.34375, 0}, 8: {139.773438, 0}}, 0},
		{"exponential+0.5s", backoffs.Exponential{Base: s, Jitter: s / 2},
			sumOf(func(k int) float64 { return whole(k) + 0.25 }), jittered(half), sumOf(func(k int) float64 { return whole(k) + 0.5 }),
			map[int]published{3: {7.75, 0}, 4: {16, 0}, 5: {32.25, 0.322749}, 6: {64.5, 0}, 8: {257, 0}}, 0},
		{"none-cap-20", backoffs.Exponential{Base: s, Cap: 20 * s}, sumOf(at20), none, sumOf(at20), published0(1, 3, 7, 15, 31, 51, 71, 91), 0},
		// Under a cap the decorrelated waits have no closed form: the reference is a
		// simulation by another program, good to ± 0.03.
		{"decorrelated-jitter-cap-20", backoffs.DecorrelatedJitter{Base: s, Cap: 20 * s}, nil, nil, upTo(20),
			published0(2, 5.5, 11.239, 19.440, 29.447, 40.633, 52.566, 64.965), 0.03 / 4},
		{"decorrelated-jitter-cap-60", backoffs.DecorrelatedJitter{Base: s, Cap: 60 * s}, nil, nil, upTo(60),
			published0(2, 5.5, 11.25, 20.368, 33.978, 52.039, 73.838, 98.578), 0.03 / 4},
	}
}

// Everybody calls at 0 and is refused at once, again and again: the time of an
// attempt is the sum of the waits before it.
func TestTotalWaits(t *testing.T) {
	statistics(t)
	for _, c := range totalWaits() {
		t.Run(c.name, func(t *testing.T) {
			const calls, waits = 20_000, 8
			var sums [waits + 1]sample
			rep := simtest.Run(t, sim.Experiment{
				Fleets: []sim.Fleet{simtest.OneShot(calls, simtest.Program(t, layers.Retry{Backoff: c.backoff, MaxAttempts: waits + 1}))},
				Rand:   draw.New(11), Plan: metrics.Plan{Horizon: 24 * time.Hour, Bin: time.Hour},
				Provider: &simtest.Server{Arrive: func(now time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
					n := in.Request.Attempt - 1
					sums[n] = append(sums[n], now.Seconds())
					return append(out, simtest.Reply(in.Ticket, 0, wire.Overloaded))
				}},
			})
			require.EqualValues(t, calls*(waits+1), rep.Belief.Attempts, "one wait fewer than attempts")
			for n := 1; n <= waits; n++ {
				p, ok := c.published[n]
				if !ok {
					continue
				}
				t.Run(fmt.Sprintf("n=%d", n), func(t *testing.T) {
					want := reference{p.mean, c.err}
					if c.mean != nil {
						require.InDelta(t, p.mean, c.mean(n), 1e-6, "the published mean")
					}
					sums[n].agrees(t, "mean", want, 0.05)
					if c.sd != nil {
						if p.sd > 0 {
							require.InDelta(t, p.sd, c.sd(n), 1e-6, "the published deviation")
						}
						sd, se := sums[n].spread()
						assert.InDelta(t, c.sd(n), sd, 4*se+1e-9, "standard deviation")
					}
					assert.LessOrEqual(t, sums[n].quantile(1), c.most(n)+1e-9)
				})
			}
		})
	}
}

// failing is a provider each of whose attempts fails with the probability p.
func failing(t testing.TB, p float64, seed uint64) sim.Provider {
	cfg := mockprovider.Config{}
	if p > 0 {
		cfg.Faults = []mockprovider.Fault{{To: mockprovider.Forever, Probability: p, Does: faults.Errors{Class: wire.Overloaded}}}
	}
	return simtest.Provider(t, cfg, seed)
}

// independent plays calls of a stack against a provider that fails with the
// probability p.
func independent(t testing.TB, calls int, p float64, layers ...strategies.Layer) *metrics.Report {
	f := simtest.OneShot(calls, simtest.Program(t, layers...))
	f.Traffic = traffic.OneShot(calls, time.Hour)
	return simtest.Run(t, sim.Experiment{
		Fleets: []sim.Fleet{f}, Provider: failing(t, p, 21), Rand: draw.New(22), Plan: metrics.Plan{Horizon: 1000 * time.Hour, Bin: time.Hour},
	})
}

// Where each attempt fails with the probability p, at most m of them are
// (1−pᵐ)/(1−p) on the average, and pᵐ of the calls fail.
func TestExpectedAttempts(t *testing.T) {
	statistics(t)
	for m, row := range map[int]map[float64]float64{
		3: {0.1: 1.11, 0.3: 1.39, 0.5: 1.75, 0.9: 2.71, 1: 3},
		5: {0.1: 1.1111, 0.3: 1.4251, 0.5: 1.9375, 0.9: 4.0951, 1: 5},
	} {
		for p, published := range row {
			t.Run(fmt.Sprintf("m=%d/p=%g", m, p), func(t *testing.T) {
				mean, square, fails := 0.0, 0.0, math.Pow(p, float64(m))
				for k := 1; k <= m; k++ { // the chance of attempt k is p^(k−1)
					mean += math.Pow(p, float64(k-1))
					square += float64(2*k-1) * math.Pow(p, float64(k-1))
				}
				require.InDelta(t, published, mean, 1e-9)
				const calls = 20_000
				rep := independent(t, calls, p, layers.Retry{Backoff: backoffs.Fixed{Every: time.Second}, MaxAttempts: m})
				se := math.Sqrt((square - mean*mean) / calls)
				require.InDelta(t, mean, float64(rep.Belief.Attempts)/calls, 4*se+1e-9)
				share(t, "fails", fails, int(rep.Belief.Failed), calls)
			})
		}
	}
}

// k loops of three attempts inside each other are one of 3ᵏ: in an outage they
// multiply, and where half of the attempts succeed nobody notices.
func TestNestedLayers(t *testing.T) {
	statistics(t)
	loop := func(attempts int) strategies.Layer {
		return layers.Retry{Backoff: backoffs.Fixed{Every: time.Second}, MaxAttempts: attempts}
	}
	for _, c := range []struct {
		layers, attempts int
		p, published     float64
	}{
		{1, 3, 1, 3}, {2, 3, 1, 9}, {3, 3, 1, 27}, {5, 3, 1, 243}, // AWS Builders' Library
		{3, 4, 1, 64}, // Google SRE book: three retries in each of three layers
		{1, 3, 0.5, 1.75}, {2, 3, 0.5, 1.996094}, {3, 3, 0.5, 2},
	} {
		t.Run(fmt.Sprintf("layers=%d/attempts=%d/p=%g", c.layers, c.attempts, c.p), func(t *testing.T) {
			most := math.Pow(float64(c.attempts), float64(c.layers))
			mean := most
			if c.p < 1 {
				mean = (1 - math.Pow(c.p, most)) / (1 - c.p)
			}
			require.InDelta(t, c.published, mean, 1e-6)
			var stack []strategies.Layer
			for range c.layers {
				stack = append(stack, loop(c.attempts))
			}
			const calls = 20_000
			n := calls
			if c.p == 1 {
				n = 10
			}
			rep := independent(t, n, c.p, stack...)
			// The number of tries to a success at 1/2 has the variance 2.
			within := 4 * math.Sqrt(2.0/calls)
			if c.p == 1 {
				within = 1e-9
			}
			require.InDelta(t, mean, float64(rep.Belief.Attempts)/float64(n), within)
		})
	}
}

// What waiting costs a call on the average, if only those wait that fail: with a
// base of 1 s, Σ pᵏ⁺¹·2ᵏ over the waits. Without a cap and a bound on attempts
// that is finite only while 2p < 1.
func TestExpectedWait(t *testing.T) {
	statistics(t)
	for p, published := range map[float64]float64{0.3: 0.6528, 0.5: 2, 0.9: 10.6848} {
		t.Run(fmt.Sprintf("m=5/p=%g", p), func(t *testing.T) {
			mean, square := 0.0, 0.0
			for k := range 5 { // k waits, after exactly k failures or the last
				wait, chance := math.Exp2(float64(k))-1, math.Pow(p, float64(k))
				if k < 4 {
					chance *= 1 - p
				}
				mean += chance * wait
				square += chance * wait * wait
			}
			require.InDelta(t, published, mean, 1e-9)
			const calls = 40_000
			rep := independent(t, calls, p, layers.Retry{Backoff: backoffs.Exponential{Base: time.Second}, MaxAttempts: 5})
			require.InDelta(t, mean, rep.MeanSojourn(), 4*math.Sqrt((square-mean*mean)/calls))
		})
	}
}
