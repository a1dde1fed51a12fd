package mockprovider

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/sim/draw"
)

// rfc8289 is the dequeue routine of RFC 8289, section 5, letter by letter, on
// a list of arrival times.
type rfc8289 struct {
	target, interval   time.Duration
	queue              []time.Duration
	firstAbove, dropAt time.Duration
	count, last        int
	dropping           bool
	sent, dropped      []time.Duration
}

func (c *rfc8289) law(t time.Duration) time.Duration {
	return t + time.Duration(math.Round(float64(c.interval)/math.Sqrt(float64(c.count))))
}

func (c *rfc8289) dodequeue(now time.Duration) (p time.Duration, any, ok bool) {
	if len(c.queue) == 0 {
		c.firstAbove = 0
		return 0, false, false
	}
	p, c.queue = c.queue[0], c.queue[1:]
	if now-p < c.target || len(c.queue) == 0 {
		c.firstAbove = 0
	} else if c.firstAbove == 0 {
		c.firstAbove = now + c.interval
	} else if now >= c.firstAbove {
		ok = true
	}
	return p, true, ok
}

func (c *rfc8289) dequeue(now time.Duration) {
	p, any, ok := c.dodequeue(now)
	if c.dropping {
		if !ok {
			c.dropping = false
		}
		for now >= c.dropAt && c.dropping {
			c.dropped = append(c.dropped, p)
			c.count++
			if p, any, ok = c.dodequeue(now); !ok {
				c.dropping = false
			} else {
				c.dropAt = c.law(c.dropAt)
			}
		}
	} else if ok {
		c.dropped = append(c.dropped, p)
		p, any, _ = c.dodequeue(now)
		c.dropping = true
		delta := c.count - c.last
		c.count = 1
		if delta > 1 && now-c.dropAt < 16*c.interval {
			c.count = delta
		}
		c.dropAt = c.law(now)
		c.last = c.count
	}
	if any {
		c.sent = append(c.sent, p)
	}
}

// The shedder decides request by request what the RFC decides in one routine, as
// long as drops are apart: an interval of a few nanoseconds ÷ √n would round to
// nothing.
func TestCoDelIsThatOfTheRFC(t *testing.T) {
	spells := 0
	rapid.Check(t, func(t *rapid.T) {
		target := time.Duration(rapid.IntRange(0, 30).Draw(t, "target"))
		interval := time.Duration(rapid.IntRange(10, 200).Draw(t, "interval"))
		twin := rfc8289{target: target, interval: interval}
		shed := shedder{CoDel: CoDel{target, interval}, rnd: draw.New(1)}
		var queue, sent, dropped []time.Duration
		now := time.Duration(1)
		for range rapid.IntRange(10, 300).Draw(t, "steps") {
			now += time.Duration(rapid.IntRange(0, 10).Draw(t, "passes"))
			if rapid.IntRange(0, 9).Draw(t, "kind") < 6 {
				queue, twin.queue = append(queue, now), append(twin.queue, now)
				continue
			}
			twin.dequeue(now)
			for len(queue) > 0 {
				p := queue[0]
				drops := shed.drops(now, now-p, len(queue) == 1)
				if queue = queue[1:]; !drops {
					sent = append(sent, p)
					break
				}
				dropped = append(dropped, p)
			}
			require.Equal(t, twin.sent, sent)
			require.Equal(t, twin.dropped, dropped)
		}
		if len(dropped) > 2 {
			spells++
		}
	})
	require.Positive(t, spells, "nothing was ever dropped")
}

// A queue whose waits stay too long is shed at intervals that shrink as 1/√n:
// the n-th drop is at the n-th partial sum of them.
func TestCoDelControlLaw(t *testing.T) {
	const target, interval = 5 * time.Millisecond, 100 * time.Millisecond
	shed := shedder{CoDel: CoDel{target, interval}, rnd: draw.New(1)}
	var at []time.Duration
	for now := time.Second; now < 3*time.Second; now += time.Microsecond {
		for shed.drops(now, 2*target, false) {
			at = append(at, now)
		}
	}
	require.Equal(t, time.Second+interval, at[0], "after one interval of long waits")
	sum := at[0]
	for n := 1; n < len(at); n++ {
		sum += time.Duration(float64(interval) / math.Sqrt(float64(n)))
		require.InDelta(t, float64(sum), float64(at[n]), float64(time.Duration(n+1)*time.Microsecond))
	}
	require.Greater(t, len(at), 50)
	// One short wait ends it, and soon after the next spell goes on at its pace.
	require.False(t, shed.drops(3*time.Second, target-1, false))
	require.False(t, shed.drops(3*time.Second, 2*target, false))
	require.True(t, shed.drops(3*time.Second+interval, 2*target, false))
	require.Greater(t, shed.count, uint32(50))
	// A request alone in the queue is never dropped.
	require.False(t, shed.drops(time.Hour, time.Hour, true))
}

func TestCoDelInAQueue(t *testing.T) {
	play(t, Config{Capacity: Capacity{
		Slots: 1, Queue: 10, Service: takes(10 * time.Second), Discipline: Discipline{CoDel: CoDel{Target: 2 * time.Second, Interval: 20 * time.Second}},
	}}, `
		arrive 1 -> 1 started 10s
		arrive 2 -> queued
		arrive 3 -> queued
		arrive 4 -> queued
		arrive 5 -> queued
		arrive 6 -> queued
		arrive 7 -> queued
		@10s done 1 -> 1 200 ok slot=10s; 2 started 10s        # the first that waited too long
		@20s done 2 -> 2 200 ok slot=10s; 3 started 10s
		@30s done 3 -> 3 200 ok slot=10s; 4 503 overloaded; 5 started 10s
		@40s done 5 -> 5 200 ok slot=10s; 6 started 10s
		@50s done 6 -> 6 200 ok slot=10s; 7 started 10s        # nobody else waits
		@60s done 7 -> 7 200 ok slot=10s`)
}
