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

// NeedsTrace reports whether the scenario replays a trace and has none yet.
func (s *Scenario) NeedsTrace() bool { return s.replaying() >= 0 && s.input == nil }

// replaying is the fleet that replays a trace, -1 if none does.
func (s *Scenario) replaying() int {
	return slices.IndexFunc(s.fleets, func(f fleet) bool { return f.trace })
}

// settleTime is how long after its last call, and after its last fault, a
// replay may go on at least.
const settleTime = time.Hour

// Replay makes t the traffic of a scenario that replays a trace: one call for
// each row. The horizon becomes long enough for the last calls to be settled,
// and the capacity, and with it what clients know, that for the mean answer of
// the trace. The scenario is unchanged if there is an error.
func (s *Scenario) Replay(t *traffic.Trace) error {
	if err := s.replay(t); err != nil {
		return fmt.Errorf("scenario %s: trace %s: %w", s.name, t.Name, err)
	}
	return nil
}

func (s *Scenario) replay(t *traffic.Trace) error {
	fleet := s.replaying()
	if fleet < 0 {
		return errors.New("this scenario has traffic of its own; leave the trace out, or write traffic: trace")
	}
	if len(t.Rows) == 0 {
		return errors.New("the trace has no rows; take a wider cut of it")
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
		return fmt.Errorf("its %s have %d bins of %s; at most %d, so take a wider bin or cut the trace", inFile(next.horizon), bins, inFile(s.bin), maxBins)
	}
	var errs []error
	next.compile(s.load(t.MeanOutputTokens()), func(_ *yaml.Node, err error) { errs = append(errs, err) })
	if err := errors.Join(errs...); err != nil {
		return err
	}
	*s = next
	return nil
}
