package layers

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/strategytest"
)

// fast is a breaker whose refusals are easy to see.
func fast(failures int, scope strategies.Scope) Breaker {
	return Breaker{Failures: failures, OpenFor: 30 * time.Second, FailFast: true, Scope: scope, Name: "b"}
}

func TestBreaker(t *testing.T) {
	for name, script := range map[string]string{
		"opens at exactly the n-th consecutive failure": `
			a: begin -> send
			a: 503 -> stop failed
			a: begin -> send
			a: 429 -> stop failed
			a: begin -> send
			a: lost -> stop failed
			a: begin -> stop breaker_open overloaded
			@29.999999999s a: begin -> stop breaker_open
			@30s a: begin -> send`,
		"a success resets the count": `
			a: begin -> send
			a: 503 -> stop failed
			a: begin -> send
			a: 503 -> stop failed
			a: begin -> send
			a: 200 -> stop succeeded
			a: begin -> send
			a: 503 -> stop failed
			a: begin -> send
			a: 503 -> stop failed
			a: begin -> send
			a: 503 -> stop failed
			a: begin -> stop breaker_open`,
		"what never succeeds is no failure of the provider": `
			a: begin -> send
			a: 503 -> stop failed
			a: begin -> send
			a: 503 -> stop failed
			a: begin -> send
			a: 400 -> stop failed
			a: begin -> send
			a: 401 -> stop failed
			a: begin -> send
			a: 402 -> stop failed
			a: begin -> send
			a: 403 -> stop failed
			a: begin -> send
			a: 413 -> stop failed
			a: begin -> send
			a: cancelled -> stop withdrawn
			a: begin -> send                      # still closed, and the count stands
			a: 503 -> stop failed
			a: begin -> stop breaker_open`,
		"failures while it is open do not prolong it": `
			a: begin -> send
			b: begin -> send
			c: begin -> send
			d: begin -> send
			e: begin -> send
			a: 503 -> stop failed
			b: 503 -> stop failed
			c: 503 -> stop failed
			f: begin -> stop breaker_open
			@20s d: 503 -> stop failed
			@29s e: 503 -> stop failed
			f: begin -> stop breaker_open
			@30s f: begin -> send`,
		"exactly one probe; a failed one opens it again": `
			a: begin -> send
			b: begin -> send
			c: begin -> send
			a: 503 -> stop failed
			b: 503 -> stop failed
			c: 503 -> stop failed
			@40s a: begin -> send
			b: begin -> stop breaker_open
			c: begin -> stop breaker_open
			@42s a: 503 -> stop failed
			b: begin -> stop breaker_open
			@1m11.999999999s b: begin -> stop breaker_open
			@1m12s b: begin -> send
			c: begin -> stop breaker_open
			b: 200 -> stop succeeded
			c: begin -> send
			a: begin -> send`,
		"a straggler's success closes it at once": `
			a: begin -> send
			b: begin -> send
			c: begin -> send
			d: begin -> send
			a: 503 -> stop failed
			b: 503 -> stop failed
			c: 503 -> stop failed
			@5s d: 200 -> stop succeeded
			e: begin -> send`,
		"a straggler's success closes it under a probe": `
			a: begin -> send
			b: begin -> send
			c: begin -> send
			d: begin -> send
			a: 503 -> stop failed
			b: 503 -> stop failed
			c: 503 -> stop failed
			@30s e: begin -> send
			d: 200 -> stop succeeded
			f: begin -> send
			e: 503 -> stop failed                 # the first failure of three
			g: begin -> send`,
		"a straggler's failure does not end the probe": `
			a: begin -> send
			b: begin -> send
			c: begin -> send
			d: begin -> send
			a: 503 -> stop failed
			b: 503 -> stop failed
			c: 503 -> stop failed
			@30s e: begin -> send
			d: 503 -> stop failed
			@30.05s f: begin -> stop breaker_open
			e: 200 -> stop succeeded
			f: begin -> send`,
		"a neutral end gives the probe back": `
			a: begin -> send
			b: begin -> send
			c: begin -> send
			a: 503 -> stop failed
			b: 503 -> stop failed
			c: 503 -> stop failed
			@30s d: begin -> send
			e: begin -> stop breaker_open
			@31s d: 400 -> stop failed
			e: begin -> send                      # the next probes
			f: begin -> stop breaker_open         # and it alone
			@32s e: cancelled -> stop withdrawn
			f: begin -> send
			f: 200 -> stop succeeded`,
		"a straggler's neutral end gives nothing back": `
			a: begin -> send
			b: begin -> send
			c: begin -> send
			d: begin -> send
			a: 503 -> stop failed
			b: 503 -> stop failed
			c: 503 -> stop failed
			@30s e: begin -> send
			d: 400 -> stop failed
			f: begin -> stop breaker_open`,
	} {
		t.Run(name, func(t *testing.T) { strategytest.Play(t, []strategies.Layer{fast(3, strategies.PerFleet)}, script) })
	}
}

// A probe that never ends loses its place after ProbeTimeout, and whatever
// becomes of it then is a straggler's fate.
func TestBreakerReplacesALostProbe(t *testing.T) {
	k := fast(1, strategies.PerFleet)
	k.ProbeTimeout = 10 * time.Second
	const lost = `
		a: begin -> send
		a: 503 -> stop failed
		@30s a: begin -> send
		@39.999999999s b: begin -> stop breaker_open
		@40s b: begin -> send
		c: begin -> stop breaker_open
		`
	for name, script := range map[string]string{
		"and again":               "@50s c: begin -> send\nd: begin -> stop breaker_open",
		"late failure":            "a: 503 -> stop failed\nb: 200 -> stop succeeded\nc: begin -> send",
		"late failure, then lost": "@45s a: 503 -> stop failed\n@50s c: begin -> send",
		"late neutral end":        "a: 400 -> stop failed\nc: begin -> stop breaker_open",
		"late success":            "a: 200 -> stop succeeded\nc: begin -> send",
		"late failure after all":  "b: 503 -> stop failed\n@60s a: 503 -> stop failed\n@1m10s c: begin -> send",
	} {
		t.Run(name, func(t *testing.T) { strategytest.Play(t, []strategies.Layer{k}, lost+script) })
	}
}

// A provider fails for 60 s, one call comes each second, and the first probe
// hangs: it loses its place at 51 s, the next fails, and the one at 81 s is
// answered. Were a place never given back, there would be no answer at all.
func TestBreakerRecoversFromAHungProbe(t *testing.T) {
	k := Breaker{Failures: 12, OpenFor: 30 * time.Second, ProbeTimeout: 10 * time.Second, FailFast: true, Scope: strategies.PerClient}
	for _, neutral := range []bool{false, true} {
		w := strategytest.NewWorld(t, map[string][]strategies.Layer{"": {k}}, 1)
		c := w.Call("a")
		var probes []time.Duration
		refusedAfter, answered := 0, time.Duration(-1)
		for w.Now = 0; w.Now < time.Hour && answered < 0; w.Now += time.Second {
			healthy, tripped := w.Now >= time.Minute, w.Now >= 12*time.Second
			if d := c.Next(strategies.Event{Kind: strategies.Begin}); d.Kind == strategies.Stop {
				if healthy {
					refusedAfter++
				}
				continue
			}
			if tripped {
				probes = append(probes, w.Now)
			}
			o := strategytest.Refusal(wire.NoHint)
			switch {
			case len(probes) == 1 && tripped && neutral:
				o.Class = wire.BadRequest
			case len(probes) == 1 && tripped:
				continue // never returns
			case healthy:
				o.Class, answered = wire.OK, w.Now
			}
			c.Next(strategies.Event{Kind: strategies.Reply, Attempt: 1, Outcome: o})
		}
		if neutral { // its place is free at once: the next arrival probes
			require.Equal(t, strategytest.Seconds(41, 42, 72), probes)
			require.Equal(t, 72*time.Second, answered)
			require.Equal(t, 12, refusedAfter)
		} else {
			require.Equal(t, strategytest.Seconds(41, 51, 81), probes)
			require.Equal(t, 81*time.Second, answered)
			require.Equal(t, 21, refusedAfter)
		}
	}
}

func TestBreakerWaits(t *testing.T) {
	// A refused call waits until the breaker may close, or MinWait, plus
	// U(0, Jitter), and asks again; that is no attempt.
	k := Breaker{Failures: 1, OpenFor: 30 * time.Second, MinWait: 2 * time.Second, Jitter: 10 * time.Second, Scope: strategies.PerFleet}
	strategytest.Play(t, []strategies.Layer{k}, `
		a: begin -> send
		a: 503 -> stop failed
		b: begin -> wait [30s,40s)
		c: begin -> wait [30s,40s)
		@29s d: begin -> wait [2s,12s)           # 1 s is left, but MinWait is longer
		b: wake -> send                          # the probe
		@40s c: cancelled -> stop withdrawn
		e: begin -> wait [2s,12s)                # nobody knows how long a probe takes
		e: wake -> wait [2s,12s)
		b: 200 -> stop succeeded
		e: wake -> send`)

	k.Jitter = 0
	strategytest.Play(t, []strategies.Layer{k}, `
		a: begin -> send
		a: 503 -> stop failed
		@1s b: begin -> wait 29s
		c: begin -> wait 29s
		b: wake -> send
		c: wake -> wait 2s
		b: 503 -> stop failed
		c: wake -> wait 28s
		c: wake -> send`)

	// Two refusals by one guard draw differently, and two calls as well.
	k.Jitter = time.Hour
	w := strategytest.NewWorld(t, map[string][]strategies.Layer{"": {k}}, 1)
	c := w.Call("a")
	c.Next(strategies.Event{Kind: strategies.Begin})
	c.Next(strategies.Event{Kind: strategies.Reply, Attempt: 1, Outcome: strategytest.Refusal(wire.NoHint)})
	waits := map[time.Duration]bool{}
	for _, name := range []string{"b", "c", "d"} {
		waits[w.Call(name).Next(strategies.Event{Kind: strategies.Begin}).After] = true
		for range 9 {
			waits[w.Call(name).Next(strategies.Event{Kind: strategies.Wake}).After] = true
		}
	}
	require.Len(t, waits, 30)

	// The longest open time is for ever.
	k.OpenFor = strategies.Never - 1
	w = strategytest.NewWorld(t, map[string][]strategies.Layer{"": {k}}, 1)
	w.Now = time.Hour
	w.Call("a").Next(strategies.Event{Kind: strategies.Begin})
	w.Call("a").Next(strategies.Event{Kind: strategies.Reply, Attempt: 1, Outcome: strategytest.Refusal(wire.NoHint)})
	d := w.Call("b").Next(strategies.Event{Kind: strategies.Begin})
	require.Equal(t, strategies.Wait, d.Kind)
	require.GreaterOrEqual(t, d.After, strategies.Never-time.Hour)
}

func TestBreakerScopes(t *testing.T) {
	const trip = `
		x/a.1: begin -> send
		x/a.1: 503 -> stop failed
		`
	for scope, script := range map[strategies.Scope]string{
		strategies.PerClient:   "x/a.2: begin -> stop breaker_open\nx/b: begin -> send\ny/a: begin -> send",
		strategies.PerFleet:    "x/a.2: begin -> stop breaker_open\nx/b: begin -> stop breaker_open\ny/a: begin -> send",
		strategies.PerEveryone: "x/a.2: begin -> stop breaker_open\nx/b: begin -> stop breaker_open\ny/a: begin -> stop breaker_open",
	} {
		stack := []strategies.Layer{fast(1, scope)}
		strategytest.PlayFleets(t, map[string][]strategies.Layer{"x": stack, "y": stack}, trip+script)
	}
	other := fast(1, strategies.PerEveryone)
	other.Name = "another"
	strategytest.PlayFleets(t, map[string][]strategies.Layer{"x": {fast(1, strategies.PerEveryone)}, "y": {other}}, trip+"y/a: begin -> send")
}

// The order of the layers matters: outside a loop a breaker counts calls, inside
// it counts attempts.
func TestBreakerAndRetry(t *testing.T) {
	retry := Retry{Backoff: backoffs.Fixed{Every: time.Second}, MaxAttempts: 3}
	strategytest.Play(t, []strategies.Layer{fast(2, strategies.PerFleet), retry}, `
		a: begin -> send
		a: 503 -> wait 1s
		a: wake -> send
		a: 503 -> wait 1s
		a: wake -> send
		a: 503 -> stop tries_exhausted            # one failure
		b: begin -> send
		b: 503 -> wait 1s
		c: begin -> send                          # still closed after four failed attempts
		b: wake -> send
		b: 503 -> wait 1s
		b: wake -> send
		b: 503 -> stop tries_exhausted            # two
		d: begin -> stop breaker_open
		@1m d: begin -> send                      # the probe is the call
		d: 503 -> wait 1s
		e: begin -> stop breaker_open
		d: wake -> send
		d: 200 -> stop succeeded
		e: begin -> send`)
	strategytest.Play(t, []strategies.Layer{retry, fast(2, strategies.PerFleet)}, `
		a: begin -> send
		a: 503 -> wait 1s
		a: wake -> send
		a: 503 -> wait 1s
		b: begin -> stop breaker_open
		a: wake -> stop breaker_open`)

	// The outer breaker does not count refusals of the inner one as failures:
	// no attempt reached the provider.
	inner := fast(1, strategies.PerFleet)
	inner.OpenFor = 10 * time.Second
	strategytest.Play(t, []strategies.Layer{fast(2, strategies.PerFleet), inner}, `
		a: begin -> send
		a: 503 -> stop failed
		b: begin -> stop breaker_open             # by the inner one
		c: begin -> stop breaker_open
		@10s d: begin -> send                     # the outer one is closed
		d: 503 -> stop failed
		@20s e: begin -> stop breaker_open        # now it is open
		@40s e: begin -> send`)
}
