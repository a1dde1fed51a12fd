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

// Finding is the result of checking one expectation.
type Finding struct {
	// Line is the expectation's line in the file.
	Line int `json:"line"`
	// What names the metric, its strategy, its fleet and its part of the run.
	// Wanted is the bound of its value.
	What   string `json:"what"`
	Wanted string `json:"wanted"`
	// Got is the value over the seeds from 1 to Seeds. If every seed must meet
	// the bound, Got is the value of the seed that is worst.
	Got   string `json:"got"`
	Seeds int    `json:"seeds"`
	Holds bool   `json:"holds"`
}

// expectation is a bound on a metric of the runs of one strategy.
type expectation struct {
	line  int
	left  term
	seeds int
	over  over
	wants wants
}

// term is a metric of the runs of one strategy.
type term struct {
	strategy int
	fleet    int // -1 for all
	metric   metric
	from, to time.Duration // the part of the run; to is 0 for the whole run
}

// over states how an expectation combines several seeds.
type over uint8

const (
	eachSeed over = iota
	overMean
	overMedian
)

// Names returns the name of each way, as files spell it, and its meaning.
func (over) Names() [][2]string {
	return [][2]string{
		eachSeed:   {"each_seed", "the expectation must hold for each seed"},
		overMean:   {"mean", "it must hold for the mean over the seeds"},
		overMedian: {"median", "it must hold for the median over the seeds"},
	}
}

// wants are the bounds of a value, both included.
type wants struct {
	text      string
	low, high bound
	exactly   bool // the value must be low, with the tolerance within
	within    float64
	relative  bool // within is a share of low
}

// bound is a number, or a multiple of a metric.
type bound struct {
	set   bool
	times float64 // the factor of the metric, or the number itself
	of    *term   // the metric, nil for a number
}

// Expects returns the number of the scenario's expectations.
func (s *Scenario) Expects() int { return len(s.expects) }

// Check makes the runs that the scenario's expectations need and returns a
// Finding for each expectation, in the order of the file. workers is the number
// of concurrent runs, 0 for one on each core.
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

// terms returns the metrics that the expectation needs.
func (e *expectation) terms() []*term {
	all := []*term{&e.left}
	for _, b := range []*bound{&e.wants.low, &e.wants.high} {
		if b.of != nil {
			all = append(all, b.of)
		}
	}
	return all
}

// measure runs the strategies and seeds of all expectations and returns the values
// of each term by seed.
func (s *Scenario) measure(ctx context.Context, workers int) (map[*term][]float64, error) {
	values := map[*term][]float64{}
	type job struct{ strategy, seed int }
	needed := map[job][]*term{}
	var jobs []job
	for i := range s.expects {
		e := &s.expects[i]
		for _, t := range e.terms() {
			values[t] = make([]float64, e.seeds)
			for seed := range e.seeds {
				j := job{t.strategy, seed}
				if needed[j] == nil {
					jobs = append(jobs, j)
				}
				needed[j] = append(needed[j], t)
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
				for _, t := range needed[j] {
					values[t][j.seed] = t.value(r) // no two jobs write the same element
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

// value returns the term's value in a report.
func (t *term) value(r *metrics.Report) float64 {
	switch {
	case t.fleet >= 0:
		return t.metric.ofFleet(&r.Fleets[t.fleet])
	case t.to > 0:
		return between(&r.Series, t.metric.series(&r.Series), t.from, t.to)
	}
	return t.metric.of(r)
}

// name describes the term.
func (t *term) name(s *Scenario) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s", t.metric.name, s.choices[t.strategy].Name)
	if t.fleet >= 0 {
		fmt.Fprintf(&b, ", fleet %s", s.fleets[t.fleet].name)
	}
	if t.to > 0 {
		fmt.Fprintf(&b, ", %s to %s", inFile(t.from), inFile(t.to))
	}
	return b.String()
}
