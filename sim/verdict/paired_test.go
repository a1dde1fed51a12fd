package verdict

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"herdlab/sim/draw"
	"herdlab/sim/metrics"
)

// normal returns draw n of r, roughly normal with mean 0 and deviation 1: the
// sum of twelve even draws.
func normal(r draw.Rand, n uint64) float64 {
	var sum float64
	for i := range uint64(12) {
		sum += r.Float(12*n + i)
	}
	return sum - 6
}

// darwin are the heights, in eighths of an inch, by which crossed maize plants
// exceeded their self-fertilised twins, from C. Darwin's experiment.
var darwin = []float64{49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48}

// Fisher counts in "The Design of Experiments", §21, that 1,726 of the 32,768
// choices of signs reach the sum of Darwin's differences, 314.
func TestPairedAgreesWithFisher(t *testing.T) {
	c := Paired(make([]float64, 15), darwin)
	assert.Equal(t, 1726.0/32768, c.P)
	assert.Equal(t, Difference{Inconclusive, 1726.0 / 32768, 15}, c)
}

// The same book gives 4.970 % for Student's t on the same data.
func TestStudentAgreesWithFisher(t *testing.T) {
	units := make([]int64, len(darwin))
	for i, d := range darwin {
		units[i] = int64(d)
	}
	assert.InDelta(t, 0.04970, studentP(units), 0.00005)
}

// Wilcoxon's tables: with six pairs that all agree, p = 2/64; with eight whose
// negative ranks sum to 3, five of the 256 choices of signs are at least as
// far on either side.
func TestPairedAgreesWithWilcoxon(t *testing.T) {
	never := []float64{metrics.Never, metrics.Never, metrics.Never, metrics.Never, metrics.Never, metrics.Never}
	assert.Equal(t, Difference{Better, 2.0 / 64, 6}, Paired(make([]float64, 6), never))
	a := []float64{0, 0, 3, 0, 0, 0, 0, 0}
	b := []float64{1, 2, 0, 4, 5, 6, 7, metrics.Never}
	assert.Equal(t, Difference{Better, 10.0 / 256, 8}, Paired(a, b))
}

func TestPaired(t *testing.T) {
	repeat := func(x float64, n int) []float64 {
		xs := make([]float64, n)
		for i := range xs {
			xs[i] = x
		}
		return xs
	}
	for _, test := range []struct {
		name string
		a, b []float64
		want Difference
	}{
		{"nothing", nil, nil, Difference{P: 1}},
		{"one seed", repeat(1, 1), repeat(9, 1), Difference{Inconclusive, 1, 1}},
		{"five seeds that agree", repeat(1, 5), repeat(9, 5), Difference{Inconclusive, 2.0 / 32, 5}},
		{"six seeds that agree", repeat(1, 6), repeat(9, 6), Difference{Better, 2.0 / 64, 6}},
		{"six that agree against", repeat(9, 6), repeat(1, 6), Difference{Worse, 2.0 / 64, 6}},
		{"constant on twenty", repeat(20.001, 20), repeat(272.951, 20), Difference{Better, 2.0 / (1 << 20), 20}},
		{"constant on a hundred", repeat(1, 100), repeat(2, 100), Difference{Better, threeDigits(math.Exp2(-99)), 100}},
		{"level", repeat(3, 20), repeat(3, 20), Difference{P: 1}},
		{"both never", repeat(metrics.Never, 20), repeat(metrics.Never, 20), Difference{P: 1}},
		{"never is worse", repeat(metrics.Never, 8), repeat(1e9, 8), Difference{Worse, 2.0 / 256, 8}},
		{"undefined says nothing", repeat(metrics.Undefined, 8), repeat(1, 8), Difference{P: 1}},
		{"opposite", []float64{1, 2, 1, 2, 1, 2}, []float64{2, 1, 2, 1, 2, 1}, Difference{Inconclusive, 1, 6}},
	} {
		t.Run(test.name, func(t *testing.T) { assert.Equal(t, test.want, Paired(test.a, test.b)) })
	}
}

// A sum that equals the one that was seen up to rounding counts as equal:
// 0.1 + 0.2 and 0.3 are not the same number.
func TestPairedCountsTiesInSpiteOfRounding(t *testing.T) {
	whole := Paired(make([]float64, 7), []float64{1, 2, 3, 3, 6, -1, -3})
	tenths := Paired(make([]float64, 7), []float64{0.1, 0.2, 0.3, 0.3, 0.6, -0.1, -0.3})
	assert.Equal(t, whole, tenths)
}

// naiveSignFlip tries all choices of signs one by one.
func naiveSignFlip(d []int64) float64 {
	var seen int64
	for _, x := range d {
		seen += x
	}
	reached := 0
	for signs := range 1 << len(d) {
		var sum int64
		for i, x := range d {
			if signs>>i&1 != 0 {
				x = -x
			}
			sum += x
		}
		if max(sum, -sum) >= max(seen, -seen)-int64(len(d)) {
			reached++
		}
	}
	return float64(reached) / float64(int(1)<<len(d))
}

func TestSignFlipAgreesWithItsNaiveTwin(t *testing.T) {
	r := draw.New(1)
	for trial := range uint64(200) {
		d := make([]int64, 1+trial%13)
		for i := range d {
			// Some trials on a coarse grid, with many ties.
			d[i] = int64(normal(r.For(trial), uint64(i)) * []float64{200, 1 << 40}[trial%2])
			if d[i] == 0 {
				d[i] = 1
			}
		}
		require.Equal(t, naiveSignFlip(d), signFlip(d), "%v", d)
	}
}

// The law of a test: among pairs that are alike, it finds a difference in at
// most 5 % of all cases, whatever the distribution; and swapping the two swaps
// the verdict. The tolerance is four standard errors.
func TestPairedHoldsItsLevelAndFindsShifts(t *testing.T) {
	const trials = 1500
	shapes := map[string]func(r draw.Rand, n uint64) float64{
		"normal":         normal,
		"small integers": func(r draw.Rand, n uint64) float64 { return math.Floor(4 + 1.2*normal(r, n)) },
		"long tail":      func(r draw.Rand, n uint64) float64 { return math.Pow(r.Float(n), -0.9) },
		"sometimes never": func(r draw.Rand, n uint64) float64 {
			if r.Float(1e6+n) < 0.2 {
				return metrics.Never
			}
			return normal(r, n)
		},
	}
	for name, shape := range shapes {
		for _, n := range []uint64{5, 6, 20, 50} {
			found := 0
			for trial := range uint64(trials) {
				r := draw.New(trial)
				a, b := make([]float64, n), make([]float64, n)
				for i := range n {
					a[i], b[i] = shape(r, i), shape(r, 1000+i)
				}
				c, back := Paired(a, b), Paired(b, a)
				require.Equal(t, c.P, back.P)
				require.Equal(t, c.Standing == Better, back.Standing == Worse)
				if c.Standing != Inconclusive {
					found++
				}
			}
			assert.LessOrEqual(t, float64(found)/trials, Level+4*math.Sqrt(Level*(1-Level)/trials), "%s, %d seeds", name, n)
			switch {
			case n == 5:
				assert.Zero(t, found)
			case n >= 20 && name == "normal": // and not far below, or it would be blind
				assert.InDelta(t, Level, float64(found)/trials, 4*math.Sqrt(Level*(1-Level)/trials))
			}
		}
	}

	// A shift by one standard deviation of the difference, 20 pairs: the t-test
	// has a power of 98.9 % (noncentral t, δ = √20), and the randomisation test
	// is as strong where the t-test applies.
	found := 0
	for trial := range uint64(trials) {
		r := draw.New(trial)
		a, b := make([]float64, 20), make([]float64, 20)
		for i := range a {
			a[i] = normal(r, uint64(i))
			b[i] = normal(r, uint64(1000+i)) + math.Sqrt2
		}
		if Paired(a, b).Standing == Better {
			found++
		}
	}
	assert.InDelta(t, 0.989, float64(found)/trials, 0.01)
}
