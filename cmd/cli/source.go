package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"herdlab/scenarios"
	"herdlab/sim/metrics/format"
	"herdlab/sim/traffic"
)

// openScenario returns the scenario of an argument: a built-in one by its name, the one
// on standard input if the argument is a dash, or else that of a file.
func (c *console) openScenario(arg string) (*scenarios.Scenario, error) {
	if arg == "-" {
		text, err := io.ReadAll(io.LimitReader(c.stdin, maxScenario))
		if err != nil {
			return nil, fmt.Errorf("stdin: %w", err)
		}
		return c.format.Parse("stdin", text)
	}
	names := scenarioNames()
	for _, name := range names {
		if arg == name {
			return c.format.Builtin(name)
		}
	}
	s, err := c.format.Load(arg)
	if errors.Is(err, fs.ErrNotExist) {
		if near := scenarios.Nearest(arg, names); near != "" {
			return nil, fmt.Errorf("there is no scenario and no file %q; did you mean %s?", arg, near)
		}
		return nil, fmt.Errorf("there is no scenario and no file %q; herdlab scenarios lists the built-in scenarios", arg)
	}
	return s, err
}

// maxScenario bounds the bytes that are read from standard input. It exceeds the largest
// scenario, so that Parse reports the error.
const maxScenario = 2 << 20

// scenarioNames lists the built-in scenarios.
func scenarioNames() []string {
	var names []string
	for _, l := range scenarios.List() {
		names = append(names, l.Name)
	}
	return names
}

// bindTrace gives the scenario the trace that the options name. It reports an error if
// the scenario needs a trace and has none, or has one and does not need it. It returns
// the arrival time of the last call.
func bindTrace(s *scenarios.Scenario, o *compareOptions) (ends time.Duration, err error) {
	switch {
	case o.trace == "" && s.NeedsTrace():
		return 0, fmt.Errorf("the scenario %s replays recorded calls; name the file with --trace", s.Name())
	case o.trace == "":
		return 0, nil
	case !s.NeedsTrace():
		return 0, fmt.Errorf("the scenario %s does not replay a trace; leave --trace out, or write traffic: trace", s.Name())
	}
	t, err := readTrace(o.trace)
	if err != nil {
		return 0, err
	}
	if o.from > 0 || o.to > 0 {
		span := t.Span()
		if t = t.Cut(o.from, o.to); len(t.Rows) == 0 {
			return 0, fmt.Errorf("%s has no calls between --from and --to; the last one comes %v after the first", o.trace, span)
		}
	}
	if o.rate != 1 {
		if t, err = t.Scale(o.rate); err != nil {
			return 0, fmt.Errorf("%s: %w", o.trace, err)
		}
	}
	t.Name = inputName(o)
	return t.Span(), s.Replay(t)
}

// inputName describes the calls that are replayed. It has the name of the file without
// its directory, which means nothing on another machine.
func inputName(o *compareOptions) string {
	name := filepath.Base(o.trace)
	switch {
	case o.to > 0:
		name += " " + format.Period(o.from.Seconds(), o.to.Seconds())
	case o.from > 0:
		name += " from " + format.Moment(o.from.Seconds())
	}
	if o.from > 0 {
		name += " (replayed from 0)"
	}
	if o.rate != 1 {
		name += fmt.Sprintf(" at %v × the rate", o.rate)
	}
	return name
}

func readTrace(path string) (t *traffic.Trace, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--trace: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return traffic.ReadTrace(path, f)
}
