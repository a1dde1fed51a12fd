package serve

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The naive twin keeps the number of arrivals of each second.
func TestSeriesAgainstTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := series{width: time.Second}
		counted := map[int64]uint64{}
		now := time.Duration(0)
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			now += time.Duration(rapid.IntRange(0, 90_000).Draw(t, "later")) * time.Millisecond
			s.at(now).Offered++
			counted[int64(now/time.Second)]++
		}
		list := s.list(now)
		if want := min(int64(now/time.Second)+1, maxBins); int64(len(list)) != want {
			t.Fatalf("%d bins at %v", len(list), now)
		}
		for i, b := range list {
			n := int64(now/time.Second) - int64(len(list)-1-i)
			if b.At != float64(n) || b.Offered != counted[n] {
				t.Fatalf("bin %d is %+v; %d were offered", n, b, counted[n])
			}
		}
	})
}

// Requests in flight are counted in bins without events, too.
func TestSeriesWithoutEvents(t *testing.T) {
	s := series{width: time.Second}
	s.observe(0, 3, 1)
	s.observe(time.Second/2, 2, 0)
	s.at(3 * time.Second)
	for i, want := range [][2]int{{3, 1}, {2, 0}, {2, 0}, {2, 0}} {
		b := s.list(3 * time.Second)[i]
		require.Equal(t, want, [2]int{b.InFlight, b.Queued}, "bin %d", i)
	}
}
