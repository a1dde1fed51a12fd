package serve

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The naive twin sorts a list before each pop.
func TestEventQueueAgainstTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a eventQueue
		var list []event
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			if len(list) > 0 && rapid.Bool().Draw(t, "pop") {
				slices.SortStableFunc(list, func(a, b event) int {
					if a.at != b.at {
						return int(a.at - b.at)
					}
					return int(a.kind) - int(b.kind)
				})
				if a.next() != list[0].at || a.pop() != list[0] {
					t.Fatalf("not %+v", list[0])
				}
				list = list[1:]
				continue
			}
			e := event{at: time.Duration(rapid.IntRange(0, 5).Draw(t, "at")), kind: uint8(rapid.IntRange(0, 3).Draw(t, "kind")), ref: uint32(len(list))}
			e.seq = a.push(e.at, e.kind, e.ref)
			list = append(list, e)
		}
	})
	var a eventQueue
	require.Equal(t, never, a.next())
}
