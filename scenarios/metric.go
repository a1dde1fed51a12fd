package scenarios

import (
	"strings"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/metrics"
)

// metric is a number of a run that an expectation can name: a metric of the
// report's table, or one that only scenario files use.
type metric struct {
	name, unit, about string
	of                func(*metrics.Report) float64
	// ofFleet returns the metric of one fleet, nil if it is not counted by fleet.
	ofFleet func(*metrics.FleetCount) float64
	// series returns the metric's counts by bin, nil if it is not counted in bins.
	series func(*metrics.Series) []uint32
}

// allMetrics returns all metrics: those of the report first, in their order.
func allMetrics() []metric {
	var all []metric
	for m := range metrics.Metric(metrics.NumMetrics) {
		info := m.Info()
		all = append(all, metric{
			name: info.Name, unit: info.Unit, about: info.About,
			of: func(r *metrics.Report) float64 { v := r.Values(); return v[m] },
		})
	}
	all = append(all,
		metric{name: "useful_calls", unit: "calls", about: "calls answered usefully", of: func(r *metrics.Report) float64 { return float64(r.Belief.Useful) }},
		metric{name: "believed_calls", unit: "calls", about: "calls that their clients count as a success", of: func(r *metrics.Report) float64 { return float64(r.Belief.Succeeded) }},
		metric{name: "settled_calls", unit: "calls", about: "calls that ended, with or without success", of: func(r *metrics.Report) float64 { return float64(r.Belief.Succeeded + r.Belief.Failed) }},
		metric{name: "retries", unit: "attempts", about: "attempts that follow an ended attempt of the same call", of: func(r *metrics.Report) float64 { return float64(r.Retries) }},
		metric{name: "timeouts", unit: "attempts", about: "attempts that ended with a timeout of the client", of: func(r *metrics.Report) float64 { return float64(r.Belief.Endings[metrics.TimedOut]) }},
		metric{name: "broken", unit: "attempts", about: "attempts whose connection was lost", of: func(r *metrics.Report) float64 { return float64(r.Belief.Endings[metrics.ConnectionLost]) }},
		metric{name: "time_in_system", unit: "s", about: "mean time from a call's arrival to its end", of: (*metrics.Report).MeanSojourn},
		metric{name: "end", unit: "s", about: "time of the last event, or the horizon", of: func(r *metrics.Report) float64 { return r.End.Seconds() }},
	)
	for c := range wire.Class(wire.NumClasses) {
		if c == wire.Timeout || c == wire.Cancelled {
			continue // no provider sends such a reply
		}
		all = append(all, metric{
			name: "replies_" + c.String(), unit: "replies", about: "replies of the class " + strings.ReplaceAll(c.String(), "_", " ") + ", counted by the provider",
			of: func(r *metrics.Report) float64 { return float64(r.Truth.Replies[c]) },
		})
	}
	for i := range all {
		all[i].ofFleet, all[i].series = byFleet[all[i].name], inBins[all[i].name]
	}
	return all
}

// byFleet are the metrics that are counted by fleet.
var byFleet = map[string]func(*metrics.FleetCount) float64{
	"calls":                 func(f *metrics.FleetCount) float64 { return float64(f.Calls) },
	"attempts":              func(f *metrics.FleetCount) float64 { return float64(f.Attempts) },
	"amplification":         func(f *metrics.FleetCount) float64 { return share(f.Attempts, f.Calls) },
	"refusals":              func(f *metrics.FleetCount) float64 { return float64(f.Refused) },
	"useful_calls":          func(f *metrics.FleetCount) float64 { return float64(f.Useful) },
	"believed_calls":        func(f *metrics.FleetCount) float64 { return float64(f.Succeeded) },
	"success_rate":          func(f *metrics.FleetCount) float64 { return share(f.Useful, f.Calls) },
	"believed_success_rate": func(f *metrics.FleetCount) float64 { return share(f.Succeeded, f.Calls) },
	"silent_losses":         func(f *metrics.FleetCount) float64 { return float64(f.Succeeded - f.Useful) },
	"failed_calls":          func(f *metrics.FleetCount) float64 { return float64(f.Failed) },
	"settled_calls":         func(f *metrics.FleetCount) float64 { return float64(f.Succeeded + f.Failed) },
	"pending_calls":         func(f *metrics.FleetCount) float64 { return float64(f.Calls - f.Succeeded - f.Failed) },
}

func share(part, of uint64) float64 { return float64(part) / float64(of) }

// inBins are the metrics that are counted in bins, so that an expectation can be
// limited to a part of the run.
var inBins = map[string]func(*metrics.Series) []uint32{
	"calls":         func(s *metrics.Series) []uint32 { return s.Calls },
	"attempts":      func(s *metrics.Series) []uint32 { return s.Attempts },
	"useful_calls":  func(s *metrics.Series) []uint32 { return s.Useful },
	"settled_calls": func(s *metrics.Series) []uint32 { return s.Settled },
}

// between returns the sum of the counts of the bins that begin in from ≤ t < to.
func between(s *metrics.Series, counts []uint32, from, to time.Duration) (sum float64) {
	for i, n := range counts {
		if at := s.Start + time.Duration(i)*s.Width; from <= at && at < to {
			sum += float64(n)
		}
	}
	return sum
}
