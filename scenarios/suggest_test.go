package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestNearest(t *testing.T) {
	keys := []string{"clients", "traffic", "tokens", "account", "key"}
	names := []string{"naive", "fixed-30s", "exponential", "full-jitter", "equal-jitter", "breaker+full-jitter", "Mine-Own"}
	for _, c := range []struct {
		among []string
		word  string
		want  string
	}{
		{keys, "cleints", "clients"}, {keys, "client", "clients"}, {keys, "trafic", "traffic"},
		{keys, "Tokens", "tokens"}, {keys, "kee", "key"}, {keys, "raff", "traffic"},
		{keys, "xyz", ""}, {keys, "k", ""}, {keys, "", ""}, {keys, "accountability", ""},
		{names, "niave", "naive"}, {names, "fulljitter", "full-jitter"}, {names, "exponental", "exponential"},
		{names, "mine_own", "Mine-Own"}, {names, "breaker", "breaker+full-jitter"},
		{names, "jitter", "full-jitter"}, // the first of three that contain it
		{names, "ex", ""}, {names, "zzz", ""},
		{[]string{"s", "ms"}, "x", ""}, // as many edits as the name has letters
	} {
		require.Equal(t, c.want, Nearest(c.word, c.among), "%q", c.word)
	}
}

// TestDistance checks known values and the properties of a metric.
func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"kitten", "sitting", 3}, {"ab", "ba", 1}, {"abcd", "acbd", 1}, {"ca", "abc", 3}} {
		require.Equal(t, c.want, distance(c.a, c.b), "%s %s", c.a, c.b)
	}
	word := rapid.StringMatching(`[abc]{0,6}`)
	rapid.Check(t, func(rt *rapid.T) {
		a, b := word.Draw(rt, "a"), word.Draw(rt, "b")
		d := distance(a, b)
		if d != distance(b, a) || (d == 0) != (a == b) || d > max(len(a), len(b)) || d < max(len(a)-len(b), len(b)-len(a)) {
			rt.Fatalf("the distance of %q and %q is %d", a, b, d)
		}
	})
}
