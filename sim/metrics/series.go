package metrics

import "time"

// Series are counts per bin. Bin i covers [Start + i·Width, Start + (i+1)·Width).
// Start ≤ 0 is chosen so that the last fault ends at the edge of a bin.
type Series struct {
	Start, Width time.Duration
	// In each bin, the number of calls that began, of attempts that reached the
	// provider, of calls answered usefully and of calls settled.
	Calls, Attempts, Useful, Settled []uint32
}

// binOf returns the bin of now, which must not lie before Start.
func (s *Series) binOf(now time.Duration) int { return int((now - s.Start) / s.Width) }

func extend(s []uint32, n int) []uint32 {
	if n <= cap(s) {
		return s[:n]
	}
	grown := make([]uint32, n, max(2*n, 64))
	copy(grown, s)
	return grown
}
