package limits

import (
	"time"
)

// charges are what was charged when, oldest first, in a ring: n times from index
// first on. It grows when it is full, so that it allocates nothing once it has
// held its largest number of charges.
type charges struct {
	at       []time.Duration
	first, n int
	amounts  []int64 // nil where each is 1
	sum      int64   // of them
}

// index is where the i-th oldest is.
func (c *charges) index(i int) int {
	if i += c.first; i >= len(c.at) {
		i -= len(c.at)
	}
	return i
}

func (c *charges) oldest() time.Duration { return c.at[c.first] }

// amount is what the i-th oldest is.
func (c *charges) amount(i int) int64 {
	if c.amounts == nil {
		return 1
	}
	return c.amounts[c.index(i)]
}

// total is what all of them are together.
func (c *charges) total() int64 {
	if c.amounts == nil {
		return int64(c.n)
	}
	return c.sum
}

// drop forgets the oldest.
func (c *charges) drop() {
	if c.first++; c.first == len(c.at) {
		c.first = 0
	}
	c.n--
}

// push charges 1 at t, not before what is there, where each is 1. There are
// never more than most.
func (c *charges) push(t time.Duration, most int) {
	if c.n == len(c.at) {
		c.at = unroll(c.at, c.first, min(most, max(8, 2*c.n)))
		c.first = 0
	}
	c.at[c.index(c.n)] = t
	c.n++
}

// dropAmount forgets the oldest where they are not all 1.
func (c *charges) dropAmount() {
	c.sum -= c.amounts[c.first]
	c.drop()
}

// add charges an amount at t, not before what is there. What comes at one time
// is one charge.
func (c *charges) add(t time.Duration, amount int64) {
	if c.n > 0 && c.at[c.index(c.n-1)] == t {
		c.change(c.n-1, amount)
		return
	}
	if c.n == len(c.at) {
		c.compact()
	}
	i := c.index(c.n)
	c.at[i], c.amounts[i] = t, amount
	c.n++
	c.sum += amount
}

// compact makes room for one more. What has been given back as a whole goes: if
// that is half of it, nothing needs to grow.
func (c *charges) compact() {
	live := 0
	for i := range c.n {
		if from, to := c.index(i), c.index(live); c.amounts[from] > 0 {
			c.at[to], c.amounts[to] = c.at[from], c.amounts[from]
			live++
		}
	}
	if c.n > 2*live {
		c.n = live
		return
	}
	size := max(8, 2*live)
	c.at, c.amounts = unroll(c.at, c.first, size), unroll(c.amounts, c.first, size)
	c.first, c.n = 0, live
}

// unroll copies a ring that begins at first to the beginning of a larger one.
func unroll[T any](ring []T, first, size int) []T {
	larger := make([]T, size)
	n := copy(larger, ring[first:])
	copy(larger[n:], ring[:first])
	return larger
}

// change adds to the i-th oldest, which does not become negative. The newest go
// that nothing is left of.
func (c *charges) change(i int, by int64) {
	a := &c.amounts[c.index(i)]
	by = max(by, -*a)
	*a += by
	c.sum += by
	for c.n > 0 && c.amounts[c.index(c.n-1)] == 0 {
		c.n--
	}
}

// find returns which of them is at t.
func (c *charges) find(t time.Duration) (i int, ok bool) {
	low, high := 0, c.n
	for low < high {
		if mid := int(uint(low+high) >> 1); c.at[c.index(mid)] < t {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low, low < c.n && c.at[c.index(low)] == t
}
