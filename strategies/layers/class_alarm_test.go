package layers

import (
	"testing"
	"time"

	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/strategytest"
)

func TestClassAlarm(t *testing.T) {
	strategytest.Play(t, []strategies.Layer{Retry{Backoff: backoffs.Fixed{Every: time.Hour}}, ClassAlarm{Scope: strategies.PerFleet}}, `
		a: begin -> send
		a: 503 -> wait 1h
		a: wake -> send
		a: 429 -> wait 1h                         # waiting helps both
		a: wake -> send
		b: begin -> send
		a: 403 -> stop failed permission + alarm failures_have_changed
		b: 401 -> stop failed auth                # known by now
		b: begin -> send
		b: 200 -> stop succeeded
		b: begin -> send
		b: quota -> stop failed quota + alarm failures_have_changed
		b: begin -> send
		b: 413 -> stop failed too_large + alarm failures_have_changed
		b: begin -> send
		b: settled -> stop failed cancelled       # nobody's failure`)
}
