package metrics

import (
	"fmt"
	"math"
	"strings"

	"herdlab/mockprovider/wire"
)

// Metric identifies one figure of a run.
type Metric int

// The figures, in the order in which files list them.
const (
	Calls Metric = iota
	Attempts
	AttemptsInFault
	Amplification
	SuccessRate
	BelievedSuccessRate
	SilentLosses
	FailedCalls
	PendingCalls
	Peak
	PeakOfCapacity
	PeakAfter
	PeakAfterOfCapacity
	SecondPeak
	SecondPeakTime
	DrainTime
	RecoveryTime
	Goodput
	LatencyP50
	LatencyP95
	LatencyP99
	SlotTime
	WastedSlotTime
	Refusals
	OverdueCalls
	Hedges
	DegradedAnswers
	AnswersFromMemory
	SharedAnswers
	OutputTokens
	WastedTokens
	RepeatedTokens
	Spent
	WastedSpent
	CostPerAnswer
	Alarms
	FirstAlarm
	HungCalls
	NumMetrics = iota
)

// optional reports whether results leave m out if it is absent on every seed:
// most scenarios have no bill, no hedges and no alarms.
func (m Metric) optional() bool { return m >= Hedges }

// absent is the value of an optional metric in a run that has none of it.
func (m Metric) absent() float64 {
	if m == FirstAlarm {
		return Undefined
	}
	return 0
}

// isAbsent reports whether x is that value.
func (m Metric) isAbsent(x float64) bool {
	return m.optional() && (x == m.absent() || math.IsNaN(x) && math.IsNaN(m.absent()))
}

// Info is what there is to know about a metric.
type Info struct {
	// Name is how JSON and options spell it, Unit what it is counted in.
	Name, Unit string
	// About is one line that defines it.
	About string
}

var infos = [NumMetrics]Info{
	Calls:               {"calls", "calls", "what callers wanted"},
	Attempts:            {"attempts", "attempts", "requests that reached the wire"},
	AttemptsInFault:     {"attempts_in_fault", "attempts", "the part of them that reached the provider between the beginning of the first and the end of the last fault"},
	Amplification:       {"amplification", "attempts/call", "attempts ÷ calls"},
	SuccessRate:         {"success_rate", "share", "calls answered usefully ÷ calls: the provider's truth"},
	BelievedSuccessRate: {"believed_success_rate", "share", "calls taken for a success ÷ calls: the clients' belief"},
	SilentLosses:        {"silent_losses", "calls", "calls taken for a success that were none"},
	FailedCalls:         {"failed_calls", "calls", "calls that clients gave up"},
	PendingCalls:        {"pending_calls", "calls", "calls not settled when the run ended"},
	Peak:                {"peak", "attempts/bin", "herd peak: the most attempts in one bin of the whole run"},
	PeakOfCapacity:      {"peak_of_capacity", "× capacity", "the same as a multiple of what the provider can serve"},
	PeakAfter:           {"peak_after", "attempts/bin", "the most attempts in one bin after the last fault; undefined without one"},
	PeakAfterOfCapacity: {"peak_after_of_capacity", "× capacity", "the same as a multiple of what the provider can serve"},
	SecondPeak:          {"second_peak", "attempts/bin", "peak after, if it exceeds 2 × capacity; else undefined"},
	SecondPeakTime:      {"second_peak_time", "s", "when the second peak begins, from the end of the last fault"},
	DrainTime:           {"drain_time", "s", "from the end of the last fault until every call from before it is answered"},
	RecoveryTime:        {"recovery_time", "s", "from the end of the last fault until useful answers hold 95 % of min(arrivals + backlog, capacity) over 10 s, or over two service times if these are longer"},
	Goodput:             {"goodput", "calls/s", "useful answers per second while calls keep coming: until the last one of an open fleet, to the horizon if closed clients never stop; else undefined"},
	LatencyP50:          {"latency_p50", "s", "median time from the wish to its useful answer"},
	LatencyP95:          {"latency_p95", "s", "95th percentile of the same"},
	LatencyP99:          {"latency_p99", "s", "99th percentile of the same"},
	SlotTime:            {"slot_time", "s", "time for which slots were held"},
	WastedSlotTime:      {"wasted_slot_time", "s", "the part of it spent on answers nobody used"},
	Refusals:            {"refusals", "attempts", "attempts that the provider refused"},
	OverdueCalls:        {"overdue_calls", "calls", "the part of the pending calls that began before the end of the last fault, belong to a one-shot fleet or to a backlog that grows"},
	Hedges:              {"hedges", "attempts", "attempts that were sent while another of their call was in flight"},
	DegradedAnswers:     {"degraded_answers", "calls", "calls answered usefully by a lesser model than asked for"},
	AnswersFromMemory:   {"answers_from_memory", "calls", "calls that their clients answered without an attempt"},
	SharedAnswers:       {"shared_answers", "calls", "calls answered by an attempt of an equal call that was under way"},
	OutputTokens:        {"output_tokens", "tokens", "output that the provider delivered"},
	WastedTokens:        {"wasted_tokens", "tokens", "the part of it in answers that nobody used"},
	RepeatedTokens:      {"repeated_tokens", "tokens", "output that a client had had from an earlier attempt of the same call"},
	Spent:               {"spent", "$", "what all attempts were charged"},
	WastedSpent:         {"wasted_spent", "$", "the part of it for answers that nobody used"},
	CostPerAnswer:       {"cost_per_answer", "$/answer", "spent ÷ useful answers; never if there were none"},
	Alarms:              {"alarms", "alarms", "alarms that strategies have raised"},
	FirstAlarm:          {"first_alarm", "s", "when the first of them was raised"},
	HungCalls:           {"hung_calls", "calls", "the part of the pending calls that nothing left to happen would have settled: a deadlock, or an answer that never comes"},
}

// Info returns what there is to know about m.
func (m Metric) Info() Info { return infos[m] }

// ParseMetric returns the metric of that name. The error lists those that
// exist.
func ParseMetric(name string) (Metric, error) {
	names := make([]string, len(infos))
	for i := range infos {
		if infos[i].Name == name {
			return Metric(i), nil
		}
		names[i] = infos[i].Name
	}
	return 0, fmt.Errorf("there is no metric %q; there are %s", name, strings.Join(names, ", "))
}

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
