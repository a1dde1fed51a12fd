package metrics

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The peak agrees with the definition applied to the list of all attempts.
func TestHerdPeakAgreesWithItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		capacity := rapid.SampledFrom([]float64{0.01, 0.5, 1, 2.9, 3, 3.1, 1000}).Draw(t, "capacity")
		h := newHerdPeak(capacity)
		window := HerdWindow(capacity)
		step := window / 10
		type attempt struct {
			at      time.Duration
			percent uint8
		}
		var all []attempt
		now := time.Duration(0)
		for range rapid.IntRange(0, 60).Draw(t, "attempts") {
			now += time.Duration(rapid.Int64Range(0, int64(window/4)).Draw(t, "gap"))
			a := attempt{now, rapid.SampledFrom([]uint8{0, 40, 100}).Draw(t, "percent")}
			all = append(all, a)
			h.add(a.at, a.percent)
		}
		var most float64
		for end := step; end <= now+window; end += step {
			var sum float64
			for _, a := range all {
				if a.at >= end-window && a.at < end {
					sum += float64(a.percent)
				}
			}
			most = max(most, sum/100)
		}
		got, end := h.peak()
		require.Equal(t, most, got)
		if got > 0 {
			require.Zero(t, end%step)
		}
	})
}

func TestHerdWindow(t *testing.T) {
	for capacity, want := range map[float64]time.Duration{
		1000: time.Second, 3: time.Second, 2.9: 2 * time.Second, 1: 3 * time.Second, 0.1: 30 * time.Second,
		1e-300: 2147483647 * time.Second,
	} {
		require.Equal(t, want, HerdWindow(capacity), capacity)
	}
}

// A herd that returns within one instant counts in full wherever it falls: fixed
// bins would cut some herds in two.
func TestHerdPeakDoesNotDependOnAlignment(t *testing.T) {
	for shift := time.Duration(0); shift < 2*time.Second; shift += 37 * time.Millisecond {
		h := newHerdPeak(3)
		for i := range 60 {
			h.add(shift+time.Duration(i)*10*time.Millisecond, 100) // within 0.6 s
		}
		got, _ := h.peak()
		require.Equal(t, 60.0, got, shift)
	}
}

func TestHerdPeakWithoutCapacityCountsNothing(t *testing.T) {
	h := newHerdPeak(0)
	h.add(time.Second, 100)
	got, _ := h.peak()
	require.Zero(t, got)
}
