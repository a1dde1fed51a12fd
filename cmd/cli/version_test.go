package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The embedded notices equal the file at the top, and list each module that the
// binary links with its version. Whether the texts are current for all systems is
// checked by go run ./cmd/notices -check, which needs modules that this system does
// not.
func TestLicences(t *testing.T) {
	got := herdlab("version", "--licences")
	require.Equal(t, exitOK, got.code, got.err)
	top, err := os.ReadFile(filepath.Join(home, "THIRD_PARTY_NOTICES"))
	require.NoError(t, err)
	require.Equal(t, string(top), got.out, "go run ./cmd/notices writes both")

	list := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}", "./cmd/herdlab")
	list.Dir = home
	modules, err := list.Output()
	require.NoError(t, err)
	lines := strings.Split(got.out, "\n")
	require.Contains(t, lines, "The Go standard library and runtime")
	for _, m := range strings.Fields(strings.ReplaceAll(string(modules), " ", "@")) {
		assert.Contains(t, lines, strings.ReplaceAll(m, "@", " "), "go run ./cmd/notices adds it")
	}
}
