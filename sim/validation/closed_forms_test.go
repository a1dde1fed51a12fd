package validation

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/wire"
	"herdlab/sim"
	"herdlab/sim/draw"
	"herdlab/sim/metrics"
	"herdlab/sim/simtest"
	"herdlab/sim/traffic"
)

// The closed forms of queueing theory, in units of one mean service time,
// which is a second here. Every figure is the mean over independent seeds, and
// must lie within the tolerance of its formula. The standard error is that of
// the mean over seeds; the tolerance must be at least two and a half of them,
// so that a pass means something.

// watched is a provider whose state is integrated over time.
type watched struct {
	*mockprovider.Provider
	last           time.Duration
	busy, queued   float64 // integrals, in seconds
	inSystem       [128]float64
	total, blocked uint64          // arrivals, and those refused at once
	dropped        uint64          // those that left the queue unserved
	came           []time.Duration // when each ticket did
	limits         []time.Duration // waits of interest, and how many were longer
	longer         []uint64
}

func (w *watched) Step(now time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
	dt := (now - w.last).Seconds()
	w.last = now
	w.busy += float64(w.Busy()) * dt
	w.queued += float64(w.Queued()) * dt
	w.inSystem[min(w.Busy()+w.Queued(), len(w.inSystem)-1)] += dt
	n := len(out)
	out = w.Provider.Step(now, in, out)
	if in.Kind == wire.Arrive {
		w.total++
		if len(out) > n && out[n].Kind == wire.Replied {
			w.blocked++
		}
		if len(w.limits) > 0 {
			for int(in.Ticket) >= len(w.came) {
				w.came = append(w.came, 0)
			}
			w.came[in.Ticket] = now
		}
	}
	for i := range out[n:] {
		switch e := &out[n+i]; e.Kind {
		case wire.Started:
			for k, limit := range w.limits {
				if now-w.came[e.Ticket] > limit {
					w.longer[k]++
				}
			}
		case wire.Dropped:
			w.dropped++
		}
	}
	return out
}

// atLeast is the share of time with n or more in the system.
func (w *watched) atLeast(n int) float64 {
	var s float64
	for _, dt := range w.inSystem[n:] {
		s += dt
	}
	return s / w.last.Seconds()
}

// day is one run of a queue.
type day struct {
	*metrics.Report
	*watched
}

func (d day) seconds() float64 { return d.End.Seconds() }

// wait is the mean wait in the queue of accepted calls.
func (d day) wait() float64 { return d.queued / float64(d.Belief.Useful) }

// longerThan is the share of those served that waited longer than limit k.
func (d day) longerThan(k int) float64 { return float64(d.longer[k]) / float64(d.Belief.Useful) }

// sojourn is the mean time in the system of accepted calls.
func (d day) sojourn() float64 {
	return d.MeanSojourn() * float64(d.Belief.Succeeded+d.Belief.Failed) / float64(d.Belief.Useful)
}

// figure is one quantity with its closed form.
type figure struct {
	name string
	want float64
	of   func(day) float64
}

// queue is a system whose figures are known.
type queue struct {
	name    string
	fleet   sim.Fleet
	cfg     mockprovider.Config
	seconds float64 // length of one run
	seeds   int
	within  float64 // in place of the usual tolerance, a third of it in long proofs; 0 for the usual
	figures []figure
	rough   []figure        // judged by four standard errors, of 6 % at most
	limits  []time.Duration // waits that a figure asks for
	long    bool            // it runs in long proofs only
}

// tolerance is relative: 3 %, and 1 % in long proofs.
func tolerance() float64 {
	if simtest.Long {
		return 0.01
	}
	return 0.03
}

func (q queue) check(t *testing.T) {
	t.Run(q.name, func(t *testing.T) {
		if simtest.Racing {
			t.Skip("statistics, without a race in them")
		}
		longOnly(t, q.long)
		t.Parallel()
		seeds := q.seeds
		if simtest.Long {
			seeds *= 10
		}
		figures := append(slices.Clone(q.figures), q.rough...)
		values := make([][]float64, len(figures))
		for i := range values {
			values[i] = make([]float64, seeds)
		}
		errs := make([]error, seeds)
		simtest.InParallel(seeds, func(seed int) {
			root := draw.New(uint64(seed + 1))
			p, err := mockprovider.New(q.cfg, root.For(1))
			if err != nil {
				errs[seed] = err
				return
			}
			w := &watched{Provider: p, limits: q.limits, longer: make([]uint64, len(q.limits))}
			x := sim.Experiment{
				Fleets: []sim.Fleet{q.fleet}, Provider: w, Rand: root.For(2),
				Plan: metrics.Plan{Horizon: time.Duration(q.seconds * 1e9), Bin: time.Hour},
			}
			rep, err := x.Run(context.Background())
			if err != nil {
				errs[seed] = err
				return
			}
			for i, f := range figures {
				values[i][seed] = f.of(day{rep, w})
			}
		})
		for _, err := range errs {
			require.NoError(t, err)
		}
		for i, f := range figures {
			mean, se := meanAndError(values[i])
			within := tolerance() * f.want * cmp.Or(q.within/0.03, 1)
			if i >= len(q.figures) {
				within = 4 * min(se, 0.06*f.want)
			}
			t.Logf("%-12s %.6f ± %.6f (want %.6f, %+.2f %%)", f.name, mean, se, f.want, 100*(mean/f.want-1))
			assert.InDelta(t, f.want, mean, within, "%s: standard error %.2g", f.name, se)
			assert.Less(t, se, within/2.5, "%s: the run is too short to tell", f.name)
		}
	})
}

func meanAndError(x []float64) (mean, se float64) {
	n := float64(len(x))
	for _, v := range x {
		mean += v / n
	}
	for _, v := range x {
		se += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(se / (n - 1) / n)
}

// poisson is an open fleet of calls at the given rate that try once.
func poisson(t testing.TB, rate float64) sim.Fleet {
	return sim.Fleet{Name: "poisson", Program: simtest.Program(t), Traffic: traffic.Traffic{
		Clients: 1, Arrivals: traffic.Stream{Gap: draw.Expo(time.Duration(1e9 / rate))},
	}}
}

const unbounded = 1_000_000_000

var (
	exponential   = draw.Expo(time.Second)
	deterministic = draw.Const(time.Second)
)

func lognormal(cv float64) draw.Dist {
	return draw.Dist{Kind: draw.Lognormal, Mean: time.Second, CV: cv}
}

// M/M/1: L = ρ/(1−ρ), W = 1/(1−ρ), quantiles −ln(1−p)/(1−ρ), P(N ≥ n) = ρⁿ.
func TestMM1(t *testing.T) {
	type row struct {
		rho, seconds, within float64
	}
	for i, c := range []row{{0.5, 150_000, 0}, {0.7, 300_000, 0}, {0.8, 650_000, 0}, {0.9, 800_000, 0.06}} {
		rho := c.rho
		n := map[float64]int{0.5: 3, 0.7: 5, 0.8: 10, 0.9: 10}[rho] // as far as runs of this length see
		queue{
			name: fmt.Sprintf("rho=%g", rho), fleet: poisson(t, rho), cfg: simtest.Serves(1, unbounded, exponential),
			seconds: c.seconds, seeds: 10, within: c.within, long: i >= 2,
			figures: []figure{
				{"L", rho / (1 - rho), func(d day) float64 { return d.MeanCalls() }},
				{"Lq", rho * rho / (1 - rho), func(d day) float64 { return d.queued / d.seconds() }},
				{"W", 1 / (1 - rho), func(d day) float64 { return d.MeanSojourn() }},
				{"p50", math.Ln2 / (1 - rho), func(d day) float64 { return d.Latency.Quantile(0.5).Seconds() }},
				{"p99", math.Log(100) / (1 - rho), func(d day) float64 { return d.Latency.Quantile(0.99).Seconds() }},
				{fmt.Sprintf("P(N≥%d)", n), math.Pow(rho, float64(n)), func(d day) float64 { return d.atLeast(n) }},
			},
		}.check(t)
	}
}

// M/G/1, Pollaczek–Khinchine: Wq = ρ(1+cv²)/(2(1−ρ)).
func TestMG1(t *testing.T) {
	type row struct {
		name    string
		service draw.Dist
		rho, cv float64
		seconds float64
		seeds   int
	}
	rows := []row{
		{"deterministic", deterministic, 0.8, 0, 400_000, 5},
		{"lognormal cv 0.3", lognormal(0.3), 0.8, 0.3, 400_000, 5},
		// Heavy traffic of a heavy tail needs long runs.
		{"lognormal cv 2", lognormal(2), 0.5, 2, 700_000, 16},
		{"lognormal cv 2", lognormal(2), 0.8, 2, 1_000_000, 30},
	}
	for i, c := range rows {
		rho := c.rho
		wq := rho * (1 + c.cv*c.cv) / (2 * (1 - rho))
		queue{
			name: fmt.Sprintf("%s rho=%g", c.name, rho), fleet: poisson(t, rho), cfg: simtest.Serves(1, unbounded, c.service),
			seconds: c.seconds, seeds: c.seeds, long: i >= 2,
			figures: []figure{
				{"Wq", wq, day.wait},
				{"W", wq + 1, func(d day) float64 { return d.MeanSojourn() }},
				{"L", rho * (wq + 1), func(d day) float64 { return d.MeanCalls() }},
				{"busy", rho, func(d day) float64 { return d.Truth.SlotTime.Seconds() / d.seconds() }},
			},
		}.check(t)
	}
}

// erlangB is the share of calls that c slots lose of an offered load of a.
func erlangB(c int, a float64) float64 {
	b := 1.0
	for k := 1; k <= c; k++ {
		b = a * b / (float64(k) + a*b)
	}
	return b
}

// M/M/c: P(wait) = C = B/(1 − ρ(1−B)), Wq = C/(c−a), Lq = aWq, and waits have
// the tail P(Wq > t) = C·e^(−(c−a)t).
func TestMMc(t *testing.T) {
	for i, c := range []struct {
		slots       int
		load, hours float64
		within      float64 // where few calls wait
	}{
		{2, 1.6, 22, 0}, {5, 4, 15, 0}, {100, 80, 1.2, 0.2},
		{5, 2.5, 20, 0}, {6, 4.8, 15, 0}, {10, 5, 24, 0.05}, {10, 8, 12, 0}, {20, 16, 9, 0},
	} {
		a, n := c.load, float64(c.slots)
		b := erlangB(c.slots, a)
		erlangC := b / (1 - a/n*(1-b))
		p99 := math.Log(erlangC/0.01) / (n - a)
		q := queue{
			name: fmt.Sprintf("c=%d a=%g", c.slots, a), fleet: poisson(t, a), cfg: simtest.Serves(c.slots, unbounded, exponential),
			seconds: c.hours * 3600, seeds: 10, within: c.within, long: i >= 2,
			figures: []figure{
				{"C", erlangC, func(d day) float64 { return d.atLeast(c.slots) }}, // PASTA
				{"Wq", erlangC / (n - a), day.wait},
				{"Lq", a * erlangC / (n - a), func(d day) float64 { return d.queued / d.seconds() }},
			},
			rough: []figure{
				{"P(Wq>p99)", 0.01, func(d day) float64 { return d.longerThan(0) }},
				{"P(Wq>1)", erlangC * math.Exp(a-n), func(d day) float64 { return d.longerThan(1) }},
			},
			limits: []time.Duration{time.Duration(p99 * 1e9), time.Second},
		}
		if erlangC*math.Exp(a-n) < 0.004 {
			q.rough = q.rough[:1]
		}
		q.check(t)
	}
}

// Erlang B: what c slots without a queue refuse does not depend on the
// distribution of service times, only on their mean.
func TestErlangB(t *testing.T) {
	for _, service := range []struct {
		name string
		dist draw.Dist
	}{{"exponential", exponential}, {"deterministic", deterministic}, {"lognormal cv 2", lognormal(2)}} {
		for i, c := range []struct {
			slots               int
			load, hours, within float64
		}{
			{5, 4, 2, 0}, {6, 12, 0.5, 0}, {20, 25, 0.5, 0},
			{5, 5, 1, 0}, {5, 10, 0.5, 0}, {6, 6, 1, 0}, {10, 20, 0.3, 0}, {20, 10, 2, 0.2}, {20, 40, 0.2, 0},
		} {
			want := erlangB(c.slots, c.load)
			queue{
				name: fmt.Sprintf("%s/c=%d a=%g", service.name, c.slots, c.load), fleet: poisson(t, c.load),
				cfg: simtest.Serves(c.slots, 0, service.dist), seconds: c.hours * 3600, seeds: 8, within: c.within, long: i >= 3,
				figures: []figure{
					{"blocking", want, func(d day) float64 { return float64(d.Belief.Failed) / float64(d.Belief.Calls) }},
					{"busy", c.load * (1 - want), func(d day) float64 { return d.busy / d.seconds() }},
				},
			}.check(t)
		}
	}
}

// finiteRoom solves the birth–death chain of M/M/c/K: which share is turned away,
// and how many are there and wait on the average.
func finiteRoom(slots, k int, load float64) (block, l, lq float64) {
	weight, sum := 1.0, 0.0
	for n := 0; n <= k; n++ {
		if n > 0 {
			weight *= load / float64(min(n, slots))
		}
		sum += weight
		l += float64(n) * weight
		lq += float64(max(n-slots, 0)) * weight
	}
	return weight / sum, l / sum, lq / sum
}

// M/M/c/K, K = slots + queue: the birth–death chain solved.
func TestMMcK(t *testing.T) {
	for i, c := range []struct {
		slots, k int
		load     float64
		hours    float64
	}{{1, 5, 0.9, 12}, {1, 5, 2, 4}, {5, 15, 6, 5}, {10, 30, 12, 3}, {5, 15, 4.5, 26}, {6, 26, 6, 30}} {
		block, l, lq := finiteRoom(c.slots, c.k, c.load)
		x := c.load * (1 - block)
		queue{
			name: fmt.Sprintf("c=%d K=%d a=%g", c.slots, c.k, c.load), fleet: poisson(t, c.load),
			cfg: simtest.Serves(c.slots, c.k-c.slots, exponential), seconds: c.hours * 3600, seeds: 8, long: i >= 4,
			figures: []figure{
				{"P(block)", block, func(d day) float64 { return float64(d.Belief.Failed) / float64(d.Belief.Calls) }},
				{"L", l, func(d day) float64 { return d.MeanCalls() }},
				{"Wq", lq / x, day.wait},
				{"W", l / x, day.sojourn},
				{"X", x, func(d day) float64 { return float64(d.Belief.Useful) / d.seconds() }},
			},
		}.check(t)
	}
}

// workers is a closed fleet of n that think for a mean time between calls.
func workers(t testing.TB, n int, think float64) sim.Fleet {
	d := draw.Expo(time.Duration(think * 1e9))
	return sim.Fleet{Name: "workers", Program: simtest.Program(t), Traffic: traffic.Traffic{Clients: n, Start: d, Think: d}}
}

// finiteSource is the law of the number in the system of n workers, each
// thinking for z and served for s: with waiting up to n, or with none at all.
func finiteSource(n, slots int, z, s float64, wait bool) []float64 {
	last := n
	if !wait {
		last = min(n, slots)
	}
	p := make([]float64, last+1)
	p[0] = 1
	sum := 1.0
	for k := 1; k <= last; k++ {
		p[k] = p[k-1] * float64(n-k+1) / z / (float64(min(k, slots)) / s)
		sum += p[k]
	}
	for k := range p {
		p[k] /= sum
	}
	return p
}

// A closed loop of n workers, the machine repairman: throughput X and response
// time R = n/X − Z.
func TestClosedLoop(t *testing.T) {
	for _, c := range []struct {
		n          int
		z, s       float64
		slots      int
		xRef, rRef float64 // six digits, from the tables
	}{
		{1, 0.2, 0.3, 1, 2, 0.3}, {5, 0.2, 0.3, 2, 6.519047, 0.566983}, {5, 0.2, 0.3, 5, 10, 0.3},
		{20, 0.2, 0.3, 6, 19.999923, 0.800004}, {20, 1, 0.3, 3, 9.955438, 1.008952}, {60, 30, 2, 6, 1.866233, 2.150325},
		{10, 1.145, 0.1, 1, 7.209997, 0.241963}, // M. Brooker, "Open and closed, omission and collapse"
	} {
		var x float64
		for k, p := range finiteSource(c.n, c.slots, c.z, c.s, true) {
			x += p * float64(min(k, c.slots)) / c.s
		}
		require.InDelta(t, c.xRef, x, 2e-6)
		require.InDelta(t, c.rRef, float64(c.n)/x-c.z, 2e-6)
		queue{
			name: fmt.Sprintf("N=%d Z=%g S=%g c=%d", c.n, c.z, c.s, c.slots), fleet: workers(t, c.n, c.z),
			cfg: simtest.Serves(c.slots, unbounded, draw.Expo(time.Duration(c.s*1e9))), seconds: 30_000 / x, seeds: 5,
			figures: []figure{
				{"X", x, func(d day) float64 { return float64(d.Belief.Useful) / d.seconds() }},
				{"R", float64(c.n)/x - c.z, func(d day) float64 { return d.MeanSojourn() }},
			},
		}.check(t)
	}
}

// Engset: workers who find no slot go back to thinking. They meet the system
// as one worker fewer would leave it.
func TestEngset(t *testing.T) {
	for _, c := range []struct {
		n     int
		z, s  float64
		slots int
		ref   float64
	}{{5, 0.2, 0.3, 4, 0.129600}, {20, 1, 0.3, 3, 0.542205}, {20, 0.2, 0.3, 6, 0.734684}, {60, 30, 2, 6, 0.094840}} {
		p := finiteSource(c.n-1, c.slots, c.z, c.s, false)
		want := p[c.slots]
		require.InDelta(t, c.ref, want, 2e-6)
		queue{
			name: fmt.Sprintf("N=%d Z=%g S=%g c=%d", c.n, c.z, c.s, c.slots), fleet: workers(t, c.n, c.z),
			cfg: simtest.Serves(c.slots, 0, draw.Expo(time.Duration(c.s*1e9))), seconds: 40_000 * (c.z + c.s) / float64(c.n), seeds: 6,
			figures: []figure{{"blocking", want, func(d day) float64 { return float64(d.Belief.Failed) / float64(d.Belief.Calls) }}},
		}.check(t)
	}
}
