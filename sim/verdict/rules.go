package verdict

import (
	"errors"
	"fmt"
	"math"

	"herdlab/sim/metrics"
)

// Rules are what a verdict is reached by. The zero value is the default.
type Rules struct {
	// Objectives decide between the strategies that are fit: the first one, and the
	// next where it cannot tell the best apart. None means ByDefault.
	Objectives []Objective
	// MinSuccess is the share of calls that a fit strategy answers usefully, above 0
	// and up to 1; 0 means metrics.DefaultMinSuccess.
	MinSuccess float64
	// MaxPeak is the largest herd peak of a fit strategy, × capacity; 0 means
	// DefaultMaxPeak. It does not apply where the capacity has no bound.
	MaxPeak float64
	// MinDifference is the share of the winner's value by which every other fit
	// strategy must be worse, 0 to 1; 0 means DefaultMinDifference.
	MinDifference float64
}

// The defaults of Rules, besides metrics.DefaultMinSuccess.
const (
	DefaultMaxPeak       = 5.0
	DefaultMinDifference = 0.01
)

// MinSeeds is the smallest number of seeds with which a winner is named: with five,
// the smallest possible p-value is 2/2⁵, and with seven one seed decides.
const MinSeeds = 8

// Validate reports an error if a rule is out of its range.
func (r *Rules) Validate() error {
	var errs []error
	if !(r.MinSuccess >= 0 && r.MinSuccess <= 1) {
		errs = append(errs, fmt.Errorf("the least success is a share of the calls, such as 99.9 %%, not %v", r.MinSuccess))
	}
	if !(r.MaxPeak >= 0) || math.IsInf(r.MaxPeak, 0) {
		errs = append(errs, fmt.Errorf("the bound on the peak must be a positive multiple of capacity, not %v", r.MaxPeak))
	}
	if !(r.MinDifference >= 0 && r.MinDifference <= 1) {
		errs = append(errs, fmt.Errorf("the least difference is a share of the winner's value, such as 1 %%, not %v", r.MinDifference))
	}
	for _, o := range r.Objectives {
		if o >= numObjectives && o != ByDefault {
			errs = append(errs, fmt.Errorf("there is no objective %d", o))
		}
	}
	return errors.Join(errs...)
}

// or returns r with its defaults filled in.
func (r Rules) or() Rules {
	if r.MinSuccess == 0 {
		r.MinSuccess = metrics.DefaultMinSuccess
	}
	if r.MaxPeak == 0 {
		r.MaxPeak = DefaultMaxPeak
	}
	if r.MinDifference == 0 {
		r.MinDifference = DefaultMinDifference
	}
	if len(r.Objectives) == 0 {
		r.Objectives = []Objective{ByDefault}
	}
	return r
}
