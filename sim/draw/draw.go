// Package draw makes random draws, each of which belongs to an owner: a run, a
// fleet, a call, an attempt.
//
// A draw is a pure function of (seed, owner, index): it is the same each time,
// in any order. So two strategies see the same random arrivals and faults, and a
// run does not depend on the number of cores. There is no shared random source.
//
// Most callers need three names: New returns the draws of a seed, Rand.For those
// of an owner, and a Dist is a distribution of durations.
//
// The generator is SplitMix64 used as a counter: the key of an owner is a hash
// of the seed and the owner's identity, and draw n of that owner is the n-th
// output of SplitMix64 seeded with that key (Steele, Lea, Flood, "Fast
// splittable pseudorandom number generators", OOPSLA 2014; the finaliser is
// Stafford's variant 13).
package draw

import (
	"math"
	"math/bits"
	"time"
)

// golden is the increment of SplitMix64; owner is an odd constant (the
// fractional digits of π) that separates the keys of owners.
const (
	golden = 0x9e3779b97f4a7c15
	owner  = 0x243f6a8885a308d3
)

// Rand is the draws of one owner. It is a small value that may be copied.
//
// The zero value is a valid generator (seed 0, one-nanosecond quantum).
type Rand struct {
	key uint64
	// quantum is the grid, in ns, on which drawn durations lie; 0 means 1 ns.
	quantum int64
}

// New returns the root generator of a run. Durations drawn from it and from
// everything derived from it lie on a grid of one nanosecond.
func New(seed uint64) Rand { return Rand{key: mix(seed + golden)} }

// WithQuantum returns r with drawn durations rounded down to multiples of q. The
// grid is applied before scaling: if every duration of an experiment and its
// quantum are multiplied by k, every drawn duration is multiplied by exactly k.
// A q below 1 ns counts as 1 ns.
func (r Rand) WithQuantum(q time.Duration) Rand {
	r.quantum = int64(q)
	return r
}

// For returns the draws of the owner with the given number below r: a fleet of a
// run, a call of a fleet.
func (r Rand) For(id uint64) Rand {
	r.key = mix(r.key ^ (id+1)*owner)
	return r
}

// Bits returns draw n of this owner: 64 uniform bits.
func (r Rand) Bits(n uint64) uint64 { return mix(r.key + (n+1)*golden) }

// Below returns draw n as a uniform integer in [0, bound); 0 if bound is 0.
// The bias is below bound/2⁶⁴.
func (r Rand) Below(n, bound uint64) uint64 {
	hi, _ := bits.Mul64(r.Bits(n), bound)
	return hi
}

// Float returns draw n as a uniform float in [0, 1), a multiple of 2⁻⁵³.
func (r Rand) Float(n uint64) float64 { return float64(r.Bits(n)>>11) * 0x1p-53 }

// Uniform returns draw n as a duration in [lo, hi) on the quantum's grid above
// lo; lo itself if hi ≤ lo.
func (r Rand) Uniform(n uint64, lo, hi time.Duration) time.Duration {
	if hi <= lo {
		return lo
	}
	span := uint64(hi - lo)
	if r.quantum <= 1 {
		return lo + time.Duration(r.Below(n, span))
	}
	q := uint64(r.quantum)
	return lo + time.Duration(r.Below(n, span/q)*q)
}

// Exp returns draw n as an exponentially distributed duration of the given
// mean, rounded to the quantum. A mean of zero or less gives zero.
func (r Rand) Exp(n uint64, mean time.Duration) time.Duration {
	if mean <= 0 {
		return 0
	}
	q := r.grid()
	return clampDuration(float64(negLog(r.Bits(n))*float64(int64(mean)/q)), q)
}

// Lognormal returns draw n as a lognormally distributed duration with the
// given mean and coefficient of variation (standard deviation ÷ mean), rounded
// to the quantum. A mean of zero or less gives zero.
func (r Rand) Lognormal(n uint64, mean time.Duration, cv float64) time.Duration {
	if mean <= 0 {
		return 0
	}
	q := r.grid()
	s2 := math.Log(float64(1 + float64(cv*cv)))
	// Box–Muller: index n gives the radius and its complement ^n the angle, so
	// that n identifies the draw.
	radius := math.Sqrt(float64(2 * negLog(r.Bits(n))))
	z := float64(radius * math.Cos(float64(2*math.Pi*r.Float(^n))))
	x := math.Exp(float64(float64(math.Sqrt(s2)*z) - float64(s2/2)))
	return clampDuration(float64(x*float64(int64(mean)/q)), q)
}

// Scale returns d ≥ 0 times a finite f ≥ 0, rounded to the quantum. It applies a
// factor to a drawn duration.
func (r Rand) Scale(d time.Duration, f float64) time.Duration {
	q := r.grid()
	return clampDuration(float64(float64(int64(d)/q)*f), q)
}

func (r Rand) grid() int64 { return max(r.quantum, 1) }

// clampDuration rounds x ≥ 0 quanta to a duration. It saturates: a long mean
// times a rare draw must not overflow.
func clampDuration(x float64, q int64) time.Duration {
	if x >= float64(math.MaxInt64/4)/float64(q) {
		return time.Duration(math.MaxInt64 / 4 / q * q)
	}
	return time.Duration(int64(x+0.5) * q)
}

func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

const logBits = 9

// logTable[i] is the natural logarithm of the centre of the i-th of 2⁹ equal
// parts of [1, 2), and that centre's reciprocal.
var logTable = func() (t [1 << logBits]struct{ log, inv float64 }) {
	for i := range t {
		c := 1 + (float64(i)+0.5)/(1<<logBits)
		t[i].log, t[i].inv = math.Log(c), 1/c
	}
	return t
}()

// negLog returns −ln(u) for a uniform u in (0, 1] made of the given bits. A
// table of 512 entries and four terms of the series are accurate to about
// 1e-15 and four times as fast as math.Log; every product is rounded by an
// explicit conversion, so that no compiler may fuse it.
func negLog(b uint64) float64 {
	u := b>>1 + 1 // (0, 2⁶³]
	lz := bits.LeadingZeros64(u)
	m := u << lz // top bit set: the mantissa of u in [1, 2)
	i := m << 1 >> (64 - logBits)
	f := math.Float64frombits(m<<1>>12 | 0x3ff0000000000000)
	e := &logTable[i]
	r := float64(f*e.inv) - 1
	r2 := float64(r * r)
	series := r - float64(r2*float64(0.5-float64(r*float64(1.0/3-float64(r*0.25)))))
	return float64(float64(lz)*math.Ln2) - (e.log + series)
}
