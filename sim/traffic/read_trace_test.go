package traffic

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
)

const azure = azureHeader + "\n" +
	"2023-11-16 18:17:03.9799600,4808,10\n" +
	"2023-11-16 18:17:04.0319600,3180,8\n" +
	"2023-11-16 18:17:04.0319600,110,27\n" +
	"2023-11-17 00:00:00,1,2"

func TestReadTrace(t *testing.T) {
	azureRows := []Row{
		{0, wire.Demand{InputTokens: 4808, OutputTokens: 10}},
		{52 * time.Millisecond, wire.Demand{InputTokens: 3180, OutputTokens: 8}},
		{52 * time.Millisecond, wire.Demand{InputTokens: 110, OutputTokens: 27}},
		{5*time.Hour + 42*time.Minute + 56*time.Second + 20_040*time.Microsecond, wire.Demand{InputTokens: 1, OutputTokens: 2}},
	}
	own := []Row{
		{0, wire.Demand{InputTokens: 10, OutputTokens: 5}},
		{300_000_000, wire.Demand{InputTokens: 20, OutputTokens: 6}}, // floats make 0.30000000000000004 of it
		{300_000_000, wire.Demand{InputTokens: 30, OutputTokens: 7}},
	}
	for _, c := range []struct {
		name, text string
		want       []Row
	}{
		{"azure", azure, azureRows},
		{"azure of 2024", strings.NewReplacer("00,4", "00+00:00,4", "00,3", "00+00:00,3").Replace(azure), azureRows},
		{"CRLF", strings.ReplaceAll(azure, "\n", "\r\n") + "\r\n", azureRows},
		{"BOM", "\ufeff" + azure, azureRows},
		{"blank lines", "\n" + strings.ReplaceAll(azure, "\n", "\n \n") + "\n\n", azureRows},
		{"own CSV", ownHeader + "\n0.1,10,5\n0.4,20,6\n0.4,30,7\n", own},
		{"own CSV, spaces", ownHeader + "\n 1 , 10 , 5 \n1.300, 20, 6\n1.3,30,7\n", own},
		{"own CSV, Unix time", ownHeader + "\n1700000000.1,10,5\n1700000000.4,20,6\n1700000000.4,30,7\n", own},
		{"own CSV, exponents", ownHeader + "\n1e-1,10,5\n4.0E-01,20,6\n0.04e1,30,7\n", own},
		{"own CSV, long exponents", ownHeader + "\n0." + strings.Repeat("0", 300) + "1e300,10,5\n4" + strings.Repeat("0", 300) + "e-301,20,6\n0.4,30,7\n", own},
		{"own JSONL", `{"t":0.1,"prompt_tokens":10,"output_tokens":5}
			{"prompt_tokens": 20, "output_tokens": 6, "t": 0.4}
			{"t":4e-1,"prompt_tokens":30,"output_tokens":7}`, own},
		{"Mooncake", `{"timestamp": 27482, "input_length": 10, "output_length": 5, "hash_ids": [46, 47]}
			{"timestamp": 27782, "input_length": 20, "output_length": 6, "hash_ids": []}
			{"timestamp": 27782.0, "input_length": 30, "output_length": 7}`, own},
	} {
		got, err := ReadTrace(c.name, strings.NewReader(c.text))
		require.NoError(t, err, c.name)
		require.Equal(t, &Trace{Name: c.name, Rows: c.want}, got)
	}
}

func TestReadTraceRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "x:1: there are no rows; expected a CSV"},
		{"\n\n", "x:2: there are no rows"},
		{azureHeader + "\n", "x:1: there are no rows"},
		{"time,a,b\n1,2,3\n", `x:1: unknown format: the first line is "time,a,b"; expected a CSV that begins with TIMESTAMP,`},
		{"\x00\xff" + strings.Repeat("z", 1000), "x:1: unknown format"},
		{azureHeader + "\n16.11.2023,1,2\n", `x:2: TIMESTAMP "16.11.2023": expected a time in UTC like 2023-11-16`},
		{azureHeader + "\n2023-11-16 18:17:60,1,2\n", "x:2: TIMESTAMP"},
		{azureHeader + "\n1969-12-31 23:59:59,1,2\n", "expected a year from 1970"},
		{azureHeader + "\n2263-01-01 00:00:00,1,2\n", "expected a year from 1970"},
		{azureHeader + "\n2023-11-16 18:17:03,1\n", "x:2: there are 2 fields; expected TIMESTAMP,ContextTokens"},
		{azureHeader + "\n2023-11-16 18:17:03,1,2,3\n", "x:2: there are 4 fields"},
		{azureHeader + "\n2023-11-16 18:17:03,-1,2\n", `x:2: ContextTokens "-1": expected a whole number of tokens`},
		{azureHeader + "\n2023-11-16 18:17:03,1,2.5\n", `x:2: GeneratedTokens "2.5": expected a whole number`},
		{azureHeader + "\n2023-11-16 18:17:03,1,4294967296\n", "expected a whole number of tokens, 0 to 4294967295"},
		{azureHeader + "\n2023-11-16 18:17:03,,2\n", "ContextTokens is missing: expected"},
		{azureHeader + "\r\n2023-11-16 18:17:04,1,2\r\n2023-11-16 18:17:03,1,2\r\n", "x:3: this row is 1s earlier than the one before it"},
		{ownHeader + "\n-1,1,2\n", `x:2: t "-1": expected a number that is not negative`},
		{ownHeader + "\nNaN,1,2\n", `x:2: t "NaN": expected a number`},
		{ownHeader + "\n,1,2\n", "x:2: t is missing: expected"},
		{ownHeader + "\n1.2.3,1,2\n", `x:2: t "1.2.3"`},
		{ownHeader + "\n1e99,1,2\n", `x:2: t "1e99": the number is too large`},
		{ownHeader + "\n1e308,1,2\n", `x:2: t "1e308": the number is too large`},
		{ownHeader + "\n1e9999999999,1,2\n", `x:2: t "1e9999999999": the number is too large`},
		{ownHeader + "\n1e+-3,1,2\n", `x:2: t "1e+-3": expected a number that is not negative`},
		{ownHeader + "\n1e,1,2\n", `x:2: t "1e": expected a number that is not negative`},
		{ownHeader + "\nxe999,1,2\n", `x:2: t "xe999": expected a number that is not negative`},
		{ownHeader + "\n0,1,2\n400000000,1,2\n", "x:3: this row is 111111h6m40s after the first; expected at most 87600h0m0s"},
		{`{"t":1,"prompt_tokens":1}`, "x:1: output_tokens is missing"},
		{`{"t":"soon","prompt_tokens":1,"output_tokens":1}`, "x:1:"},
		{`{"t":1,"prompt_tokens":1,"output_tokens":1,"user":7}`, `unknown field "user"`},
		{`{"t":1,"prompt_tokens":1`, "the JSON object is not complete"},
		{`{"t":1,"prompt_tokens":1,"output_tokens":1} {}`, "text after the JSON object"},
		{`{"t":1,"prompt_tokens":1,"output_tokens":1}` + "\n[1]\n", "x:2:"},
		{`{"timestamp":1,"input_length":1}`, "output_length is missing"},
		{ownHeader + "\n0,1,2\n" + strings.Repeat("9", maxLine+1), "x:3: the line is longer than 1048576 bytes"},
	} {
		trace, err := ReadTrace("x", strings.NewReader(c.text))
		require.ErrorContains(t, err, c.want)
		require.Nil(t, trace)
		var bad *TraceError
		require.True(t, errors.As(err, &bad), c.text)
	}
}

// TestAllBadRows checks that one reading reports all bad rows, up to a limit.
func TestAllBadRows(t *testing.T) {
	var b strings.Builder
	b.WriteString(ownHeader + "\n")
	for i := range 100 {
		if i%2 == 0 {
			fmt.Fprintf(&b, "%d,1,1\n", i)
		} else {
			fmt.Fprintf(&b, "%d,1,x\n", i)
		}
	}
	_, err := ReadTrace("x.csv", strings.NewReader(b.String()))
	var bad *TraceError
	require.ErrorAs(t, err, &bad)
	require.Len(t, bad.Bad, 20)
	require.Equal(t, 30, bad.More)
	for i, row := range bad.Bad {
		require.Equal(t, 2*i+3, row.Line)
	}
	lines := strings.Split(err.Error(), "\n")
	require.Len(t, lines, 21)
	require.Regexp(t, `^x\.csv:3: output_tokens "x"`, lines[0])
	require.Equal(t, "x.csv: and 30 more", lines[20])
}

func TestReadTraceReadError(t *testing.T) {
	_, err := ReadTrace("x", iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader(azure))))
	require.ErrorIs(t, err, iotest.ErrTimeout)
}

func TestDecimal(t *testing.T) {
	for s, want := range map[string]time.Duration{
		"0": 0, "1": 1e9, "1.5": 1.5e9, "0.1": 1e8, ".5": 5e8, "5.": 5e9, "0.000000001": 1, "0.0000000004": 0, "0.0000000005": 1,
		"0.30000000000000004": 3e8, "1e3": 1e12, "5e-05": 50_000, "1E+2": 1e11, "1e-99": 0, "0e99": 0,
		"9223372036.854775806": 9223372036854775806, "00001.10": 1.1e9, "0.9999999999": 1e9,
	} {
		got, err := decimal(s, 9)
		require.NoError(t, err, s)
		require.Equal(t, want, got, s)
	}
	for _, s := range []string{"", ".", "-1", "+1", "1,5", "0x10", "1_000", "1e", "e5", "inf", "9223372036.854775807", "1e10", "1e1000"} {
		_, err := decimal(s, 9)
		require.Error(t, err, s)
	}
}

// FuzzReadTrace holds the reader to what it promises of any text: no panic,
// and either an error or rows in time order from zero.
func FuzzReadTrace(f *testing.F) {
	f.Add([]byte(azure))
	f.Add([]byte(ownHeader + "\n0.1,10,5\n4e-1,20,6\n"))
	f.Add([]byte(`{"t":1.5,"prompt_tokens":10,"output_tokens":5}`))
	f.Add([]byte(`{"timestamp": 27482, "input_length": 6955, "output_length": 52, "hash_ids": [46, 47]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		trace, err := ReadTrace("x", bytes.NewReader(text))
		if err != nil {
			return
		}
		if len(trace.Rows) == 0 || trace.Rows[0].At != 0 {
			t.Fatalf("%d rows, the first not at 0", len(trace.Rows))
		}
		for i := 1; i < len(trace.Rows); i++ {
			if trace.Rows[i].At < trace.Rows[i-1].At {
				t.Fatalf("row %d runs backwards", i)
			}
		}
		if trace.Span() > MaxSpan {
			t.Fatalf("a span of %v", trace.Span())
		}
	})
}

// TestRealTraces reads the public traces; their rows, spans and peaks were
// counted by other means.
func TestRealTraces(t *testing.T) {
	dir := os.Getenv("HERDLAB_TRACES")
	if dir == "" {
		t.Skip("set HERDLAB_TRACES to the directory of the public traces to read them")
	}
	for _, c := range []struct {
		path             string
		rows, peak, span int // span in whole seconds
	}{
		{"azure/AzureLLMInferenceTrace_code.csv", 8819, 67, 3435},
		{"azure/AzureLLMInferenceTrace_conv.csv", 19366, 16, 3501},
		{"mooncake/mooncake_conversation_trace.jsonl", 12031, 0, 3536},
	} {
		f, err := os.Open(filepath.Join(dir, c.path))
		require.NoError(t, err)
		defer f.Close()
		trace, err := ReadTrace(c.path, bufio.NewReader(f))
		require.NoError(t, err)
		require.Len(t, trace.Rows, c.rows)
		require.Equal(t, c.span, int(trace.Span()/time.Second))
		perSecond, peak := map[time.Duration]int{}, 0
		for _, r := range trace.Rows {
			s := r.At / time.Second
			perSecond[s]++
			peak = max(peak, perSecond[s])
		}
		if c.peak > 0 {
			require.Equal(t, c.peak, peak)
		}
	}
}
