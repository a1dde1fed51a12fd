package mockprovider

import (
	"math"
	"math/big"
	"math/bits"
	"time"

	"herdlab/sim/saturating"
)

// Load is the work that a Bound is for.
type Load struct {
	// Space has the numbers of accounts and so on, as in Config. The bound of a limit
	// with a counter for each account is the sum over all accounts.
	Space
	// MeanService is the mean time that a request holds its slot.
	MeanService time.Duration
	// MeanInput and MeanOutput are the mean length of its prompt and of its
	// answer, in tokens, and MeanReserved that of the output it states as the
	// most (max_tokens); 0 if it states none. A limit on tokens bounds nothing
	// where these are 0.
	MeanInput, MeanOutput, MeanReserved float64
}

// Bound is the most that is served in the long run: Count requests in each
// Per, an exact ratio, and Concurrency of them at a time. Where Per is 0 nothing
// bounds the rate, where Concurrency is 0 nothing bounds the number.
type Bound struct {
	Count       int64
	Per         time.Duration
	Concurrency int64
}

// Parallel returns the bound of n ≥ 1 requests at a time that take mean each.
func Parallel(n int64, mean time.Duration) Bound {
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

// Plus returns the bound of what is under one or the other, each by itself:
// the sum of both, and no bound where one has none. It is in the longer of both
// times, if that makes it a whole number. A sum that is no ratio of int64s is
// rounded up.
func (b Bound) Plus(o Bound) Bound {
	var sum Bound
	if b.Concurrency > 0 && o.Concurrency > 0 {
		sum.Concurrency = saturating.Add(b.Concurrency, o.Concurrency)
	}
	if b.Per <= 0 || o.Per <= 0 {
		return sum
	}
	sum.Per = max(b.Per, o.Per)
	if b.Per == o.Per {
		sum.Count = saturating.Add(b.Count, o.Count)
		return sum
	}
	rate := new(big.Rat).Add(big.NewRat(b.Count, int64(b.Per)), big.NewRat(o.Count, int64(o.Per)))
	if whole := new(big.Rat).Mul(rate, big.NewRat(int64(sum.Per), 1)); whole.IsInt() && whole.Num().IsInt64() {
		sum.Count = whole.Num().Int64()
		return sum
	}
	n, d := new(big.Int).Set(rate.Num()), new(big.Int).Set(rate.Denom())
	for !n.IsInt64() || !d.IsInt64() {
		n.Add(n, big.NewInt(1)).Rsh(n, 1)
		d.Rsh(d, 1)
	}
	sum.Count, sum.Per = n.Int64(), time.Duration(max(1, d.Int64()))
	return sum
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

// Load returns the load that the provider's own accounts make with calls whose
// prompts and answers have those mean lengths, in tokens. Where there are
// several models, its service time is that of the quickest.
func (c *Config) Load(inputTokens, outputTokens float64) Load {
	return Load{
		Space: c.FullSpace(), MeanService: c.quickest(inputTokens, outputTokens), MeanInput: inputTokens, MeanOutput: outputTokens,
	}
}

// Bound returns what the provider can serve of a load: the tightest of its
// slots and its limits.
func (c *Config) Bound(load Load) Bound {
	b := c.served(&load)
	for _, l := range c.Limits {
		b = b.And(l.Bound(load))
	}
	return b
}

// BoundOf returns the bound of a limit with these terms that admits limit in
// each length of time. If it counts tokens, that is divided by the mean that a
// request costs in the end; limits that reserve more than that let through less.
func (t *Terms) BoundOf(limit int32, length time.Duration, load *Load) Bound {
	b := Bound{Count: saturating.Mul(int64(limit), int64(t.Counters(load.Space))), Per: length}
	if t.Charge.Count == Requests {
		return b
	}
	mean := t.Charge.Mean(load)
	if mean <= 0 {
		return Bound{}
	}
	per := float64(length) * mean
	for per >= math.MaxInt64 && b.Count > 1 {
		per, b.Count = per/2, (b.Count+1)/2
	}
	if per >= math.MaxInt64 {
		b.Per = never
	} else {
		b.Per = max(1, time.Duration(per))
	}
	return b
}
