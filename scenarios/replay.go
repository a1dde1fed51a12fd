package scenarios

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"go.yaml.in/yaml/v4"

	"herdlab/sim/metrics"
	"herdlab/sim/traffic"
)

// NeedsTrace reports whether the scenario replays a trace and has none.
func (s *Scenario) NeedsTrace() bool { return s.replaying() >= 0 && s.input == nil }

// replaying returns the index of the fleet that replays a trace, -1 if there is
// none.
func (s *Scenario) replaying() int {
	return slices.IndexFunc(s.fleets, func(f fleet) bool { return f.trace })
}

// settleTime is the minimum time from the last call and the last fault of a replay
// to its horizon.
const settleTime = time.Hour

// Replay sets the traffic of a scenario that replays a trace: one call for each row
// of t. It extends the horizon so that the last calls can end, and builds the
// strategies for the capacity at the mean answer of the trace. After an error the
// scenario is unchanged.
func (s *Scenario) Replay(t *traffic.Trace) error {
	if err := s.replay(t); err != nil {
		return fmt.Errorf("scenario %s: trace %s: %w", s.name, t.Name, err)
	}
	return nil
}

func (s *Scenario) replay(t *traffic.Trace) error {
	fleet := s.replaying()
	if fleet < 0 {
		return errors.New("the scenario has its own traffic; remove --trace, or write traffic: trace in the file")
	}
	if len(t.Rows) == 0 {
		return errors.New("the trace has no rows in this part; widen --from and --to")
	}
	var longest uint32
	for i := range t.Rows {
		longest = max(longest, t.Rows[i].Demand.OutputTokens)
	}
	if err := servable(&s.provider.Service, longest); err != nil {
		return err
	}
	next := *s
	next.choices = slices.Clone(s.choices)
	next.fleets = slices.Clone(s.fleets)
	next.fleets[fleet].traffic.Arrivals = t.Arrivals()
	next.input = &metrics.Input{Name: t.Name, Rows: len(t.Rows)}
	_, faults := s.provider.FaultSpan()
	next.horizon = max(s.asked, max(t.Span(), faults)+settleTime)
	if bins := next.horizon / s.bin; bins > maxBins {
		return fmt.Errorf("a horizon of %s has %d bins of %s; at most %d are allowed, so choose a wider bin or a shorter part of the trace", inFile(next.horizon), bins, inFile(s.bin), maxBins)
	}
	var errs []error
	next.compile(s.load(t.MeanOutputTokens()), func(_ *yaml.Node, err error) { errs = append(errs, err) })
	if err := errors.Join(errs...); err != nil {
		return err
	}
	*s = next
	return nil
}
