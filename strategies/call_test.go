package strategies_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/sim/draw"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
	"herdlab/strategies/strategytest"
)

// drawing is a guard that draws at each Admit, and waits a while.
type drawing struct {
	purpose strategies.Purpose
	drawn   *[]time.Duration
	waits   bool
}

func (g *drawing) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	return b.Guard(&drawing{b.Purpose(), g.drawn, g.waits}, inner)
}

func (g *drawing) Admit(_ time.Duration, c *strategies.Call) strategies.Decision {
	*g.drawn = append(*g.drawn, c.Uniform(g.purpose, 0, strategies.Never))
	if g.waits && c.Driver().Turn < 5 {
		return strategies.Decision{Kind: strategies.Wait, After: time.Second}
	}
	return strategies.Decision{}
}

func (*drawing) Observe(time.Duration, *strategies.Call, strategies.Event, strategies.Decision) {}

// Draws belong to (seed, call, attempt, turn, purpose): no two of them are the
// same, and earlier draws of other calls change none.
func TestDrawsBelongToTheirCall(t *testing.T) {
	var drawn []time.Duration
	layers := []strategies.Layer{layers.Retry{Backoff: backoffs.Fixed{}, MaxAttempts: 3}}
	for range 5 {
		layers = append(layers, &drawing{drawn: &drawn, waits: true})
	}
	run := func(seed uint64, calls ...string) []time.Duration {
		drawn = nil
		w := strategytest.NewWorld(t, map[string][]strategies.Layer{"": layers}, seed)
		for _, name := range []string{"a", "b"} {
			w.Call(name) // so that a call has the same id in every run
		}
		for _, name := range calls {
			c := w.Call(name)
			d := c.Next(strategies.Event{Kind: strategies.Begin})
			for d.Kind != strategies.Stop {
				switch d.Kind {
				case strategies.Send:
					d = c.Next(strategies.Event{Kind: strategies.Reply, Attempt: c.Attempts, Outcome: strategytest.Refusal(-1)})
				case strategies.Wait:
					d = c.Next(strategies.Event{Kind: strategies.Wake})
				}
			}
		}
		return drawn
	}
	both := run(1, "a", "b")
	a, b := run(1, "a"), run(1, "b")
	require.Equal(t, append(append([]time.Duration{}, a...), b...), both, "another call changes nothing")
	distinct := map[time.Duration]bool{}
	for _, d := range append(both, run(2, "a")...) {
		require.False(t, distinct[d], "two draws are one: %d", d)
		distinct[d] = true
	}
	require.Greater(t, len(a), 3*5, "five guards and three attempts, several turns each")
}

// Different attempts, turns and purposes give different indices.
func TestDrawIndicesDoNotOverlap(t *testing.T) {
	seen := map[uint64]bool{}
	for _, attempts := range []uint32{0, 1, 2, 1<<16 - 1, 1 << 16, 1<<32 - 1} {
		for _, turn := range []uint32{0, 1, 2, 1<<16 - 1} {
			for _, p := range []strategies.Purpose{1, 2, 3, 1<<16 - 1} {
				c := strategies.Call{Attempts: attempts}
				c.Driver().Turn = turn
				require.False(t, seen[c.DrawIndex(p)], "attempt %d, turn %d, purpose %d", attempts, turn, p)
				seen[c.DrawIndex(p)] = true
			}
		}
	}
}

func TestDraws(t *testing.T) {
	c := strategies.NewCall(draw.New(1))
	c.ID, c.Attempts = 7, 3
	const n = 20_000
	var uniform, exponential, float float64
	for range n {
		c.Driver().Turn++
		u := c.Uniform(1, 10*time.Second, 20*time.Second)
		require.True(t, u >= 10*time.Second && u < 20*time.Second)
		f := c.Float(3)
		require.True(t, f >= 0 && f < 1)
		uniform += u.Seconds() / n
		exponential += c.Exponential(2, 4*time.Second).Seconds() / n
		float += f / n
	}
	// Within 4.5 standard errors: 10/√12, 4 and 1/√12 over √n.
	require.InDelta(t, 15, uniform, 0.092)
	require.InDelta(t, 4, exponential, 0.128)
	require.InDelta(t, 0.5, float, 0.0092)
	require.Equal(t, 10*time.Second, c.Uniform(1, 10*time.Second, 10*time.Second), "an empty range is its lower end")
}

func TestNames(t *testing.T) {
	for s, name := range []string{"call", "client", "fleet", "everyone"} {
		require.Equal(t, name, strategies.Scope(s).String())
	}
	require.Equal(t, "scope(9)", strategies.Scope(9).String())
	reasons := map[string]bool{}
	for r := range strategies.Reason(strategies.NumReasons) {
		require.NotEmpty(t, r.String())
		require.False(t, reasons[r.String()], r.String())
		reasons[r.String()] = true
	}
	require.Equal(t, "unknown", strategies.Reason(strategies.NumReasons).String())
	for k, ends := range map[strategies.EventKind]bool{
		strategies.Begin: false, strategies.Sent: false, strategies.Head: false, strategies.Reply: true, strategies.Lost: true, strategies.Expired: true,
		strategies.Wake: false, strategies.Admitted: false, strategies.Cancelled: false, strategies.Settled: true,
	} {
		require.Equal(t, ends, strategies.Event{Kind: k}.Terminal(), k)
	}
}
