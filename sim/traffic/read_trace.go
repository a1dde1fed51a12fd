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
	// MaxRows is the largest number of calls in a trace.
	MaxRows = 10_000_000
	// maxLine is the longest line in bytes: a Mooncake row names every block of
	// its prompt.
	maxLine = 1 << 20
	// maxBad is the number of bad rows that are reported in detail.
	maxBad = 20
)

// BadRow is a row that cannot be read.
type BadRow struct {
	Line int
	// Problem is the mistake and what was expected.
	Problem string
}

// TraceError lists the bad rows of a trace file, the first twenty in detail.
type TraceError struct {
	Name string
	Bad  []BadRow
	// More is the number of bad rows that Bad omits.
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

// ReadTrace reads recorded traffic. It recognises the format by the first line:
//
//	TIMESTAMP,ContextTokens,GeneratedTokens                the Azure LLM inference traces
//	t,prompt_tokens,output_tokens                          herdlab's own CSV, t in seconds
//	{"t":1.5,"prompt_tokens":10,"output_tokens":5}         the same as JSONL
//	{"timestamp":1500,"input_length":10,"output_length":5} Mooncake, in milliseconds
//	{"t":1.5,"prompt_tokens":10,…,"tenant":"ab12",…}       the access log of herdlab serve
//
// Times become relative to the first row. They must ascend, except in an access
// log, which lists requests in the order in which they ended. Retries in an access
// log and requests that did not reach a provider are omitted: a trace has calls.
// Decimals are exact, rounded to whole nanoseconds. A UTF-8 byte order mark, CRLF
// and blank lines are accepted. All bad rows are reported together, as a
// *TraceError; name is the name of the file in its messages. r is read to its end
// but not closed.
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
	for lines.Scan() && lines.Err() == nil { // the text before an error is not a whole line
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
