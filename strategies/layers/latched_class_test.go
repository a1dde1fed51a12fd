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

func TestLatchedClass(t *testing.T) {
	strategytest.Play(t, []strategies.Layer{Retry{Backoff: backoffs.Fixed{Every: time.Hour}}, LatchedClass{Scope: strategies.PerClient}}, `
		a: begin -> send
		a: 503 -> wait 1h
		a: wake -> send
		a: 403 -> wait 1h                         # still takes it for capacity
		a: wake -> send
		a: 200 -> stop succeeded
		b: begin -> send
		b: 403 -> stop failed permission
		b: begin -> send
		b: 503 -> stop failed permission          # and the other way round`)
}

// Case B25: capacity until the token expires at 2 h, then 403 until 10 h. Who
// latches wastes an attempt each 30 s; who looks afresh makes one.
func TestCapacityBecomesPermission(t *testing.T) {
	wasted := func(layers ...strategies.Layer) (n, alarms int) {
		l := strategytest.NewLab(t, append([]strategies.Layer{Retry{Backoff: backoffs.Fixed{Every: 30 * time.Second}}}, layers...)...)
		l.Serve = func(*strategytest.Caller) (time.Duration, wire.Outcome) {
			if l.Now >= 2*time.Hour {
				n++
				return 0, strategytest.Refused(wire.Permission)
			}
			return 0, strategytest.Refused(wire.Overloaded)
		}
		l.Begin("a", 0)
		l.Run(10 * time.Hour)
		return n, l.Raised["alarm failures_have_changed"]
	}
	n, _ := wasted()
	require.Equal(t, 1, n)
	n, alarms := wasted(LatchedClass{Scope: strategies.PerCall}, ClassAlarm{Scope: strategies.PerFleet})
	require.Equal(t, int(8*time.Hour/(30*time.Second)), n)
	require.Equal(t, 1, alarms, "but somebody is told")
}
