package draw

import (
	"fmt"
	"time"
)

// Kind is a family of distributions of durations.
type Kind uint8

// The families. The zero Kind is Constant.
const (
	Constant    Kind = iota // always the mean
	Uniform                 // between Low and High
	Exponential             // with the given mean
	Lognormal               // with the given mean and coefficient of variation
	Empirical               // with given quantiles; see Quantiles and Values
)

// Dist is a distribution of durations, such as a service time or a think
// time. The zero value is the constant zero.
type Dist struct {
	Kind Kind
	// Mean is the mean; not used by a uniform distribution.
	Mean time.Duration
	// Low and High bound a uniform distribution, Low ≤ x < High, and an
	// empirical one, Low ≤ x ≤ High.
	Low, High time.Duration
	// CV is the coefficient of variation of a lognormal distribution, ≥ 0.
	CV    float64
	table *table // of an empirical distribution
}

// Const returns the distribution that is always d.
func Const(d time.Duration) Dist { return Dist{Kind: Constant, Mean: d} }

// Between returns the uniform distribution on [lo, hi).
func Between(lo, hi time.Duration) Dist { return Dist{Kind: Uniform, Low: lo, High: hi} }

// Expo returns the exponential distribution with the given mean.
func Expo(mean time.Duration) Dist { return Dist{Kind: Exponential, Mean: mean} }

// Draw returns draw n of owner r, distributed as d.
func (d Dist) Draw(r Rand, n uint64) time.Duration {
	switch d.Kind {
	case Uniform:
		return r.Uniform(n, d.Low, d.High)
	case Exponential:
		return r.Exp(n, d.Mean)
	case Lognormal:
		return r.Lognormal(n, d.Mean, d.CV)
	case Empirical:
		return d.table.draw(r, n)
	default:
		return d.Mean
	}
}

// Average returns the mean of the distribution.
func (d Dist) Average() time.Duration {
	if d.Kind == Uniform {
		return d.Low + (d.High-d.Low)/2
	}
	return d.Mean
}

// String describes the distribution, such as "exponential 5s".
func (d Dist) String() string {
	switch d.Kind {
	case Uniform:
		return fmt.Sprintf("uniform %v..%v", d.Low, d.High)
	case Exponential:
		return fmt.Sprintf("exponential %v", d.Mean)
	case Lognormal:
		return fmt.Sprintf("lognormal %v cv %g", d.Mean, d.CV)
	case Empirical:
		return fmt.Sprintf("empirical %v..%v mean %v", d.Low, d.High, d.Mean)
	default:
		return d.Mean.String()
	}
}
