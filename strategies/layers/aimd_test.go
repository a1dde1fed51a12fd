package layers

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/strategytest"
)

func TestAIMD(t *testing.T) {
	strategytest.Play(t, []strategies.Layer{AIMD{LimitRange: LimitRange{Initial: 2, Max: 3}, Decrease: 0.5, Scope: strategies.PerFleet}}, `
		a: begin -> send
		b: begin -> send
		c: begin -> queued
		@1s a: 200 -> stop succeeded              # half a permit more: two end in a round trip
		c: admitted -> send
		d: begin -> queued
		@2s b: 200 -> stop succeeded              # and a little less than half: 2.9
		d: admitted -> send
		e: begin -> queued
		@3s c: 200 -> stop succeeded              # three, and no more
		e: admitted -> send
		f: begin -> send
		g: begin -> queued
		@4s d: 503 -> stop failed                 # cut to one and a half
		g: admitted -> refused
		e: 429 -> stop failed                     # sent before the cut: it cuts no more
		g: admitted -> refused
		f: 500 -> stop failed                     # says nothing about the limit
		g: admitted -> send
		h: begin -> queued
		@5s g: 503 -> stop failed                 # sent at the instant of the cut
		h: admitted -> send
		a: begin -> queued
		@6s h: 503 -> stop failed                 # cut to three quarters, but never below one
		a: admitted -> send
		b: begin -> queued`)
}

func TestAIMDOfEachSample(t *testing.T) {
	strategytest.Play(t, []strategies.Layer{AIMD{LimitRange: LimitRange{Initial: 2, Min: 2}, EachSample: true, Slow: 5 * time.Second, Scope: strategies.PerFleet}}, `
		a: begin -> send
		b: begin -> send
		@5s a: 200 -> stop succeeded              # each success adds one
		c: begin -> send
		d: begin -> send
		e: begin -> queued
		b: 200 -> stop succeeded                  # four
		e: admitted -> send
		f: begin -> send
		g: begin -> queued
		@10.1s c: 200 -> stop succeeded           # too slow: 3.6
		g: admitted -> refused
		d: 503 -> stop failed                     # 3.24: each failure cuts, however old
		g: admitted -> send
		h: begin -> queued
		@11s e: cancelled -> stop withdrawn       # nobody's fault
		h: admitted -> send`)
}

// A window of refused attempts counts as one refusal; the next window counts separately.
func TestAIMDCutsOnceForACrowd(t *testing.T) {
	a := &aimd{AIMD: AIMD{Decrease: 0.5}, adaptiveLimit: adaptiveLimit{LimitRange{16, 1, 100}, 1}}
	s := newSampler(a, a.Words())
	refused := strategytest.Refused(wire.Rate)
	for range 3 {
		a.update(5*time.Second, &s.call, s.m, sample{sentAt: time.Second, rtt: 1, dropped: true, outcome: &refused})
	}
	require.EqualValues(t, 8*one, a.limit(s.m))
	a.update(6*time.Second, &s.call, s.m, sample{sentAt: 5*time.Second + 1, rtt: 1, dropped: true, outcome: &refused})
	require.EqualValues(t, 4*one, a.limit(s.m))
}

// A limit that has more room than is used does not grow.
func TestAIMDDoesNotGrowUnused(t *testing.T) {
	l := strategytest.NewLab(t, AIMD{LimitRange: LimitRange{Initial: 4}, Scope: strategies.PerFleet})
	l.ClosedLoop(1, 0)
	l.Run(2 * time.Second)
	require.Greater(t, len(l.Sent), 1000)
	require.Zero(t, l.Fleets[""].Words[moved])
}

// With a provider that refuses above Lc attempts in flight, the mean limit is
// (1 + β)·Lc/2 and 2a/((1 − β²)·Lc²) of the attempts are refused, in the fluid
// limit.
func TestAIMDClosedForm(t *testing.T) {
	for _, c := range []struct {
		capacity       int
		decrease       float64
		limit, refused float64
	}{{20, 0.5, 15, 0.006667}, {20, 0.9, 19, 0.026316}, {100, 0.9, 95, 0.001053}} {
		l := strategytest.NewLab(t, AIMD{
			LimitRange: LimitRange{Initial: int64(c.capacity), Min: 1, Max: 1000}, Decrease: c.decrease, Scope: strategies.PerFleet,
		})
		inFlight, refusals, sum, last := 0, 0, 0.0, time.Duration(0)
		words := l.Fleets[""].Words
		limit := func() float64 { return float64(int64(c.capacity)*one+words[moved]) / one }
		l.Serve = func(*strategytest.Caller) (time.Duration, wire.Outcome) {
			if inFlight >= c.capacity-1 { // so that a limit of its capacity is refused
				refusals++
				return 0, strategytest.Refused(wire.Concurrency)
			}
			inFlight++
			return time.Second, strategytest.Answered
		}
		l.Ended = func(_ *strategytest.Caller, o *wire.Outcome) {
			if o.OK() {
				inFlight--
			}
			sum += limit() * (l.Now - last).Seconds()
			last = l.Now
		}
		l.ClosedLoop(2*c.capacity, time.Second)
		l.Run(1200 * time.Second)
		require.InEpsilon(t, c.limit, sum/last.Seconds(), 0.05, "mean limit")
		require.InEpsilon(t, c.refused, float64(refusals)/float64(len(l.Sent)), 0.05, "share refused")
	}
}
