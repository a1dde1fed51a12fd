package verdict

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat/distuv"
)

// Standing is the result of a comparison of two strategies.
type Standing uint8

// The results of a comparison.
const (
	Inconclusive Standing = iota // the difference is not significant
	Better
	Worse
)

// String returns the standing as one word.
func (s Standing) String() string {
	switch s {
	case Better:
		return "better"
	case Worse:
		return "worse"
	}
	return "inconclusive"
}

// Difference is the result of comparing two strategies seed by seed.
type Difference struct {
	Standing Standing
	// P is the two-sided p-value: the probability of a difference at least as
	// large between two strategies that are alike. It is 1 if they do not differ.
	P float64
	// Pairs is the number of seeds on which the two differ.
	Pairs int
}

const (
	// Level is the p-value below which a difference counts as significant.
	Level = 0.05
	// MinPairs is the least number of seeds on which a difference can be
	// significant: five that all agree have p = 2/2⁵ = 0.0625.
	MinPairs = 6
	// exactPairs is the largest number of pairs that are tested exactly, which
	// takes 2^(pairs/2) steps.
	exactPairs = 30
)

// Paired compares a with b, the values of a metric of two strategies on the same
// seeds; less is better. Never is worse than any number; pairs with an Undefined
// value are left out.
//
// The test is Fisher's randomisation test for pairs (R. A. Fisher, "The Design
// of Experiments", 1935, §21). If the strategies are alike, each difference has
// either sign with equal probability, so the p-value is the share of all 2ⁿ
// choices of signs whose sum is at least as far from 0 as the observed sum. The
// test judges the mean, by which strategies are ranked. It holds its level for
// any number of pairs, assumes no normal distribution (peaks are small integers,
// drain times have long tails), and does not divide by a spread, which is 0
// where the seed has no influence.
//
// If a value is Never, the difference has a rank but no size: signed ranks
// replace the differences, which is Wilcoxon's test (Biometrics Bulletin 1,
// 1945). Beyond 30 pairs Student's t is used, which approximates the test as
// Fisher showed.
//
// Seeds on which the two are equal do not change the sum. Five pairs or fewer
// are never significant.
func Paired(a, b []float64) Difference {
	scores := make([]float64, 0, len(a))
	ranked := false
	for i := range min(len(a), len(b)) {
		if a[i] == b[i] || math.IsNaN(a[i]) || math.IsNaN(b[i]) {
			continue
		}
		d := a[i] - b[i]
		ranked = ranked || math.IsInf(d, 0)
		scores = append(scores, d)
	}
	if len(scores) == 0 {
		return Difference{P: 1}
	}
	if ranked {
		signedRanks(scores)
	}
	units := quantise(scores)
	var sum int64
	for _, u := range units {
		sum += u
	}
	c := Difference{Pairs: len(units)}
	if len(units) <= exactPairs {
		c.P = signFlip(units)
	} else {
		c.P = studentP(units)
	}
	if c.P < Level {
		c.Standing = Better
		if sum > 0 {
			c.Standing = Worse
		}
	}
	return c
}

// signedRanks replaces each difference by the rank of its size, with its sign.
// Equal sizes share the mean of their ranks; infinite ones are the largest.
func signedRanks(d []float64) {
	order := make([]int, len(d))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(math.Abs(d[i]), math.Abs(d[j])) })
	ranks := make([]float64, len(d))
	for lo := 0; lo < len(order); {
		hi := lo + 1
		for hi < len(order) && math.Abs(d[order[hi]]) == math.Abs(d[order[lo]]) {
			hi++
		}
		for _, i := range order[lo:hi] {
			ranks[i] = math.Copysign(float64(lo+hi+1)/2, d[i])
		}
		lo = hi
	}
	copy(d, ranks)
}

// quantise expresses the scores in units of 2⁻⁴⁰ of the largest, so that sums
// are exact and the same on every processor.
func quantise(scores []float64) []int64 {
	var largest float64
	for _, s := range scores {
		largest = max(largest, math.Abs(s))
	}
	units := make([]int64, len(scores))
	for i, s := range scores {
		units[i] = int64(math.Round(s / largest * (1 << 40)))
	}
	return units
}

// signFlip returns the share of all choices of signs of d whose sum is at
// least as far from 0 as that of d. Sums that differ by no more than rounding
// count as equal.
//
// It lists the sums of either half of d in order and counts the pairs of sums
// that reach the bound in one pass over both lists.
func signFlip(d []int64) float64 {
	var bound int64
	for _, x := range d {
		bound += x
	}
	bound = max(bound, -bound) - int64(len(d))
	if bound <= 0 {
		return 1
	}
	left, right := signSums(d[:len(d)/2]), signSums(d[len(d)/2:])
	var reached int
	j := len(right)
	for _, l := range left {
		for j > 0 && l+right[j-1] >= bound {
			j--
		}
		reached += len(right) - j
	}
	// The sums are symmetric about 0: the same number lies beyond −bound.
	return 2 * float64(reached) / float64(len(left)) / float64(len(right))
}

// signSums returns the sums of all choices of signs of d in ascending order.
func signSums(d []int64) []int64 {
	sums := []int64{0}
	for _, x := range d {
		x = max(x, -x)
		merged := make([]int64, 0, 2*len(sums))
		lo, hi := 0, 0 // next in sums − x and in sums + x
		for hi < len(sums) {
			if lo < len(sums) && sums[lo]-x <= sums[hi]+x {
				merged = append(merged, sums[lo]-x)
				lo++
			} else {
				merged = append(merged, sums[hi]+x)
				hi++
			}
		}
		sums = merged
	}
	return sums
}

// studentP returns the two-sided p-value of Student's t-test that the mean of d
// is 0. It is rounded to three digits, which are the same on every processor,
// and never below the p-value of n equal signs.
func studentP(d []int64) float64 {
	xs := make([]float64, len(d))
	for i, x := range d {
		xs[i] = float64(x)
	}
	n := float64(len(xs))
	p := math.Exp2(1 - n)
	if mean, deviation := meanError(xs); deviation > 0 {
		p = max(p, 2*distuv.StudentsT{Sigma: 1, Nu: n - 1}.CDF(-math.Abs(mean)/deviation))
	}
	return threeDigits(p)
}

// threeDigits rounds p to three significant digits.
func threeDigits(p float64) float64 {
	q, _ := strconv.ParseFloat(strconv.FormatFloat(p, 'e', 2, 64), 64) // its own output parses
	return q
}
