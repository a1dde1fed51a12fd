package layers

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/strategytest"
)

func TestHedge(t *testing.T) {
	hedge := Hedge{After: time.Second, Scope: strategies.PerFleet}
	t.Run("the first answer wins", func(t *testing.T) {
		strategytest.Play(t, []strategies.Layer{hedge, pointing{}}, `
			begin -> send + wake 1s
			@500ms 200 attempt=1 -> stop succeeded
			begin -> send + wake 1s
			wake -> send
			@2s 200 attempt=2 -> stop succeeded + hang up 1`)
	})
	t.Run("after a transient failure the other attempt decides", func(t *testing.T) {
		strategytest.Play(t, []strategies.Layer{hedge}, `
			begin -> send + wake 1s
			wake -> send
			503 attempt=1 -> idle
			200 attempt=2 -> stop succeeded
			begin -> send + wake 1s
			wake -> send
			401 attempt=2 -> stop failed auth + hang up 1
			begin -> send + wake 1s
			503 attempt=1 -> stop failed overloaded`) // nobody else is under way
	})
	t.Run("after a hint no attempt begins before its time", func(t *testing.T) {
		hedge := hedge
		hedge.Attempts = 3
		strategytest.Play(t, []strategies.Layer{hedge}, `
			begin -> send + wake 1s
			wake -> send + wake 1s
			@1.5s 429 attempt=1 after=10s -> idle
			wake -> wait 9.5s                         # at 2 s: the third is not due
			wake -> send
			200 attempt=3 -> stop succeeded + hang up 2
			@60s begin -> send + wake 1s              # that was another call
			wake -> send + wake 1s
			wake -> send`)
	})
	t.Run("a stream of which a part is there is not followed by another", func(t *testing.T) {
		strategytest.Play(t, []strategies.Layer{hedge}, `
			begin -> send + wake 1s
			wake -> send
			overloaded attempt=1 tokens=9 -> stop failed overloaded + hang up 2
			begin -> send + wake 1s
			wake -> send
			overloaded attempt=1 tokens=0 -> idle
			200 attempt=2 -> stop succeeded`)
	})
	t.Run("elsewhere", func(t *testing.T) {
		hedge := hedge
		hedge.Attempts, hedge.Regions = 3, []uint8{2, 1}
		strategytest.Play(t, []strategies.Layer{hedge, pointing{}}, `
			begin -> send + wake 1s
			wake -> send + wake 1s + note region 2
			wake -> send + note region 1
			lost attempt=2 -> idle
			200 attempt=1 -> stop succeeded + hang up 3`)
	})
}

// At most Percent of the calls have a hedge, and ten more at first.
func TestHedgeIsBounded(t *testing.T) {
	l := strategytest.NewLab(t, Hedge{After: time.Second, Percent: 5, Scope: strategies.PerFleet})
	l.Serve = func(*strategytest.Caller) (time.Duration, wire.Outcome) { return time.Minute, strategytest.Answered } // overload
	for i := range 1000 {
		l.At(time.Duration(i)*2*time.Second, func() { l.Begin("a", i) })
	}
	l.Run(time.Hour)
	require.InDelta(t, 1000+10+50, len(l.Sent), 1)
}

// With exponential service of mean 1, independent for each attempt, a second
// attempt after d costs e^−d more attempts and makes the mean 1 − e^−d/2; a
// p-quantile beyond d is (d − ln(1−p))/2 of it. At a learned quantile q, d is
// −ln(1−q).
func TestHedgeClosedForms(t *testing.T) {
	ln20 := time.Duration(math.Log(20) * 1e9)
	for name, c := range map[string]struct {
		hedge Hedge
		d     float64
	}{
		"after 1":     {Hedge{After: time.Second}, 1},
		"after ln 20": {Hedge{After: ln20}, math.Log(20)},
		"p95":         {Hedge{After: 10 * time.Second, Quantile: 0.95}, math.Log(20)},
		"p50":         {Hedge{After: time.Millisecond, Quantile: 0.5}, math.Ln2},
	} {
		t.Run(name, func(t *testing.T) {
			const calls, warmUp = 8_000, 2_000
			c.hedge.Scope = strategies.PerFleet
			l := strategytest.NewLab(t, c.hedge)
			l.Serve = func(c *strategytest.Caller) (time.Duration, wire.Outcome) {
				return c.Driver().Rand.For(c.ID).Exp(uint64(c.Attempts)<<32, time.Second), strategytest.Answered
			}
			var sum float64
			var sent, beyond int
			p99 := (c.d - math.Log(0.01)) / 2
			l.Settled = func(call *strategytest.Caller, _ strategies.Decision) {
				if call.ID < warmUp {
					return
				}
				took := (l.Now - call.Born).Seconds()
				sum += took
				sent += int(call.Attempts)
				if took > p99 {
					beyond++
				}
			}
			for i := range warmUp + calls {
				l.At(time.Duration(i)*time.Second/10, func() { l.Begin("a", i) })
			}
			l.Run(time.Hour)
			tail := math.Exp(-c.d)
			require.InDelta(t, 1-tail/2, sum/calls, 0.04, "mean")
			require.InDelta(t, tail, float64(sent)/calls-1, 0.1*tail+0.008, "extra attempts")
			require.InDelta(t, 0.01, float64(beyond)/calls, 0.0045, "beyond the p99")
		})
	}
}
