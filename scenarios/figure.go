package scenarios

import (
	"strings"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/metrics"
)

// figure is one number of a run that an expectation can be about: a metric of
// the report's table, or one that only files ask for.
type figure struct {
	name, unit, about string
	of                func(*metrics.Report) float64
	// among is the same of one fleet, nil if fleets are not told apart in it;
	// series is in which bins it is counted, nil if it is not.
	among  func(*metrics.FleetCount) float64
	series func(*metrics.Series) []uint32
}

// figures lists them all: the metrics of the report first, in their order.
func figures() []figure {
	var all []figure
	for m := range metrics.Metric(metrics.NumMetrics) {
		info := m.Info()
		all = append(all, figure{
			name: info.Name, unit: info.Unit, about: info.About,
			of: func(r *metrics.Report) float64 { v := r.Values(); return v[m] },
		})
	}
	all = append(all,
		figure{name: "useful_calls", unit: "calls", about: "calls answered usefully", of: func(r *metrics.Report) float64 { return float64(r.Belief.Useful) }},
		figure{name: "believed_calls", unit: "calls", about: "calls that clients took for a success", of: func(r *metrics.Report) float64 { return float64(r.Belief.Succeeded) }},
		figure{name: "settled_calls", unit: "calls", about: "calls that were over, with or without success", of: func(r *metrics.Report) float64 { return float64(r.Belief.Succeeded + r.Belief.Failed) }},
		figure{name: "retries", unit: "attempts", about: "attempts after another one of their call had ended", of: func(r *metrics.Report) float64 { return float64(r.Retries) }},
		figure{name: "timeouts", unit: "attempts", about: "attempts that clients stopped waiting for", of: func(r *metrics.Report) float64 { return float64(r.Belief.Endings[metrics.TimedOut]) }},
		figure{name: "broken", unit: "attempts", about: "attempts whose connection was lost", of: func(r *metrics.Report) float64 { return float64(r.Belief.Endings[metrics.Broken]) }},
		figure{name: "time_in_system", unit: "s", about: "mean time from the wish until the call was over", of: (*metrics.Report).MeanSojourn},
		figure{name: "end", unit: "s", about: "when the last thing happened, or the horizon", of: func(r *metrics.Report) float64 { return r.End.Seconds() }},
	)
	for c := range wire.Class(wire.NumClasses) {
		if c == wire.Timeout || c == wire.Cancelled {
			continue // no provider says so
		}
		all = append(all, figure{
			name: "replies_" + c.String(), unit: "replies", about: "replies of the class " + strings.ReplaceAll(c.String(), "_", " ") + ", in truth",
			of: func(r *metrics.Report) float64 { return float64(r.Truth.Replies[c]) },
		})
	}
	for i := range all {
		all[i].among, all[i].series = amongFleets[all[i].name], inBins[all[i].name]
	}
	return all
}

// amongFleets are the figures that are known of each fleet.
var amongFleets = map[string]func(*metrics.FleetCount) float64{
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

// inBins are the figures that are counted in bins, and so can be had of a part
// of the run.
var inBins = map[string]func(*metrics.Series) []uint32{
	"calls":         func(s *metrics.Series) []uint32 { return s.Calls },
	"attempts":      func(s *metrics.Series) []uint32 { return s.Attempts },
	"useful_calls":  func(s *metrics.Series) []uint32 { return s.Useful },
	"settled_calls": func(s *metrics.Series) []uint32 { return s.Settled },
}

// between adds up the counts of the bins in from ≤ t < to.
func between(s *metrics.Series, counts []uint32, from, to time.Duration) (sum float64) {
	for i, n := range counts {
		if at := s.Start + time.Duration(i)*s.Width; from <= at && at < to {
			sum += float64(n)
		}
	}
	return sum
}
