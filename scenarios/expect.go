package scenarios

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"herdlab/sim/metrics"
)

// Finding is what has become of one expectation.
type Finding struct {
	// Line is where the file says it.
	Line int `json:"line"`
	// What names the figure and whose it is, Wanted what it must be.
	What   string `json:"what"`
	Wanted string `json:"wanted"`
	// Got is the figure: of the seed that is farthest off if each must hold, or
	// over the seeds from 1 to Seeds.
	Got   string `json:"got"`
	Seeds int    `json:"seeds"`
	Holds bool   `json:"holds"`
}

// expectation is one statement about the figures of runs.
type expectation struct {
	line  int
	left  term
	seeds int
	over  over
	wants wants
}

// term is a figure of a strategy's runs.
type term struct {
	strategy int
	fleet    int // -1 for all
	figure   figure
	from, to time.Duration // the part of the run it is of; to is 0 for all of it
}

// over is how an expectation goes over several seeds.
type over uint8

const (
	eachSeed over = iota
	overMean
	overMedian
)

var overWords = []string{"each_seed", "mean", "median"}

// wants are the bounds of a figure, both included.
type wants struct {
	text      string
	low, high bound
	exactly   bool // low is the one value, within
	within    float64
	relative  bool // within is a share of it
}

// bound is a number, or a multiple of a figure.
type bound struct {
	set   bool
	times float64 // of the figure, or the number itself
	of    *term
}

// Expects reports how many expectations the scenario states.
func (s *Scenario) Expects() int { return len(s.expects) }

// Check runs what the scenario's expectations are about, so many runs at a time,
// 0 for one on each core, and says of each whether it holds, in the order of the
// file.
func (s *Scenario) Check(ctx context.Context, workers int) ([]Finding, error) {
	if s.NeedsTrace() {
		return nil, fmt.Errorf("scenario %s: %w", s.name, ErrNeedsTrace)
	}
	values, err := s.measure(ctx, workers)
	if err != nil {
		return nil, err
	}
	all := make([]Finding, len(s.expects))
	for i := range s.expects {
		all[i] = s.expects[i].judge(s, values)
	}
	return all, nil
}

// terms are the figures that the expectation needs.
func (e *expectation) terms() []*term {
	all := []*term{&e.left}
	for _, b := range []*bound{&e.wants.low, &e.wants.high} {
		if b.of != nil {
			all = append(all, b.of)
		}
	}
	return all
}

// measure runs all strategies and seeds that are asked for and returns the value
// of each term, by seed.
func (s *Scenario) measure(ctx context.Context, workers int) (map[*term][]float64, error) {
	values := map[*term][]float64{}
	type job struct{ strategy, seed int }
	asked := map[job][]*term{}
	var jobs []job
	for i := range s.expects {
		e := &s.expects[i]
		for _, t := range e.terms() {
			values[t] = make([]float64, e.seeds)
			for seed := range e.seeds {
				j := job{t.strategy, seed}
				if asked[j] == nil {
					jobs = append(jobs, j)
				}
				asked[j] = append(asked[j], t)
			}
		}
	}
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var (
		group sync.WaitGroup
		errs  = make([]error, len(jobs))
		queue = make(chan int)
	)
	for range min(workers, len(jobs)) {
		group.Go(func() {
			for n := range queue {
				j := jobs[n]
				r, err := s.report(ctx, j.strategy, uint64(j.seed+1))
				if errs[n] = err; err != nil {
					continue
				}
				for _, t := range asked[j] {
					values[t][j.seed] = t.value(r) // each job writes what is its own
				}
			}
		})
	}
	for n := range jobs {
		queue <- n
	}
	close(queue)
	group.Wait()
	return values, errors.Join(errs...)
}

// report runs one strategy with one seed.
func (s *Scenario) report(ctx context.Context, strategy int, seed uint64) (*metrics.Report, error) {
	x, err := s.Experiment(strategy, seed)
	if err != nil {
		return nil, err
	}
	r, err := x.Run(ctx)
	if err != nil {
		return nil, fmt.Errorf("scenario %s, strategy %s, seed %d: %w", s.name, s.choices[strategy].Name, seed, err)
	}
	return r, nil
}

// value reads the term off a report.
func (t *term) value(r *metrics.Report) float64 {
	switch {
	case t.fleet >= 0:
		return t.figure.among(&r.Fleets[t.fleet])
	case t.to > 0:
		return between(&r.Series, t.figure.series(&r.Series), t.from, t.to)
	}
	return t.figure.of(r)
}

// name says what the term is.
func (t *term) name(s *Scenario) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s", t.figure.name, s.choices[t.strategy].Name)
	if t.fleet >= 0 {
		fmt.Fprintf(&b, ", fleet %s", s.fleets[t.fleet].name)
	}
	if t.to > 0 {
		fmt.Fprintf(&b, ", %s to %s", inFile(t.from), inFile(t.to))
	}
	return b.String()
}
