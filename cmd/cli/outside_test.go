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

// The commands of the README let another module build a binary with parts of its own,
// offline: with a replacement and in a workspace. The package documentation has the same
// commands.
func TestOtherModule(t *testing.T) {
	r := openReadme(t)
	doc, err := os.ReadFile("main.go")
	require.NoError(t, err)
	spread, err := os.ReadFile(filepath.Join(home, "cmd", "example", "spread.go"))
	require.NoError(t, err)
	from, to := r.block("## A binary of your own", "```go")
	main := "package main\n\nimport (\n\t\"os\"\n\n\t\"herdlab/cmd/cli\"\n\t\"herdlab/scenarios\"\n)\n\n" + r.text[from:to]
	source, err := filepath.Abs(home)
	require.NoError(t, err)
	from, to = r.block("use a replacement or a", "```sh")
	lines := strings.Split(strings.TrimSpace(r.text[from:to]), "\n")
	assert.Contains(t, string(doc), "\n//\t"+strings.Join(lines, "\n//\t")+"\n")
	require.Len(t, lines, 4)
	workspace, found := strings.CutPrefix(lines[2], "# or: ")
	require.True(t, found)
	for name, second := range map[string]string{"replacement": lines[1], "workspace": workspace} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "main.go"), main)
			write(t, filepath.Join(dir, "spread.go"), string(spread))
			commands := lines[0] + "\n" + second + "\n" + lines[3]
			sh := exec.Command("sh", "-ec", strings.ReplaceAll(commands, "../herdlab", source))
			sh.Dir = dir
			sh.Env = append(os.Environ(), "GOPROXY=off", "GOSUMDB=off", "GOFLAGS=", "GOWORK=")
			out, err := sh.CombinedOutput()
			if err != nil && strings.Contains(string(out), "disabled by GOPROXY=off") {
				t.Skip("go mod tidy needs modules that are not in the cache; go mod tidy in the module's directory downloads them")
			}
			require.NoError(t, err, "%s\n%s", commands, out)
			require.Contains(t, string(out), "\n  spread                  Retries as far apart as the call is old.\n")
		})
	}
}
