package strategies

import (
	"testing"
	"time"
)

func TestClassAlarm(t *testing.T) {
	Play(t, []Layer{Retry{Backoff: Fixed{Every: time.Hour}}, ClassAlarm{Scope: PerFleet}}, `
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
