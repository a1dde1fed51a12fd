package metrics

import "fmt"

// FleetCount are the counts of one of several fleets.
type FleetCount struct {
	Name string
	// Refused are the attempts that ended with a refusal or an error.
	Calls, Attempts, Refused uint64
	// Succeeded are the calls that clients took for a success, Useful those of them
	// that were a success, Failed the others that are settled.
	Succeeded, Useful, Failed uint64
}

// Settled counts a settled call.
func (f *FleetCount) Settled(s *Settlement) {
	switch {
	case s.Succeeded && s.Useful:
		f.Useful++
		f.Succeeded++
	case s.Succeeded:
		f.Succeeded++
	default:
		f.Failed++
	}
}

// checkFleets checks that the counts of the fleets, if there are any, add up to
// those of the run.
func (r *Report) checkFleets(law func(ok bool, format string, args ...any)) {
	if len(r.Fleets) == 0 {
		return
	}
	var sum FleetCount
	for i := range r.Fleets {
		f := &r.Fleets[i]
		sum.Calls, sum.Attempts, sum.Refused = sum.Calls+f.Calls, sum.Attempts+f.Attempts, sum.Refused+f.Refused
		sum.Succeeded, sum.Useful, sum.Failed = sum.Succeeded+f.Succeeded, sum.Useful+f.Useful, sum.Failed+f.Failed
	}
	b := &r.Belief
	all := FleetCount{"", b.Calls, b.Attempts, b.Endings[Refused], b.Succeeded, b.Useful, b.Failed}
	law(sum == all, "fleets add up to %v, the ledger says %v", fmt.Sprint(sum), fmt.Sprint(all))
}
