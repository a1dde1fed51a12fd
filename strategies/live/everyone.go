package live

import (
	"errors"
	"reflect"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	"herdlab/strategies"
)

// Everyone is what the transports of a process share: the memory of layers of
// scope everyone, the clock by which they go, and the lock under which all of
// them decide.
type Everyone struct {
	mu      sync.Mutex
	clock   clockwork.Clock // nil before the first transport
	start   time.Time
	commons *strategies.Commons
	words   []int64
	lines   map[uint32]*line // of pools, by their first word
	flights map[flightKey]*flight
	answers answers
}

// NewEveryone returns an Everyone that nobody shares yet.
func NewEveryone() *Everyone {
	return &Everyone{
		commons: strategies.NewCommons(),
		lines:   map[uint32]*line{},
		flights: map[flightKey]*flight{},
		answers: newAnswers(),
	}
}

// welcome takes the first transport's clock for everyone's, with e.mu held. It is
// an error if another's differs.
func (e *Everyone) welcome(clock clockwork.Clock) error {
	realTime := clockwork.NewRealClock()
	switch {
	case e.clock == nil:
		if e.clock = clock; clock == nil {
			e.clock = realTime
		}
		e.start = e.clock.Now()
	case clock == nil || clock == e.clock:
	case reflect.TypeOf(clock) != reflect.TypeOf(realTime) || reflect.TypeOf(e.clock) != reflect.TypeOf(realTime):
		return errors.New("live: the transports of one Everyone need one clock: what they share has times in it")
	}
	return nil
}

// memory returns the words that everyone shares, with e.mu held. They move when
// another transport joins, so nobody keeps them.
func (e *Everyone) memory() []int64 {
	if need := e.commons.Words(); need > len(e.words) {
		grown := make([]int64, need)
		copy(grown, e.words)
		e.words = grown
	}
	return e.words
}
