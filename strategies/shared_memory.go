package strategies

import (
	"errors"
	"fmt"
)

// Commons is the memory that all programs of a run share: which words belong
// to which shared layer.
type SharedMemory struct {
	words  int
	shared map[string]sharedWords
}

// sharedWords are words that everyone shares under one name.
type sharedWords struct {
	slot   Slot
	n      int
	config string // what those who share them must agree on, as text
}

// NewSharedMemory returns empty shared memory.
func NewSharedMemory() *SharedMemory {
	return &SharedMemory{shared: map[string]sharedWords{}}
}

// Words returns how many words everyone shares.
func (c *SharedMemory) Words() int { return c.words }

// reserve returns the words of that name, new ones if nobody has asked before.
// Those who share them must agree on their number and on config.
func (c *SharedMemory) reserve(n int, name, config string) (Slot, error) {
	if name == "" {
		return Slot{}, errors.New("memory shared by everyone needs a name")
	}
	s, known := c.shared[name]
	switch {
	case !known:
		s = sharedWords{Slot{PerEveryone, uint16(n), uint32(c.words)}, n, config}
		c.shared[name] = s
		c.words += n
	case s.n != n:
		return Slot{}, fmt.Errorf("two layers share the memory %q but need %d and %d words; give them different names", name, s.n, n)
	case s.config != config:
		return Slot{}, fmt.Errorf("two layers share %q but differ: %s and %s; make them agree or give them different names", name, s.config, config)
	}
	return s.slot, nil
}
