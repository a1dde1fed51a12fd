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

func TestCapacityAlarm(t *testing.T) {
	retry := Retry{Backoff: backoffs.Fixed{Every: 30 * time.Minute}}
	alarm := CapacityAlarm{After: time.Hour, Least: 2, Scope: strategies.PerFleet}
	strategytest.Play(t, []strategies.Layer{retry, alarm}, `
		a: begin -> send
		a: 503 -> wait 30m
		a: wake -> send
		b: begin -> send
		a: 503 -> wait 30m
		b: 429 -> wait 30m                        # it answers: so it is not at capacity
		a: wake -> send
		a: 503 -> wait 30m
		a: wake -> send
		a: 503 -> wait 30m
		a: wake -> send
		a: 503 -> wait 30m + alarm at_capacity_for_too_long
		a: wake -> send
		a: 503 -> wait 30m                        # raised once
		a: wake -> send
		a: 200 -> stop succeeded`)
	alarm.GiveUp = true
	strategytest.Play(t, []strategies.Layer{retry, alarm}, `
		a: begin -> send
		a: 503 -> wait 30m
		a: wake -> send
		a: 503 -> wait 30m
		a: wake -> send
		a: 503 -> stop failed permission + alarm at_capacity_for_too_long
		b: begin -> send
		b: 503 -> stop failed permission          # and nobody waits in vain any more
		c: begin -> send
		c: 500 -> wait 30m                        # something else
		d: begin -> send
		d: 503 -> wait 30m`)
}

// Cases B10 and B24: a permission that the provider shows as capacity. Retries
// are bounded, the alarm comes at the threshold, and the other model, which a
// ladder falls back to, answers all calls.
func TestPermissionMaskedAsCapacity(t *testing.T) {
	retry := Retry{Backoff: backoffs.FullJitter{Base: time.Second, Cap: time.Minute}}
	alarm := CapacityAlarm{After: 2 * time.Hour, GiveUp: true, Scope: strategies.PerFleet}
	masked := func(c *strategytest.Caller) (time.Duration, wire.Outcome) {
		if c.Target.Model == 0 {
			return 0, strategytest.Refused(wire.Overloaded)
		}
		return 0, strategytest.Answered
	}
	l := strategytest.NewLab(t, retry, alarm)
	l.Serve = masked
	var ended time.Duration
	l.Settled = func(_ *strategytest.Caller, d strategies.Decision) {
		require.Equal(t, strategies.StopWith(strategies.Failed, wire.Permission), d)
		ended = l.Now
	}
	for i := range 5 {
		l.Begin("a", i)
	}
	l.Run(100 * time.Hour)
	require.Equal(t, 1, l.Raised["alarm at_capacity_for_too_long"])
	require.InDelta(t, 2, ended.Hours(), 0.05)
	require.Empty(t, l.Queue, "and no call continues")

	alarm.GiveUp = false // or the ladder would stop, too
	l = strategytest.NewLab(t, Ladder{Rungs: []Rung{{Model: 0}, {Model: 1}}}, alarm)
	l.Serve = masked
	degraded := 0
	l.Settled = func(_ *strategytest.Caller, d strategies.Decision) {
		require.Equal(t, strategies.Succeeded, d.End.Reason)
		degraded++
	}
	for i := range 100 {
		l.At(time.Duration(i)*time.Minute, func() { l.Begin("a", i) })
	}
	l.Run(100 * time.Minute)
	require.Equal(t, 100, degraded)
	require.Zero(t, l.Raised["alarm at_capacity_for_too_long"])
	l.At(2*time.Hour, func() { l.Begin("a", 200) })
	l.Run(3 * time.Hour)
	require.Equal(t, 101, degraded)
	require.Equal(t, 1, l.Raised["alarm at_capacity_for_too_long"])
}
