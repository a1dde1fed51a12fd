package plots

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b") // Write creates it
	var want []string
	for _, name := range []string{"attempts.png", "attempts.svg", "goodput.png", "goodput.svg", "bars.png", "bars.svg"} {
		want = append(want, filepath.Join(dir, name))
	}
	for range 2 { // the second time, files are replaced
		files, err := Write(dir, million())
		require.NoError(t, err)
		require.Equal(t, want, files)
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, len(want), "no temporary files")
	for _, e := range entries {
		info, err := e.Info()
		require.NoError(t, err)
		require.Positive(t, info.Size())
	}
}

func TestWriteErrors(t *testing.T) {
	_, err := Write(t.TempDir(), nil)
	require.ErrorContains(t, err, "no result")

	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err = Write(file, million())
	require.ErrorContains(t, err, file)

	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "goodput.png", "in the way"), 0o755))
	files, err := Write(dir, million())
	require.ErrorContains(t, err, "goodput.png")
	require.Len(t, files, 2, "the files before it")
}

// TestAtomicReplace: the old file remains until the new one is complete.
func TestAtomicReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "figure.svg")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o644))
	broken := errors.New("broken")
	err := replace(path, func(w io.Writer) error {
		_, err := w.Write([]byte("half"))
		return errors.Join(err, broken)
	})
	require.ErrorIs(t, err, broken)
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "old", string(got))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1)
}
