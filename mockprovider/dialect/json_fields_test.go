package dialect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// values are JSON values; those after the empty line are invalid.
var values = []string{
	`null`, `true`, `false`, `0`, `-0`, `7`, `9223372036854775807`, `9223372036854775808`, `1.5`, `-1e+2`, `3E1`, `""`, `"m"`, `"a\"b\\"`,
	`"\u00e9\ud83d\ude00"`, `"\ud83d"`, "\"\xff\"", `"\/\b\f\n\r\t"`, `[]`, `[ ]`, `{}`, `{ }`, `[1, [2],{"a":[{}]}]`, `{"a" : {"b":[1 ,2]}, "c":"d"}`,
	`[{"role":"user","content":"hi { [ \" \\"}]`, `"` + strings.Repeat("long ", 20) + `"`,

	``, `01`, `-`, `1.`, `.5`, `1e`, `1e+`, `+1`, `tru`, `nullx`, `"`, `"\"`, `"\x"`, `"\u00g0"`, `"\u00`, "\"\n\"", "\"\x00\"", `[`, `]`, `[1,]`, `[,1]`, `[1 2]`,
	`{`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{,}`, `{1:2}`, `{"a":1 "b":2}`, `[}`, `{]`, `[1}`, `{"a":1]`, "\x00", "\u00a0", "1\x00", "1 \x00", "\"\\u\x10\x110\x12\"", `'a'`,
}

// TestValid: the scanner accepts the same texts as encoding/json.
func TestValid(t *testing.T) {
	check := func(text string) { require.Equal(t, json.Valid([]byte(text)), valid([]byte(text)), "%q", text) }
	for _, a := range values {
		check(a)
		check(" \t\r\n" + a + " \t\r\n")
		for _, b := range values {
			check(fmt.Sprintf(`[%s,%s]`, a, b))
			check(fmt.Sprintf(`{"a":%s, "b":{"c":%s}}`, a, b))
			check(a + b)
		}
	}
	for _, n := range []int{31, 32, 33, maxNest, maxNest + 1} {
		check(strings.Repeat("[", n) + strings.Repeat("]", n))
		check(strings.Repeat(`{"a":[`, n/2) + strings.Repeat(`]}`, n/2))
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20_000 { // and texts with one byte added, removed or changed
		text := []byte(values[rng.IntN(len(values))])
		text = fmt.Appendf(nil, `{"a":%s,"b":[%s]}`, text, values[rng.IntN(26)])
		i, c := rng.IntN(len(text)), `{}[]",:\0-.eEu 1`[rng.IntN(16)]
		switch rng.IntN(3) {
		case 0:
			text[i] = c
		case 1:
			text = append(text[:i], text[i+1:]...)
		default:
			text = append(text[:i], append([]byte{c}, text[i:]...)...)
		}
		check(string(text))
	}
}

// TestDecodeAsTheLibrary: decode reads the same as encoding/json into a struct,
// and reports the same errors. Unlike encoding/json, it distinguishes upper and
// lower case in names.
func TestDecodeAsTheLibrary(t *testing.T) {
	type inner struct {
		Usage bool   `json:"include_usage"`
		Max   *int64 `json:"max"`
	}
	type outer struct {
		Model    string          `json:"model"`
		Messages json.RawMessage `json:"messages"`
		Stream   bool            `json:"stream"`
		Max      *int64          `json:"max_tokens"`
		Options  inner           `json:"options"`
	}
	says := func(err error) string {
		var wrong *json.UnmarshalTypeError
		switch {
		case err == nil:
			return ""
		case errors.As(err, &wrong) && wrong.Field != "":
			return fmt.Sprintf("%s: it must not be a JSON %s", wrong.Field, wrong.Value)
		case errors.As(err, &wrong):
			return fmt.Sprintf("the body is a JSON %s; it must be an object", wrong.Value)
		}
		return "the body is not valid JSON: " + err.Error()
	}
	counted := func(n *int64) count {
		if n == nil {
			return count{}
		}
		return count{*n, true}
	}
	fine := 0
	check := func(body string) {
		var want outer
		failed := json.Unmarshal([]byte(body), &want)
		var (
			model    string
			messages json.RawMessage
			stream   bool
			max, own count
			usage    bool
		)
		err := decode([]byte(body), field{"model", &model}, field{"messages", &messages}, field{"stream", &stream}, field{"max_tokens", &max},
			field{"options", fields{{"include_usage", &usage}, {"max", &own}}})
		if failed != nil {
			require.EqualError(t, err, says(failed), body)
			return
		}
		require.NoError(t, err, body)
		if string(want.Messages) == "null" {
			want.Messages = nil
		}
		require.Equal(t, want.Model, model, body)
		require.Equal(t, want.Messages, messages, body)
		require.Equal(t, want.Stream, stream, body)
		require.Equal(t, counted(want.Max), max, body)
		require.Equal(t, want.Options.Usage, usage, body)
		require.Equal(t, counted(want.Options.Max), own, body)
		fine++
	}
	for _, v := range values {
		if strings.TrimSpace(v) != "" { // decode reports an empty body
			check(v)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	object := func(names, likely []string) string {
		var b strings.Builder
		b.WriteString("{")
		for n, i := range rng.Perm(len(names))[:rng.IntN(len(names)+1)] {
			if n > 0 {
				b.WriteString(" ,\n")
			}
			value := likely[i]
			if rng.IntN(8) == 0 {
				value = values[rng.IntN(len(values))]
			}
			fmt.Fprintf(&b, "%s : %s", names[i], value)
		}
		return b.String() + " }"
	}
	for range 20_000 {
		options := object([]string{`"include_usage"`, `"max"`, `"\u0069"`}, []string{"true", "5", "[]"})
		check(object([]string{`"mod\u0065l"`, `"messages"`, `"stream"`, `"max_tokens"`, `"options"`, `"other"`},
			[]string{`"m"`, `[{"role": "user"}]`, "false", "12", options, "{}"}))
	}
	require.Greater(t, fine, 5000, "too few valid bodies")
	var raw json.RawMessage
	require.NoError(t, decode([]byte(`{"Messages":[1]}`), field{"messages", &raw}))
	require.Nil(t, raw)
}

// TestPromptIsCompact: the hash and the length of a prompt are those of its
// compact JSON.
func TestPromptIsCompact(t *testing.T) {
	for _, v := range values {
		if !json.Valid([]byte(v)) {
			continue
		}
		spaced := json.RawMessage(fmt.Sprintf("[ %s ,\t{\"a b\\\\\" :\r\n%s}]", v, v))
		var compact bytes.Buffer
		require.NoError(t, json.Compact(&compact, spaced))
		h := fnv.New32a()
		fmt.Fprintf(h, "demo\x00%s\x00\x00%s", compact.Bytes(), compact.Bytes())
		r := Request{Model: "demo"}
		r.prompt(spaced, nil, spaced)
		require.Equal(t, h.Sum32(), r.Prompt, v)
		require.EqualValues(t, (2*compact.Len()+3)/4, r.InputTokens, v)
	}
}

// TestDecodeAllocates: decode allocates only what is kept of a request, for
// prompts of any length.
func TestDecodeAllocates(t *testing.T) {
	body := []byte(`{"model":"demo","messages":[{"role":"user","content":"` + strings.Repeat("hi ", 10_000) + `"}],"stream":true,"max_tokens":5}`)
	var r Request
	n := testing.AllocsPerRun(100, func() {
		r = Request{}
		require.NoError(t, chat{}.readRequest(&r, body))
	})
	require.LessOrEqual(t, n, 1.0)
	require.Equal(t, Request{Model: "demo", Stream: true, MaxTokens: 5, InputTokens: (27 + 30_000 + 3 + 3) / 4, Prompt: r.Prompt}, r)
}

func BenchmarkAsk(b *testing.B) {
	for _, words := range []int{1, 10_000} {
		body := []byte(`{"model":"demo","max_tokens":5,"messages":[{"role":"user","content":"` + strings.Repeat("hi ", words) + `"}]}`)
		b.Run(fmt.Sprintf("bytes=%d", len(body)), func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				var r Request
				if err := (chat{}).readRequest(&r, body); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
