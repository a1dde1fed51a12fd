package cli

import (
	"fmt"
	"strings"

	"herdlab/sim/metrics"
	"herdlab/sim/metrics/format"
)

// perBin returns the width of the bins in which peaks are counted.
func (w verdictText) perBin() string {
	if w.Scenario.Bin == 1 {
		return "per second"
	}
	return "per " + format.Width(w.Scenario.Bin)
}

// herdWindow returns the window in which herd peaks are counted.
func (w verdictText) herdWindow() string {
	if d := metrics.HerdWindow(w.Scenario.Capacity).Seconds(); d != 1 {
		return "per " + format.Width(d)
	}
	return "per second"
}

// afterFault returns "after" with the name of the last fault; empty without a fault.
func (w verdictText) afterFault() string {
	faults := w.Scenario.Faults
	if len(faults) == 0 {
		return ""
	}
	if len(faults) > 1 {
		return " after the faults"
	}
	last := faults[0]
	if last.Name == "" {
		return " after the fault"
	}
	return " after the " + last.Name
}

// objective names what the objective compares.
func (w verdictText) objective() string {
	switch w.Metric {
	case metrics.DrainTime:
		return "drain time" + w.afterFault()
	case metrics.RecoveryTime:
		return "recovery time" + w.afterFault()
	case metrics.Peak, metrics.PeakAfter:
		return "peak" + w.afterFault()
	case metrics.LatencyP99:
		return "p99 latency"
	case metrics.SuccessLower:
		return "success rate"
	case metrics.HerdPeak:
		return "herd peak"
	case metrics.CompletionTime:
		return "completion time"
	case metrics.CostPerAnswer:
		return "cost per answer"
	}
	return "attempts"
}

// superlative returns the predicate of a strategy with the best value.
func (w verdictText) superlative(f *metrics.Estimate) string {
	value := w.value(f)
	switch w.Metric {
	case metrics.DrainTime:
		return "drains first, " + value
	case metrics.RecoveryTime:
		return "recovers first, " + value
	case metrics.Peak, metrics.PeakAfter:
		return "has the lowest peak" + w.afterFault() + ", " + value
	case metrics.LatencyP99:
		return "has the lowest p99 latency, " + value
	case metrics.SuccessLower:
		return "has the highest success rate, " + value
	case metrics.HerdPeak:
		return "has the lowest herd peak, " + value
	case metrics.CompletionTime:
		return "completes first, " + value
	case metrics.CostPerAnswer:
		return "has the lowest cost per answer, " + value
	}
	return "makes the fewest attempts, " + value
}

// value returns the mean of f with its unit; "after" precedes a duration.
func (w verdictText) value(f *metrics.Estimate) string {
	if w.Metric == metrics.DrainTime || w.Metric == metrics.RecoveryTime {
		text := format.Settling(*f.Mean, f.Vary())
		if text != format.AtOnce {
			text = "after " + text
		}
		return text
	}
	write, unit := w.format(f)
	return write(*f.Mean) + unit
}

// valueWithSeeds returns a value of the objective with its unit, its interval
// and the number of seeds.
func (w verdictText) valueWithSeeds(f *metrics.Estimate, kind string) string {
	short, seeds := w.valueWithInterval(f), format.Fixed(float64(len(f.PerSeed)), 0)+" "+kind
	switch {
	case f.Never > 0:
		return fmt.Sprintf("%s, never on %s of %s", short, format.Percent(f.Never), seeds)
	case f.Lo == nil || f.Hi == nil:
		return short + " (one seed, so no interval)"
	case !strings.HasSuffix(short, ")") && f.Vary(): // by less than the digits show
		return short + " (over " + seeds + ")"
	case !strings.HasSuffix(short, ")"):
		return fmt.Sprintf("%s (the same on all %s)", short, seeds)
	}
	return strings.TrimSuffix(short, ")") + " over " + seeds + ")"
}

// valueWithInterval is valueWithSeeds without the number of seeds.
func (w verdictText) valueWithInterval(f *metrics.Estimate) string {
	write, unit := w.format(f)
	switch {
	case f.Never > 0 && f.Median == nil:
		return "no finite median"
	case f.Never > 0:
		return "a median of " + format.Number(*f.Median) + unit
	}
	mean := strings.TrimPrefix(w.value(f), "after ")
	if f.Lo == nil || f.Hi == nil || write(*f.Lo) == write(*f.Hi) {
		return mean
	}
	if strings.HasPrefix(unit, " attempts") {
		unit = "" // plain from the context
	}
	return fmt.Sprintf("%s (95 %% interval %s to %s%s)", mean, write(*f.Lo), write(*f.Hi), unit)
}

// format returns the function that formats values of the objective with the
// digits that the mean of f has in a table, and their unit.
func (w verdictText) format(f *metrics.Estimate) (write func(float64) string, unit string) {
	var mean float64
	if f.Mean != nil {
		mean = *f.Mean
	}
	switch w.Metric {
	case metrics.SuccessLower:
		return format.PercentLike(mean), " %"
	case metrics.CostPerAnswer:
		return format.Like(mean, f.Vary()), " $"
	case metrics.HerdPeak:
		return format.Like(mean, f.Vary()), " attempts " + w.herdWindow()
	case metrics.DrainTime, metrics.RecoveryTime, metrics.LatencyP99, metrics.CompletionTime:
		name, seconds := format.TimeUnit(mean)
		if seconds < 1 {
			return func(v float64) string { return format.Number(v / seconds) }, " " + name
		}
		unit = " s"
	case metrics.Peak, metrics.PeakAfter:
		unit = " attempts " + w.perBin()
	default:
		unit = " attempts"
	}
	return format.Like(mean, f.Vary()), unit
}
