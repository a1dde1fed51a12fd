package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The same value has the same text in the table and in the pictures.
func TestNumbersHaveTheSameText(t *testing.T) {
	inEmptyDir(t)
	got := herdlab(with("--out", "pictures")...)
	var drawn string
	for _, name := range []string{"attempts.svg", "bars.svg"} {
		text, err := os.ReadFile(filepath.Join("pictures", name))
		require.NoError(t, err)
		drawn += string(text)
	}
	columns := regexp.MustCompile(`^. (\S+) +\S+ % +(\S+) × +\S+ × +(\S+ s|never) +(\S+ s|never) `)
	rows := 0
	for line := range strings.Lines(got.out) {
		m := columns.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		rows++
		assert.Contains(t, drawn, ">"+m[2]+" attempts per call<", m[1])
		if m[3] != "never" {
			assert.Contains(t, drawn, ">"+m[3]+"<", m[1])
			assert.Contains(t, drawn, ">drained in "+m[3]+"<", m[1])
		}
	}
	assert.Equal(t, 4, rows)
}

// Law 1: all output has the same bytes for any number of cores and workers.
func TestSameBytes(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var first map[string]string
	for _, cores := range []int{1, 2, 8} {
		runtime.GOMAXPROCS(cores)
		for range 2 {
			files := inEmptyDir(t)
			all := map[string]string{}
			got := herdlab(with("--wide")...)
			require.Equal(t, exitOK, got.code, got.err)
			all["stdout"], all["stderr"] = got.out, got.err
			all["json"] = herdlab(with("--json", "--no-pictures")...).out
			for _, f := range files() {
				if text, err := os.ReadFile(f); err == nil {
					all[f] = string(text)
				}
			}
			if first == nil {
				first = all
			}
			require.Len(t, all, len(first))
			for name, text := range first {
				assert.True(t, text == all[name], "%s differs with GOMAXPROCS=%d", name, cores)
			}
		}
	}
}
