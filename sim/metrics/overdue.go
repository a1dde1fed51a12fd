package metrics

// backlogShare is the share of the calls of half a run by which a backlog may
// grow.
const backlogShare = 0.05

// Overdue is how many of the calls that are pending at End should not be. They
// are all of them if nothing would have happened to them any more, or if the
// fleet is one-shot; and otherwise those that began before the end of the last
// fault. Where calls keep coming some always are in service when a run is cut,
// and only a backlog that grows counts besides: if from the middle of the time
// after the last fault to the end the number of pending calls has grown by more
// than 5 % of those that arrived, all pending calls are overdue but for as many
// as arrived within the last window of Recovery.
func (r *Report) Overdue() uint64 {
	pending := r.Pending()
	if r.Plan.OneShot || r.Hung() > 0 {
		return pending
	}
	s := &r.Series
	width, _ := r.window()
	end := s.binOf(r.End)
	middle := (min(s.binOf(r.Plan.FaultEnd), end) + end) / 2
	arrived := sum(s.Calls, middle, len(s.Calls))
	growth := arrived - sum(s.Settled, middle, len(s.Settled))
	overdue := r.Early.Calls - r.Early.Settled
	if float64(growth) > backlogShare*float64(arrived) {
		young := uint64(sum(s.Calls, end-width, len(s.Calls)))
		overdue = max(overdue, pending-min(young, pending))
	}
	return overdue
}

// Hung is how many calls are pending at End because nothing was left to happen: who
// waits for each other waits for ever.
func (r *Report) Hung() uint64 {
	if r.End < r.Plan.Horizon {
		return r.Pending()
	}
	return 0
}
