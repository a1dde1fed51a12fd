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

func TestFailover(t *testing.T) {
	t.Run("round after round", func(t *testing.T) {
		strategytest.Play(t, []strategies.Layer{Failover{Regions: []uint8{0, 2, 1}, Rounds: 2, Backoff: backoffs.Fixed{Every: time.Minute}, Scope: strategies.PerFleet}, pointing{}}, `
			begin -> send
			503 after=1h -> wait 0s                 # another region knows nothing of it
			wake -> send + note region 2
			lost -> wait 0s
			wake -> send + note region 1
			expired -> wait 1h                      # and home is not asked again before
			wake -> send
			500 -> wait 0s
			wake -> send + note region 2
			503 -> wait 0s
			wake -> send + note region 1
			503 -> stop nothing_left + alarm no_region_left
			begin -> send                           # home again
			429 -> stop failed                      # one's own limit, in every region`)
	})
	t.Run("an answer of the second place keeps other calls there", func(t *testing.T) {
		strategytest.Play(t, []strategies.Layer{Failover{Regions: []uint8{0, 1}, Rounds: 1, Stay: time.Minute, Scope: strategies.PerFleet}, pointing{}}, `
			a: begin -> send
			b: begin -> send
			a: 503 -> wait 0s
			a: wake -> send + note region 1
			c: begin -> send                        # nobody has been answered abroad yet
			@1s a: 200 -> stop succeeded
			b: 503 -> wait 0s
			b: wake -> send + note region 1
			@60s d: begin -> send + note region 1
			b: 503 -> stop nothing_left + alarm no_region_left   # has tried both
			e: begin -> send                        # abroad is not what it was
			@61s f: begin -> send`)
	})
}

// Case B6, in small: a home that refuses p of its calls and an abroad that
// refuses q lose p·q of them, at 1 + p attempts.
func TestFailoverLosesTheProduct(t *testing.T) {
	const calls, p, q = 20_000, 0.28, 0.0858
	l := strategytest.NewLab(t, Failover{Regions: []uint8{0, 1}, Rounds: 1, Scope: strategies.PerFleet})
	l.Serve = func(c *strategytest.Caller) (time.Duration, wire.Outcome) {
		if c.Float(999) < [...]float64{p, q}[c.Target.Region] {
			return 0, strategytest.Refused(wire.Overloaded)
		}
		return 0, strategytest.Answered
	}
	lost := 0.0
	l.Settled = func(_ *strategytest.Caller, d strategies.Decision) {
		if d.End.Reason == strategies.NothingLeft {
			lost++
		}
	}
	for i := range calls {
		l.Begin("a", i)
	}
	l.Run(time.Hour)
	require.InDelta(t, p*q, lost/calls, 0.005) // four and a half standard errors
	require.InDelta(t, 1+p, float64(len(l.Sent))/calls, 0.0145)
}
