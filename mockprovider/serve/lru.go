package serve

import (
	"container/list"
	"sync"
)

// lru assigns a bounded number of indices to keys. When all are assigned, a new key
// gets the index of the least recently used key.
type lru[K comparable] struct {
	capacity int
	onEvict  func(index uint32) // called before an index gets a new key; may be nil

	mu      sync.Mutex
	entries map[K]*list.Element
	recent  *list.List // of *lruEntry[K], most recently used first
}

type lruEntry[K comparable] struct {
	key   K
	index uint32
}

func newLRU[K comparable](most int, evicted func(uint32)) *lru[K] {
	return &lru[K]{capacity: most, onEvict: evicted, entries: make(map[K]*list.Element), recent: list.New()}
}

// of returns the index of a key, from 0; ok is false if the capacity is 0.
func (l *lru[K]) of(key K) (place uint32, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, ok := l.entries[key]; ok {
		l.recent.MoveToFront(e)
		return e.Value.(*lruEntry[K]).index, true
	}
	n := l.recent.Len()
	switch {
	case l.capacity <= 0:
		return 0, false
	case n < l.capacity:
		l.entries[key] = l.recent.PushFront(&lruEntry[K]{key, uint32(n)})
		return uint32(n), true
	}
	e := l.recent.Back()
	g := e.Value.(*lruEntry[K])
	delete(l.entries, g.key)
	if l.onEvict != nil {
		l.onEvict(g.index)
	}
	g.key = key
	l.entries[key] = e
	l.recent.MoveToFront(e)
	return g.index, true
}

func (l *lru[K]) len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.recent.Len()
}
