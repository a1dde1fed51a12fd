package live

import (
	"sync"

	"herdlab/strategies"
)

// Everyone is what the transports of a process share: the memory of layers of
// scope everyone, and the lock under which all of them decide.
type Everyone struct {
	mu      sync.Mutex
	commons *strategies.Commons
	words   []int64
	lines   map[uint32]*line // of pools, by their first word
	flights map[flightKey]*flight
}

// NewEveryone returns an Everyone that nobody shares yet.
func NewEveryone() *Everyone {
	return &Everyone{
		commons: strategies.NewCommons(),
		lines:   map[uint32]*line{},
		flights: map[flightKey]*flight{},
	}
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
