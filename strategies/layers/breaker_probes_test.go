package layers

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/strategytest"
)

// Three permits while it is half open: two successes close it, two failures open
// it, and a neutral end gives its permit to another.
func TestBreakerProbes(t *testing.T) {
	k := fast(1, strategies.PerFleet)
	k.Probes, k.CloseAfter, k.OpenAfter, k.ProbeTimeout = 3, 2, 2, 10*time.Second
	const opened = `
		z: begin -> send
		z: 503 -> stop failed
		a: begin -> stop breaker_open
		@30s a: begin -> send
		b: begin -> send
		c: begin -> send
		d: begin -> stop breaker_open
		`
	for name, script := range map[string]string{
		"two successes close it": `
			a: 200 -> stop succeeded
			d: begin -> stop breaker_open             # permits are for the half-open time
			b: 503 -> stop failed
			d: begin -> stop breaker_open
			c: 200 -> stop succeeded
			d: begin -> send
			e: begin -> send
			f: begin -> send
			g: begin -> send`,
		"two failures open it": `
			a: 503 -> stop failed
			b: 200 -> stop succeeded
			c: 503 -> stop failed
			@59s d: begin -> stop breaker_open
			@60s d: begin -> send`,
		"neutral ends give permits back": `
			a: 400 -> stop failed
			d: begin -> send
			e: begin -> stop breaker_open
			@31s b: cancelled -> stop withdrawn
			e: begin -> send
			f: begin -> stop breaker_open
			e: 200 -> stop succeeded
			d: 200 -> stop succeeded
			f: begin -> send`,
		"lost probes are given up together": `
			a: 200 -> stop succeeded
			@39.9s d: begin -> stop breaker_open
			@40s d: begin -> send                     # a new half-open time
			b: 503 -> stop failed                     # of the old one
			c: 503 -> stop failed
			e: begin -> send
			d: 200 -> stop succeeded
			f: begin -> send
			g: begin -> stop breaker_open
			e: 200 -> stop succeeded
			g: begin -> send`,
	} {
		t.Run(name, func(t *testing.T) { strategytest.Play(t, []strategies.Layer{k}, opened+script) })
	}
	k.AllProbes = true
	for name, script := range map[string]string{
		"two of three close it, once all have ended": `
			a: 200 -> stop succeeded
			b: 200 -> stop succeeded
			d: begin -> stop breaker_open
			c: 503 -> stop failed
			d: begin -> send`,
		"two of three open it, once all have ended": `
			@31s a: 503 -> stop failed
			b: 503 -> stop failed
			@39s c: 200 -> stop succeeded
			@68s d: begin -> stop breaker_open        # since then, and not since it was clear
			@69s d: begin -> send`,
		"a neutral end is none": `
			a: 400 -> stop failed
			b: 200 -> stop succeeded
			c: 200 -> stop succeeded
			d: begin -> send
			e: begin -> stop breaker_open
			d: 503 -> stop failed
			e: begin -> send`,
	} {
		t.Run(name, func(t *testing.T) { strategytest.Play(t, []strategies.Layer{k}, opened+script) })
	}
}

// Where stragglers are ignored only probes count once it has opened.
func TestBreakerIgnoresStragglers(t *testing.T) {
	const script = `
		a: begin -> send
		b: begin -> send
		c: begin -> send
		a: 503 -> stop failed
		b: 200 -> stop succeeded                  # sent before
		d: begin -> %s
		@30s d: begin -> send
		c: 200 -> stop succeeded
		e: begin -> %s
		d: 200 -> stop succeeded
		e: begin -> send`
	k := fast(1, strategies.PerFleet)
	k.IgnoreStragglers = true
	strategytest.Play(t, []strategies.Layer{k}, strings.ReplaceAll(script, "%s", "stop breaker_open"))
	k = fast(0, strategies.PerFleet)
	k.Trip = CountWindow{Last: 1, Percent: 100}
	strategytest.Play(t, []strategies.Layer{k}, strings.ReplaceAll(script, "%s", "stop breaker_open"))
	strategytest.Play(t, []strategies.Layer{fast(1, strategies.PerFleet)}, strings.ReplaceAll(script, "%s", "send"))
}

// What is counted can be chosen: with throttling as neutral, a run of 429 opens
// nothing, and does not end a run of failures either.
func TestBreakerCounts(t *testing.T) {
	k := fast(2, strategies.PerFleet)
	k.Counts = strategies.ClassesOf(wire.Overloaded, wire.ServerError, wire.Timeout)
	strategytest.Play(t, []strategies.Layer{k}, `
		a: begin -> send
		a: 503 -> stop failed
		b: begin -> send
		b: 429 -> stop failed
		c: begin -> send
		c: 429 -> stop failed
		d: begin -> send
		d: expired -> stop failed
		e: begin -> stop breaker_open`)
}

// Oversized requests, wrong keys and spent quotas, in any number, open no breaker
// of the table of trips for other calls.
func TestClientErrorsOpenNoBreaker(t *testing.T) {
	for name, k := range map[string]Breaker{
		"consecutive": fast(1, strategies.PerEveryone),
		"count":       trip(CountWindow{Last: 2, Percent: 1, SlowPercent: 1}),
		"time":        trip(TimeWindow{Within: time.Hour, Percent: 1, SlowPercent: 1}),
		"lifetime":    trip(Lifetime{Percent: 1, SlowPercent: 1}),
	} {
		x := strategytest.NewOneClient(t, k)
		for range 1000 {
			for _, c := range []wire.Class{wire.BadRequest, wire.TooLarge, wire.Auth, wire.Permission, wire.Quota} {
				require.Equal(t, 1, x.Calls(c), name)
			}
		}
	}
}

// trip is a breaker that fails fast and opens for 30 s.
func trip(by Trip) Breaker {
	k := fast(0, strategies.PerEveryone)
	k.Trip, k.SlowAfter = by, 5*time.Second
	return k
}

// Local breakers that open together come back apart.
func TestBreakerOpenJitter(t *testing.T) {
	k := Breaker{Failures: 1, OpenFor: 30 * time.Second, OpenJitter: 20 * time.Second, MinWait: 1, Scope: strategies.PerClient}
	w := strategytest.NewWorld(t, map[string][]strategies.Layer{"": {k}}, 1)
	ends := map[time.Duration]bool{}
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		c := w.Call(name)
		c.Next(strategies.Event{Kind: strategies.Begin})
		c.Next(strategies.Event{Kind: strategies.Reply, Attempt: 1, Outcome: strategytest.Refusal(wire.NoHint)})
		d := c.Next(strategies.Event{Kind: strategies.Begin})
		require.Equal(t, strategies.Wait, d.Kind)
		require.GreaterOrEqual(t, d.After, 30*time.Second)
		require.Less(t, d.After, 50*time.Second)
		ends[d.After] = true
	}
	require.Len(t, ends, 6)
}

func TestBreakerRejectsInvalidSettings(t *testing.T) {
	with := func(change func(*Breaker)) Breaker {
		k := fast(1, strategies.PerFleet)
		change(&k)
		return k
	}
	for want, k := range map[string]Breaker{
		"failures must be 1 to 1073741823, not 0":                                                                            with(func(k *Breaker) { k.Failures = 0 }),
		"either trip or failures opens it; with a trip, leave out failures":                                                  with(func(k *Breaker) { k.Trip = Lifetime{Percent: 1} }),
		"open_for must be positive":                                                                                          with(func(k *Breaker) { k.OpenFor = 0 }),
		"open_jitter and slow_after must not be negative":                                                                    with(func(k *Breaker) { k.OpenJitter = -1 }),
		"probes must be 0 to 1000, and close_after and open_after must not be negative":                                      with(func(k *Breaker) { k.Probes = 1001 }),
		"with 3 probes, close_after 3 and open_after 2 leave cases undecided; their sum may be at most one more than probes": with(func(k *Breaker) { k.Probes, k.CloseAfter, k.OpenAfter = 3, 3, 2 }),
		"with 1 probes, close_after 2 and open_after 1 leave cases undecided; their sum may be at most one more than probes": with(func(k *Breaker) { k.CloseAfter = 2 }),
		"last must be 1 to 10000 and min 0 to last, not 0 and 0":                                                             trip(CountWindow{Percent: 50}),
		"percent and slow_percent must be 0 to 100 % and not both 0, not 0 % and 0 %":                                        trip(CountWindow{Last: 10}),
		"percent and slow_percent must be 0 to 100 % and not both 0, not 101 % and 0 %":                                      trip(Lifetime{Percent: 101}),
		"within must be at least 10ns and min not negative, not 1ns and 0":                                                   trip(TimeWindow{Within: 1, Percent: 50}),
		"clear and min must not be negative, not -1ns and 0":                                                                 trip(Lifetime{Clear: -1, Percent: 50}),
	} {
		_, err := strategies.Compile(strategies.Definition{Name: "bad", Layers: []strategies.Layer{k}}, nil)
		require.EqualError(t, err, `strategy "bad": breaker: `+want)
	}
	commons := strategies.NewSharedMemory()
	_, err := strategies.Compile(strategies.Definition{Name: "one", Layers: []strategies.Layer{trip(Lifetime{Percent: 10})}}, commons)
	require.NoError(t, err)
	_, err = strategies.Compile(strategies.Definition{Name: "two", Layers: []strategies.Layer{trip(Lifetime{Percent: 20})}}, commons)
	require.ErrorContains(t, err, "differ")
}

// After any history a breaker admits a call again after its open time and the time
// of its probes: no permit is lost for ever (case 10). The number of running probes
// never exceeds the number of permits.
func TestBreakerNeverLosesItsPermits(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		k := Breaker{Failures: 1, OpenFor: 10, ProbeTimeout: 7, FailFast: true, Scope: strategies.PerFleet, Probes: rapid.IntRange(1, 4).Draw(rt, "probes")}
		k.CloseAfter = rapid.IntRange(1, k.Probes).Draw(rt, "close after")
		k.OpenAfter = k.Probes + 1 - k.CloseAfter
		if rapid.Bool().Draw(rt, "by trip") {
			k.Failures, k.Trip = 0, CountWindow{Last: 3, Min: 1, Percent: 50}
		}
		w := strategytest.NewWorld(t, map[string][]strategies.Layer{"": {k}}, 1)
		var flying []*strategytest.Caller
		names := "abcdefgh"
		rt.Repeat(map[string]func(*rapid.T){
			"time": func(rt *rapid.T) { w.Now += time.Duration(rapid.IntRange(0, 9).Draw(rt, "dt")) },
			"begin": func(rt *rapid.T) {
				i := rapid.IntRange(0, len(names)-1).Draw(rt, "call")
				c := w.Call(names[i : i+1])
				if !slices.Contains(flying, c) && c.Next(strategies.Event{Kind: strategies.Begin}).Kind == strategies.Send {
					flying = append(flying, c)
				}
			},
			"end": func(rt *rapid.T) {
				if len(flying) == 0 {
					return
				}
				i := rapid.IntRange(0, len(flying)-1).Draw(rt, "which")
				class := rapid.SampledFrom([]wire.Class{wire.OK, wire.Overloaded, wire.Rate, wire.BadRequest, wire.Cancelled}).Draw(rt, "class")
				c := flying[i]
				flying = slices.Delete(flying, i, i+1)
				c.Next(strategies.Event{Kind: strategies.Reply, Attempt: 1, Outcome: &wire.Outcome{Class: class, RetryAfter: wire.NoHint}})
			},
			"": func(rt *rapid.T) {
				words := slices.Clone(w.Fleets[""].Words)
				if breakerState(words[0]).state() == halfOpen && k.Probes > 1 {
					counts := probeCounts(words[2])
					require.GreaterOrEqual(rt, counts.inFlight(), int64(0))
					require.LessOrEqual(rt, counts.given(), int64(k.Probes))
					require.LessOrEqual(rt, counts.inFlight(), int64(len(flying)))
				}
				w.Now += k.OpenFor + k.ProbeTimeout
				require.Equal(rt, strategies.Send, w.Call("late").Next(strategies.Event{Kind: strategies.Begin}).Kind)
				w.Now -= k.OpenFor + k.ProbeTimeout
				copy(w.Fleets[""].Words, words)
			},
		})
	})
}
