package strategies

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
)

func TestLatchedClass(t *testing.T) {
	Play(t, []Layer{Retry{Backoff: Fixed{Every: time.Hour}}, LatchedClass{Scope: PerClient}}, `
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
	wasted := func(layers ...Layer) (n, alarms int) {
		l := NewLab(t, append([]Layer{Retry{Backoff: Fixed{Every: 30 * time.Second}}}, layers...)...)
		l.Serve = func(*Caller) (time.Duration, wire.Outcome) {
			if l.Now >= 2*time.Hour {
				n++
				return 0, Refused(wire.Permission)
			}
			return 0, Refused(wire.Overloaded)
		}
		l.Begin("a", 0)
		l.Run(10 * time.Hour)
		return n, l.Raised["alarm failures_have_changed"]
	}
	n, _ := wasted()
	require.Equal(t, 1, n)
	n, alarms := wasted(LatchedClass{Scope: PerCall}, ClassAlarm{Scope: PerFleet})
	require.Equal(t, int(8*time.Hour/(30*time.Second)), n)
	require.Equal(t, 1, alarms, "but somebody is told")
}
