package metrics

import "slices"

// SchemaVersion is the version of the result format. It changes when a reader
// of the old format would misread the new one.
const SchemaVersion = 1

// Result is the outcome of a comparison. Tables, figures and pages are made from
// it, and results of the same scenario can be merged.
type Result struct {
	SchemaVersion int      `json:"schema_version"`
	Tool          Tool     `json:"tool"`
	Scenario      Scenario `json:"scenario"`
	// Seeds are those with which every strategy has run.
	Seeds []uint64 `json:"seeds"`
	// Complete is false if the comparison was interrupted or a strategy failed;
	// Results omits strategies whose seeds are not all done.
	Complete bool             `json:"complete"`
	Results  []StrategyResult `json:"results"`
	Verdict  *Verdict         `json:"verdict,omitempty"`
}

// Tool is the program that made the result.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Scenario is the scenario of a result, with what tables and figures need.
type Scenario struct {
	Name   string `json:"name"`
	Title  string `json:"title"`
	SHA256 string `json:"sha256"`
	// Text is the scenario file itself.
	Text string `json:"text"`
	// Clients is the number of clients, Capacity the requests per second that the
	// provider can serve, 0 if unlimited.
	Clients  int     `json:"clients"`
	Capacity float64 `json:"capacity_per_second"`
	// Fleets are the fleets, if there are several.
	Fleets []Fleet `json:"fleets,omitempty"`
	// Faults are the disturbances, in seconds; [] in JSON if there are none.
	Faults []Span `json:"faults"`
	// OneShot reports that drain is judged and not recovery.
	OneShot bool `json:"one_shot"`
	// Endless says that closed clients call again until the horizon.
	Endless bool `json:"endless,omitempty"`
	// Bin is the width of all bins, in seconds.
	Bin float64 `json:"bin_seconds"`
	// Horizon is the time at which runs are cut off, in seconds.
	Horizon float64 `json:"horizon_seconds"`
	// Input names the trace that was replayed and counts its rows.
	Input *Input `json:"input,omitempty"`
}

// Fleet is one of several fleets. Metrics are those of all fleets together.
type Fleet struct {
	Name    string `json:"name"`
	Clients int    `json:"clients"`
	// Strategy is the fixed strategy of the fleet; "" if the fleet's strategy is
	// compared.
	Strategy string `json:"strategy,omitempty"`
}

// Input is a trace that a scenario replayed.
type Input struct {
	Name string `json:"name"`
	Rows int    `json:"rows"`
	// Ends is the time of the last row in seconds of the run; nil if it is not
	// known.
	Ends *float64 `json:"ends_seconds,omitempty"`
}

// Span is a named interval of virtual time, in seconds.
type Span struct {
	Name string  `json:"name"`
	From float64 `json:"from"`
	To   float64 `json:"to"`
}

// StrategyResult is the outcome of one strategy.
type StrategyResult struct {
	Strategy string `json:"strategy"`
	Summary  string `json:"summary"`
	// Metrics has every metric by its name. It omits optional metrics (hedges,
	// costs, alarms and the like) that are absent on every seed. A value by seed is
	// a number or null: never if its position is in never_at, and else undefined.
	Metrics Estimates `json:"metrics"`
	// Signals are the alarms and notes that were raised; omitted if there were
	// none.
	Signals []SignalResult `json:"signals,omitempty"`
	// Timeline is the run with the first seed.
	Timeline Timeline `json:"timeline"`
}

// Estimate returns the figure of m. If the result has left it out it is that of
// runs without any of it, and one that is defined for no seed if it should be
// there.
func (s *StrategyResult) Estimate(m Metric) Estimate {
	f, ok := s.Metrics[m.Info().Name]
	if ok || !m.Optional() {
		return f
	}
	return absent(m, len(s.Metrics[Calls.Info().Name].PerSeed))
}

// Timeline has the counts per bin of one run. Bin i covers Width seconds from
// Start + i·Width.
type Timeline struct {
	Seed     uint64   `json:"seed"`
	Start    float64  `json:"start"`
	Width    float64  `json:"width"`
	Calls    []uint32 `json:"calls"`
	Attempts []uint32 `json:"attempts"`
	Useful   []uint32 `json:"useful"`
}

// Timeline returns the counts per bin of the run, whose seed is given. It shares no
// memory with the report.
func (r *Report) Timeline(seed uint64) Timeline {
	s := &r.Series
	return Timeline{
		Seed: seed, Start: s.Start.Seconds(), Width: s.Width.Seconds(),
		Calls: slices.Clone(s.Calls), Attempts: slices.Clone(s.Attempts), Useful: slices.Clone(s.Useful),
	}
}
