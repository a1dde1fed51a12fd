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
	// Transient is what waiting may cure, as wire.Class.Transient says.
	Transient Classes = Limits | 1<<wire.Overloaded | 1<<wire.ServerError | Unanswered
	// Limits is what the caller's own limits refuse.
	Limits Classes = 1<<wire.Rate | 1<<wire.TokenRate | 1<<wire.Concurrency | 1<<wire.Acceleration
	// Unanswered is what ends without a whole reply.
	Unanswered Classes = 1<<wire.Timeout | 1<<wire.ConnectionLost
	// AnyFailure is every class but success and the caller's own withdrawal.
	AnyFailure Classes = 1<<wire.NumClasses - 1 - 1<<wire.OK - 1<<wire.Cancelled
)

// Has reports whether c is in the set.
func (s Classes) Has(c wire.Class) bool { return s>>c&1 != 0 }

// or returns s, or other if s is empty.
func (s Classes) Or(other Classes) Classes {
	if s == 0 {
		return other
	}
	return s
}
