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
	NumMetrics = iota
)

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
	v[PendingCalls], v[OverdueCalls] = float64(r.Pending()), float64(r.Overdue())
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
	return v
}

// ratio is a ÷ b, Undefined if b is 0.
func ratio(a, b float64) float64 {
	if b == 0 {
		return math.NaN()
	}
	return a / b
}
