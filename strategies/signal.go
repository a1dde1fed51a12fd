package strategies

import "errors"

// Signal is the index of an alarm or a note in Program.Signals. Call.Raise counts
// it.
type Signal uint8

// SignalSpec describes an alarm or a note that a layer raises for reports and
// operators.
type SignalSpec struct {
	// Reason is the cause, as reports spell it. Signals of the same reason are
	// counted together.
	Reason string
	// Alarm is true if an operator should act; otherwise the signal is a note.
	Alarm bool
}

// maxSignals is the maximum number of signals of a stack.
const maxSignals = 64

// Alarm returns a signal for a condition that needs an operator, such as a model
// that has been at capacity for too long. Layers of one stack that name the same
// reason share the signal. It is an error if reason is empty or the stack has 64
// signals already.
func (b *Build) Alarm(reason string) (Signal, error) { return b.signal(SignalSpec{reason, true}) }

// Note returns a signal for an event that reports count, such as an answer from a
// lesser model. Its errors are those of Alarm.
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
