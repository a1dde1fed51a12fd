package traffic

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Bounds on the files that ReadTrace accepts.
const (
	// MaxRows is how many calls a trace may have.
	MaxRows = 10_000_000
	// maxLine is how many bytes a line may have: a Mooncake row names every
	// block of its prompt.
	maxLine = 1 << 20
	// maxBad is how many bad rows are reported one by one.
	maxBad = 20
)

// BadRow is a row that cannot be read.
type BadRow struct {
	Line int
	// Problem says what is wrong and what was expected.
	Problem string
}

// TraceError says what is wrong with a trace file: every bad row, the first
// twenty of them in detail.
type TraceError struct {
	Name string
	Bad  []BadRow
	// More counts the bad rows that Bad leaves out.
	More int
}

// Error lists the bad rows as name:line: problem, one a line.
func (e *TraceError) Error() string {
	var b strings.Builder
	for i, row := range e.Bad {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s:%d: %s", e.Name, row.Line, row.Problem)
	}
	if e.More > 0 {
		fmt.Fprintf(&b, "\n%s: and %d more", e.Name, e.More)
	}
	return b.String()
}

func (e *TraceError) add(line int, problem string) {
	if len(e.Bad) == maxBad {
		e.More++
		return
	}
	e.Bad = append(e.Bad, BadRow{line, problem})
}

// ReadTrace reads recorded traffic in any of the formats that it recognises by
// their first line:
//
//	TIMESTAMP,ContextTokens,GeneratedTokens                the Azure LLM inference traces
//	t,prompt_tokens,output_tokens                          herdlab's own CSV, t in seconds
//	{"t":1.5,"prompt_tokens":10,"output_tokens":5}         the same as JSONL
//	{"timestamp":1500,"input_length":10,"output_length":5} Mooncake, in milliseconds
//	{"t":1.5,"prompt_tokens":10,…,"tenant":"ab12",…}       the access log of herdlab serve
//
// Times become relative to the first row; they must not run backwards, but in an
// access log, which has requests in the order in which they ended. Retries in it,
// and what was no request to a provider, are left out: a trace is of calls. Decimals
// are read as decimals, and rounded to whole nanoseconds if they are finer. A
// UTF-8 byte order mark, CRLF and blank lines are tolerated. Whatever is wrong
// with rows is reported as a *TraceError, all of it at once; name is what its
// messages call the file. r is read to its end but not closed.
func ReadTrace(name string, r io.Reader) (*Trace, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 64<<10), maxLine)
	var (
		bad   TraceError
		rows  []Row
		parse format
		first time.Duration
		n     int
		log   bool // an access log
	)
	bad.Name = name
	for lines.Scan() && lines.Err() == nil { // what came before an error is no whole line
		n++
		line := lines.Bytes()
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if parse == nil {
			var header bool
			if parse, header = recognise(line); parse == nil {
				bad.add(n, unrecognised(line))
				return nil, &bad
			}
			if header {
				continue
			}
			log = isAccessLog(line)
		}
		row, err := parse(line)
		switch {
		case errors.Is(err, errNoCall):
			continue
		case err != nil:
			bad.add(n, err.Error())
			continue
		case len(rows) == MaxRows:
			bad.add(n, fmt.Sprintf("more than %d rows; cut the file", MaxRows))
			return nil, &bad
		case len(rows) == 0 && !log:
			first = row.At
		}
		row.At -= first
		if len(rows) > 0 && row.At < rows[len(rows)-1].At && !log {
			bad.add(n, fmt.Sprintf("this row is %v earlier than the one before it; expected rows in time order, so sort the file",
				rows[len(rows)-1].At-row.At))
			continue
		}
		if row.At > MaxSpan {
			bad.add(n, fmt.Sprintf("this row is %v after the first; expected at most %v", row.At, MaxSpan))
			continue
		}
		rows = append(rows, row)
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		bad.add(n+1, fmt.Sprintf("the line is longer than %d bytes", maxLine))
	case err != nil:
		return nil, fmt.Errorf("%s:%d: %w", name, n+1, err)
	case len(rows) == 0 && len(bad.Bad) == 0:
		bad.add(max(n, 1), "there are no rows; expected "+expected)
	}
	if len(bad.Bad) > 0 {
		return nil, &bad
	}
	if log {
		slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Compare(a.At, b.At) })
		first = rows[0].At
		for i := range rows {
			rows[i].At -= first
		}
	}
	return &Trace{Name: name, Rows: rows}, nil
}
