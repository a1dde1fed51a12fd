package plots

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"herdlab/sim/metrics"
)

// Write draws every figure of the result into files in dir, as PNG and as SVG, and
// returns their paths in a fixed order. It creates dir if needed. Files of the same
// name are replaced atomically: a reader never sees an incomplete file. On an error
// Write returns the files that it has written before.
func Write(dir string, r *metrics.Result) (files []string, err error) {
	if r == nil {
		return nil, errors.New("plots: there is no result to draw")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("plots: cannot create the directory of the figures: %w", err)
	}
	for _, f := range []*Figure{Attempts(r), Goodput(r), Bars(r)} {
		for _, format := range []struct {
			ext   string
			write func(io.Writer) error
		}{{".png", f.PNG}, {".svg", f.SVG}} {
			path := filepath.Join(dir, f.Name+format.ext)
			if err := replace(path, format.write); err != nil {
				return files, fmt.Errorf("plots: cannot write %s: %w", path, err)
			}
			files = append(files, path)
		}
	}
	return files, nil
}

// replace writes a temporary file in the directory of path and renames it.
func replace(path string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	err = write(f)
	if err == nil {
		// CreateTemp gives access to the owner only.
		err = f.Chmod(0o644)
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
