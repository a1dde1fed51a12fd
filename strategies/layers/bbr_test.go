package layers

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/strategytest"
)

func TestBBR(t *testing.T) {
	strategytest.Play(t, []strategies.Layer{BBR{LimitRange: LimitRange{Initial: 1, Max: 3}, Scope: strategies.PerFleet}}, `
		a: begin -> send
		b: begin -> queued
		@2s a: 200 -> stop succeeded              # one in 2 s, times 2 s, times 2.89
		b: admitted -> send
		c: begin -> send
		d: begin -> queued
		@4s b: 200 -> stop succeeded              # one in 2 s again
		d: admitted -> send
		e: begin -> queued
		c: 400 -> stop failed                     # says nothing
		e: admitted -> send
		f: begin -> queued
		d: 429 -> stop failed                     # ends the startup
		f: admitted -> send
		@6s e: 200 -> stop succeeded              # and the queue drains: a third, but one at least
		g: begin -> queued
		f: 200 -> stop succeeded
		g: admitted -> send
		h: begin -> queued`)
}

// A crowd that is refused caps the limit once.
func TestBBRCapsOnceForACrowd(t *testing.T) {
	k := &bbr{adaptiveLimit{LimitRange{100, 1, 1000}, bbrWords}, time.Minute}
	s := newSampler(k, k.Words())
	refused := strategytest.Refused(wire.Rate)
	for range 3 {
		k.update(5*time.Second, &s.call, s.m, sample{sentAt: time.Second, rtt: 1, dropped: true, outcome: &refused})
	}
	require.EqualValues(t, 85*one, k.limit(s.m))
	k.update(6*time.Second, &s.call, s.m, sample{sentAt: 5*time.Second + 1, rtt: 1, dropped: true, outcome: &refused})
	require.EqualValues(t, 85*one*85/100, k.limit(s.m))
}

// A provider of 8 slots that refuses the ninth: the startup finds its rate,
// and what is refused in the end is what probing costs, a small share.
func TestBBRFindsTheRate(t *testing.T) {
	l := strategytest.NewLab(t, BBR{LimitRange: LimitRange{Initial: 2}, Scope: strategies.PerFleet})
	busy, refused, answered := 0, 0, 0
	l.Serve = func(*strategytest.Caller) (time.Duration, wire.Outcome) {
		if busy == 8 {
			refused++
			return 50 * time.Millisecond, strategytest.Refused(wire.Overloaded)
		}
		busy++
		return time.Second, strategytest.Answered
	}
	l.Ended = func(_ *strategytest.Caller, o *wire.Outcome) {
		if o.OK() {
			busy--
			answered++
		}
	}
	l.ClosedLoop(100, 5*time.Second)
	l.Run(time.Minute)
	answered, refused = 0, 0
	l.Run(11 * time.Minute)
	rate := float64(answered) / 600
	t.Logf("%.2f per s, %d refused", rate, refused)
	require.InDelta(t, 8, rate, 0.8)
	require.Less(t, refused, answered/20)
}
