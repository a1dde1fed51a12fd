// Package sweep runs many experiments: every strategy with every seed, on all
// cores, into one result.
package sweep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"herdlab/sim"
	"herdlab/sim/metrics"
	"herdlab/sim/verdict"
)

// Strategy names one strategy of a comparison.
type Strategy struct {
	// Name is its name in results, unique in a comparison; Summary is one line of
	// description.
	Name, Summary string
}

// Spec describes a comparison. Scenario, Strategies, Seeds and New are
// required.
type Spec struct {
	// Tool is the program that makes the comparison, Scenario the scenario: both are
	// copied into the result.
	Tool     metrics.Tool
	Scenario metrics.Scenario
	// Strategies all run with the same Seeds, which are distinct and in any order.
	Strategies []Strategy
	Seeds      []uint64
	// New returns the experiment of Strategies[strategy] with a seed. It is
	// called from several goroutines at once, so experiments may share only
	// data that no run changes. All randomness must come from the seed, and the
	// traffic and the provider must draw the same for every strategy.
	New func(strategy int, seed uint64) (*sim.Experiment, error)
	// Workers is the number of experiments that run at a time; 0 means one for each
	// core that Go may use.
	Workers int
	// Rules are the rules of the verdict.
	Rules verdict.Rules
	// MaxSeeds is the number of seeds, those of the comparison included, up to which
	// seeds are added for strategies that lead and cannot be told apart. Added seeds
	// follow the largest of Seeds.
	MaxSeeds int
	// Confirm runs winner and runner-up once more, with as many seeds that took no
	// part in the choice: the verdict quotes their values.
	Confirm bool
	// Progress, if not nil, is called after each experiment with the number done.
	// Its calls do not overlap, and done grows by one from each to the next.
	Progress func(done, total int)
	// Failed, if not nil, is called when the first experiment of a strategy fails,
	// with the error. Its calls do not overlap with those of Progress.
	Failed func(err error)
}

func (s *Spec) validate() error {
	switch {
	case s.New == nil:
		return errors.New("sweep: a comparison needs the function New, which returns its experiments")
	case len(s.Strategies) == 0:
		return errors.New("sweep: a comparison needs at least one strategy")
	case len(s.Seeds) == 0:
		return errors.New("sweep: a comparison needs at least one seed")
	case s.Workers < 0:
		return fmt.Errorf("sweep: there cannot be %d workers; 0 means one for each core", s.Workers)
	}
	if err := s.Rules.Validate(); err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	for i := range s.Strategies {
		if s.Strategies[i].Name == "" {
			return fmt.Errorf("sweep: strategy %d has no name", i+1)
		}
		for j := range i {
			if s.Strategies[i].Name == s.Strategies[j].Name {
				return fmt.Errorf("sweep: strategy %q is there twice", s.Strategies[i].Name)
			}
		}
	}
	for i := 1; i < len(s.Seeds); i++ { // sorted
		if s.Seeds[i] == s.Seeds[i-1] {
			return fmt.Errorf("sweep: seed %d is there twice", s.Seeds[i])
		}
	}
	return nil
}

// Compare runs every strategy with every seed and returns the result with its
// verdict; seeds are listed in ascending order, strategies in the order of the
// spec. The result is the same, byte for byte, for any number of workers.
//
// If ctx ends first, Compare returns what is complete, namely the strategies
// all of whose seeds are done, with Complete false, together with ctx's error.
// A strategy one of whose experiments cannot be made or run is left out, and its
// further experiments are not run; all others compete. Compare returns their
// result, with Complete false, together with an error that joins, in the order of
// the strategies, what stopped each on the first of its seeds that failed.
func Compare(ctx context.Context, spec Spec) (*metrics.Result, error) {
	spec.Seeds = slices.Sorted(slices.Values(spec.Seeds))
	if err := spec.validate(); err != nil {
		return nil, err
	}
	c := newComparison(&spec)
	c.runAll(ctx)
	r := c.result()
	if !r.Complete {
		return r, errors.Join(ctx.Err(), errors.Join(c.failed...))
	}
	// An interrupt or an error from here on leaves the verdict as it is.
	if more := c.tellApart(ctx, r); more != nil {
		r.Verdict = c.judge(r, more, nil)
	}
	if fresh := c.confirm(ctx, r); fresh != nil {
		r.Verdict = c.judge(r, r.Verdict.More, fresh)
	}
	return r, nil
}

// runAll runs all cells, or stops when ctx ends.
func (c *comparison) runAll(ctx context.Context) {
	var group sync.WaitGroup
	for range min(c.workers(), c.total) {
		group.Go(func() { c.work(ctx) })
	}
	group.Wait()
}

// comparison is the state of a running Compare. A cell is one strategy with one seed;
// cell i is strategy i ÷ seeds, seed i mod seeds. Workers take cells in that
// order, so that strategies are completed one after the other: an interrupted
// comparison has as many complete strategies as possible. Cells of one strategy cost
// about the same, so the cores are idle at the end for one cell at most.
type comparison struct {
	*Spec
	total     int
	values    [][]metrics.Values   // by strategy and seed
	signals   [][][]metrics.Signal // likewise
	timelines []metrics.Timeline   // by strategy, of the first seed

	mu       sync.Mutex
	next     int     // the next cell to run
	done     int     // cells that are done, or skipped
	missing  []int   // by strategy, seeds that are not done
	failed   []error // by strategy, of the first cell that failed
	failedAt []int
}

func newComparison(spec *Spec) *comparison {
	c := &comparison{
		Spec: spec, total: len(spec.Strategies) * len(spec.Seeds),
		values:    make([][]metrics.Values, len(spec.Strategies)),
		signals:   make([][][]metrics.Signal, len(spec.Strategies)),
		timelines: make([]metrics.Timeline, len(spec.Strategies)),
		missing:   make([]int, len(spec.Strategies)),
		failed:    make([]error, len(spec.Strategies)),
		failedAt:  make([]int, len(spec.Strategies)),
	}
	for i := range c.values {
		c.values[i] = make([]metrics.Values, len(spec.Seeds))
		c.signals[i] = make([][]metrics.Signal, len(spec.Seeds))
		c.missing[i] = len(spec.Seeds)
	}
	return c
}

// work runs cells until none is left, or ctx ends.
func (c *comparison) work(ctx context.Context) {
	for ctx.Err() == nil {
		cell, ok := c.take()
		if !ok {
			return
		}
		if err := c.run(ctx, cell); err != nil {
			if ctx.Err() == nil {
				c.fail(cell, err)
			}
			continue
		}
		c.finish(cell)
	}
}

func (c *comparison) take() (cell int, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for ; c.next < c.total; c.next++ {
		if c.failed[c.next/len(c.Seeds)] == nil {
			c.next++
			return c.next - 1, true
		}
		c.step() // of a strategy that has failed
	}
	return 0, false
}

// run runs a cell and keeps the values of its metrics, not its report.
func (c *comparison) run(ctx context.Context, cell int) error {
	strategy, i := cell/len(c.Seeds), cell%len(c.Seeds)
	x, err := c.New(strategy, c.Seeds[i])
	if err != nil {
		return err
	}
	report, err := x.Run(ctx)
	if err != nil {
		return err
	}
	c.values[strategy][i], c.signals[strategy][i] = report.Values(), report.Signals
	if i == 0 {
		c.timelines[strategy] = report.Timeline(c.Seeds[i])
	}
	return nil
}

// fail records the error of a cell and keeps the first by number. Cells start in
// order and run to their end, so this is the first failing cell of the strategy,
// whatever the number and the speed of workers.
func (c *comparison) fail(cell int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	strategy := cell / len(c.Seeds)
	first := c.failed[strategy] == nil
	if first || cell < c.failedAt[strategy] {
		c.failedAt[strategy] = cell
		c.failed[strategy] = fmt.Errorf("sweep: strategy %q with seed %d: %w",
			c.Strategies[strategy].Name, c.Seeds[cell%len(c.Seeds)], err)
	}
	if first && c.Failed != nil {
		c.Failed(c.failed[strategy])
	}
	c.step()
}

func (c *comparison) finish(cell int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.missing[cell/len(c.Seeds)]--
	c.step()
}

// step counts a cell as done or skipped.
func (c *comparison) step() {
	c.done++
	if c.Progress != nil {
		c.Progress(c.done, c.total)
	}
}

func (c *comparison) result() *metrics.Result {
	r := &metrics.Result{
		SchemaVersion: metrics.SchemaVersion, Tool: c.Tool, Scenario: c.Scenario,
		Seeds: c.Seeds, Complete: !slices.ContainsFunc(c.missing, func(n int) bool { return n > 0 }),
		Results: make([]metrics.StrategyResult, 0, len(c.Strategies)),
	}
	for i, s := range c.Strategies {
		if c.missing[i] == 0 {
			r.Results = append(r.Results, metrics.StrategyResult{
				Strategy: s.Name, Summary: s.Summary,
				Metrics: verdict.Summarise(c.values[i]), Signals: metrics.SummariseSignals(c.signals[i]),
				Timeline: c.timelines[i],
			})
		}
	}
	r.Verdict = c.judge(r, nil, nil)
	return r
}

// judge returns the verdict on r.
func (c *comparison) judge(r *metrics.Result, more, fresh *metrics.Extra) *metrics.Verdict {
	v := verdict.Judge(r, c.Rules, more, fresh).Record()
	v.More = more
	return v
}

// maxClientsAtOnce limits the clients of all experiments that run at a time: at a
// hundred bytes or more each, ten million take some gigabytes.
const maxClientsAtOnce = 10_000_000

// workers returns the number of experiments that run at a time: Workers, or fewer to
// keep their clients below maxClientsAtOnce.
func (s *Spec) workers() int {
	n := cmp.Or(s.Workers, runtime.GOMAXPROCS(0))
	if clients := s.Scenario.Clients; clients > 0 {
		n = min(n, max(1, maxClientsAtOnce/clients))
	}
	return n
}
