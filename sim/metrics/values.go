package metrics

import (
	"math"
	"time"

	"herdlab/mockprovider/wire"
)

// Values are the metrics of one run: Undefined (NaN) for a metric without a meaning
// for the run, Never (+Inf) for a time that is not reached.
type Values [NumMetrics]float64

// Values returns the metrics of the report.
func (r *Report) Values() Values {
	b, t := &r.Belief, &r.Truth
	calls := float64(b.Calls)
	var v Values
	v[Calls] = calls
	v[Attempts] = float64(b.Attempts)
	v[AttemptsInFault] = float64(r.AttemptsInFault)
	v[Amplification] = ratio(float64(b.Attempts), calls)
	v[SuccessRate] = ratio(float64(b.Useful), calls)
	v[BelievedSuccessRate] = ratio(float64(b.Succeeded), calls)
	v[SilentLosses] = float64(b.Lost)
	v[FailedCalls] = float64(b.Failed)
	v[PendingCalls], v[OverdueCalls], v[HungCalls] = float64(r.Pending()), float64(r.Overdue()), float64(r.Hung())
	perBin := float64(r.Plan.Capacity * r.Series.Width.Seconds())
	peak, _ := r.Peak(false)
	v[Peak], v[PeakOfCapacity] = float64(peak), ratio(float64(peak), perBin)
	v[PeakAfter], v[PeakAfterOfCapacity], v[SecondPeak], v[SecondPeakTime] = Undefined, Undefined, Undefined, Undefined
	if r.Plan.FaultEnd > 0 {
		after, at := r.Peak(true)
		v[PeakAfter], v[PeakAfterOfCapacity] = float64(after), ratio(float64(after), perBin)
		if perBin > 0 && float64(after) > 2*perBin {
			v[SecondPeak] = float64(after)
			v[SecondPeakTime] = (at - r.Plan.FaultEnd).Seconds()
		}
	}
	v[DrainTime], v[RecoveryTime] = r.Drain(), r.Recovery()
	v[Goodput] = r.Goodput()
	r.latencyValues(&v)
	r.judgedValues(&v)
	v[SlotTime], v[WastedSlotTime] = t.SlotTime.Seconds(), t.WastedSlotTime.Seconds()
	for c, n := range t.Replies {
		if wire.Class(c) != wire.OK {
			v[Refusals] += float64(n)
		}
	}
	r.optionalValues(&v)
	return v
}

// latencyValues fills in the quantiles of the latency.
func (r *Report) latencyValues(v *Values) {
	for i, q := range []float64{0.50, 0.95, 0.99} {
		all, answered, bound := LatencyP50+Metric(i), AnsweredLatencyP50+Metric(i), LatencyP50Bound+Metric(i)
		v[all], v[answered] = Undefined, Undefined
		if r.Latency.Count() > 0 {
			v[answered] = r.Latency.Quantile(q).Seconds()
		}
		if r.AllLatency.Count() == 0 {
			continue
		}
		d, known := r.AllLatency.Quantile(q)
		v[all] = d.Seconds()
		switch known {
		case NotReached:
			v[all] = Never
		case AtLeast:
			v[bound] = 1
		}
	}
	v[MeanLatency], v[LongestWait] = Undefined, Undefined
	if n := r.Latency.Count(); n > 0 {
		v[MeanLatency] = r.Latency.total.nanoseconds() / float64(n) / float64(time.Second)
		v[LongestWait] = r.Latency.max.Seconds()
	}
}

// judgedValues fills in what a verdict is based on.
func (r *Report) judgedValues(v *Values) {
	o := &r.Outcomes
	v[SuccessLower], v[SuccessUpper] = o.Lower(), o.Upper()
	if r.Plan.Supply == Endless && r.Plan.Clients > 0 {
		// A client that waits for ever would have made many calls more.
		most := 1 - float64(min(o.Stuck, uint64(r.Plan.Clients)))/float64(r.Plan.Clients)
		v[SuccessLower], v[SuccessUpper] = min(v[SuccessLower], most), min(v[SuccessUpper], most)
	}
	v[JudgedCalls], v[UndeterminedCalls] = float64(o.calls()), float64(o.Undetermined)
	v[HerdPeak], v[HerdPeakOfCapacity] = Undefined, Undefined
	if r.Plan.Capacity > 0 {
		v[HerdPeak] = r.Herd
		v[HerdPeakOfCapacity] = ratio(r.Herd, float64(r.Plan.Capacity*HerdWindow(r.Plan.Capacity).Seconds()))
	}
	v[CompletionTime] = Undefined
	if r.Plan.Supply == Counted {
		v[CompletionTime] = Never
		if r.Pending() == 0 {
			v[CompletionTime] = r.LastSettled.Seconds()
		}
	}
}

// optionalValues sets the optional metrics.
func (r *Report) optionalValues(v *Values) {
	b, t := &r.Belief, &r.Truth
	v[Hedges] = float64(r.Hedges)
	v[DegradedAnswers], v[AnswersFromMemory], v[SharedAnswers] = float64(b.Degraded), float64(b.FromMemory), float64(b.Shared)
	v[OutputTokens], v[WastedTokens], v[RepeatedTokens] = float64(t.Tokens), float64(t.WastedTokens), float64(t.RepeatedTokens)
	v[Spent], v[WastedSpent] = t.Spent.nanoseconds()/nanoDollars, t.WastedSpent.nanoseconds()/nanoDollars
	if v[Spent] > 0 {
		v[CostPerAnswer] = Never
		if b.Useful > 0 {
			v[CostPerAnswer] = v[Spent] / float64(b.Useful)
		}
	}
	v[FirstAlarm] = Undefined
	for i := range r.Signals {
		if s := &r.Signals[i]; s.Alarm && s.Count > 0 {
			v[Alarms] += float64(s.Count)
			if at := s.First.Seconds(); !(v[FirstAlarm] <= at) {
				v[FirstAlarm] = at
			}
		}
	}
}

// nanoDollars is the number of nano-dollars in a dollar.
const nanoDollars = 1e9

// ratio returns a ÷ b, Undefined if b is 0.
func ratio(a, b float64) float64 {
	if b == 0 {
		return math.NaN()
	}
	return a / b
}
