package metrics

import (
	"math"
	"time"
)

// herdSteps is the number of steps in the window of a herd peak.
const herdSteps = 10

// HerdWindow returns the length of the window in which a herd is counted: 1 s, or
// as many whole seconds as the provider needs to serve three requests. Below that
// a single request would already be a multiple of the capacity. The capacity is in
// requests per second and must be positive.
func HerdWindow(capacity float64) time.Duration {
	seconds := math.Ceil(3 / capacity)
	switch {
	case seconds <= 1:
		return time.Second
	case seconds >= math.MaxInt32:
		return math.MaxInt32 * time.Second
	}
	return time.Duration(seconds) * time.Second
}

// herdPeak is the largest number of attempts in one window. The window slides: one
// ends at every multiple of a tenth of its length since the run began. Attempts
// count in hundredths, so that a part of one may be left out.
type herdPeak struct {
	step   time.Duration // 0 if there is nothing to count
	counts [herdSteps]uint64
	sum    uint64        // of counts
	last   int64         // number of the latest step in counts
	slot   int           // its index in counts
	ends   time.Duration // when it ends
	most   uint64
	end    int64 // number of the last step of the window with the most
}

// newHerdPeak returns the peak of a provider of that capacity; one that counts
// nothing if the capacity has no bound, which is written as 0.
func newHerdPeak(capacity float64) herdPeak {
	if !(capacity > 0) {
		return herdPeak{}
	}
	return herdPeak{step: HerdWindow(capacity) / herdSteps}
}

// add counts a part of an attempt, in per cent, at a time that is not before that
// of the call before.
func (h *herdPeak) add(now time.Duration, percent uint8) {
	if h.step == 0 || percent == 0 {
		return
	}
	if now >= h.ends {
		h.advance(now)
	}
	h.counts[h.slot] += uint64(percent)
	h.sum += uint64(percent)
	if h.sum > h.most {
		h.most, h.end = h.sum, h.last
	}
}

// advance begins the step of a time and forgets the steps that have left the window.
func (h *herdPeak) advance(now time.Duration) {
	step := int64(now / h.step)
	if step-h.last >= herdSteps {
		h.counts, h.sum, h.last = [herdSteps]uint64{}, 0, step
	}
	for h.last < step {
		h.last++
		old := &h.counts[h.last%herdSteps]
		h.sum -= *old
		*old = 0
	}
	h.slot, h.ends = int(step%herdSteps), time.Duration(step+1)*h.step
}

// peak returns the largest number of attempts in one window, and when that window
// ends.
func (h *herdPeak) peak() (attempts float64, end time.Duration) {
	if h.most == 0 {
		return 0, 0
	}
	return float64(h.most) / 100, time.Duration(h.end+1) * h.step
}
