package strategies

import "herdlab/mockprovider/wire"

// Classes is a set of classes of outcomes.
type Classes uint32

// ClassesOf returns the set of these classes.
func ClassesOf(all ...wire.Class) Classes {
	var s Classes
	for _, c := range all {
		s |= 1 << c
	}
	return s
}

// Sets that layers and presets name.
const (
	// Transient contains the classes for which wire.Class.Transient is true: a retry
	// after a wait may succeed.
	Transient Classes = Limits | 1<<wire.Overloaded | 1<<wire.ServerError | Unanswered
	// Limits contains the refusals by rate, token, concurrency and acceleration
	// limits.
	Limits Classes = 1<<wire.Rate | 1<<wire.TokenRate | 1<<wire.Concurrency | 1<<wire.Acceleration
	// Unanswered contains the classes of attempts without a complete reply.
	Unanswered Classes = 1<<wire.Timeout | 1<<wire.ConnectionLost
	// AnyFailure contains every class except success and cancellation by the caller.
	AnyFailure Classes = 1<<wire.NumClasses - 1 - 1<<wire.OK - 1<<wire.Cancelled
)

// Has reports whether c is in the set.
func (s Classes) Has(c wire.Class) bool { return s>>c&1 != 0 }

// Or returns s, or other if s is empty.
func (s Classes) Or(other Classes) Classes {
	if s == 0 {
		return other
	}
	return s
}
