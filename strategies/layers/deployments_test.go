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

func TestDeployments(t *testing.T) {
	two := Deployments{Targets: []wire.Target{{Model: 1, Key: 1}, {Model: 1, Key: 1}}, Backoff: backoffs.Fixed{Every: time.Minute}, Scope: strategies.PerFleet}
	t.Run("a refusal benches at once, and the retry goes elsewhere", func(t *testing.T) {
		strategytest.Play(t, []strategies.Layer{two, pointing{}}, `
			a: begin -> send + note model 1 + note key 1
			a: 429 -> wait 0s
			a: wake -> send + note model 1 + note key 1
			a: 401 -> stop failed auth              # so does a bad key: nobody is left
			b: begin -> wait 5s
			b: wake -> send + note model 1 + note key 1
			b: 429 -> wait 0s
			b: wake -> send + note model 1 + note key 1
			b: 429 after=2m -> wait 2m              # nobody else is on its feet
			b: wake -> send + note model 1 + note key 1
			b: 503 -> stop tries_exhausted`)
	})
	t.Run("for as long as it asks, and a bad request not at all", func(t *testing.T) {
		strategytest.Play(t, []strategies.Layer{Deployments{Targets: strategytest.Targets(2), Scope: strategies.PerFleet}}, `
			a: begin -> send
			a: 400 -> stop failed bad_request
			a: begin -> send
			a: 503 after=20s -> wait 0s
			a: wake -> send
			a: 429 after=30s -> wait 30s            # by then both are back
			b: begin -> wait 20s
			b: wake -> send
			b: 413 -> stop failed too_large
			c: begin -> send`)
	})
	t.Run("one alone is not benched", func(t *testing.T) {
		strategytest.Play(t, []strategies.Layer{Deployments{Targets: strategytest.Targets(1), Scope: strategies.PerFleet}}, `
			a: begin -> send
			a: 429 -> wait 0s
			a: wake -> send
			a: 401 -> stop failed
			b: begin -> send
			b: 503 after=1m -> wait 1m              # but heard
			c: begin -> wait 1m`)
	})
	t.Run("a retry waits if there is no other", func(t *testing.T) {
		strategytest.Play(t, []strategies.Layer{Deployments{Targets: strategytest.Targets(1), Backoff: backoffs.Fixed{Every: time.Second}, Scope: strategies.PerFleet}}, `
			a: begin -> send
			a: 503 -> wait 1s`)
	})
	t.Run("half of a minute's attempts", func(t *testing.T) {
		d := &deployments{Deployments: two}
		require.NoError(t, d.fill())
		for _, c := range []struct {
			class           wire.Class
			fails, attempts int64
			want            bool
		}{
			{wire.Rate, 1, 100, true}, {wire.Auth, 1, 100, true}, {wire.Quota, 1, 100, true},
			{wire.Overloaded, 1, 1, false}, {wire.Overloaded, 4, 4, false}, {wire.Overloaded, 5, 5, true},
			{wire.Overloaded, 5, 10, false}, {wire.Overloaded, 6, 10, true},
		} {
			require.Equal(t, c.want, d.bench(c.class, c.fails, c.attempts), "%+v", c)
		}
		d.Fails = 3
		require.False(t, d.bench(wire.Overloaded, 3, 100))
		require.True(t, d.bench(wire.Overloaded, 4, 100))
		d.Targets = d.Targets[:1]
		require.False(t, d.bench(wire.Rate, 999, 999))
		require.False(t, d.bench(wire.Rate, 999, 1000))
		require.True(t, d.bench(wire.Rate, 1000, 1000))
	})
}

// Of four deployments one is down: the other three share the load evenly, and
// the one that is down is tried once in each five seconds, by the few who choose it
// before its refusal is back.
func TestDeploymentsGoRound(t *testing.T) {
	l := strategytest.NewLab(t, Deployments{Targets: strategytest.Targets(4), Scope: strategies.PerFleet})
	var sent [4]int
	lost := 0
	l.Serve = func(c *strategytest.Caller) (time.Duration, wire.Outcome) {
		r := c.Target.Region
		sent[r]++
		if r == 2 {
			return 10 * time.Millisecond, strategytest.Refused(wire.Rate)
		}
		return 100 * time.Millisecond, strategytest.Answered
	}
	l.Settled = func(_ *strategytest.Caller, d strategies.Decision) {
		if d.End.Reason != strategies.Succeeded {
			lost++
		}
	}
	l.ClosedLoop(6, time.Second)
	l.Run(10 * time.Minute)
	require.Zero(t, lost)
	require.GreaterOrEqual(t, sent[2], 115)
	require.LessOrEqual(t, sent[2], 120*3)
	third := (sent[0] + sent[1] + sent[3]) / 3
	for _, r := range []int{0, 1, 3} {
		require.InEpsilon(t, third, sent[r], 0.05)
	}
}
