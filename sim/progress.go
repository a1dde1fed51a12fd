package sim

import "fmt"

// perCaller is the number of decisions that each caller may make at one time.
const perCaller = 1000

// stuck stops a run that makes no progress in time: it had more decisions at one
// time than its callers can need.
func (r *run) stuck(i uint32, c *call, f *fleet) {
	phase := c.phase
	if phase == 0 {
		phase = r.idled
	}
	where := "whose calls follow each other without a pause"
	for k, name := range f.Program.Layers {
		if phase>>k&1 != 0 {
			where = "in layer " + name
		}
	}
	client, _ := f.identify(i, c.seq)
	r.err = fmt.Errorf("sim: %w: strategy %q keeps deciding at %v for client %d of fleet %q, %s; make it wait a positive time, or give refusals or think times a positive time",
		ErrNoProgress, f.Program.Name, r.now, client, f.Name, where)
}
