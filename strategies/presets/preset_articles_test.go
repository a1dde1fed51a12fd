package presets

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/strategies"
	"herdlab/strategies/strategytest"
)

func layersOf(t *testing.T, name string) []strategies.Layer {
	t.Helper()
	d, err := Lookup(name, Knowledge{})
	require.NoError(t, err)
	return d.Layers
}

// Without retry_after the template waits 1, 2, 4, 8 and then another 16 s before it
// fails: 31 s for five attempts.
func TestArticleWaitsAfterTheLastAttempt(t *testing.T) {
	strategytest.Play(t, layersOf(t, "article-14003"), `
		begin -> send
		rate -> wait 1s
		wake -> send
		rate after=3s -> wait 3s                  # retry_after replaces the backoff
		wake -> send
		rate after=0s -> wait 0s
		wake -> send
		rate -> wait 8s
		wake -> send
		rate -> wait 16s
		@28s wake -> stop tries_exhausted rate
		begin -> send
		503 -> stop failed                        # other failures are not retried
		begin -> send
		rate -> wait 1s
		wake -> send
		200 -> stop succeeded`)
	got := replies(t, "article-14003", 1, 10, asks(body200, -1, 0))
	require.Equal(t, strategytest.Seconds(1, 2, 4, 8), got.waits)
}

// The recursion inside the semaphore. A single call hangs at its second 14003 in a
// row because it holds both permits; two concurrent calls hang at their first 14003.
func TestArticleDeadlocks(t *testing.T) {
	strategytest.Play(t, layersOf(t, "article-14003-semaphore"), `
		a: begin -> send
		a: rate after=3s -> wait 3s
		a: wake -> send                           # holds both permits
		a: 200 -> stop succeeded                  # returns both permits
		a: begin -> send
		a: rate -> wait 1s
		a: wake -> send
		a: rate -> wait 1s
		a: wake -> queued
		@1000h a: admitted -> refused`)
	strategytest.Play(t, layersOf(t, "article-14003-semaphore"), `
		a.1: begin -> send
		a.2: begin -> send
		a.1: rate -> wait 1s
		a.2: rate -> wait 1s
		a.1: wake -> queued
		a.2: wake -> queued
		a.3: begin -> queued
		@1000h a.1: admitted -> refused
		b: begin -> send                          # another process`)
}

// The complete client holds its permit during waits, paces calls but not attempts, and
// waits after the last attempt too.
func TestArticleClient(t *testing.T) {
	strategytest.Play(t, layersOf(t, "article-14003-client"), `
		a.1: begin -> send
		a.1: rate -> wait [1s,1.5s)
		a.2: begin -> queued
		a.1: wake -> send                         # the interval does not apply to retries
		a.1: rate -> wait [2s,2.5s)
		a.1: wake -> send
		a.1: rate after=3s -> wait [3s,3.5s)
		a.1: wake -> send
		a.1: rate -> wait [8s,8.5s)
		a.2: admitted -> refused
		a.1: wake -> stop tries_exhausted rate
		a.2: admitted -> send`)
	// The starts of two calls are 0.3 s + U(0, 20 ms) apart.
	w := strategytest.NewWorld(t, map[string][]strategies.Layer{"": layersOf(t, "article-14003-client")}, 1)
	w.Script("a.1: begin -> send\na.1: 200 -> stop succeeded")
	c := w.Call("a.2")
	c.Next(strategies.Event{Kind: strategies.Begin})
	require.NotNil(t, c.Line)
	p, m := c.Pool(c.Wants.Pool)
	_, ready := p.TryTake(0, m, 1)
	require.GreaterOrEqual(t, ready, 300*time.Millisecond)
	require.Less(t, ready, 320*time.Millisecond)
}

func TestArticleThreeTiers(t *testing.T) {
	w := strategytest.NewWorld(t, map[string][]strategies.Layer{"": layersOf(t, "article-three-tiers")}, 1)
	c := w.Call("a")
	c.Next(strategies.Event{Kind: strategies.Begin})
	var models []uint8
	for {
		models = append(models, c.Target.Model)
		d := c.Next(strategies.Event{Kind: strategies.Reply, Attempt: c.Attempts, Outcome: strategytest.Refusal(-1)})
		if d.Kind != strategies.Wait {
			require.Equal(t, strategies.Stop, d.Kind)
			break
		}
		require.GreaterOrEqual(t, d.After, 90*time.Second)
		require.Less(t, d.After, 150*time.Second)
		w.Now += d.After
		c.Next(strategies.Event{Kind: strategies.Wake})
	}
	require.Equal(t, []uint8{0, 0, 1, 2}, models)
}
