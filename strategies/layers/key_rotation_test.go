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

func TestKeyRotation(t *testing.T) {
	t.Run("a spent key is found out once", func(t *testing.T) {
		strategytest.Play(t, []strategies.Layer{KeyRotation{Keys: []uint8{0, 1, 2}, Rounds: 1, Scope: strategies.PerFleet}, pointing{}}, `
			a: begin -> send
			b: begin -> send
			a: quota -> wait 0s
			c: begin -> send + note key 1           # all have moved on
			a: wake -> send + note key 1
			b: quota -> wait 0s                     # the first key again: nothing new
			b: wake -> send + note key 1
			d: begin -> send + note key 1
			c: 401 -> wait 0s
			e: begin -> send + note key 2
			a: 200 -> stop succeeded
			c: wake -> send + note key 2
			c: 429 -> wait 0s
			c: wake -> send                         # round the list, from where it began
			c: 403 -> stop nothing_left permission + alarm no_key_left
			e: 503 -> stop failed                   # that is not the key's fault`)
	})
	t.Run("what is lost for good is not asked again", func(t *testing.T) {
		strategytest.Play(t, []strategies.Layer{KeyRotation{Keys: []uint8{0, 1, 2}, Backoff: backoffs.Fixed{Every: time.Second}, Scope: strategies.PerFleet}, pointing{}}, `
			a: begin -> send
			a: 401 -> wait 0s
			a: wake -> send + note key 1
			a: 429 after=9s -> wait 0s
			a: wake -> send + note key 2
			a: 429 after=5s -> wait 9s              # the longest of those who ask
			a: wake -> send + note key 1
			a: quota -> wait 0s
			a: wake -> send + note key 2
			a: 429 -> wait 1s
			a: wake -> send + note key 2            # the only one that is left
			a: 403 -> stop nothing_left permission + alarm no_key_left
			b: begin -> send + note key 2`)
	})
	t.Run("evenly", func(t *testing.T) {
		strategytest.Play(t, []strategies.Layer{KeyRotation{Keys: []uint8{1, 2}, Even: true, Backoff: backoffs.Fixed{Every: time.Second}, Scope: strategies.PerFleet}, pointing{}}, `
			a: begin -> send + note key 1
			b: begin -> send + note key 2
			c: begin -> send + note key 1
			c: 429 -> wait 0s
			c: wake -> send + note key 2
			d: begin -> send + note key 2           # its turn, whatever has become of c
			c: 429 after=3s -> wait 3s
			c: wake -> send + note key 1`)
	})
}

// Keys with windows of their own add up, and the fleet meets each limit once a
// window and not once a call.
func TestKeysAddUp(t *testing.T) {
	l := strategytest.NewLab(t, KeyRotation{Keys: []uint8{0, 1, 2}, Backoff: backoffs.Fixed{Every: time.Second}, Scope: strategies.PerFleet})
	var windows [3]fixedWindow
	for k := range windows {
		windows[k] = fixedWindow{limit: 50, length: time.Minute, window: -1}
	}
	refused := 0
	l.Serve = func(c *strategytest.Caller) (time.Duration, wire.Outcome) {
		after, o := windows[c.Target.Key].serve(l, &refused)(c)
		if !o.OK() {
			o.RetryAfter = o.Reset
		}
		return after, o
	}
	l.ClosedLoop(5, time.Second)
	l.Run(10 * time.Minute)
	require.Equal(t, 10*3*50, len(l.Sent)-refused)
	// Each of five callers may find each key spent, and must find all three so
	// in a row before it waits as it is told.
	require.LessOrEqual(t, refused, 10*5*(1+1+3))
}
