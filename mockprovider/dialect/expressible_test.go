package dialect

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/mockprovider/wire"
)

// epoch is Wed, 21 Oct 2026 07:28:00 GMT.
const epoch = 1792567680

var readers = []wire.Reader{wire.ByStatus{}, wire.ByBody{}, wire.ByKeyword{}, wire.ByLibrary{}}

var testContext = Context{
	Model: "demo-large", Served: "demo-light", ID: "demo1", Epoch: epoch, Now: 90 * time.Second, InputTokens: 11, Usage: true, Tokens: OutputTokens,
}

// codeInBodies are dialects with a business code that the table does not have.
var codeInBodies = []CodeInBody{
	{Name: "bare", Code: "errno", Message: "errmsg", Success: 1},
	{Name: "shared", Data: "result", Success: 200, RetryAfter: "wait", Spelled: wire.BodyDelay, Replies: [wire.NumClasses]CodeReply{
		wire.Rate: {Code: 7001, Text: "slow down"}, wire.Overloaded: {Code: 7002, Text: "we are busy"}, wire.Timeout: {Code: 7002},
	}},
	{Name: "open", Code: "code", RetryAfter: "ms", Spelled: wire.BodyMillis, Limit: "quota", Remaining: "left", Replies: [wire.NumClasses]CodeReply{
		wire.Rate: {Code: -1, Status: 429, Text: "rate limit of {model}[ ({used} of {limit} used)]", Spelled: wire.BothSeconds},
		wire.Auth: {Code: 4010, Status: 401}, wire.ServerError: {Status: 500}, wire.Concurrency: {Code: 4290, Status: 429, Spelled: wire.HeaderSeconds},
		wire.Quota: {Code: 7, Text: "credit is used up", Spelled: wire.Sentence},
	}},
	{Name: "header", Code: "error", Spelled: wire.HeaderMillis},
}

// allDialects returns the dialects of the table and codeInBodies.
func allDialects() []Dialect {
	all := All()
	for _, f := range codeInBodies {
		all = append(all, f.Dialect())
	}
	return all
}

// sameFacts checks that each reader has the same outcome from the bytes of a
// reply as from the compact reply.
func sameFacts(t require.TestingT, d *Dialect, c Context, r wire.Reply, streamed bool) {
	img := d.Expressible(r, streamed)
	require.True(t, img == d.Expressible(img, streamed), "Expressible changes its own result")
	var m Message
	var got wire.Reply
	at := ReadContext{Epoch: epoch, Model: c.Model}
	if streamed && d.Streams(&img) {
		d.WriteStream(&m, &c, &img)
		steps := []int{1, 7, len(m.Body) + 1}
		if img.Hint.Value != wire.NoHint {
			steps = steps[1:2] // hints and the sizes of pieces are independent
		}
		for _, step := range steps {
			s := d.ReadStream(m.Raw(), at)
			for rest := m.Body; len(rest) > 0; {
				n := min(step, len(rest))
				s.Feed(rest[:n])
				rest = rest[n:]
			}
			again := s.End(m.Broken)
			require.True(t, step == steps[0] || again == got, "the result depends on the size of the pieces")
			got = again
		}
	} else {
		d.Write(&m, &c, &img)
		in := m.Raw()
		got = d.ParseReply(&in, at)
		if m.Broken {
			require.Less(t, len(m.Body), m.Length)
		} else {
			require.Len(t, m.Body, m.Length)
		}
	}
	for _, reader := range readers {
		for _, clock := range []time.Duration{0, 85 * time.Second, time.Hour, -time.Minute} {
			var want, read wire.Outcome
			reader.Read(&img, clock, &want)
			reader.Read(&got, clock, &read)
			if want != read { // much faster than require.Equal
				require.Equal(t, want, read, "%s, %T at %v:\n%+v\n%+v\n%v\n%s", d.Name, reader, clock, img, got, m.Headers, m.Body)
			}
		}
	}
}

// replyOf returns the reply of a provider for a class.
func replyOf(d *Dialect, class wire.Class) wire.Reply {
	f := d.Forms()[class]
	return wire.Reply{
		Status: f.Status, Class: class, Shown: f.Shown, Body: f.Body, Code: f.Code, Words: f.Words, Marks: f.Marks,
		Hint: wire.Hint{Value: wire.NoHint, Spelling: f.Spelling},
	}
}

var hints = []time.Duration{wire.NoHint, 0, 1, 20 * time.Millisecond, time.Second, 1898 * time.Millisecond, 61*time.Second + 1, 48 * time.Hour, maxWait}

// TestErrorsRoundTrip: errors of every class with every form of hints.
func TestErrorsRoundTrip(t *testing.T) {
	for _, d := range allDialects() {
		for class := wire.Rate; class <= wire.Timeout; class++ {
			for spelled := range wire.Spelling(wire.NumSpellings) {
				for _, hint := range hints {
					if hint == maxWait && spelled.Dated() {
						continue // the year would have five digits
					}
					r := replyOf(&d, class)
					r.Hint.Spelling, r.Hint.Value, r.Limit, r.Remaining = spelled, hint, 20, 3
					if r.Reset = 30 * time.Second; r.Marks&wire.ResetAsTime != 0 {
						r.Reset = 2*time.Minute + 1
					}
					sameFacts(t, &d, testContext, r, false)
					if hint != wire.NoHint && spelled.InHeader() {
						continue // the headers are sent before the error
					}
					r.Status, r.Body, r.Code, r.Tokens = 200, wire.StreamError, 0, uint32(hint%3+1)
					sameFacts(t, &d, testContext, r, true)
					sameFacts(t, &d, testContext, r, false)
				}
			}
		}
	}
}

// TestFormsAreExpressible: Expressible does not change the replies of a
// provider in its own forms.
func TestFormsAreExpressible(t *testing.T) {
	for _, d := range allDialects() {
		for class := wire.Rate; class <= wire.Timeout; class++ {
			r := replyOf(&d, class)
			r.Limit, r.Remaining = 20, 3
			require.Equal(t, r, d.Expressible(r, false), "%s %s", d.Name, class)
			// Nor does a true class that differs from the shown one: a missing
			// permission can have the form of overload, for example.
			for truth := wire.Rate; truth <= wire.Timeout; truth++ {
				r.Class = truth
				require.Equal(t, r.Words, d.Expressible(r, false).Words, "%s: %s as %s", d.Name, truth, class)
				sameFacts(t, &d, testContext, r, false)
			}
		}
	}
}

// operations returns the operations of the routes of a dialect.
func operations(d *Dialect) (all []Operation) {
	for _, r := range d.routes {
		if r.operation != ListModels && !slices.Contains(all, r.operation) {
			all = append(all, r.operation)
		}
	}
	return all
}

// TestAnswersRoundTrip: answers of every kind, whole and as streams.
func TestAnswersRoundTrip(t *testing.T) {
	for _, d := range allDialects() {
		for body := range wire.Body(wire.NumBodies) {
			if body == wire.ErrorBody || body == wire.CodeBody || body == wire.StreamError {
				continue
			}
			for _, operation := range operations(&d) {
				for _, r := range []wire.Reply{
					{Tokens: 5},
					{Tokens: 0},
					{Tokens: 1, Limit: 20, Remaining: 19, Reset: time.Minute},
					{Tokens: 2, Limit: 7, Marks: wire.DegradedReply},
					{Tokens: 3, Marks: wire.ShouldRetry},
					{Tokens: 3, Marks: wire.ShouldNotRetry},
				} {
					for _, byTokens := range []bool{false, true} {
						r.Status, r.Hint.Value, r.Body = 200, wire.NoHint, body
						r.Marks |= d.Forms()[wire.OK].Marks
						c := testContext
						c.Operation, c.TokenLimit = operation, byTokens
						sameFacts(t, &d, c, r, false)
						sameFacts(t, &d, c, r, true)
						c.Usage = false
						sameFacts(t, &d, c, r, true)
					}
				}
			}
		}
	}
}

// TestRepliesRoundTripAtRandom: replies at random, including refusals that a
// scenario gives another status, body or code.
func TestRepliesRoundTripAtRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := allDialects()
		d := all[rapid.IntRange(0, len(all)-1).Draw(t, "dialect")]
		class := wire.Class(rapid.IntRange(int(wire.Rate), int(wire.Timeout)).Draw(t, "class"))
		r := replyOf(&d, class)
		r.Hint.Spelling = wire.Spelling(rapid.IntRange(0, wire.NumSpellings-1).Draw(t, "spelling"))
		r.Hint.Value = time.Duration(rapid.Int64Range(-1, int64(100*365*24*time.Hour)).Draw(t, "hint"))
		r.Limit, r.Remaining = rapid.Int32Range(0, math.MaxInt32).Draw(t, "limit"), rapid.Int32Range(0, math.MaxInt32).Draw(t, "remaining")
		r.Reset = time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "reset"))
		switch rapid.IntRange(0, 3).Draw(t, "shape") {
		case 1:
			r.Body, r.Code, r.Marks = wire.ErrorBody, 0, 0
			r.Status = rapid.SampledFrom([]uint16{400, 401, 402, 403, 408, 413, 429, 500, 503, 504, 529}).Draw(t, "status")
			if writer := d.errorDialect(&r); writer.templates.of(&r).Status != r.Status {
				// With another status, the codes would be those of another class.
				r.Status = writer.templates.of(&r).Status
			}
		case 2:
			r.Body, r.Code, r.Status, r.Shown, r.Marks = wire.CodeBody, wire.Code14003, 200, wire.Rate, 0
		}
		sameFacts(t, &d, testContext, r, false)
	})
}

// TestCodesAreUnambiguous: two classes with the same status and codes could not
// be distinguished.
func TestCodesAreUnambiguous(t *testing.T) {
	for _, d := range allDialects() {
		seen := map[string]wire.Class{}
		for class := wire.Rate; class <= wire.Timeout; class++ {
			p := &d.templates[class]
			require.NotEmpty(t, p.Text, "%s has no text for %s", d.Name, class)
			require.NotZero(t, p.Status, "%s %s", d.Name, class)
			require.Equal(t, d.templates.shown(d.templates.shown(class)), d.templates.shown(class), "%s: %s must read as a class with a template of its own", d.Name, class)
			if p.As != wire.OK {
				continue
			}
			words := fmt.Sprintf("%d %q %q %d", p.Status, p.Kind, p.Code, p.Number)
			if d.classify == nil {
				require.NotContains(t, seen, words, "%s: %s", d.Name, class)
			}
			seen[words] = class
		}
	}
}

// recognisable reports whether a dialect's answers differ from OpenAI's.
func recognisable(name string) bool { return name != "dashscope" && name != "qianfan-v2" }

// TestDetect: every reply of every dialect is detected as one of that dialect.
func TestDetect(t *testing.T) {
	for _, d := range All() {
		for _, streamed := range []bool{false, true} {
			for class := wire.OK; class <= wire.Timeout; class++ {
				r := replyOf(&d, class)
				if class == wire.OK {
					r.Body, r.Tokens = wire.Completion, 3
				}
				if streamed && class != wire.OK {
					r.Status, r.Body, r.Code = 200, wire.StreamError, 0
				}
				r = d.Expressible(r, streamed)
				var m Message
				if streamed {
					d.WriteStream(&m, &testContext, &r)
				} else {
					d.Write(&m, &testContext, &r)
				}
				s := DetectStream(m.Raw(), ReadContext{Epoch: epoch, Model: testContext.Model})
				s.Feed(m.Body)
				got := s.End(m.Broken)
				var want, read wire.Outcome
				wire.ByBody{}.Read(&r, 0, &want)
				wire.ByBody{}.Read(&got, 0, &read)
				require.Equal(t, want, read, "%s %s %v:\n%s", d.Name, class, streamed, m.Body)
				if class == wire.OK && !recognisable(d.Name) {
					require.Equal(t, "openai", s.d.Name)
					continue
				}
				require.Equal(t, d.Name, s.d.Name, "%s:\n%s", class, m.Body)
			}
		}
	}
}
