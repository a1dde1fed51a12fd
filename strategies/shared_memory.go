package strategies

import (
	"errors"
	"fmt"
)

// SharedMemory allocates the memory that all programs of a run share: it records
// which words belong to which name.
type SharedMemory struct {
	words  int
	shared map[string]sharedWords
}

// sharedWords are words that everyone shares under one name.
type sharedWords struct {
	slot   Slot
	n      int
	config string // the configuration as text; it must be equal for all layers that share the words
}

// NewSharedMemory returns empty shared memory.
func NewSharedMemory() *SharedMemory {
	return &SharedMemory{shared: map[string]sharedWords{}}
}

// Words returns the number of shared words.
func (c *SharedMemory) Words() int { return c.words }

// reserve returns the words of the given name, and allocates them on first use. It
// is an error if the name is empty, or if n or config differs from the first use.
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
