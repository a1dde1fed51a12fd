package layers

// slidingSum is a sum over a sliding window that is divided into slices of equal
// length; its value is their number. Its words are the number of the current slice,
// counted from the beginning of the run, the sum, and what each slice has added to
// it.
type slidingSum int64

func (n slidingSum) words() int { return int(n) + 2 }

// advance makes slice number at the current one and removes slices that are older
// than the window from the sum.
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
