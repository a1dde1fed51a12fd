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
	HerdPeak
	HerdPeakOfCapacity
	SuccessLower
	SuccessUpper
	JudgedCalls
	UndeterminedCalls
	LongestWait
	MeanLatency
	AnsweredLatencyP50
	AnsweredLatencyP95
	AnsweredLatencyP99
	CompletionTime
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
	LatencyP50Bound
	LatencyP95Bound
	LatencyP99Bound
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
	DrainTime:           {"drain_time", "s", "longest time from the end of a fault until every call that arrived before it is settled; never if one still waits, or if more of them are lost than the bound on success allows"},
	RecoveryTime:        {"recovery_time", "s", "longest time from the end of a fault until the first window of 10 s, or of two service times if these are longer, in which useful answers hold 95 % of min(arrivals + backlog, capacity)"},
	Goodput:             {"goodput", "calls/s", "useful answers per second while calls keep coming: until the last one of an open fleet, to the horizon if closed clients never stop; else undefined"},
	LatencyP50:          {"latency_p50", "s", "median time from a call to its useful answer, over all calls: waiting ones take at least their age, failed ones never end"},
	LatencyP95:          {"latency_p95", "s", "95th percentile of the same"},
	LatencyP99:          {"latency_p99", "s", "99th percentile of the same"},
	SlotTime:            {"slot_time", "s", "time for which slots were held"},
	WastedSlotTime:      {"wasted_slot_time", "s", "the part of it spent on answers nobody used"},
	Refusals:            {"refusals", "attempts", "attempts that the provider refused"},
	OverdueCalls:        {"overdue_calls", "calls", "the part of the pending calls that counts as failed: it waited ten times as long as the longest answered wait, belongs to a one-shot fleet, to a backlog that grows or to a run without an answer, or nothing would happen to it any more"},
	HerdPeak:            {"herd_peak", "attempts/window", "the most attempts that the strategy caused and that found no room, in one window of 1 s, or of ⌈3 ÷ capacity⌉ s; undefined without a capacity"},
	HerdPeakOfCapacity:  {"herd_peak_of_capacity", "× capacity", "the same as a multiple of what the provider can serve"},
	SuccessLower:        {"success_lower", "share", "calls answered usefully ÷ calls judged, if no undetermined call is answered"},
	SuccessUpper:        {"success_upper", "share", "the same if every undetermined call is answered"},
	JudgedCalls:         {"judged_calls", "calls", "calls that the success rate counts: all but the youngest of a run that was cut off"},
	UndeterminedCalls:   {"undetermined_calls", "calls", "the part of them that still waited when the run was cut off and may be answered later"},
	LongestWait:         {"longest_wait", "s", "the longest time from a call to its useful answer"},
	MeanLatency:         {"mean_latency", "s", "mean time from a call to its useful answer, over answered calls"},
	AnsweredLatencyP50:  {"answered_latency_p50", "s", "median of the same"},
	AnsweredLatencyP95:  {"answered_latency_p95", "s", "95th percentile of the same"},
	AnsweredLatencyP99:  {"answered_latency_p99", "s", "99th percentile of the same"},
	CompletionTime:      {"completion_time", "s", "when the last call was settled; never if one still waits; undefined where calls keep coming"},
	LatencyP50Bound:     {"latency_p50_is_bound", "runs", "1 where latency_p50 is a lower bound, because waiting calls decide it"},
	LatencyP95Bound:     {"latency_p95_is_bound", "runs", "the same of latency_p95"},
	LatencyP99Bound:     {"latency_p99_is_bound", "runs", "the same of latency_p99"},
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
