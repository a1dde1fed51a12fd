package metrics

import (
	"fmt"
	"strings"
)

// perBin is the width of the bins that peaks are counted in.
func (j *judging) perBin() string {
	if j.Scenario.Bin == 1 {
		return "per second"
	}
	return "per " + number(j.Scenario.Bin) + " s"
}

// afterFault is when "after" is; empty if nothing went wrong.
func (j *judging) afterFault() string {
	if f := j.lastFault(); f != "" {
		return " after " + f
	}
	return ""
}

func (j *judging) lastFault() string {
	faults := j.Scenario.Faults
	if len(faults) == 0 {
		return ""
	}
	last := faults[0]
	for _, f := range faults[1:] {
		if f.To > last.To {
			last = f
		}
	}
	if last.Name == "" {
		return "the last fault"
	}
	return "the " + last.Name
}

// noun is what the objective compares.
func (j *judging) noun() string {
	switch j.metric {
	case DrainTime:
		return "drain time" + j.afterFault()
	case RecoveryTime:
		return "recovery time" + j.afterFault()
	case PeakAfter:
		return "peak" + j.afterFault()
	case LatencyP99:
		return "p99 latency"
	case SuccessRate:
		return "success rate"
	}
	return "attempts"
}

// superlative says that a figure is the best.
func (j *judging) superlative(f *Figure) string {
	write, unit := j.format(f)
	value := write(*f.Mean) + unit
	switch j.metric {
	case DrainTime:
		return "drains first, after " + value
	case RecoveryTime:
		return "recovers first, after " + value
	case PeakAfter:
		return "has the lowest peak" + j.afterFault() + ", " + value
	case LatencyP99:
		return "has the lowest p99 latency, " + value
	case SuccessRate:
		return "has the highest success rate, " + value
	}
	return "makes the fewest attempts, " + value
}

// figureText writes a figure of the objective with its unit and interval, and
// says of how many seeds.
func (j *judging) figureText(f *Figure) string {
	write, unit := j.format(f)
	switch {
	case f.Never > 0:
		return fmt.Sprintf("%s, never on %s of %d seeds", j.shortText(f), percent(f.Never), len(f.PerSeed))
	case f.Lo == nil || f.Hi == nil:
		return j.shortText(f) + " (one seed, so no interval)"
	case write(*f.Lo) == write(*f.Hi):
		return fmt.Sprintf("%s (the same on all %d seeds)", write(*f.Mean)+unit, len(f.PerSeed))
	}
	return strings.TrimSuffix(j.shortText(f), ")") + fmt.Sprintf(" over %d seeds)", len(f.PerSeed))
}

// shortText is figureText without the number of seeds.
func (j *judging) shortText(f *Figure) string {
	write, unit := j.format(f)
	switch {
	case f.Never > 0 && f.Median == nil:
		return "no finite median"
	case f.Never > 0:
		return "a median of " + write(*f.Median) + unit
	case f.Lo == nil || f.Hi == nil || write(*f.Lo) == write(*f.Hi):
		return write(*f.Mean) + unit
	}
	short := unit
	if strings.HasPrefix(unit, " attempts") {
		short = "" // plain from the context
	}
	return fmt.Sprintf("%s%s (95 %% interval %s to %s%s)", write(*f.Mean), unit, write(*f.Lo), write(*f.Hi), short)
}

// format returns how values of the objective are written beside f, and their
// unit. Means of counts have decimals unless all seeds agree.
func (j *judging) format(f *Figure) (write func(float64) string, unit string) {
	var middle float64
	switch {
	case f.Mean != nil:
		middle = *f.Mean
	case f.Median != nil:
		middle = *f.Median
	}
	decimals := places(middle)
	switch j.metric {
	case SuccessRate:
		return func(x float64) string { return grouped(100*x, percentPlaces(middle)) }, " %"
	case DrainTime, RecoveryTime, LatencyP99:
		unit = " s"
	case PeakAfter:
		unit = " attempts " + j.perBin()
	default:
		unit = " attempts"
	}
	if unit != " s" && constant(*f) {
		decimals = 0
	}
	return func(x float64) string { return grouped(x, decimals) }, unit
}

// percent writes a share.
func percent(share float64) string { return grouped(100*share, percentPlaces(share)) + " %" }
