package strategies

import "errors"

// Signal is the index of an alarm or a note among those of its program;
// Call.Raise counts it.
type Signal uint8

// SignalSpec is something that a layer may tell those who watch.
type SignalSpec struct {
	// Reason says what has happened, as reports spell it. Signals of the same
	// reason are counted together.
	Reason string
	// Alarm says that somebody should act; otherwise it is a note.
	Alarm bool
}

// maxSignals is how many signals a stack may have.
const maxSignals = 64

// Alarm returns the signal for something that somebody should act upon, such as
// a model that has been at capacity for too long. Layers of one stack that name
// the same reason share the signal.
func (b *Build) Alarm(reason string) (Signal, error) { return b.signal(SignalSpec{reason, true}) }

// Note returns the signal for something worth counting, such as an answer from
// a lesser model.
func (b *Build) Note(reason string) (Signal, error) { return b.signal(SignalSpec{reason, false}) }

func (b *Build) signal(s SignalSpec) (Signal, error) {
	if s.Reason == "" {
		return 0, errors.New("a signal needs a reason that reports can print")
	}
	for i, known := range b.program.Signals {
		if known == s {
			return Signal(i), nil
		}
	}
	if len(b.program.Signals) == maxSignals {
		return 0, errors.New("a stack has at most 64 alarms and notes")
	}
	b.program.Signals = append(b.program.Signals, s)
	return Signal(len(b.program.Signals) - 1), nil
}
