package presets

import (
	"testing"

	"herdlab/strategies"
	"herdlab/strategies/strategytest"
)

// Eight calls a second and a burst of two: a cancelled call returns no token while a
// later call has a slot, and its whole token otherwise.
func TestReservations(t *testing.T) {
	strategytest.Play(t, []strategies.Layer{rateReservations{limit: 8, burst: 2}}, `
		a.1: begin -> send
		a.2: begin -> send
		a.3: begin -> wait 125ms
		a.4: begin -> wait 250ms
		@62.5ms a.3: cancelled -> stop withdrawn     # a.4 has the next slot: no token returns
		a.5: begin -> wait 312.5ms                   # waits as if a.3 were still waiting
		a.5: cancelled -> stop withdrawn             # the latest call returns its token
		a.4: cancelled -> stop withdrawn             # now the latest call
		a.6: begin -> wait 187.5ms                   # the token of a.3 is lost
		b: begin -> send                             # another process
		a.6: wake -> send
		a.6: 200 -> stop succeeded
		@10s a.7: begin -> send                      # full again, and not above the burst
		a.8: begin -> send
		a.9: begin -> wait 125ms
		a.9: wake -> send
		a.9: 503 -> stop failed`)
}
