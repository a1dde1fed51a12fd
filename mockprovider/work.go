package mockprovider

import (
	"math/bits"
	"time"
)

// Work is what serving a request takes; it is decided when the work starts.
type Work struct {
	// Head and Whole are from the start to the first token and to the end. With
	// NoHead no head is sent.
	Head, Whole time.Duration
	// Tokens is how many output tokens are produced in between, Withheld how
	// many of the last of them are never sent.
	Tokens, Withheld uint32
}

// NoHead in Work.Head states that no head is sent.
const NoHead time.Duration = -1

// StopAt ends the work after that many tokens, if it has more. They come evenly
// between the head and the end.
func (w *Work) StopAt(tokens uint32) {
	if tokens < w.Tokens {
		first := max(w.Head, 0)
		hi, lo := bits.Mul64(uint64(w.Whole-first), uint64(tokens))
		between, _ := bits.Div64(hi, lo, uint64(w.Tokens))
		w.Whole, w.Tokens = first+time.Duration(between), tokens
	}
}

// produced returns the number of output tokens that exist that long after the
// start: the first comes with the head, the others evenly until the end.
func (w *Work) produced(after time.Duration) uint32 {
	head := max(w.Head, 0)
	switch {
	case after < head:
		return 0
	case after >= w.Whole:
		return w.Tokens
	}
	hi, lo := bits.Mul64(uint64(after-head), uint64(w.Tokens))
	n, _ := bits.Div64(hi, lo, uint64(w.Whole-head)) // after < whole, so n < tokens
	return min(uint32(n)+1, w.Tokens)
}
