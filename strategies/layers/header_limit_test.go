package layers

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/strategytest"
)

func TestHeaderLimit(t *testing.T) {
	// The first reply tells of ten a minute, of which three are left.
	told := strategytest.NewLab(t, HeaderLimit{Scope: strategies.PerFleet})
	replies := []wire.Outcome{strategytest.Describing(wire.OK, 10, 3, 40*time.Second)}
	told.Serve = func(*strategytest.Caller) (time.Duration, wire.Outcome) {
		o := strategytest.Answered
		if len(replies) > 0 {
			o, replies = replies[0], replies[1:]
		}
		return time.Second, o
	}
	told.Begin("a", 0)
	told.Run(20 * time.Second)
	for i := range 30 {
		told.Begin("a", i+1)
	}
	require.Len(t, told.Sent, 1+3)
	told.Run(time.Minute) // the window is over 40 s after the reply that said so
	require.Len(t, told.Sent, 4+10)
	require.Equal(t, 41*time.Second, told.Sent[4])
	told.Run(2 * time.Minute)
	require.Equal(t, 81*time.Second, told.Sent[14], "a window has the length of the longest reset received")
	require.Len(t, told.Sent, 4+20)
}

// Attempts in flight may not be counted yet in what a reply says remains.
func TestHeaderLimitReckonsWithThoseInFlight(t *testing.T) {
	l := strategytest.NewLab(t, HeaderLimit{Scope: strategies.PerFleet})
	l.Serve = func(c *strategytest.Caller) (time.Duration, wire.Outcome) {
		return time.Duration(c.ID+1) * time.Second, strategytest.Describing(wire.OK, 10, 4, time.Minute)
	}
	for i := range 3 {
		l.Begin("a", i)
	}
	l.Run(1500 * time.Millisecond) // one is over, two are in flight
	for i := range 5 {
		l.Begin("a", 3+i)
	}
	require.Len(t, l.Sent, 3+2)
}

func TestHeaderLimitLearnsFromRefusals(t *testing.T) {
	for name, o := range map[string]wire.Outcome{
		"a reset": strategytest.Describing(wire.Rate, 20, 0, 3*time.Second),
		"a hint":  {Class: wire.Rate, Limit: 20, RetryAfter: 3 * time.Second},
	} {
		l := strategytest.NewLab(t, HeaderLimit{Percent: 50, Scope: strategies.PerFleet})
		l.Serve = func(*strategytest.Caller) (time.Duration, wire.Outcome) { return time.Second, o }
		l.Begin("a", 0)
		l.Run(1001 * time.Millisecond)
		o = strategytest.Answered
		for i := range 30 {
			l.Begin("a", i+1)
		}
		require.Len(t, l.Sent, 1, name)
		l.Run(5 * time.Second)
		require.Len(t, l.Sent, 1+10, "half of the limit is left for others")
		require.Equal(t, 4*time.Second, l.Sent[1])
	}
	// What says nothing of requests in a window changes nothing.
	for _, o := range []wire.Outcome{
		strategytest.Answered, strategytest.Describing(wire.TokenRate, 10, 0, time.Hour), strategytest.Describing(wire.Concurrency, 1, 0, time.Hour),
		strategytest.Describing(wire.OK, 0, 0, time.Hour), strategytest.Describing(wire.OK, 10, 0, 0), {Class: wire.Overloaded, RetryAfter: time.Hour, Limit: 5},
	} {
		l := strategytest.NewLab(t, HeaderLimit{Scope: strategies.PerFleet})
		l.Serve = func(*strategytest.Caller) (time.Duration, wire.Outcome) { return 0, o }
		l.Begin("a", 0)
		l.Run(time.Second)
		l.Begin("a", 1)
		require.Len(t, l.Sent, 2)
	}
}

// fixedWindow is a provider with a limit on the requests of each window, aligned
// to 0, that describes the limit in every reply.
type fixedWindow struct {
	limit  int32
	length time.Duration
	window int
	used   int32
}

func (w *fixedWindow) serve(l *strategytest.Lab, refused *int) func(*strategytest.Caller) (time.Duration, wire.Outcome) {
	return func(*strategytest.Caller) (time.Duration, wire.Outcome) {
		if n := int(l.Now / w.length); n != w.window {
			w.window, w.used = n, 0
		}
		left := w.length - l.Now%w.length
		const travel = 10 * time.Millisecond
		if w.used == w.limit {
			*refused++
			return travel, strategytest.Describing(wire.Rate, w.limit, 0, max(1, left-travel))
		}
		w.used++
		return travel, strategytest.Describing(wire.OK, w.limit, w.limit-w.used, max(1, left-travel))
	}
}

// Once it has heard of the window, a crowd of ten is hardly refused any more
// and uses all of it; spread, it does so evenly.
func TestHeaderLimitAgainstAWindow(t *testing.T) {
	for _, spread := range []bool{false, true} {
		l := strategytest.NewLab(t, HeaderLimit{Spread: spread, Scope: strategies.PerFleet})
		w, refused := fixedWindow{limit: 120, length: time.Minute, window: -1}, 0
		l.Serve = w.serve(l, &refused)
		l.ClosedLoop(10, time.Second)
		l.Run(5 * time.Minute)
		early := refused
		before := len(l.Sent)
		l.Run(25 * time.Minute)
		sent := l.Sent[before:]
		t.Logf("spread %v: %d sent, %d refused, at most %d in a second", spread, len(sent), refused-early, strategytest.MostWithin(sent, time.Second))
		require.InDelta(t, 20*120, len(sent)-(refused-early), 40)
		require.LessOrEqual(t, refused-early, 20*2)
		if spread {
			require.LessOrEqual(t, strategytest.MostWithin(sent, time.Second), 8)
		}
	}
}
