package cli

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"herdlab/sim/metrics"
	"herdlab/sim/metrics/format"
)

// drawWide appends what the table has no room for: every figure with its
// interval over the seeds, in blocks under each other.
func drawWide(b *strings.Builder, p palette, r *metrics.Result) {
	rate := per(r.Scenario.Bin)
	figure := func(m metrics.Metric, head ...string) *column { return numbers(r, head, interval(m)) }
	// some is a figure that most runs have not: no column if no strategy has it.
	some := func(m metrics.Metric, head ...string) *column {
		if !hasAny(r, m) {
			return nil
		}
		return figure(m, head...)
	}
	for _, block := range []struct {
		title string
		cols  []*column
	}{
		{"Attempts", []*column{
			figure(metrics.Attempts, "", "attempts"),
			figure(metrics.Amplification, "attempts", "per call"),
			figure(metrics.Peak, "herd peak", rate),
			figure(metrics.PeakOfCapacity, "herd peak", "× capacity"),
		}},
		{"Attempts after the last fault", []*column{
			figure(metrics.PeakAfter, "peak after", rate),
			figure(metrics.PeakAfterOfCapacity, "peak after", "× capacity"),
			figure(metrics.SecondPeak, "second peak", rate),
			figure(metrics.SecondPeakTime, "it begins", "s after"),
		}},
		{"Answers", []*column{
			numbers(r, []string{"success", "%"}, successInterval),
			figure(metrics.SilentLosses, "silent loss", "calls"),
			figure(metrics.Goodput, "goodput", "calls per s"),
			figure(metrics.WastedSlotTime, "wasted slot", "time, s"),
		}},
		{"Time", []*column{
			figure(settling(r), settlingWord(r), "s"),
			figure(metrics.LatencyP50, "latency p50", "s"),
			figure(metrics.LatencyP95, "latency p95", "s"),
			figure(metrics.LatencyP99, "latency p99", "s"),
		}},
		{"Answers of another kind", []*column{
			some(metrics.Hedges, "hedges", "attempts"),
			some(metrics.DegradedAnswers, "degraded", "calls"),
			some(metrics.AnswersFromMemory, "from memory", "calls"),
			some(metrics.SharedAnswers, "shared", "calls"),
		}},
		{"The bill", []*column{
			some(metrics.Spent, "spent", "$"),
			some(metrics.WastedSpent, "wasted", "$"),
			some(metrics.CostPerAnswer, "per answer", "$"),
			some(metrics.WastedTokens, "wasted", "tokens"),
		}},
		{"Alarms", []*column{
			some(metrics.Alarms, "", "alarms"),
			some(metrics.FirstAlarm, "the first", "at s"),
		}},
	} {
		block.cols = slices.DeleteFunc(block.cols, func(c *column) bool { return c == nil })
		if len(block.cols) == 0 {
			continue
		}
		b.WriteByte('\n')
		b.WriteString(p.paint(strong, block.title))
		b.WriteByte('\n')
		drawGrid(b, p, append([]*column{nameColumn(r, 2)}, block.cols...))
	}
	b.WriteString(p.paint(faint, wrap(intervalNote(r), pageWidth, 0)))
	b.WriteByte('\n')
}

// hasAny reports whether any strategy has a figure that most have not.
func hasAny(r *metrics.Result, m metrics.Metric) bool {
	return slices.ContainsFunc(r.Results, func(s metrics.StrategyResult) bool {
		_, ok := s.Metrics[m.Info().Name]
		return ok
	})
}

func intervalNote(r *metrics.Result) string {
	if len(r.Seeds) < 2 {
		return "One seed says nothing about others: there are no intervals. – where there is none."
	}
	return fmt.Sprintf("Mean ± half of its 95 %% interval over %s (Student's t). "+
		"A share in brackets is that of the seeds that have such a figure; – where none has.", count(len(r.Seeds), "seed"))
}

// interval shows the mean of m with its 95 % interval.
func interval(m metrics.Metric) func(*metrics.StrategyResult) string {
	return func(s *metrics.StrategyResult) string {
		f := s.Figure(m)
		text := meanText(f)
		switch {
		case f.Never > 0:
			return never(f.Never)
		case f.Mean != nil && f.Lo != nil && f.Hi != nil:
			text = plusMinus(*f.Mean, (*f.Hi-*f.Lo)/2)
		}
		if f.Undefined > 0 && f.Undefined < 1 {
			text += " (" + tightPercent(1-f.Undefined) + ")"
		}
		return text
	}
}

// successInterval is interval for the share of calls that succeed, in percent.
func successInterval(s *metrics.StrategyResult) string {
	f := s.Figure(metrics.SuccessRate)
	if f.Mean == nil || f.Lo == nil || f.Hi == nil || *f.Lo == *f.Hi {
		text := strings.TrimSuffix(successCell(s), " %")
		if f.Lo != nil {
			text += " ± 0"
		}
		return text
	}
	return plusMinus(100**f.Mean, 50*(*f.Hi-*f.Lo))
}

// meanDigits is how many significant digits a mean has at most, however small
// its interval.
const meanDigits = 4

// plusMinus writes a mean to the digits that its uncertainty leaves it: one of
// the half-width, or two if the first is 1 or 2, as physicists round.
func plusMinus(mean, half float64) string {
	if half == 0 {
		return format.Number(mean) + " ± 0"
	}
	decimals := min(6, -int(math.Floor(math.Log10(half)))) // finer is noise of the arithmetic
	if half*math.Pow10(decimals) < 2.95 {
		decimals++
	}
	if mean != 0 && decimals > 0 {
		decimals = min(decimals, max(0, meanDigits-1-int(math.Floor(math.Log10(math.Abs(mean))))))
	}
	if decimals < 0 {
		unit := math.Pow10(-decimals)
		mean, half, decimals = math.Round(mean/unit)*unit, math.Round(half/unit)*unit, 0
	}
	text := format.Fixed(mean, decimals)
	if least := math.Pow10(-decimals); half < least/2 {
		return text + " ± <" + format.Fixed(least, decimals)
	}
	return text + " ± " + format.Fixed(half, decimals)
}
