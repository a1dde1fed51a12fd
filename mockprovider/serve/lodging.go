package serve

import (
	"container/list"
	"sync"
)

// lodging gives out a bounded number of places to whoever comes. When all are
// taken, the guest that was quiet the longest loses his to the newcomer.
type lodging[K comparable] struct {
	most    int
	evicted func(place uint32) // told before the newcomer has the place; may be nil

	mu     sync.Mutex
	guests map[K]*list.Element
	heard  *list.List // of guest[K]; the one that was heard of last in front
}

type guest[K comparable] struct {
	key   K
	place uint32
}

func newLodging[K comparable](most int, evicted func(uint32)) *lodging[K] {
	return &lodging[K]{most: most, evicted: evicted, guests: make(map[K]*list.Element), heard: list.New()}
}

// of returns the place of a guest, from 0; ok is false if there are no places
// at all.
func (l *lodging[K]) of(key K) (place uint32, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, ok := l.guests[key]; ok {
		l.heard.MoveToFront(e)
		return e.Value.(*guest[K]).place, true
	}
	n := l.heard.Len()
	switch {
	case l.most <= 0:
		return 0, false
	case n < l.most:
		l.guests[key] = l.heard.PushFront(&guest[K]{key, uint32(n)})
		return uint32(n), true
	}
	e := l.heard.Back()
	g := e.Value.(*guest[K])
	delete(l.guests, g.key)
	if l.evicted != nil {
		l.evicted(g.place)
	}
	g.key = key
	l.guests[key] = e
	l.heard.MoveToFront(e)
	return g.place, true
}

func (l *lodging[K]) len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.heard.Len()
}
