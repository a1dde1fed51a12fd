package layers

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/strategytest"
)

// naiveBreaker is the twin that is too simple to be wrong: it knows its probe
// by name.
type naiveBreaker struct {
	failures int
	openFor  time.Duration
	timeout  time.Duration

	isOpen bool
	count  int
	until  time.Duration // of the open time, or of the probe
	probe  *strategytest.Caller
}

func (k *naiveBreaker) admit(now time.Duration, c *strategytest.Caller) bool {
	switch {
	case !k.isOpen:
		return true
	case now < k.until:
		return false
	}
	k.probe, k.until = c, now+k.timeout
	return true
}

func (k *naiveBreaker) ended(now time.Duration, c *strategytest.Caller, class wire.Class) {
	probe := k.isOpen && k.probe == c
	if k.probe == c {
		k.probe = nil
	}
	switch {
	case class == wire.OK:
		k.isOpen, k.count, k.probe = false, 0, nil
	case class == wire.BadRequest && probe:
		k.until = now
	case class == wire.Overloaded && !k.isOpen:
		if k.count++; k.count == k.failures {
			k.isOpen, k.until, k.count = true, now+k.openFor, 0
		}
	case class == wire.Overloaded && probe:
		k.until = now + k.openFor
	}
}

func TestBreakerAgainstNaiveTwin(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		k := Breaker{
			Failures: rapid.IntRange(1, 4).Draw(rt, "failures"), OpenFor: 10, FailFast: true, Scope: strategies.PerFleet,
			ProbeTimeout: time.Duration(rapid.IntRange(1, 15).Draw(rt, "probe timeout")),
		}
		twin := naiveBreaker{failures: k.Failures, openFor: k.OpenFor, timeout: k.ProbeTimeout}
		w := strategytest.NewWorld(t, map[string][]strategies.Layer{"": {k}}, 1)
		var flying []*strategytest.Caller
		names := "abcdefgh"
		rt.Repeat(map[string]func(*rapid.T){
			"time": func(rt *rapid.T) { w.Now += time.Duration(rapid.IntRange(0, 12).Draw(rt, "dt")) },
			"begin": func(rt *rapid.T) {
				i := rapid.IntRange(0, len(names)-1).Draw(rt, "call")
				c := w.Call(names[i : i+1])
				if slices.Contains(flying, c) {
					return
				}
				want := twin.admit(w.Now, c)
				got := c.Next(strategies.Event{Kind: strategies.Begin})
				require.Equal(rt, want, got.Kind == strategies.Send, "at %d", w.Now)
				if want {
					flying = append(flying, c)
				}
			},
			"end": func(rt *rapid.T) {
				if len(flying) == 0 {
					return
				}
				i := rapid.IntRange(0, len(flying)-1).Draw(rt, "which")
				class := rapid.SampledFrom([]wire.Class{wire.OK, wire.Overloaded, wire.Overloaded, wire.Overloaded, wire.BadRequest}).Draw(rt, "class")
				c := flying[i]
				flying = slices.Delete(flying, i, i+1)
				c.Next(strategies.Event{Kind: strategies.Reply, Attempt: 1, Outcome: &wire.Outcome{Class: class, RetryAfter: wire.NoHint}})
				twin.ended(w.Now, c, class)
			},
		})
	})
}
