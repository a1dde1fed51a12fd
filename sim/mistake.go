package sim

import "fmt"

// mistake stops the run because of a mistake of the strategy of f.
func (r *run) mistake(f *fleet, err error) {
	r.err = fmt.Errorf("sim: strategy %q %w", f.Program.Name, err)
}
