package conformance

import (
	"math"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
	"herdlab/strategies/presets"
)

// span is the range of a preset's wait by its documented formula, computed from the numbers
// of its definition and not from its draws.
func span(t require.TestingT, b strategies.Backoff, class wire.Class, n int) wait {
	grown := func(base, limit time.Duration, factor float64) time.Duration {
		if factor == 0 {
			factor = 2
		}
		x := float64(base) * math.Pow(factor, float64(n))
		if limit > 0 {
			x = min(x, float64(limit))
		}
		return time.Duration(x)
	}
	switch b := b.(type) {
	case backoffs.Fixed:
		return wait{b.Every, b.Every + b.Jitter}
	case backoffs.Exponential:
		base := grown(b.Base, b.Cap, b.Factor)
		return wait{base, base + b.Jitter}
	case backoffs.FullJitter:
		return wait{0, grown(b.Base, b.Cap, b.Factor)}
	case backoffs.Proportional:
		of := span(t, b.Of, class, n)
		return wait{of.low * time.Duration(b.Low) / 100, of.high * time.Duration(b.High) / 100}
	case backoffs.ByClass:
		if b.Classes.Has(class) {
			return span(t, b.Then, class, n)
		}
		return span(t, b.Else, class, n)
	}
	require.FailNow(t, "no formula", "for %T", b)
	return wait{}
}

// definition returns the definition of a preset.
func definition(t require.TestingT, name string) strategies.Definition {
	def, err := presets.Lookup(name, presets.Knowledge{})
	require.NoError(t, err)
	return def
}

// loop returns the preset's retry loop; a Retry without a backoff if it has none.
func loop(def *strategies.Definition) (r layers.Retry) {
	for _, l := range def.Layers {
		if l, ok := l.(layers.Retry); ok {
			r = l
		}
	}
	return r
}

// rounding is the tolerance for formulas in floating point.
const rounding = time.Microsecond

// obeys checks that all waits of a result are in the preset's range: exactly equal without
// jitter, or where it obeys a hint.
func (l *runResult) obeys(t require.TestingT, def *strategies.Definition, whose string) {
	r := loop(def)
	n, last := 0, -1
	l.waits(func(attempt int, got time.Duration) {
		require.NotNil(t, r.Backoff, "%s waits", whose)
		if last != attempt-1 {
			n = 0 // another call
		}
		last = attempt
		told := l.received[attempt-1]
		o := wire.Outcome{Class: wire.ConnectionLost, RetryAfter: wire.NoHint}
		if told.Status != 0 {
			def.Reader.Read(&told, l.answered[attempt-1], &o)
		}
		want, h := span(t, r.Backoff, o.Class, n), o.RetryAfter
		n++
		if h != wire.NoHint && r.Hints.Use != layers.HintIgnored && h >= r.Hints.Least && (r.Hints.Most == 0 || h <= r.Hints.Most) {
			switch r.Hints.Use {
			case layers.HintAsWait:
				want = exactly(h)
			case layers.HintClamped:
				to := func(own time.Duration) time.Duration { return min(max(own, h), own+r.Hints.Slack) }
				want = wait{to(want.low), to(want.high)}
			default:
				require.FailNow(t, "no formula", "for hints used %v", r.Hints.Use)
			}
			if r.Hints.Restart {
				n = 0
			}
		}
		require.GreaterOrEqual(t, got, want.low-rounding, "%s: wait before attempt %d, told %+v", whose, attempt+1, told)
		require.LessOrEqual(t, got, want.high+rounding, "%s: wait before attempt %d, told %+v", whose, attempt+1, told)
	})
}
