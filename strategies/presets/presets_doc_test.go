package presets

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

var update = flag.Bool("update", false, "rewrite presets.md")

// presets.md lists the presets and the ways and cases in which each fails, which
// TestPresetsFail and TestPresetsFailCases check.
func TestPresetsDocument(t *testing.T) {
	var b strings.Builder
	b.WriteString(`# Presets: models of real clients

A preset is a model of the default behaviour of a public client, including its
mistakes. The last table lists the ways and the cases in which the preset fails,
as the real client does. [conformance](../conformance) runs the clients written in
Go beside their presets, in virtual time. The source of the others was read, and
some were measured. The reference articles are cited in
[scenarios/doc.go](../../scenarios/doc.go).

| preset | what it does | version | source |
|---|---|---|---|
`)
	for _, p := range Presets() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", p.Name, p.Summary, p.Version, p.Source)
	}
	b.WriteString(`
## Failures

- **early**: retries before the end of a hint of an hour; **sleeps**: waits for
  that hint; **spins**: retries at once after a hint of 0 s
- **together**: two clients with the same hint retry at the same instant;
  **in step**: two clients without a hint do
- **permanent**: retries an invalid key, a bad request or a used-up quota
- **blind**: counts a 14003 with status 200, or a 503, as an answer
- **twice**: retries a stream of which tokens have been delivered
- **endless**: makes attempts without a bound in an outage; **gives up**: does not
  retry a 503; **hangs**: waits for ever because of a deadlock

The cases have the numbers of the built-in scenarios case-NN. A preset that fails
the case

`)
	for _, c := range clientCases {
		fmt.Fprintf(&b, "- **%d** %s\n", c.Number, c.What)
	}
	b.WriteString("\nUnless stated otherwise a refusal is a 429, a 503 or a 14003, whichever has the\nworst effect. Cases 2, 3 and 16 concern only the provider.\n\n| preset | fails |")
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
	require.Equal(t, string(kept), b.String(), "go test ./strategies/presets -run PresetsDocument -update writes it")
}
