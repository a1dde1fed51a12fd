package metrics

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
)

// ReadResult reads a result that WriteJSON has written. Another schema_version, an
// unknown field or metric, and values that do not agree with the seeds are errors.
func ReadResult(rd io.Reader) (*Result, error) {
	text, err := io.ReadAll(rd)
	if err != nil {
		return nil, fmt.Errorf("metrics: reading a result: %w", err)
	}
	var version struct {
		SchemaVersion *int `json:"schema_version"`
	}
	if err := json.Unmarshal(text, &version); err != nil {
		return nil, fmt.Errorf("metrics: this is not a result: %w", err)
	}
	if version.SchemaVersion == nil {
		return nil, errors.New("metrics: this is not a result: it has no schema_version")
	}
	if *version.SchemaVersion != SchemaVersion {
		return nil, fmt.Errorf("metrics: the result has schema_version %d, this program reads %d; make it again with this version",
			*version.SchemaVersion, SchemaVersion)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	var r Result
	if err := d.Decode(&r); err != nil {
		return nil, fmt.Errorf("metrics: reading a result: %w", err)
	}
	if len(r.Scenario.Faults) == 0 {
		r.Scenario.Faults = nil
	}
	if err := r.Validate(); err != nil {
		return nil, fmt.Errorf("metrics: the result is damaged: %w", err)
	}
	return &r, nil
}

// Validate checks that the parts of a result agree with each other.
func (r *Result) Validate() error {
	for i := 1; i < len(r.Seeds); i++ {
		if r.Seeds[i] <= r.Seeds[i-1] {
			return fmt.Errorf("seeds must ascend, but %d follows %d", r.Seeds[i], r.Seeds[i-1])
		}
	}
	if len(r.Seeds) == 0 && len(r.Results) > 0 {
		return errors.New("there are results but no seeds")
	}
	for i := range r.Results {
		s := &r.Results[i]
		if j := slices.IndexFunc(r.Results, func(t StrategyResult) bool { return t.Strategy == s.Strategy }); j < i {
			return fmt.Errorf("strategy %q is there twice", s.Strategy)
		}
		if err := s.validate(r.Seeds); err != nil {
			return fmt.Errorf("strategy %q: %w", s.Strategy, err)
		}
	}
	return nil
}

func (s *StrategyResult) validate(seeds []uint64) error {
	for _, name := range slices.Sorted(maps.Keys(s.Metrics)) {
		if _, err := ParseMetric(name); err != nil {
			return err
		}
	}
	for m := range Metric(NumMetrics) {
		info := m.Info()
		f, ok := s.Metrics[info.Name]
		if !ok && m.Optional() {
			continue
		}
		if !ok {
			return fmt.Errorf("metric %s is missing", info.Name)
		}
		if err := f.validate(info.Unit, len(seeds)); err != nil {
			return fmt.Errorf("metric %s: %w", info.Name, err)
		}
	}
	if err := validateSignals(s.Signals, len(seeds)); err != nil {
		return err
	}
	t := &s.Timeline
	switch {
	case t.Seed != seeds[0]:
		return fmt.Errorf("the timeline is of seed %d and not of the first, %d", t.Seed, seeds[0])
	case !(t.Width > 0):
		return fmt.Errorf("the timeline's bins are %v s wide", t.Width)
	case len(t.Calls) != len(t.Attempts) || len(t.Calls) != len(t.Useful):
		return fmt.Errorf("the timeline has %d bins of calls, %d of attempts and %d of useful answers",
			len(t.Calls), len(t.Attempts), len(t.Useful))
	}
	return nil
}

func (f *Estimate) validate(unit string, seeds int) error {
	absent := 0
	for _, x := range f.PerSeed {
		if x == nil {
			absent++
		}
	}
	for i, at := range f.NeverAt {
		if at < 0 || at >= len(f.PerSeed) || f.PerSeed[at] != nil || i > 0 && at <= f.NeverAt[i-1] {
			return fmt.Errorf("never_at %v does not list null values in order", f.NeverAt)
		}
	}
	never := len(f.NeverAt)
	switch {
	case f.Unit != unit:
		return fmt.Errorf("its unit is %q and not %q", f.Unit, unit)
	case len(f.PerSeed) != seeds:
		return fmt.Errorf("there are %d values for %d seeds", len(f.PerSeed), seeds)
	case f.Never != float64(never)/float64(seeds) || f.Undefined != float64(absent-never)/float64(seeds):
		return fmt.Errorf("%d of %d values are absent, %d of them never, but never is %v and undefined %v",
			absent, seeds, never, f.Never, f.Undefined)
	}
	return nil
}
