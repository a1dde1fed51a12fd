package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/jonboulle/clockwork"
	"github.com/spf13/cobra"

	"herdlab/plots"
	"herdlab/scenarios"
	"herdlab/sim"
	"herdlab/sim/metrics"
	"herdlab/sim/sweep"
)

// defaultScenario is the reference experiment.
const defaultScenario = "second-peak"

func (c *console) compare() *cobra.Command {
	var o compareOptions
	cmd := &cobra.Command{
		Use:   "compare [SCENARIO]",
		Short: "Compare strategies on a scenario and name the best one",
		Long: `Run every strategy of a scenario with the same seeds, print a table, draw
pictures and name the best strategy.

SCENARIO is the name of a built-in scenario, a file, or - for standard input;
second-peak by default. A strategy that answers too few calls (--min-success),
or whose retries make too large a herd (--max-peak), cannot win.

Results go to stdout, progress and errors to stderr. The exit code is 1 if a
picture cannot be written (the result is still printed), 2 if the command line
or a file is invalid, and 130 after an interrupt, which ends the comparison and
prints the strategies that are complete.`,
		Example: `  herdlab compare
  herdlab compare my.yaml --objective latency --seeds 100
  herdlab compare trace-replay --trace calls.csv --from 5m --to 45m
  herdlab compare --only naive,full-jitter --json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := defaultScenario
			if len(args) > 0 {
				name = args[0]
			}
			o.given = cmd.Flags().Changed
			return c.runCompare(cmd.Context(), name, &o)
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return scenarioNames(), cobra.ShellCompDirectiveDefault
		},
	}
	o.flags(cmd.Flags())
	return cmd
}

// comparison is a comparison with valid options and a valid scenario.
type comparison struct {
	*compareOptions
	scenario *scenarios.Scenario
	spec     sweep.Spec
	palette  palette
	dir      string // of the pictures
}

// about returns the first paragraph of the scenario's description.
func (x *comparison) about() string {
	first, _, _ := strings.Cut(x.scenario.About(), "\n\n")
	return first
}

// prepare reads the scenario and the trace of the options. Its errors are about
// invalid input.
func (c *console) prepare(name string, o *compareOptions) (*comparison, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	paint, err := paletteFor(o.colour, c.stdout, c.env)
	if err != nil {
		return nil, err
	}
	rules, err := o.rules()
	if err != nil {
		return nil, err
	}
	s, err := c.openScenario(name)
	if err != nil {
		return nil, err
	}
	ends, err := bindTrace(s, o)
	if err != nil {
		return nil, err
	}
	spec := s.Spec(o.first, o.seeds)
	if in := spec.Scenario.Input; in != nil {
		known, at := *in, ends.Seconds()
		known.Ends = &at
		spec.Scenario.Input = &known
	}
	if err := o.narrow(&spec); err != nil {
		return nil, err
	}
	if o.given("max-peak") && spec.Scenario.Capacity == 0 {
		return nil, errors.New("--max-peak is a multiple of the capacity, and the capacity of this scenario has no bound; " +
			"give the provider slots with a service time, or a limit on the rate")
	}
	spec.Tool = metrics.Tool{Name: "herdlab", Version: toolVersion()}
	spec.Workers, spec.Rules, spec.MaxSeeds, spec.Confirm = o.workers, rules, o.maxSeeds, true
	x := &comparison{compareOptions: o, scenario: s, spec: spec, palette: paint, dir: o.out}
	if x.dir == "" {
		x.dir = filepath.Join("herdlab-out", s.Name())
	}
	return x, nil
}

func (c *console) runCompare(ctx context.Context, name string, o *compareOptions) error {
	x, err := c.prepare(name, o)
	if err != nil {
		return invalid(err)
	}
	var line *progress
	if isTerminal(c.stderr) {
		line = newProgress(c.stderr, clockwork.NewRealClock())
		x.spec.Progress = line.update
	}
	r, err := sweep.Compare(ctx, x.spec)
	if line != nil {
		line.clear()
	}
	if r == nil {
		return internal(err)
	}
	if err := Explain(r); err != nil {
		return internal(err)
	}
	interrupted := ctx.Err() != nil // the strategies that are complete are still shown
	if interrupted {
		c.complain(fmt.Sprintf("interrupted; %d of %d strategies are complete", len(r.Results), len(x.spec.Strategies)))
	}
	if err := c.show(r, x, line); err != nil {
		return err
	}
	switch {
	case interrupted:
		return errInterrupted
	case errors.Is(err, sim.ErrNoProgress):
		return invalid(err) // the scenario makes a client wait 0 s for ever
	case err != nil:
		return internal(err)
	}
	return nil
}

// show writes the result: as JSON or as a page, and as pictures.
func (c *console) show(r *metrics.Result, x *comparison, line *progress) error {
	var printed error
	switch {
	case x.json:
		if err := r.WriteJSON(c.stdout); err != nil {
			printed = internal(fmt.Errorf("stdout: %w", err))
		}
	case len(r.Results) > 0:
		printed = c.print(page(x.palette, r, x.about(), x.wide))
	}
	var files []string
	if !x.noPictures && len(r.Results) > 0 {
		if line != nil {
			line.draw("drawing the pictures")
		}
		var err error
		files, err = plots.Write(x.dir, r)
		if line != nil {
			line.clear()
		}
		if err != nil {
			return internal(err)
		}
	}
	if printed != nil || len(r.Results) == 0 {
		return printed
	}
	if x.json {
		for _, f := range files {
			c.note("wrote " + f)
		}
		return nil
	}
	return c.print(footer(files, x.wide))
}
