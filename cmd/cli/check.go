package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"herdlab/scenarios"
	"herdlab/sim"
)

// checkOptions are the flags of check as they were typed.
type checkOptions struct {
	json, all bool
	colour    string
	workers   int
}

func (o *checkOptions) flags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.BoolVar(&o.all, "all", false, "list all expectations, not only those that fail")
	f.BoolVar(&o.json, "json", false, "print the findings as JSON, and nothing else, on stdout")
	f.StringVar(&o.colour, "color", "auto", "`WHEN` to use colours: auto, always, never")
	f.IntVar(&o.workers, "workers", 0, "run `N` experiments at a time; 0 for one on each core")
}

func (c *console) check() *cobra.Command {
	var o checkOptions
	cmd := &cobra.Command{
		Use:   "check [SCENARIO...]",
		Short: "Check the expectations of scenarios",
		Long: `Run the strategies that the expectations of scenarios refer to, and print which
expectations hold. Expectations are listed in a scenario under expect;
herdlab scenarios --keys shows how to write them.

SCENARIO is the name of a built-in scenario, a file, or - for standard input;
by default all built-in scenarios with expectations are checked. The exit code
is 1 if an expectation does not hold, 2 if the command line or a file is
invalid, and 130 after an interrupt. The findings up to there are always
printed.`,
		Example: `  herdlab check
  herdlab check case-01-layers --all
  herdlab check my.yaml --json`,
		RunE: func(cmd *cobra.Command, args []string) error { return c.runCheck(cmd.Context(), args, &o) },
		ValidArgsFunction: func(_ *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return scenarioNames(), cobra.ShellCompDirectiveDefault
		},
	}
	o.flags(cmd.Flags())
	return cmd
}

// checked has the findings of one scenario.
type checked struct {
	Scenario string              `json:"scenario"`
	Title    string              `json:"title"`
	SHA256   string              `json:"sha256"`
	Holds    bool                `json:"holds"`
	Findings []scenarios.Finding `json:"expectations"`
}

// failures returns the number of findings that do not hold.
func (x *checked) failures() (n int) {
	for _, f := range x.Findings {
		if !f.Holds {
			n++
		}
	}
	return n
}

// failures returns the number for several scenarios.
func failures(all []checked) (n int) {
	for i := range all {
		n += all[i].failures()
	}
	return n
}

// toCheck opens the scenarios that the arguments name. Its errors are about invalid
// input.
func (c *console) toCheck(args []string, o *checkOptions) ([]*scenarios.Scenario, error) {
	if o.workers < 0 {
		return nil, fmt.Errorf("--workers is %d; it must be 0, for one on each core, or more", o.workers)
	}
	names := args
	if len(args) == 0 {
		names = scenarioNames()
	}
	var all []*scenarios.Scenario
	var problems, more scenarios.Problems // of all files
	for _, name := range names {
		s, err := c.openScenario(name)
		switch {
		case errors.As(err, &more):
			problems = append(problems, more...)
		case err != nil:
			return nil, err
		case s.Expects() > 0:
			all = append(all, s)
		case len(args) > 0:
			return nil, fmt.Errorf("the scenario %s has no expectations; add some under expect", s.Name())
		}
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return all, nil
}

func (c *console) runCheck(ctx context.Context, args []string, o *checkOptions) error {
	paint, err := paletteFor(o.colour, c.stdout, c.env)
	if err != nil {
		return invalid(err)
	}
	all, err := c.toCheck(args, o)
	if err != nil {
		return invalid(err)
	}
	found, stopped := checkAll(ctx, all, o.workers)
	if len(found) > 0 || stopped == nil || o.json {
		if err := c.printChecked(paint, found, o); err != nil {
			return err
		}
	}
	switch failed := failures(found); {
	case stopped == errInterrupted:
		c.complain(fmt.Sprintf("interrupted; %d of %s checked", len(found), counted(len(all), "scenario is", "scenarios are")))
		return stopped
	case stopped != nil:
		return stopped
	case failed > 0:
		return internal(fmt.Errorf("%s not met", counted(failed, "expectation is", "expectations are")))
	}
	return nil
}

// checkAll checks one scenario after the other. If it has to stop, it returns the
// findings up to there and the reason.
func checkAll(ctx context.Context, all []*scenarios.Scenario, workers int) ([]checked, error) {
	found := []checked{}
	for _, s := range all {
		findings, err := s.Check(ctx, workers)
		switch {
		case ctx.Err() != nil:
			return found, errInterrupted
		case errors.Is(err, sim.ErrNoProgress): // the scenario makes a client wait 0 s for ever
			return found, invalid(fmt.Errorf("%s: %w", s.Name(), err))
		case err != nil:
			return found, internal(fmt.Errorf("%s: %w", s.Name(), err))
		}
		x := checked{Scenario: s.Name(), Title: s.Title(), SHA256: s.SHA256(), Findings: findings}
		x.Holds = x.failures() == 0
		found = append(found, x)
	}
	return found, nil
}

func (c *console) printChecked(p palette, found []checked, o *checkOptions) error {
	if o.json {
		enc := json.NewEncoder(c.stdout)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		if err := enc.Encode(found); err != nil {
			return internal(fmt.Errorf("stdout: %w", err))
		}
		return nil
	}
	var b strings.Builder
	drawChecked(&b, p, found, o.all)
	return c.print(b.String())
}

// drawChecked appends a line for each scenario, and under it the expectations that
// fail, or all of them.
func drawChecked(b *strings.Builder, p palette, found []checked, all bool) {
	names, counts := &column{left: true}, &column{}
	total := 0
	for i := range found {
		x := &found[i]
		total += len(x.Findings)
		mark, l := "✓ ", plain
		if !x.Holds {
			mark, l = disqualifiedMark, strong
		}
		names.add(mark+x.Scenario, l)
		counts.add(fmt.Sprintf("%d/%d", len(x.Findings)-x.failures(), len(x.Findings)), l)
	}
	width := [2]int{names.width(), counts.width()}
	for i := range found {
		x := &found[i]
		room := pageWidth - width[0] - width[1] - 2*gap
		var line gridLine
		line.put(p, names.cells[i], true, width[0])
		line.put(p, counts.cells[i], false, width[1])
		line.put(p, cell{clip(printable(x.Title), room), faint}, true, room)
		line.end(b)
		for _, f := range x.Findings {
			if !f.Holds || all {
				drawFinding(b, p, &f)
			}
		}
	}
	failed := ""
	if n := failures(found); n > 0 {
		failed = fmt.Sprintf(", %d not met", n)
	}
	fmt.Fprintf(b, "\n%s in %s%s.\n", count(total, "expectation"), count(len(found), "scenario"), failed)
}

// drawFinding appends one expectation: its line in the file, the metric, its value and
// the value expected.
func drawFinding(b *strings.Builder, p palette, f *scenarios.Finding) {
	mark, l := "✓", faint
	if !f.Holds {
		mark, l = "✗", plain
	}
	text := fmt.Sprintf("%s line %d: %s: %s, expected %s", mark, f.Line, f.What, f.Got, f.Wanted)
	if f.Seeds > 1 {
		text += fmt.Sprintf(", %d seeds", f.Seeds)
	}
	for i, line := range strings.Split(wrap(printable(text), pageWidth-4, 2), "\n") {
		if i > 0 || line != "" {
			b.WriteString("    " + p.paint(l, line) + "\n")
		}
	}
}
