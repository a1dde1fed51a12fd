package cli

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"herdlab/sim/metrics"
	"herdlab/sim/metrics/format"
	"herdlab/sim/verdict"
)

// drawWide appends every metric with its interval over the seeds, in blocks one below
// the other.
func drawWide(b *strings.Builder, p palette, r *metrics.Result) {
	rate := per(r.Scenario.Bin)
	value := func(m metrics.Metric, head ...string) *column { return numbers(r, head, interval(m)) }
	// optional is a metric that most runs do not have: no column if no strategy has it.
	optional := func(m metrics.Metric, head ...string) *column {
		if !hasAny(r, m) {
			return nil
		}
		return value(m, head...)
	}
	for _, block := range []struct {
		title string
		cols  []*column
	}{
		{"Attempts", []*column{
			value(metrics.Attempts, "", "attempts"),
			value(metrics.Amplification, "attempts", "per call"),
			value(metrics.Refusals, "refused", "attempts"),
			value(metrics.Peak, "peak", rate),
		}},
		{"Herd: attempts that the strategy caused and that found no room", []*column{
			value(metrics.HerdPeak, "herd peak", herdWindow(r)),
			value(metrics.HerdPeakOfCapacity, "herd peak", "× capacity"),
		}},
		{"Attempts after the last fault", []*column{
			value(metrics.PeakAfter, "peak after", rate),
			value(metrics.PeakAfterOfCapacity, "peak after", "× capacity"),
			value(metrics.SecondPeak, "second peak", rate),
			value(metrics.SecondPeakTime, "begins", "s after"),
		}},
		{"Answers", []*column{
			numbers(r, []string{"success", "%"}, successInterval),
			value(metrics.UndeterminedCalls, "undecided", "calls"),
			value(metrics.SilentLosses, "silent loss", "calls"),
			value(metrics.Goodput, "goodput", "calls per s"),
		}},
		{"Time, over all calls", []*column{
			value(settling(r), settlingWord(r), "s"),
			value(metrics.LatencyP50, "latency p50", "s"),
			value(metrics.LatencyP95, "latency p95", "s"),
			value(metrics.LatencyP99, "latency p99", "s"),
		}},
		{"Time, over answered calls", []*column{
			value(metrics.MeanLatency, "mean latency", "s"),
			value(metrics.AnsweredLatencyP50, "latency p50", "s"),
			value(metrics.AnsweredLatencyP95, "latency p95", "s"),
			value(metrics.AnsweredLatencyP99, "latency p99", "s"),
		}},
		{"Work", []*column{
			value(metrics.SlotTime, "slot time", "s"),
			value(metrics.WastedSlotTime, "wasted slot", "time, s"),
			optional(metrics.CompletionTime, "completion", "s"),
		}},
		{"Answers of another kind", []*column{
			optional(metrics.Hedges, "hedges", "attempts"),
			optional(metrics.DegradedAnswers, "degraded", "calls"),
			optional(metrics.AnswersFromMemory, "from memory", "calls"),
			optional(metrics.SharedAnswers, "shared", "calls"),
		}},
		{"The bill", []*column{
			optional(metrics.Spent, "spent", "$"),
			optional(metrics.WastedSpent, "wasted", "$"),
			optional(metrics.CostPerAnswer, "per answer", "$"),
			optional(metrics.WastedTokens, "wasted", "tokens"),
		}},
		{"Alarms", []*column{
			optional(metrics.Alarms, "", "alarms"),
			optional(metrics.FirstAlarm, "the first", "at s"),
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

// herdWindow returns the unit of the herd peak.
func herdWindow(r *metrics.Result) string {
	if r.Scenario.Capacity <= 0 {
		return "attempts"
	}
	return per(metrics.HerdWindow(r.Scenario.Capacity).Seconds())
}

// hasAny reports whether any strategy has a value of m.
func hasAny(r *metrics.Result, m metrics.Metric) bool {
	return slices.ContainsFunc(r.Results, func(s metrics.StrategyResult) bool {
		_, ok := s.Metrics[m.Info().Name]
		return ok
	})
}

func intervalNote(r *metrics.Result) string {
	if len(r.Seeds) < 2 {
		return "There are no intervals, because there is one seed. –: no value."
	}
	return fmt.Sprintf("Mean ± half of its 95 %% interval over %s (Student's t). "+
		"A share in brackets is the share of seeds with a value; –: no seed has one.", count(len(r.Seeds), "seed"))
}

// interval returns a function for the text of a mean of m with its 95 % interval.
func interval(m metrics.Metric) func(*metrics.StrategyResult) string {
	return func(s *metrics.StrategyResult) string {
		f := s.Estimate(m)
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
	p := verdict.Success(s)
	switch {
	case math.IsNaN(p.Estimate):
		return meanText(s.Estimate(metrics.SuccessLower))
	case p.Estimate == 1: // no call is lost, which bounds the loss
		return "100 (≥ " + format.Number(math.Floor(10_000*p.Lo)/100) + ")"
	}
	return plusMinus(100*p.Estimate, 50*(p.Hi-p.Lo))
}

// meanDigits is the greatest number of significant digits of a mean, however small its
// interval.
const meanDigits = 4

// plusMinus rounds a mean and the half-width of its interval as is usual in physics:
// to the first digit of the half-width, or to the second if the first is 1 or 2.
func plusMinus(mean, half float64) string {
	if half == 0 {
		return format.Number(mean) + " ± 0"
	}
	decimals := min(6, -int(math.Floor(math.Log10(half)))) // more are rounding errors
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
