package layers_test

import (
	"testing"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
	"herdlab/strategies/presets"
	"herdlab/strategies/strategytest"
)

// hearing is a loop that hears hints, or what makes one hear, and how long it
// waits at most of its own accord, alone and in a crowd of a hundred.
type hearing struct {
	of         strategies.Layer
	around     []strategies.Layer // what it is inside
	own, crowd time.Duration
	// places is how many it tries before it waits.
	places int
}

func hearers() []hearing {
	const s = time.Second
	limits := layers.Rules{Classes: strategies.Limits | strategies.ClassesOf(wire.Overloaded)}
	backoff := backoffs.Fixed{Every: s, Jitter: 5 * s}
	retry := layers.Retry{Backoff: backoff, Hints: layers.Hints{Most: tooLong, Beyond: layers.GiveUp}}
	deaf := layers.Retry{Backoff: backoff, Hints: layers.Hints{Use: layers.HintIgnored}}
	return []hearing{
		{of: retry, own: 6 * s},
		{of: layers.Ladder{Rungs: []layers.Rung{{Tries: 3}}, On: limits, Backoff: backoff}, own: 6 * s},
		{of: layers.Failover{Regions: []uint8{0, 1, 2}, On: limits, Backoff: backoff, Scope: strategies.PerFleet}, own: 6 * s, places: 3},
		{of: layers.KeyRotation{Keys: []uint8{0, 1, 2}, On: limits, Backoff: backoff, Scope: strategies.PerFleet}, own: 6 * s, places: 3},
		{of: layers.Deployments{Targets: strategytest.Targets(3), MaxAttempts: 4, On: limits, Backoff: backoff, Jitter: 5 * s, Scope: strategies.PerFleet}, own: 6 * s, places: 3},
		{of: layers.ConstantRetrial{Mean: s / 5, Scope: strategies.PerFleet}, own: 2 * s, crowd: 30 * s},
		{of: layers.WorkerQueue{Rate: 5, Per: s, Scope: strategies.PerFleet}, own: s / 5, crowd: 20 * s},
		{of: layers.Shrink{Context: 0.5, Times: 3, On: limits, Backoff: backoff}, own: 6 * s},
		{of: layers.RecursiveSemaphore{Permits: 1000, Retry: retry, Scope: strategies.PerFleet}, own: 6 * s},
		{of: layers.CoolDown{For: s / 10, Pace: s / 50, Scope: strategies.PerFleet}, own: s / 10, crowd: 2*s + s/10},
		{of: layers.HeaderLimit{Spread: true, Scope: strategies.PerFleet}, around: []strategies.Layer{deaf}, own: 6 * s, crowd: 60 * s},
	}
}

// retryAfterZoo is case 12.
func retryAfterZoo(t *testing.T) fieldCase {
	c := fieldCase{
		name: "case-12", law: "no attempt comes before its hint, nor in a tight loop after an empty hint",
		about: append(ofKind(t, goesAgain), ofKind(t, hearsHints)...),
	}
	for _, h := range hearers() {
		stack := append(h.around, h.of)
		c.trials = append(c.trials, layer(h.of, "", neverEarly(allReaders, zoo, stack...)))
	}
	c.trials = append(c.trials, layer(layers.Hedge{}, "", neverEarly(allReaders, zoo, layers.Hedge{After: 100 * time.Millisecond, Attempts: 3, Scope: strategies.PerFleet})))

	c.about = append(c.about, exported(t, "../../mockprovider/wire", "Read")...)
	for _, r := range allReaders {
		x := trial{of: typeName(r), how: "hints in bodies", holds: neverEarly([]wire.Reader{r}, inBodies, hearers()[0].of)}
		switch r.(type) {
		case wire.ByStatus, wire.ByLibrary:
			x.breaks = "it does not read bodies, and cannot know"
		}
		c.trials = append(c.trials, x)
	}
	for _, use := range hintUses() {
		r := layers.Retry{Backoff: backoffs.Fixed{Every: time.Second}, MinWait: 100 * time.Millisecond, Hints: layers.Hints{Use: use, Slack: time.Second}}
		c.about = append(c.about, use.String())
		c.trials = append(c.trials, trial{of: use.String(), holds: neverEarly(allReaders, zoo, r), breaks: earlyUses[use]})
	}
	for b, breaks := range [layers.NumBeyonds]string{layers.BackOff: "it comes too early, as many in the field do", layers.Clip: "it comes too early, as many in the field do"} {
		b := layers.Beyond(b)
		r := layers.Retry{Backoff: backoffs.Fixed{Every: time.Second}, Hints: layers.Hints{Most: tooLong, Beyond: b}}
		c.about = append(c.about, b.String())
		c.trials = append(c.trials, trial{of: b.String(), holds: neverEarly(allReaders, zoo, r), breaks: breaks})
	}
	literal := layers.Retry{Backoff: backoffs.Fixed{Every: time.Second}, Hints: layers.Hints{Use: layers.HintAsWait}}
	c.trials = append(c.trials, trial{of: layers.HintAsWait.String(), how: "without a least wait", holds: neverEarly(allReaders, zoo, literal), breaks: "0 is taken at its word"})
	for _, b := range presets.Builtins() {
		d := b.Define(sixSlots)
		readers := []wire.Reader{d.Reader}
		if d.Reader == nil {
			readers[0] = wire.ByBody{}
		}
		c.about = append(c.about, b.Name)
		c.trials = append(c.trials, trial{of: b.Name, holds: neverEarly(readers, zoo, d.Layers...), breaks: deafBuiltins[b.Name]})
	}
	return c
}

func hintUses() (all []layers.HintUse) {
	for u := range layers.HintUse(layers.NumHintUses) {
		all = append(all, u)
	}
	return all
}

// earlyUses are those uses of hints that come back too early, and deafBuiltins the
// strategies.
var (
	earlyUses = map[layers.HintUse]string{
		layers.HintClamped: "it only moves its own wait towards what was asked",
		layers.HintDrawn:   "the mistake of case 4",
		layers.HintIgnored: "it ignores hints",
	}
	deafBuiltins = map[string]string{
		"naive":     "it shows what comes of hearing nothing",
		"fixed-30s": "it shows what comes of hearing nothing",
	}
)

// wrongUnits is case 5.
func wrongUnits(t *testing.T) fieldCase {
	c := fieldCase{name: "case-05", law: "60 s are 60 s and 555 ms are 555 ms, in whatever unit they are written", about: ofKind(t, hearsHints)}
	for _, h := range hearers() {
		c.trials = append(c.trials, layer(h.of, "", inTheRightUnit(h.own, allReaders, units, append(h.around, h.of)...)))
	}
	c.about = append(c.about, exported(t, "../../mockprovider/wire", "Read")...)
	for _, r := range allReaders {
		x := trial{of: typeName(r), how: "in bodies", holds: inTheRightUnit(6*time.Second, []wire.Reader{r}, inBodies, hearers()[0].of)}
		switch r.(type) {
		case wire.ByStatus, wire.ByLibrary:
			x.breaks = "it does not read bodies, and cannot know"
		}
		c.trials = append(c.trials, x)
	}
	return c
}

// jitterBelowAReset is case 4.
func jitterBelowAReset(t *testing.T) fieldCase {
	c := fieldCase{name: "case-04", law: "a call with a reset as hint arrives after the reset, with one attempt", about: ofKind(t, hearsHints)}
	for _, h := range hearers() {
		c.trials = append(c.trials, layer(h.of, "", reachesTheReset(wire.Rate, h.places, max(h.own, h.crowd), 60, append(h.around, h.of)...)))
	}
	c.about = append(c.about, exported(t, "../backoffs", "Delay")...)
	for _, b := range waitKinds(time.Second, 30*time.Second) {
		holds := reachesTheReset(wire.Overloaded, 1, b.first, 100, layers.Retry{Backoff: b.backoff, MaxAttempts: 10})
		c.trials = append(c.trials, trial{of: typeName(b.backoff), how: b.how, holds: holds})
	}
	for _, use := range hintUses() {
		r := layers.Retry{Backoff: backoffs.Fixed{Jitter: 5 * time.Second}, MaxAttempts: 10, Hints: layers.Hints{Use: use, Slack: time.Second}}
		peak := 40
		if use == layers.HintAsWait || use == layers.HintAsFloor {
			peak = 100 // at that instant
		}
		c.about = append(c.about, use.String())
		c.trials = append(c.trials, trial{of: use.String(), holds: reachesTheReset(wire.Rate, 1, 5*time.Second, peak, r), breaks: earlyUses[use]})
	}
	for _, b := range presets.Builtins() {
		c.about = append(c.about, b.Name)
		holds := reachesTheReset(wire.Overloaded, 1, 150*time.Second, 100, b.Define(sixSlots).Layers...)
		c.trials = append(c.trials, trial{of: b.Name, holds: holds, breaks: deafBuiltins[b.Name]})
	}
	return c
}
