package strategies

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write presets.md anew")

// presets.md shows the presets, and in which ways and cases each fails: what
// TestPresetsFail and TestPresetsFailCases assert.
func TestPresetsDocument(t *testing.T) {
	var b strings.Builder
	b.WriteString(`# Clients of the field, as they are

Models of what real clients do by default. A preset is faithful, not good: the
last columns say in which ways it fails, and which cases of the field, as the
real thing does. Those written in Go run for real, in virtual time, beside their
presets in [conformance](conformance); the others were read, and some measured.

| preset | what it does | version | source |
|---|---|---|---|
`)
	for _, p := range Presets() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", p.Name, p.Summary, p.Version, p.Source)
	}
	b.WriteString(`
## How they fail

- **early**: comes back before the time it was asked to wait, given an hour;
  **sleeps**: waits the hour; **spins**: comes back at once when asked for 0 s
- **together**: two clients that are told the same come back in one instant;
  **in step**: two that are told nothing do
- **permanent**: retries a bad key, a bad request or a spent quota
- **blind**: takes a 14003 under 200, or a 503, for an answer
- **twice**: asks again when some of a stream has been delivered
- **endless**: knows no bound in an outage; **gives up**: does not retry a 503;
  **hangs**: waits for itself for ever

The cases have the numbers of the built-in scenarios. Whoever fails one

`)
	for _, c := range clientCases {
		fmt.Fprintf(&b, "- **%d** %s\n", c.Number, c.What)
	}
	b.WriteString("\nRefused is, unless it says more, by a 429, a 503 or a 14003, whichever it takes\nworst. Cases 2, 3 and 16 are the provider's alone.\n\n| preset | fails |")
	for _, c := range clientCases {
		fmt.Fprintf(&b, " %d |", c.Number)
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", len(clientCases)) + "\n")
	for _, p := range Presets() {
		f := presetFails[p.Name]
		failed := strings.Fields(f.cases)
		fmt.Fprintf(&b, "| `%s` | %s |", p.Name, f.ways)
		for _, c := range clientCases {
			if slices.Contains(failed, strconv.Itoa(c.Number)) {
				b.WriteString(" ✗ |")
			} else {
				b.WriteString("  |")
			}
		}
		b.WriteString("\n")
	}
	if *update {
		require.NoError(t, os.WriteFile("presets.md", []byte(b.String()), 0o644))
	}
	kept, err := os.ReadFile("presets.md")
	require.NoError(t, err)
	require.Equal(t, string(kept), b.String(), "go test ./strategies -run PresetsDocument -update writes it")
}
