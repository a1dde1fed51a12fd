package metrics

import (
	"math"

	"herdlab/mockprovider/wire"
)

// Values are the figures of one run. Undefined (NaN) marks a figure without a
// meaning for the run, Never (+Inf) a time that did not come.
type Values [NumMetrics]float64

// Values draws the figures from the report.
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
	v[LatencyP50], v[LatencyP95], v[LatencyP99] = Undefined, Undefined, Undefined
	if r.Latency.Count() > 0 {
		v[LatencyP50] = r.Latency.Quantile(0.50).Seconds()
		v[LatencyP95] = r.Latency.Quantile(0.95).Seconds()
		v[LatencyP99] = r.Latency.Quantile(0.99).Seconds()
	}
	v[SlotTime], v[WastedSlotTime] = t.SlotTime.Seconds(), t.WastedSlotTime.Seconds()
	for c, n := range t.Replies {
		if wire.Class(c) != wire.OK {
			v[Refusals] += float64(n)
		}
	}
	r.optionalValues(&v)
	return v
}

// optionalValues draws the figures that most runs have not.
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

// nanoDollars make a dollar.
const nanoDollars = 1e9

// ratio is a ÷ b, Undefined if b is 0.
func ratio(a, b float64) float64 {
	if b == 0 {
		return math.NaN()
	}
	return a / b
}
