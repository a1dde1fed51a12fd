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
	"herdlab/sim"
	"herdlab/sim/draw"
	"herdlab/sim/metrics"
	"herdlab/sim/simtest"
	"herdlab/sim/traffic"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
)

// Metastable failures (N. Bronson et al., HotOS 2021; L. Huang et al., OSDI 2022) in
// the smallest model that has them: calls come evenly to one server with a queue,
// who has had no answer after a timeout asks again, and what is queued is served
// all the same.

// trouble is such a model: an outage of so many seconds begins at 20 s.
type trouble struct {
	rate       func(seconds float64) float64
	poisson    bool
	outage     float64
	does       mockprovider.Disturbance // nil: nothing is served
	capacity   float64
	queue      int // 0: without bound
	discipline mockprovider.Discipline
	layers     []strategies.Layer
	seconds    float64 // after the outage; 0: 300
}

const troubleBegins = 20

// even are arrivals at a rate that varies, one after the other.
type even struct{ varying }

func (e even) Next(_ draw.Rand, _ uint64, prev time.Duration) (time.Duration, bool) {
	return prev + time.Duration(1e9/e.varying(prev.Seconds())), true
}

func constantly(rate float64) func(float64) float64 { return func(float64) float64 { return rate } }

func (c trouble) run(t *testing.T, seed uint64) *metrics.Report {
	if c.seconds == 0 {
		c.seconds = 300
	}
	if c.does == nil {
		c.does = faults.Brownout{Percent: 0}
	}
	begins := troubleBegins * time.Second
	ends := begins + time.Duration(c.outage*1e9)
	service := draw.Const(time.Duration(1e9 / c.capacity))
	var arrivals traffic.Arrivals = even{c.rate}
	if c.poisson {
		service, arrivals = draw.Expo(time.Duration(1e9/c.capacity)), varying(c.rate)
	}
	cfg := simtest.Serves(1, unbounded/2, service)
	if c.queue > 0 {
		cfg.Queue = c.queue
	}
	cfg.Discipline = c.discipline
	cfg.Faults = []mockprovider.Fault{{From: begins, To: ends, Does: c.does}}
	f := sim.Fleet{Name: "clients", Traffic: traffic.Traffic{Clients: 1, Arrivals: arrivals}, Program: simtest.Program(t, c.layers...)}
	return simtest.Run(t, sim.Experiment{
		Fleets: []sim.Fleet{f}, Provider: simtest.Provider(t, cfg, seed), Rand: draw.New(seed),
		Plan: metrics.Plan{Horizon: ends + time.Duration(c.seconds)*time.Second, FaultBegin: begins, FaultEnd: ends},
	})
}

// recovery is from when on, in seconds after the outage, 95 % of the calls are
// answered; infinity if they are not in the end.
func recovery(rep *metrics.Report) float64 {
	s := &rep.Series
	last := 0
	for i := range len(s.Calls) - 1 {
		if float64(s.Useful[i]) < 0.95*float64(s.Calls[i]) {
			last = i + 1
		}
	}
	if last > len(s.Calls)-5 {
		return math.Inf(1)
	}
	return max(0, (s.Start + time.Duration(last)*s.Width - rep.Plan.FaultEnd).Seconds())
}

// goodput is the share of calls that are answered in the last ten seconds, and the
// attempts for each.
func goodput(rep *metrics.Report) (share, amplification float64) {
	var calls, useful, attempts float64
	n := len(rep.Series.Calls)
	for i := n - 11; i < n-1; i++ {
		calls += float64(rep.Series.Calls[i])
		useful += float64(rep.Series.Useful[i])
		attempts += float64(rep.Series.Attempts[i])
	}
	return useful / calls, attempts / calls
}

// timed are retries of so many attempts in all, each with a timeout.
func timed(timeout time.Duration, attempts int, b strategies.Backoff) []strategies.Layer {
	return []strategies.Layer{layers.Retry{Backoff: b, MaxAttempts: attempts}, layers.AttemptTimeout{After: timeout}}
}

// Of 300 a second, one retry for each leaves 150: below that an outage of 10 s is
// over after (λ(2T−τ) − Cτ)/(C−2λ), from there on never.
func TestMetastableRecovery(t *testing.T) {
	statistics(t)
	for lambda, want := range map[float64]float64{
		100: 17, 120: 33, 140: 119, 149: 1266, 150: math.Inf(1), 155: math.Inf(1), 200: math.Inf(1), 280: math.Inf(1), 299: math.Inf(1),
	} {
		t.Run(fmt.Sprintf("%g", lambda), func(t *testing.T) {
			t.Parallel()
			longOnly(t, lambda == 149 || lambda > 200)
			fluid := (lambda*19 - 300) / (300 - 2*lambda)
			c := trouble{rate: constantly(lambda), outage: 10, capacity: 300, layers: timed(time.Second, 2, backoffs.Fixed{})}
			if lambda == 149 {
				c.seconds = 1400
			}
			rep := c.run(t, 1)
			got := recovery(rep)
			share, amplification := goodput(rep)
			switch {
			case lambda < 150:
				assert.InDelta(t, fluid, want, 1.01)
				assert.InDelta(t, want, got, 1.01+0.01*want)
			case lambda > 150:
				assert.Zero(t, share)
				assert.InDelta(t, 2, amplification, 0.001)
				fallthrough
			default:
				assert.Equal(t, want, got)
			}
		})
	}
}

// What heals it and what does not, at 280 a second. Dropping work after exactly the
// timeout and a queue of exactly C·τ lie on an edge, where the other program has 16 s
// for both and we have 13 and 1: a millisecond or two places more, and it never heals;
// a little less, and it heals at once.
func TestMetastableRemedies(t *testing.T) {
	statistics(t)
	once := []strategies.Layer{layers.AttemptTimeout{After: time.Second}}
	again := timed(time.Second, 2, backoffs.Fixed{})
	budget := func(thousandths int) []strategies.Layer {
		return append([]strategies.Layer{layers.BrookerBudget{Size: 2, Deposit: thousandths, Scope: strategies.PerFleet}}, again...)
	}
	jitter := func(base time.Duration) []strategies.Layer {
		return timed(time.Second, 2, backoffs.FullJitter{Base: base})
	}
	cut := func(to float64) func(float64) float64 {
		return func(s float64) float64 {
			if s >= 120 {
				return to
			}
			return 280
		}
	}
	never := math.Inf(1)
	for name, c := range map[string]struct {
		trouble
		want float64
	}{
		"nothing":            {trouble{layers: again}, never},
		"no retry":           {trouble{layers: once}, 126},
		"load cut to 150":    {trouble{layers: again, rate: cut(150)}, never},
		"budget 2 %":         {trouble{layers: budget(20)}, 180},
		"budget 5 %":         {trouble{layers: budget(50), seconds: 600}, 443},
		"budget 6 %":         {trouble{layers: budget(60), seconds: 1000}, 838},
		"budget 7.2 %":       {trouble{layers: budget(72), seconds: 1200}, never},
		"LIFO":               {trouble{layers: again, discipline: mockprovider.Discipline{Order: mockprovider.LIFO}}, 0},
		"drop after 0.99 s":  {trouble{layers: again, discipline: mockprovider.Discipline{MaxWait: 990 * ms}}, 0},
		"drop expired":       {trouble{layers: again, discipline: mockprovider.Discipline{MaxWait: time.Second}}, 13},
		"drop after 1.001 s": {trouble{layers: again, discipline: mockprovider.Discipline{MaxWait: 1001 * ms}}, never},
		"drop the gone":      {trouble{layers: again, discipline: mockprovider.Discipline{DropGone: true}}, 13},
		"a queue of 300":     {trouble{layers: again, queue: 300}, 1},
		"a queue of 305":     {trouble{layers: again, queue: 305}, never},
		"a queue of 250":     {trouble{layers: again, queue: 250}, 1},
		"a queue of 150":     {trouble{layers: again, queue: 150}, 1},
		"full jitter 1 s":    {trouble{layers: jitter(time.Second)}, never},
		"full jitter 10 s":   {trouble{layers: jitter(10 * time.Second)}, never},
		"late answers":       {trouble{layers: []strategies.Layer{layers.Hedge{After: time.Second, Scope: strategies.PerFleet}}}, never},
		"M/M/1":              {trouble{layers: again, poisson: true}, never},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			longOnly(t, c.seconds > 0 || slices.Contains([]string{
				"a queue of 250", "a queue of 305", "drop after 1.001 s", "full jitter 1 s", "late answers", "load cut to 150",
			}, name))
			c.outage, c.capacity = 10, 300
			if c.want == never && c.seconds == 0 {
				c.seconds = 150
			}
			if c.rate == nil {
				c.rate = constantly(280)
			}
			rep := c.run(t, 1)
			share, amplification := goodput(rep)
			got := recovery(rep)
			t.Logf("%g s, wanted %g; goodput %.3f, amplification %.3f", got, c.want, share, amplification)
			if c.want == never {
				assert.Equal(t, never, got)
			} else {
				assert.InDelta(t, c.want, got, 1.01+0.01*c.want)
			}
		})
	}
	t.Run("load cut to 140", func(t *testing.T) {
		t.Parallel()
		longOnly(t, true)
		rep := trouble{rate: cut(140), layers: again, outage: 10, capacity: 300, seconds: 3000}.run(t, 1)
		require.Less(t, recovery(rep), never)
	})
	for b, want := range map[float64]float64{0.02: 177.5, 0.05: 440, 0.06: 833.75} { // fluid
		require.InDelta(t, want, (280*(1+b)*10-300)/(300-280*(1+b)), 1e-9)
	}
}

// The shortest outage that never heals, to 30 ms.
func TestShortestFatalOutage(t *testing.T) {
	statistics(t)
	for lambda, want := range map[float64]float64{155: 1.48, 160: 1.46, 180: 1.35, 200: 1.23, 220: 1.13, 240: 1.07, 260: 1.03, 280: 1.01} {
		for side, heals := range map[float64]bool{-0.03: true, 0.03: false} {
			t.Run(fmt.Sprintf("%g/%+g", lambda, side), func(t *testing.T) {
				t.Parallel()
				rep := trouble{
					rate: constantly(lambda), outage: want + side, capacity: 300, layers: timed(time.Second, 2, backoffs.Fixed{}), seconds: 60,
				}.run(t, 1)
				share, _ := goodput(rep)
				assert.Equal(t, heals, share > 0.5)
			})
		}
	}
}

// The experiment of OSDI 2022 in the same model: 400 a second, a timeout of 3 s and
// four resends, so that it is vulnerable above a load of 1/5.
func TestRetryTriggers(t *testing.T) {
	statistics(t)
	again := timed(3*time.Second, 5, backoffs.Fixed{})
	for _, c := range []struct {
		name                   string
		lambda, slower, outage float64
		share, amplification   float64
	}{
		{"a: -77.5 %, 10 s", 152, 1 / 0.225, 10, 1, 1}, {"b: -80 %, 10 s", 152, 5, 10, 0, 5}, {"c: -80 %, 9 s", 152, 5, 9, 1, 1},
		{"d: at 114", 114, 5, 10, 1, 1}, {"d: at 106.4", 106.4, 5, 10, 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rep := trouble{
				rate: constantly(c.lambda), outage: c.outage, does: faults.Latency{Factor: c.slower}, capacity: 400, layers: again,
			}.run(t, 1)
			share, amplification := goodput(rep)
			assert.InDelta(t, c.share, share, 0.001)
			assert.InDelta(t, c.amplification, amplification, 0.01)
		})
	}
	// With chance in it, some days go the other way.
	for i, c := range []struct {
		lambda, slower, outage float64
		recovered              float64 // of 20, by another program
	}{{152, 5, 10, 2}, {106.4, 5, 10, 20}, {152, 1 / 0.225, 10, 18}, {152, 5, 9, 17}} {
		if i >= 1 && !simtest.Long {
			break
		}
		recovered := 0.0
		const seeds = 20
		for seed := range uint64(seeds) {
			rep := trouble{
				rate: constantly(c.lambda), poisson: true, outage: c.outage, does: faults.Latency{Factor: c.slower}, capacity: 400, layers: again, seconds: 60,
			}.run(t, seed)
			if share, _ := goodput(rep); share > 0.5 {
				recovered++
			}
		}
		p := (c.recovered + recovered) / (20 + seeds)
		t.Logf("%.0f of %d, beside %.0f of 20", recovered, seeds, c.recovered)
		assert.InDelta(t, c.recovered/20, recovered/seeds, 4*math.Sqrt(p*(1-p)*(1.0/20+1.0/seeds))+1e-9)
	}
}

// The shortest trouble that it never recovers from, for a load of ρ at 80 and at
// 77.5 % less. The published 7.5 at a half, and 3.98 and 4.10 at 0.9, do not come out:
// a third program, a list of finish times without a simulator, agrees with ours.
func TestShortestFatalTrigger(t *testing.T) {
	statistics(t)
	for rho, want := range map[float64][2]float64{
		0.30: {13.40, 16.53}, 0.34: {10.93, 12.63}, 0.36: {10.12, 11.47}, 0.38: {9.42, 10.54}, 0.40: {8.81, 9.75},
		0.50: {6.86, 7.38}, 0.70: {4.78, 5.02}, 0.90: {3.89, 4.04},
	} {
		for i, slower := range []float64{5, 1 / 0.225} {
			for side, heals := range map[float64]bool{-0.03: true, 0.03: false} {
				t.Run(fmt.Sprintf("rho=%g/%.3g times/%+g", rho, slower, side), func(t *testing.T) {
					t.Parallel()
					longOnly(t, rho != 0.3 && rho != 0.5 && rho != 0.9)
					rep := trouble{
						rate: constantly(400 * rho), outage: want[i] + side, does: faults.Latency{Factor: slower}, capacity: 400,
						layers: timed(3*time.Second, 5, backoffs.Fixed{}), seconds: 60,
					}.run(t, 1)
					share, _ := goodput(rep)
					assert.Equal(t, heals, share > 0.5)
				})
			}
		}
	}
}

// An outage of T without retries leaves λT behind, which is served in λT/(C−λ).
func TestBacklogWithoutRetries(t *testing.T) {
	for lambda, want := range map[float64]float64{100: 5, 200: 20, 280: 140} {
		c := trouble{rate: constantly(lambda), outage: 10, capacity: 300}
		require.InDelta(t, want, lambda*10/(300-lambda), 1e-9)
		rep := c.run(t, 1)
		// A call is pending for as long as there is a backlog, and a service after it.
		s, begun, settled, last := &rep.Series, 0, 0, 0
		for i := range s.Calls {
			begun, settled = begun+int(s.Calls[i]), settled+int(s.Settled[i])
			if begun-settled > 1 {
				last = i + 1
			}
		}
		got := (s.Start + time.Duration(last)*s.Width - rep.Plan.FaultEnd).Seconds()
		assert.InDelta(t, want, got, 1.01, "λ = %g", lambda)
	}
}
