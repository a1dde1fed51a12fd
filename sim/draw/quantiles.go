package draw

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// Quantile is a point of an empirical distribution: a share P of the draws is at
// most Value.
type Quantile struct {
	P     float64
	Value time.Duration
}

// table is the quantiles of an empirical distribution, in ascending order.
type table struct {
	points []Quantile
}

// Quantiles returns the distribution with the given quantiles, uniform between
// them. Draws below the first quantile have its value and draws above the last
// the value of the last: give p100 if the tail matters. Quantiles out of order or
// out of range are an error.
func Quantiles(points ...Quantile) (Dist, error) {
	if len(points) == 0 {
		return Dist{}, errors.New("an empirical distribution needs at least one quantile")
	}
	for i, q := range points {
		switch {
		case !(q.P >= 0 && q.P <= 1):
			return Dist{}, fmt.Errorf("the quantile %g is not a share: it must be 0 to 1", q.P)
		case q.Value < -math.MaxInt64/4 || q.Value > math.MaxInt64/4:
			return Dist{}, fmt.Errorf("the quantile of %g is out of range: %v", q.P, q.Value)
		case i > 0 && q.P <= points[i-1].P:
			return Dist{}, fmt.Errorf("the quantile %g follows %g; give quantiles in ascending order, once each", q.P, points[i-1].P)
		case i > 0 && q.Value < points[i-1].Value:
			return Dist{}, fmt.Errorf("the value of quantile %g is below that of %g", q.P, points[i-1].P)
		}
	}
	t := &table{slices.Clone(points)}
	first, last := points[0], points[len(points)-1]
	return Dist{Kind: Empirical, Mean: t.mean(), Low: first.Value, High: last.Value, table: t}, nil
}

// Values returns the distribution of which the given values are a sample,
// uniform between neighbours; their order does not matter.
func Values(values ...time.Duration) (Dist, error) {
	sorted := slices.Sorted(slices.Values(values))
	points := make([]Quantile, len(sorted))
	for i, v := range sorted {
		points[i] = Quantile{P: float64(i) / float64(max(len(sorted)-1, 1)), Value: v}
	}
	return Quantiles(points...)
}

// mean returns the mean, to the nanosecond as far as floating point goes.
func (t *table) mean() time.Duration {
	first, last := t.points[0], t.points[len(t.points)-1]
	sum := float64(first.P*float64(first.Value)) + float64((1-last.P)*float64(last.Value))
	for i := 1; i < len(t.points); i++ {
		a, b := t.points[i-1], t.points[i]
		sum += float64((b.P - a.P) * float64(a.Value/2+b.Value/2))
	}
	return time.Duration(math.Round(sum))
}

// draw returns draw n of r.
func (t *table) draw(r Rand, n uint64) time.Duration {
	u, q := r.Float(n), r.grid()
	i, _ := slices.BinarySearchFunc(t.points, u, func(p Quantile, u float64) int {
		if p.P <= u {
			return -1
		}
		return 1
	})
	b := t.points[min(i, len(t.points)-1)]
	a := t.points[max(i-1, 0)]
	low, span := int64(a.Value)/q, int64(b.Value)/q-int64(a.Value)/q
	if span == 0 {
		return time.Duration(low * q)
	}
	return time.Duration((low + int64(float64((u-a.P)/(b.P-a.P)*float64(span)))) * q)
}
