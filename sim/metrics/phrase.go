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
	return "per " + FormatWidth(j.Scenario.Bin)
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
	case Peak, PeakAfter:
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
	value := j.value(f)
	switch j.metric {
	case DrainTime:
		return "drains first, " + value
	case RecoveryTime:
		return "recovers first, " + value
	case Peak, PeakAfter:
		return "has the lowest peak" + j.afterFault() + ", " + value
	case LatencyP99:
		return "has the lowest p99 latency, " + value
	case SuccessRate:
		return "has the highest success rate, " + value
	}
	return "makes the fewest attempts, " + value
}

// value writes the mean of f with its unit; what took time happened after it.
func (j *judging) value(f *Figure) string {
	if j.metric == DrainTime || j.metric == RecoveryTime {
		text := FormatSettling(*f.Mean, f.Vary())
		if text != AtOnce {
			text = "after " + text
		}
		return text
	}
	write, unit := j.format(f)
	return write(*f.Mean) + unit
}

// figureText writes a figure of the objective with its unit and interval, and
// says of how many seeds.
func (j *judging) figureText(f *Figure) string {
	short, seeds := j.shortText(f), FormatFixed(float64(len(f.PerSeed)), 0)+" seeds"
	switch {
	case f.Never > 0:
		return fmt.Sprintf("%s, never on %s of %s", short, FormatPercent(f.Never), seeds)
	case f.Lo == nil || f.Hi == nil:
		return short + " (one seed, so no interval)"
	case !strings.HasSuffix(short, ")") && f.Vary(): // by less than the digits show
		return short + " (over " + seeds + ")"
	case !strings.HasSuffix(short, ")"):
		return fmt.Sprintf("%s (the same on all %s)", short, seeds)
	}
	return strings.TrimSuffix(short, ")") + " over " + seeds + ")"
}

// shortText is figureText without the number of seeds.
func (j *judging) shortText(f *Figure) string {
	write, unit := j.format(f)
	switch {
	case f.Never > 0 && f.Median == nil:
		return "no finite median"
	case f.Never > 0:
		return "a median of " + FormatNumber(*f.Median) + unit
	}
	mean := strings.TrimPrefix(j.value(f), "after ")
	if f.Lo == nil || f.Hi == nil || write(*f.Lo) == write(*f.Hi) {
		return mean
	}
	if strings.HasPrefix(unit, " attempts") {
		unit = "" // plain from the context
	}
	return fmt.Sprintf("%s (95 %% interval %s to %s%s)", mean, write(*f.Lo), write(*f.Hi), unit)
}

// format returns how values of the objective are written beside the mean of f,
// which reads as it does in a table, and their unit.
func (j *judging) format(f *Figure) (write func(float64) string, unit string) {
	var mean float64
	if f.Mean != nil {
		mean = *f.Mean
	}
	switch j.metric {
	case SuccessRate:
		decimals := percentPlaces(mean)
		return func(share float64) string { return formatPercent(share, decimals) }, " %"
	case DrainTime, RecoveryTime, LatencyP99:
		if u := measured(mean); u.seconds < 1 {
			return func(v float64) string { return FormatNumber(v / u.seconds) }, " " + u.name
		}
		unit = " s"
	case Peak, PeakAfter:
		unit = " attempts " + j.perBin()
	default:
		unit = " attempts"
	}
	text := FormatMean(mean, f.Vary())
	if mean < 1 || mean >= million {
		return FormatNumber, unit
	}
	_, fraction, _ := strings.Cut(text, ".")
	return func(v float64) string { return FormatFixed(v, len(fraction)) }, unit
}
