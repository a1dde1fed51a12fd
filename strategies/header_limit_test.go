package strategies

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
)

// describing is an outcome that describes a window.
func describing(c wire.Class, limit, remaining int32, reset time.Duration) wire.Outcome {
	return wire.Outcome{Class: c, RetryAfter: wire.NoHint, Limit: limit, Remaining: remaining, Reset: reset}
}

func TestHeaderLimit(t *testing.T) {
	// The first reply tells of ten a minute, of which three are left.
	told := newLab(t, HeaderLimit{Scope: PerFleet})
	replies := []wire.Outcome{describing(wire.OK, 10, 3, 40*time.Second)}
	told.serve = func(*caller) (time.Duration, wire.Outcome) {
		o := okay
		if len(replies) > 0 {
			o, replies = replies[0], replies[1:]
		}
		return time.Second, o
	}
	told.begin("a", 0)
	told.run(20 * time.Second)
	for i := range 30 {
		told.begin("a", i+1)
	}
	require.Len(t, told.sent, 1+3)
	told.run(time.Minute) // the window is over 40 s after the reply that said so
	require.Len(t, told.sent, 4+10)
	require.Equal(t, 41*time.Second, told.sent[4])
	told.run(2 * time.Minute)
	require.Equal(t, 81*time.Second, told.sent[14], "a window lasts as long as the longest reset heard of")
	require.Len(t, told.sent, 4+20)
}

// Attempts in flight may not be counted yet in what a reply says remains.
func TestHeaderLimitReckonsWithThoseInFlight(t *testing.T) {
	l := newLab(t, HeaderLimit{Scope: PerFleet})
	l.serve = func(c *caller) (time.Duration, wire.Outcome) {
		return time.Duration(c.ID+1) * time.Second, describing(wire.OK, 10, 4, time.Minute)
	}
	for i := range 3 {
		l.begin("a", i)
	}
	l.run(1500 * time.Millisecond) // one is over, two are in flight
	for i := range 5 {
		l.begin("a", 3+i)
	}
	require.Len(t, l.sent, 3+2)
}

func TestHeaderLimitLearnsFromRefusals(t *testing.T) {
	for name, o := range map[string]wire.Outcome{
		"a reset": describing(wire.Rate, 20, 0, 3*time.Second),
		"a hint":  {Class: wire.Rate, Limit: 20, RetryAfter: 3 * time.Second},
	} {
		l := newLab(t, HeaderLimit{Percent: 50, Scope: PerFleet})
		l.serve = func(*caller) (time.Duration, wire.Outcome) { return time.Second, o }
		l.begin("a", 0)
		l.run(1001 * time.Millisecond)
		o = okay
		for i := range 30 {
			l.begin("a", i+1)
		}
		require.Len(t, l.sent, 1, name)
		l.run(5 * time.Second)
		require.Len(t, l.sent, 1+10, "half of the limit is left for others")
		require.Equal(t, 4*time.Second, l.sent[1])
	}
	// What says nothing of requests in a window changes nothing.
	for _, o := range []wire.Outcome{
		okay, describing(wire.TokenRate, 10, 0, time.Hour), describing(wire.Concurrency, 1, 0, time.Hour),
		describing(wire.OK, 0, 0, time.Hour), describing(wire.OK, 10, 0, 0), {Class: wire.Overloaded, RetryAfter: time.Hour, Limit: 5},
	} {
		l := newLab(t, HeaderLimit{Scope: PerFleet})
		l.serve = func(*caller) (time.Duration, wire.Outcome) { return 0, o }
		l.begin("a", 0)
		l.run(time.Second)
		l.begin("a", 1)
		require.Len(t, l.sent, 2)
	}
}

// fixedWindow is a provider with a window of so many requests, aligned to 0,
// that describes itself in every reply.
type fixedWindow struct {
	limit  int32
	length time.Duration
	window int
	used   int32
}

func (w *fixedWindow) serve(l *lab, refused *int) func(*caller) (time.Duration, wire.Outcome) {
	return func(*caller) (time.Duration, wire.Outcome) {
		if n := int(l.now / w.length); n != w.window {
			w.window, w.used = n, 0
		}
		left := w.length - l.now%w.length
		const travel = 10 * time.Millisecond
		if w.used == w.limit {
			*refused++
			return travel, describing(wire.Rate, w.limit, 0, max(1, left-travel))
		}
		w.used++
		return travel, describing(wire.OK, w.limit, w.limit-w.used, max(1, left-travel))
	}
}

// Once it has heard of the window, a crowd of ten is hardly refused any more
// and uses all of it; spread, it does so evenly.
func TestHeaderLimitAgainstAWindow(t *testing.T) {
	for _, spread := range []bool{false, true} {
		l := newLab(t, HeaderLimit{Spread: spread, Scope: PerFleet})
		w, refused := fixedWindow{limit: 120, length: time.Minute, window: -1}, 0
		l.serve = w.serve(l, &refused)
		l.closedLoop(10, time.Second)
		l.run(5 * time.Minute)
		early := refused
		before := len(l.sent)
		l.run(25 * time.Minute)
		sent := l.sent[before:]
		t.Logf("spread %v: %d sent, %d refused, at most %d in a second", spread, len(sent), refused-early, most(sent, time.Second))
		require.InDelta(t, 20*120, len(sent)-(refused-early), 40)
		require.LessOrEqual(t, refused-early, 20*2)
		if spread {
			require.LessOrEqual(t, most(sent, time.Second), 8)
		}
	}
}
