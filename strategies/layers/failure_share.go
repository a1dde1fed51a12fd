package layers

// failureShare counts attempts and those of them that failed, in one word: the
// attempts in the lower half, the failures in the upper.
type failureShare int64

func shareOf(failures, attempts int64) failureShare {
	return failureShare(failures<<upperHalf | attempts)
}

func (s failureShare) attempts() int64 { return int64(s) & lowerMask }
func (s failureShare) failures() int64 { return int64(s) >> upperHalf }

func (s *failureShare) addAttempt() { *s++ }

// addFailure counts a failure of an attempt that addAttempt has counted.
func (s *failureShare) addFailure() { *s += 1 << upperHalf }
