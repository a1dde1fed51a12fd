package serve

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The naive twin keeps its entries in a list, least recently used first.
func TestLRUAgainstTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(0, 5).Draw(t, "most")
		var evicted, left []uint32
		l := newLRU[int](most, func(place uint32) { evicted = append(evicted, place) })
		type guest struct {
			key   int
			place uint32
		}
		var heard []guest
		for _, key := range rapid.SliceOf(rapid.IntRange(0, 9)).Draw(t, "keys") {
			got, ok := l.of(key)
			if most == 0 {
				if ok {
					t.Fatal("an index although the capacity is 0")
				}
				continue
			}
			i := slices.IndexFunc(heard, func(g guest) bool { return g.key == key })
			g := guest{key, uint32(len(heard))}
			switch {
			case i >= 0:
				g = heard[i]
				heard = slices.Delete(heard, i, i+1)
			case len(heard) == most:
				g.place = heard[0].place
				left = append(left, g.place)
				heard = heard[1:]
			}
			heard = append(heard, g)
			if !ok || got != g.place || l.len() != len(heard) || !slices.Equal(evicted, left) {
				t.Fatalf("key %d has index %d of %d, evicted %v; the twin has %d, %v", key, got, l.len(), evicted, g.place, left)
			}
		}
	})
}

func TestTenants(t *testing.T) {
	var forgotten []uint32
	ten := newTenants([]Key{{Secret: "a", Account: 3, Index: 1}, {Secret: "b", Account: 3}}, 2, func(n uint32) { forgotten = append(forgotten, n) })
	who := func(key string) string {
		w, ok := ten.of(key)
		return fmt.Sprintf("%d/%d %v", w.account, w.key, ok)
	}
	require.Equal(t, "3/1 true", who("a"))
	require.Equal(t, "3/0 true", who("b"))
	require.Equal(t, "0/0 false", who(""))
	require.Equal(t, "4/0 true", who("x"))
	require.Equal(t, "5/0 true", who("y"))
	require.Equal(t, "4/0 true", who("x"))
	require.Equal(t, "5/0 true", who("z"), "y was the least recently used")
	require.Equal(t, []uint32{5}, forgotten)
	require.Equal(t, "4/0 true", who("y"))
	require.Equal(t, "3/0 true", who("b"), "configured keys stay")
	require.Equal(t, 4, ten.len())
	w, _ := ten.of("a")
	require.Len(t, w.id, 8)
	require.NotContains(t, w.id, "a\x00")
}
