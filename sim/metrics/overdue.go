package metrics

// backlogShare is the share of the calls of half a run by which a backlog may
// grow, and the share of all calls that may wait in one that does.
const backlogShare = 0.05

// Overdue is the number of pending calls that count as failed: see Outcomes.Stuck.
func (r *Report) Overdue() uint64 { return r.Outcomes.Stuck }

// Hung is the number of calls that are pending at End although nothing was left to
// happen, such as calls that wait for each other.
func (r *Report) Hung() uint64 {
	if r.End < r.Plan.Horizon {
		return r.Pending()
	}
	return 0
}
