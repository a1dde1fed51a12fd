package strategies

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/sim/draw"
)

// drawing is a guard that draws each time it is asked, and waits a while.
type drawing struct {
	purpose Purpose
	drawn   *[]time.Duration
	waits   bool
}

func (g *drawing) Build(b *Build, inner Strategy) (Strategy, error) {
	return b.Guard(&drawing{b.Purpose(), g.drawn, g.waits}, inner)
}

func (g *drawing) Admit(_ time.Duration, c *Call) Decision {
	*g.drawn = append(*g.drawn, c.Uniform(g.purpose, 0, Never))
	if g.waits && c.Turn < 5 {
		return Decision{Kind: Wait, After: time.Second}
	}
	return Decision{}
}

func (*drawing) Observe(time.Duration, *Call, Event, Decision) {}

// Draws belong to (seed, call, attempt, turn, purpose): no two of them are the
// same, and who has drawn before changes none.
func TestDrawsBelongToSomebody(t *testing.T) {
	var drawn []time.Duration
	layers := []Layer{Retry{Backoff: Fixed{}, MaxAttempts: 3}}
	for range 5 {
		layers = append(layers, &drawing{drawn: &drawn, waits: true})
	}
	run := func(seed uint64, calls ...string) []time.Duration {
		drawn = nil
		w := NewWorld(t, map[string][]Layer{"": layers}, seed)
		for _, name := range []string{"a", "b"} {
			w.Call(name) // so that a call has the same id in every run
		}
		for _, name := range calls {
			c := w.Call(name)
			d := c.Next(Event{Kind: Begin})
			for d.Kind != Stop {
				switch d.Kind {
				case Send:
					d = c.Next(Event{Kind: Reply, Attempt: c.Attempts, Outcome: Refusal(-1)})
				case Wait:
					d = c.Next(Event{Kind: Wake})
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

// Calls whose index fields would run into each other if they overlapped.
func TestDrawIndicesDoNotOverlap(t *testing.T) {
	seen := map[uint64]bool{}
	for _, attempts := range []uint32{0, 1, 2, 1<<16 - 1, 1 << 16, 1<<32 - 1} {
		for _, turn := range []uint32{0, 1, 2, 1<<16 - 1} {
			for _, p := range []Purpose{1, 2, 3, 1<<16 - 1} {
				c := Call{Attempts: attempts, Turn: turn}
				require.False(t, seen[c.DrawIndex(p)], "attempt %d, turn %d, purpose %d", attempts, turn, p)
				seen[c.DrawIndex(p)] = true
			}
		}
	}
}

func TestDraws(t *testing.T) {
	c := Call{Rand: draw.New(1), ID: 7, Attempts: 3}
	const n = 20_000
	var uniform, exponential, float float64
	for range n {
		c.Turn++
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
		require.Equal(t, name, Scope(s).String())
	}
	require.Equal(t, "scope(9)", Scope(9).String())
	reasons := map[string]bool{}
	for r := range Reason(NumReasons) {
		require.NotEmpty(t, r.String())
		require.False(t, reasons[r.String()], r.String())
		reasons[r.String()] = true
	}
	require.Equal(t, "unknown", Reason(NumReasons).String())
	for k, ends := range map[EventKind]bool{
		Begin: false, Sent: false, Head: false, Reply: true, Lost: true, Expired: true,
		Wake: false, Admitted: false, Cancelled: false, Settled: true,
	} {
		require.Equal(t, ends, Event{Kind: k}.Terminal(), k)
	}
}
