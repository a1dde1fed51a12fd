package validation

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"herdlab/sim"
	"herdlab/sim/draw"
	"herdlab/sim/metrics"
	"herdlab/sim/simtest"
	"herdlab/sim/traffic"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
)

// "Fixing retries with token buckets and circuit breakers" and "What is Backoff
// For?" (M. Brooker, 2022; github.com/mbrooker/simulator_example, retry_sim): a
// server that fails with the probability f, however much is asked of it.

// ratioBreaker stops retries, and retries alone, while more than a tenth of a
// client's calls have failed: it compares all failed attempts with all calls.
func ratioBreaker() strategies.Layer {
	return simtest.Layer(func(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
		counts, err := b.Reserve(strategies.PerClient, 2, "")
		return simtest.Deciding(func(now time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
			calls, failures := c.Word(counts, 0), c.Word(counts, 1)
			if e.Kind == strategies.Begin {
				*calls++
			}
			d := inner.Next(now, c, e)
			if e.Kind == strategies.Reply && !e.Outcome.OK() {
				if *failures++; 10**failures > *calls {
					return simtest.Stop(strategies.BreakerOpen)
				}
			}
			return d
		}), err
	})
}

// studied are the strategies of the study.
func studied() map[string][]strategies.Layer {
	three := layers.Retry{Backoff: backoffs.Fixed{}, MaxAttempts: 4}
	return map[string][]strategies.Layer{
		"none":     nil,
		"three":    {three},
		"adaptive": {layers.BrookerBudget{Size: 5, Deposit: 100, Scope: strategies.PerClient}, layers.Retry{Backoff: backoffs.Fixed{}}},
		"breaker":  {ratioBreaker(), three},
	}
}

// studies is ten seconds of clients that call at random, rate times a second
// together, and what comes of it.
func studies(t *testing.T, clients int, rate, f float64, seed uint64, layers ...strategies.Layer) *metrics.Report {
	p := simtest.Program(t, layers...)
	fleets := min(clients, 250)
	x := sim.Experiment{Provider: failing(t, f, seed), Rand: draw.New(seed), Plan: metrics.Plan{Horizon: time.Hour}}
	for range fleets {
		x.Fleets = append(x.Fleets, sim.Fleet{
			Name: "clients", Program: p, Up: draw.Expo(10 * ms), Down: draw.Expo(10 * ms),
			Traffic: traffic.Traffic{
				Clients:  clients / fleets,
				Arrivals: traffic.Stream{Gap: draw.Expo(time.Duration(1e9 * float64(fleets) / rate)), Until: 10 * time.Second},
			},
		})
	}
	return simtest.Run(t, x)
}

// studyResult is the share of calls that succeed, and the attempts for each.
type studyResult struct{ success, load float64 }

func TestRetriesTokensAndBreakers(t *testing.T) {
	statistics(t)
	for f, rows := range map[float64]map[string]studyResult{
		0.01: {"none": {.9904, 1}, "three": {1, 1.0114}, "adaptive": {1, 1.0095}, "breaker": {.9988, 1.0087}},
		0.05: {"none": {.9482, 1}, "three": {1, 1.0502}, "adaptive": {.9999, 1.0512}, "breaker": {.9870, 1.0389}},
		0.1:  {"none": {.9010, 1}, "three": {.9998, 1.1118}, "adaptive": {.9914, 1.1028}, "breaker": {.9281, 1.0316}},
		0.2:  {"none": {.8004, 1}, "three": {.9982, 1.2505}, "adaptive": {.9059, 1.1339}, "breaker": {.8030, 1.0040}},
		0.3:  {"none": {.7025, 1}, "three": {.9920, 1.4145}, "adaptive": {.7981, 1.1388}, "breaker": {.7016, 1.0006}},
		0.5:  {"none": {.5001, 1}, "three": {.9362, 1.8765}, "adaptive": {.5700, 1.1417}, "breaker": {.5017, 1.0002}},
		0.75: {"none": {.2497, 1}, "three": {.6827, 2.7349}, "adaptive": {.2896, 1.1423}, "breaker": {.2515, 1}},
		1:    {"none": {0, 1}, "three": {0, 4}, "adaptive": {0, 1.1431}, "breaker": {0, 1}},
	} {
		for name, layers := range studied() {
			t.Run(fmt.Sprintf("f=%g/%s", f, name), func(t *testing.T) {
				t.Parallel()
				longOnly(t, f != 0.1 && f != 0.5 && f != 1)
				var calls, attempts, useful float64
				for seed := range uint64(3) {
					rep := studies(t, 100, 1000, f, seed, layers...)
					calls += float64(rep.Belief.Calls)
					attempts += float64(rep.Belief.Attempts)
					useful += float64(rep.Belief.Useful)
				}
				got, want := studyResult{useful / calls, attempts / calls}, rows[name]
				t.Log(got, want)
				// Three runs of 10,000 calls, there as here: 0.003 for each at most.
				within := 4 * math.Sqrt2 * math.Max(0.0003, math.Sqrt(want.success*(1-want.success)/30_000))
				assert.InDelta(t, want.success, got.success, within+0.00005)
				assert.InDelta(t, want.load, got.load, 0.01*(want.load-1)+8*math.Sqrt((want.load-1)*f*2/30_000)+0.001)
				switch {
				case name == "three":
					p4 := math.Pow(f, 4)
					load := 4.0
					if f < 1 {
						load = (1 - p4) / (1 - f)
					}
					assert.InDelta(t, 1-p4, got.success, 4*math.Sqrt(p4*(1-p4)/calls))
					assert.InDelta(t, load, got.load, 4*math.Sqrt(f*4/calls))
				case name == "adaptive" && f > 0.25: // above the knee: 1.1 + 4/n of n calls a client
					const load = 1.1 + 4.0/100
					assert.InDelta(t, load, got.load, 0.005)
					assert.InDelta(t, (1-f)*load, got.success, 4*math.Sqrt(f*(1-f)*load/calls)+0.003)
				}
			})
		}
	}
}

// Many small clients: with a bucket each they come near to three retries, since
// each has its five tokens; with a breaker each nobody ever retries.
func TestHowManyClients(t *testing.T) {
	statistics(t)
	for _, c := range []struct {
		f             float64
		name          string
		clients       int
		success, load float64 // of a thousand calls; 0: not published
	}{
		{0.2, "adaptive", 10, .915, 1.135}, {0.2, "adaptive", 100, .988, 1.228}, {0.2, "adaptive", 1000, .9995, 1.255},
		{0.2, "breaker", 10, .799, 1.004}, {0.2, "breaker", 100, .802, 1.003}, {0.2, "breaker", 1000, .795, 1},
		{0.5, "adaptive", 10, 0, 1.141}, {0.5, "adaptive", 100, 0, 1.464}, {0.5, "adaptive", 1000, 0, 1.877},
	} {
		t.Run(fmt.Sprintf("f=%g/%s/%d", c.f, c.name, c.clients), func(t *testing.T) {
			t.Parallel()
			var success, load sample
			for seed := range uint64(25) {
				rep := studies(t, c.clients, 100, c.f, seed+100, studied()[c.name]...)
				success = append(success, float64(rep.Belief.Useful)/float64(rep.Belief.Calls))
				load = append(load, float64(rep.Belief.Attempts)/float64(rep.Belief.Calls))
			}
			// What is published is one run.
			near := func(what string, s sample, want float64) {
				sd, _ := s.spread()
				s.agrees(t, what, reference{want, sd + 0.0005}, 0.3)
			}
			if near("load", load, c.load); c.success > 0 {
				near("success", success, c.success)
			}
		})
	}
}

// paced begins a call when the one before has ended and an exponential gap of that
// mean has passed since it began, and none after an end.
func paced(mean, end time.Duration) strategies.Layer {
	return simtest.Layer(func(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
		next, err := b.Reserve(strategies.PerClient, 1, "")
		if err != nil {
			return nil, err
		}
		waits, err := b.Reserve(strategies.PerCall, 1, "")
		p := b.Purpose()
		return simtest.Deciding(func(now time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
			waiting, at := c.Word(waits, 0), c.Word(next, 0)
			switch begins := e.Kind == strategies.Begin || *waiting > 0 && e.Kind == strategies.Wake; {
			case !begins:
				return inner.Next(now, c, e)
			case max(now, time.Duration(*at)) >= end:
				*waiting = 1
				return simtest.Wait(time.Hour)
			case time.Duration(*at) > now:
				*waiting = 1
				return simtest.Wait(time.Duration(*at) - now)
			}
			*waiting = 0
			*at = int64(now + c.Exponential(p, mean))
			return inner.Next(now, c, strategies.Event{Kind: strategies.Begin})
		}), err
	})
}

// Backoff defers work; it does not remove any from clients without end, but it
// does from a hundred that make one call after the other. (What is published fits
// clients whose next call is due a gap after the last one began. In the program as
// it is stored now the gap follows the end, which would give 8,200 calls at f = 0.1.)
func TestWhatBackoffIsFor(t *testing.T) {
	statistics(t)
	retry := func(backoff bool) strategies.Layer {
		if backoff {
			return layers.Retry{Backoff: backoffs.Exponential{Base: 100 * ms}, MaxAttempts: 4}
		}
		return layers.Retry{Backoff: backoffs.Fixed{}, MaxAttempts: 4}
	}
	type tries struct{ first, all float64 }
	for _, c := range []struct {
		f                                  float64
		plain, backoff, serial, serialBack tries
	}{
		{0.1, tries{10057, 11194}, tries{10051, 11166}, tries{9739, 10816}, tries{9002, 9987}},
		{0.5, tries{10018, 18789}, tries{10067, 18938}, tries{9222, 17311}, tries{4280, 8080}},
		{0.75, tries{10039, 27368}, tries{10100, 27695}, tries{8770, 24044}, tries{2358, 6425}},
		{1, tries{10124, 40496}, tries{10137, 40549}, tries{7953, 31813}, tries{1301, 5205}},
	} {
		t.Run(fmt.Sprintf("f=%g", c.f), func(t *testing.T) {
			t.Parallel()
			loads := map[bool]float64{}
			for back, want := range map[bool]tries{false: c.plain, true: c.backoff} {
				rep := studies(t, 100, 1000, c.f, 7, retry(back))
				loads[back] = float64(rep.Belief.Attempts) / float64(rep.Belief.Calls)
				require.InEpsilon(t, want.all/want.first, loads[back], 0.03, "unbounded, backoff %v", back)
				require.InDelta(t, 10_000, float64(rep.Belief.Calls), 400, "Poisson")
			}
			require.InEpsilon(t, loads[false], loads[true], 0.03, "no less work")
			for back, want := range map[bool]tries{false: c.serial, true: c.serialBack} {
				var first, all float64
				const seeds = 4
				for seed := range uint64(seeds) {
					f := simtest.OneShot(100, simtest.Program(t, paced(100*ms, 10*time.Second), retry(back)))
					f.Traffic.Calls, f.Traffic.Start, f.Up, f.Down = 0, draw.Expo(10*ms), draw.Expo(10*ms), draw.Expo(10*ms)
					rep := simtest.Run(t, sim.Experiment{
						Fleets: []sim.Fleet{f}, Provider: failing(t, c.f, seed), Rand: draw.New(seed), Plan: metrics.Plan{Horizon: minute.Horizon},
					})
					first += float64(rep.FirstTries) / seeds
					all += float64(rep.Belief.Attempts) / seeds
				}
				t.Logf("serial, backoff %v: %.0f and %.0f, wanted %v", back, first, all, want)
				assert.InEpsilon(t, want.first, first, 0.03, "serial, backoff %v", back)
				assert.InEpsilon(t, want.all, all, 0.03, "serial, backoff %v", back)
			}
			if c.f == 1 {
				assert.InEpsilon(t, 6, c.serial.all/c.serialBack.all, 0.03, "a sixth of the work")
			}
		})
	}
}
