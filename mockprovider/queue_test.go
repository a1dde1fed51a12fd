package mockprovider

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The ring against a slice.
func TestRing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q ring
		var twin []uint32
		next := uint32(0)
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				for range rapid.IntRange(1, 20).Draw(t, "n") {
					q.push(next)
					twin = append(twin, next)
					next++
				}
			},
			"pop": func(t *rapid.T) {
				for range rapid.IntRange(1, 20).Draw(t, "n") {
					if len(twin) > 0 {
						require.Equal(t, twin[0], q.pop())
						twin = twin[1:]
					}
				}
			},
			"": func(t *rapid.T) { require.Equal(t, len(twin), q.len()) },
		})
	})
}
