package strategies

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write presets.md anew")

// presets.md shows the presets, and in which ways each fails: what
// TestPresetsFail asserts.
func TestPresetsDocument(t *testing.T) {
	var b strings.Builder
	b.WriteString(`# Clients of the field, as they are

Models of what real clients do by default. A preset is faithful, not good: the
last column says in which ways it fails, as the real thing does. Those written
in Go run for real, in virtual time, beside their presets in
[conformance](conformance); the others were read, and some measured.

- **early**: comes back before the time it was asked to wait, given an hour;
  **sleeps**: waits the hour; **spins**: comes back at once when asked for 0 s
- **together**: two clients that are told the same come back in one instant;
  **in step**: two that are told nothing do
- **permanent**: retries a bad key, a bad request or a spent quota
- **blind**: takes a 14003 under 200, or a 503, for an answer
- **twice**: asks again when some of a stream has been delivered
- **endless**: knows no bound in an outage; **gives up**: does not retry a 503;
  **hangs**: waits for itself for ever

| preset | what it does | version | source | fails |
|---|---|---|---|---|
`)
	for _, p := range Presets() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", p.Name, p.Summary, p.Version, p.Source, strings.Join(failings(t, p.Name), ", "))
	}
	if *update {
		require.NoError(t, os.WriteFile("presets.md", []byte(b.String()), 0o644))
	}
	kept, err := os.ReadFile("presets.md")
	require.NoError(t, err)
	require.Equal(t, string(kept), b.String(), "go test ./strategies -run PresetsDocument -update writes it")
}
