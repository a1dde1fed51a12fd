package metrics

import (
	"fmt"
	"strings"
)

// Metric identifies one metric of a run.
type Metric int

// The metrics, in the order in which files list them.
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

// Optional reports whether results omit m if it is absent on every seed, as
// costs, hedges and alarms are in most scenarios.
func (m Metric) Optional() bool { return m >= Hedges }

// Absent returns the value of an optional metric in a run without it: 0, or
// Undefined for the time of the first alarm.
func (m Metric) Absent() float64 {
	if m == FirstAlarm {
		return Undefined
	}
	return 0
}

// Info describes a metric.
type Info struct {
	// Name is its name in JSON and in options, Unit the unit of its values.
	Name, Unit string
	// About is a definition of one line.
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

// Info returns the description of m.
func (m Metric) Info() Info { return infos[m] }

// ParseMetric returns the metric with the given name. The error lists the
// names that exist.
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
