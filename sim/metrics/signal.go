package metrics

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Signal is an alarm or a note that strategies have raised.
type Signal struct {
	Reason string
	// Alarm reports that an operator should act; otherwise it is a note.
	Alarm bool
	// Count is the number of times it was raised, First the first time.
	Count uint64
	First time.Duration
}

// Signal returns the number of a signal for Raised; signals with the same reason
// have the same number.
func (r *Recorder) Signal(reason string, alarm bool) int {
	i := slices.IndexFunc(r.signals, func(s Signal) bool { return s.Reason == reason && s.Alarm == alarm })
	if i >= 0 {
		return i
	}
	r.signals = append(r.signals, Signal{Reason: reason, Alarm: alarm})
	return len(r.signals) - 1
}

// Raised counts a signal by the number that Signal gave it.
func (r *Recorder) Raised(now time.Duration, signal int) {
	s := &r.signals[signal]
	if s.Count++; s.Count == 1 {
		s.First = now
	}
}

// SignalResult is one signal over the seeds of a result.
type SignalResult struct {
	Reason string `json:"reason"`
	Alarm  bool   `json:"alarm"`
	// Count is the number of times it was raised, by seed; First the first time in
	// seconds, nil if it was not raised.
	Count []uint64   `json:"count"`
	First []*float64 `json:"first_seconds"`
}

// SummariseSignals returns the signals that were raised on any seed, in
// alphabetical order. runs has the signals of one run for each seed.
func SummariseSignals(runs [][]Signal) []SignalResult {
	var all []SignalResult
	for seed, signals := range runs {
		for i := range signals {
			if s := &signals[i]; s.Count > 0 {
				first := s.First.Seconds()
				all = addSignal(all, SignalResult{Reason: s.Reason, Alarm: s.Alarm}, len(runs), seed, s.Count, &first)
			}
		}
	}
	return all
}

// addSignal adds the values of a signal on one of the seeds.
func addSignal(all []SignalResult, key SignalResult, seeds, seed int, count uint64, first *float64) []SignalResult {
	i, found := slices.BinarySearchFunc(all, key, bySignal)
	if !found {
		key.Count, key.First = make([]uint64, seeds), make([]*float64, seeds)
		all = slices.Insert(all, i, key)
	}
	all[i].Count[seed], all[i].First[seed] = count, first
	return all
}

func bySignal(a, b SignalResult) int {
	return cmp.Or(strings.Compare(a.Reason, b.Reason), strings.Compare(fmt.Sprint(a.Alarm), fmt.Sprint(b.Alarm)))
}

// MergeSignals returns the signals of all seeds of two results: fromB tells for
// each seed of the merged result, in ascending order, whether it is one of b.
func MergeSignals(a, b []SignalResult, fromB []bool) (all []SignalResult) {
	next := [2]int{} // seed of a and of b
	for seed, isB := range fromB {
		signals, which := a, 0
		if isB {
			signals, which = b, 1
		}
		for _, s := range signals {
			if k := next[which]; s.Count[k] > 0 {
				all = addSignal(all, SignalResult{Reason: s.Reason, Alarm: s.Alarm}, len(fromB), seed, s.Count[k], s.First[k])
			}
		}
		next[which]++
	}
	return all
}

// validateSignals checks the signals of a result with the given number of seeds.
func validateSignals(signals []SignalResult, seeds int) error {
	for i := range signals {
		s := &signals[i]
		if len(s.Count) != seeds || len(s.First) != seeds {
			return fmt.Errorf("signal %q: there are %d counts and %d first times for %d seeds", s.Reason, len(s.Count), len(s.First), seeds)
		}
		for k, n := range s.Count {
			if n > 0 != (s.First[k] != nil) {
				return fmt.Errorf("signal %q: it was raised %d times on a seed, which does not agree with its first time", s.Reason, n)
			}
		}
		if i > 0 && bySignal(signals[i-1], *s) >= 0 {
			return fmt.Errorf("signal %q is out of order", s.Reason)
		}
	}
	return nil
}
