package live

import (
	"errors"
	"reflect"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	"herdlab/strategies"
)

// Shared is what several transports of a process have in common: the memory of
// layers with scope everyone, the clock, the cached answers, and the lock under
// which all decisions are made.
type Shared struct {
	mu      sync.Mutex
	clock   clockwork.Clock // nil until the first transport is made
	start   time.Time
	commons *strategies.SharedMemory
	words   []int64
	queues  map[uint32]*poolQueue // by the index of the pool's first word
	flights map[flightKey]*flight
	cache   answerCache
}

// NewShared returns a Shared without transports.
func NewShared() *Shared {
	return &Shared{
		commons: strategies.NewSharedMemory(),
		queues:  map[uint32]*poolQueue{},
		flights: map[flightKey]*flight{},
		cache:   newAnswerCache(),
	}
}

// setClock sets the clock to that of the first transport, and reports an error
// if a later transport has another one. s.mu must be held.
func (s *Shared) setClock(clock clockwork.Clock) error {
	realTime := clockwork.NewRealClock()
	switch {
	case s.clock == nil:
		if s.clock = clock; clock == nil {
			s.clock = realTime
		}
		s.start = s.clock.Now()
	case clock == nil || clock == s.clock:
	case reflect.TypeOf(clock) != reflect.TypeOf(realTime) || reflect.TypeOf(s.clock) != reflect.TypeOf(realTime):
		return errors.New("live: transports with the same Shared need the same clock, because shared memory contains times")
	}
	return nil
}

// memory returns the memory of scope everyone. It moves when a transport is
// added, so the slice must not be kept. s.mu must be held.
func (s *Shared) memory() []int64 {
	if need := s.commons.Words(); need > len(s.words) {
		grown := make([]int64, need)
		copy(grown, s.words)
		s.words = grown
	}
	return s.words
}
