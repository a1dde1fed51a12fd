package layers

// slidingSum is a sum over a sliding window that is cut into a number of slices of equal
// length. Its words are the number of the slice it is in, counted from the
// beginning of the run, the sum, and what each slice has added to it.
type slidingSum int64

func (n slidingSum) words() int { return int(n) + 2 }

// advance forgets what is older than the window, now that slice number at has
// begun.
func (n slidingSum) advance(w []int64, at int64) {
	if at-w[0] >= int64(n) {
		clear(w[1:])
		w[0] = at
	}
	for w[0] < at {
		w[0]++
		old := &w[2+w[0]%int64(n)]
		w[1] -= *old
		*old = 0
	}
}

func (slidingSum) sum(w []int64) int64 { return w[1] }

func (n slidingSum) add(w []int64, x int64) {
	w[1] += x
	w[2+w[0]%int64(n)] += x
}
