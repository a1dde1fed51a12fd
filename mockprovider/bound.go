package mockprovider

import (
	"math/bits"
	"time"
)

// Load is the work that a Bound is for.
type Load struct {
	// Space is who sends it, as in Config. A limit that counts each account by
	// itself lets through what all of them together may.
	Space
	// MeanService is the mean time that a request holds its slot.
	MeanService time.Duration
}

// Bound is the most that is served in the long run: Count requests in each
// Per, an exact ratio, and Concurrency of them at a time. Where Per is 0 nothing
// bounds the rate, where Concurrency is 0 nothing bounds the number.
type Bound struct {
	Count       int64
	Per         time.Duration
	Concurrency int64
}

// parallel is the bound of n ≥ 1 requests at a time that take mean each.
func parallel(n int64, mean time.Duration) Bound {
	if mean <= 0 {
		return Bound{Concurrency: n}
	}
	return Bound{Count: n, Per: mean, Concurrency: n}
}

// And returns the bound of what is under both: the lower rate, which is b's if
// they are equal, and the lower number at a time.
func (b Bound) And(o Bound) Bound {
	if o.slower(b) {
		b.Count, b.Per = o.Count, o.Per
	}
	if o.Concurrency > 0 && (b.Concurrency == 0 || o.Concurrency < b.Concurrency) {
		b.Concurrency = o.Concurrency
	}
	return b
}

// slower reports whether the rate of b is the lower one.
func (b Bound) slower(than Bound) bool {
	if b.Per <= 0 || than.Per <= 0 {
		return b.Per > 0
	}
	// b.Count/b.Per < than.Count/than.Per, multiplied out.
	hi, lo := bits.Mul64(uint64(b.Count), uint64(than.Per))
	thanHi, thanLo := bits.Mul64(uint64(than.Count), uint64(b.Per))
	return hi < thanHi || hi == thanHi && lo < thanLo
}

// PerSecond returns the rate, which is the capacity of a provider with that
// bound; 0 if nothing bounds it.
func (b Bound) PerSecond() float64 {
	if b.Per <= 0 {
		return 0
	}
	return float64(b.Count) / b.Per.Seconds()
}

// Load returns the load that the provider's own accounts make with calls of the
// given mean output length in tokens.
func (c *Config) Load(outputTokens float64) Load {
	return Load{Space: c.Space, MeanService: c.Service.Mean(outputTokens)}
}

// Bound returns what the provider can serve of a load: the tightest of its
// slots and its limits.
func (c *Config) Bound(load Load) Bound {
	var b Bound
	if c.Slots > 0 {
		b = parallel(int64(c.Slots), load.MeanService)
	}
	for _, l := range c.Limits {
		b = b.And(l.Bound(load))
	}
	return b
}
