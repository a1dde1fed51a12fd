package verdict

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Proportion is the share of calls of which something is true, over several seeds,
// with the interval that holds the true share with 95 %.
type Proportion struct {
	Estimate, Lo, Hi float64
}

// proportion estimates a share from the number of calls of each seed and the share
// of them of which it is true. Seeds without calls do not count; the result is NaN
// if there are no others.
//
// The interval is that of E. Korn and B. Graubard, "Confidence Intervals for
// Proportions with Very Small Expected Number of Positive Counts Estimated from
// Survey Data", Survey Methodology 24, 1998: the exact interval of C. Clopper and E.
// Pearson (Biometrika 26, 1934) for as many independent calls as say the same as
// these, of which those of one seed share their fate. With all calls alike it is
// Clopper and Pearson's, which holds the truth also where nothing was lost.
func proportion(calls, shares []float64) Proportion {
	var seeds, n, k float64
	for i, c := range calls {
		if c > 0 && !math.IsNaN(shares[i]) {
			seeds++
			n += c
			k += float64(c * shares[i])
		}
	}
	if n == 0 {
		return Proportion{math.NaN(), math.NaN(), math.NaN()}
	}
	p := k / n
	effective := n
	if p > 0 && p < 1 && seeds > 1 {
		var squares float64
		for i, c := range calls {
			if c > 0 && !math.IsNaN(shares[i]) {
				d := float64(c * (shares[i] - p))
				squares += float64(d * d)
			}
		}
		between := squares * seeds / (seeds - 1) / float64(n*n)
		within := float64(p*(1-p)) / n
		effect := max(1, between/within) // of sharing a seed
		t := studentQuantile(int(n)-1) / studentQuantile(int(seeds)-1)
		effective = min(n, n/effect*float64(t*t))
	}
	return Proportion{p, clopperPearson(float64(p*effective), effective, 0.025), clopperPearson(float64(p*effective)+1, effective, 0.975)}
}

// clopperPearson returns the q-quantile of the beta distribution with parameters k
// and n − k + 1: the lower end of the interval of k in n calls with q = 2.5 %, the
// upper end with k + 1 in place of k and q = 97.5 %. It is rounded to nine decimals, since the
// logarithms behind it differ in the last bits between processors.
func clopperPearson(k, n, q float64) float64 {
	switch {
	case k <= 0:
		return 0
	case n-k+1 <= 0 || k > n:
		return 1
	}
	x := distuv.Beta{Alpha: k, Beta: n - k + 1}.Quantile(q)
	return math.Round(x*1e9) / 1e9
}
