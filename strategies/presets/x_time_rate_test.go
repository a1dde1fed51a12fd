package presets

import (
	"testing"

	"herdlab/strategies"
	"herdlab/strategies/strategytest"
)

// Eight a second and a burst of two: whoever leaves gives nothing back while
// somebody has a later slot, and the whole token once nobody has.
func TestReservations(t *testing.T) {
	strategytest.Play(t, []strategies.Layer{rateReservations{limit: 8, burst: 2}}, `
		a.1: begin -> send
		a.2: begin -> send
		a.3: begin -> wait 125ms
		a.4: begin -> wait 250ms
		@62.5ms a.3: cancelled -> stop withdrawn     # a.4 has built on it
		a.5: begin -> wait 312.5ms                   # and stands behind two
		a.5: cancelled -> stop withdrawn             # the last to have come
		a.4: cancelled -> stop withdrawn             # who is the last now
		a.6: begin -> wait 187.5ms                   # a.3 is still in its way
		b: begin -> send                             # another process
		a.6: wake -> send
		a.6: 200 -> stop succeeded
		@10s a.7: begin -> send                      # full again, and no fuller
		a.8: begin -> send
		a.9: begin -> wait 125ms
		a.9: wake -> send
		a.9: 503 -> stop failed`)
}
