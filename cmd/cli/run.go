package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"herdlab/scenarios"
	"herdlab/sim/traffic"
)

// The exit codes.
const (
	exitOK          = 0
	exitInternal    = 1
	exitInvalid     = 2   // usage or input
	exitInterrupted = 130 // 128 + SIGINT
)

// console is what all commands use: the format of files, the streams and the
// environment.
type console struct {
	format         *scenarios.Format
	stdin          io.Reader
	stdout, stderr io.Writer
	env            func(string) string
}

// failure is an error with its exit code. All other errors come from cobra and are
// about usage.
type failure struct {
	code int
	err  error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

func internal(err error) error { return &failure{exitInternal, err} }
func invalid(err error) error  { return &failure{exitInvalid, err} }

// errInterrupted ends a command whose context is cancelled. The command has printed
// its message.
var errInterrupted = &failure{exitInterrupted, errors.New("interrupted")}

// run runs a command and returns the exit code.
func (c *console) run(ctx context.Context, args []string) int {
	root := c.root()
	root.SetArgs(args)
	root.SetIn(c.stdin)
	root.SetOut(c.stdout)
	root.SetErr(c.stderr)
	return c.report(root.ExecuteContext(ctx))
}

func (c *console) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "herdlab",
		Short: "A laboratory for thundering herds",
		Long: `herdlab is a laboratory for thundering herds: it simulates an LLM provider and
its clients under a virtual clock, compares the retry strategies of the clients,
draws pictures, and names the strategy to ship.`,
		Example: `  herdlab compare                    the reference experiment
  herdlab compare trace-replay --trace calls.csv
  herdlab init > my.yaml             a scenario of your own to start from
  herdlab compare my.yaml --wide`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetFlagErrorFunc(flagError)
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", fmt.Sprintf(".FlagUsagesWrapped %d", pageWidth)))
	root.AddCommand(c.compare(), c.check(), c.init(), c.scenarios(), c.strategies(), c.serve(), c.version())
	return root
}

// parsing is the prefix of strconv's errors.
var parsing = regexp.MustCompile(`strconv\.\w+: parsing "[^"]*": `)

// flagError rewrites an error of pflag: without strconv's prefix, and with the flag
// that was probably meant.
func flagError(cmd *cobra.Command, err error) error {
	text := parsing.ReplaceAllString(err.Error(), "")
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near := scenarios.Nearest(unknown.GetSpecifiedName(), names); near != "" {
			text += "; did you mean --" + near + "?"
		}
	}
	return errors.New(text)
}

// report writes an error to stderr and returns the exit code.
func (c *console) report(err error) int {
	var (
		f        *failure
		problems scenarios.Problems
		rows     *traffic.TraceError
	)
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, syscall.EPIPE):
		return exitOK // the reader closed the pipe, as head does
	case errors.Is(err, errInterrupted):
		return exitInterrupted
	case errors.As(err, &problems): // lines begin with file:line:column, which editors understand
		c.note(problems.Error())
		c.complain(count(len(problems), "problem") + "; nothing was run")
		return exitInvalid
	case errors.As(err, &rows):
		c.note(rows.Error())
		c.complain(count(len(rows.Bad)+rows.More, "bad row") + "; nothing was run")
		return exitInvalid
	case errors.As(err, &f):
		c.complain(f.err.Error())
		return f.code
	}
	c.complain(strings.TrimSpace(err.Error()))
	c.advise("Run 'herdlab --help', or --help after a command, for usage.")
	return exitInvalid
}

// complain writes an error to stderr. Errors of writing to stderr are ignored, because
// there is no other place to report them.
func (c *console) complain(text string) { c.advise("herdlab: " + text) }

// advise writes prose to stderr. On a terminal its lines are wrapped; in a pipe or a
// file they stay whole, so that they can be searched.
func (c *console) advise(text string) {
	if isTerminal(c.stderr) {
		text = wrapLines(text)
	}
	c.note(text)
}

// note writes a line to stderr.
func (c *console) note(text string) { _, _ = fmt.Fprintln(c.stderr, text) }

// print writes text to stdout.
func (c *console) print(text string) error {
	if _, err := io.WriteString(c.stdout, text); err != nil {
		return internal(fmt.Errorf("stdout: %w", err))
	}
	return nil
}
