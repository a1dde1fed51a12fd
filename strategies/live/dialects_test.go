package live

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/dialect"
	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
)

// Neither the shortcut for ordinary answers nor acceptable changes what the readers
// get from a reply of a dialect.
func TestRepliesAreParsedAsByDialects(t *testing.T) {
	bodies := []wire.Body{wire.Completion, wire.SilentEnd, wire.Garbage, wire.WrongType, wire.Doubled, wire.StreamError, wire.TruncatedBody}
	readers := []wire.Reader{wire.ByBody{}, wire.ByStatus{}, wire.ByKeyword{}, wire.ByLibrary{}}
	for _, d := range dialect.All() {
		var replies []wire.Reply
		for _, b := range bodies {
			replies = append(replies,
				wire.Reply{Status: 200, Body: b, Hint: wire.Hint{Value: wire.NoHint}, Tokens: 3},
				wire.Reply{Status: 200, Body: b, Hint: wire.Hint{Value: wire.NoHint}, Tokens: 3, Limit: 60, Remaining: 2, Reset: time.Second})
		}
		for class, f := range d.Forms() {
			replies = append(replies, wire.Reply{
				Class: wire.Class(class), Shown: f.Shown, Status: f.Status, Body: f.Body, Code: f.Code, Words: f.Words,
				Hint: wire.Hint{Spelling: f.Spelling, Value: 3 * time.Second}, Marks: f.Marks,
			})
		}
		for i := range replies {
			if replies[i].Status == 0 {
				continue // the dialect has no such reply
			}
			image := d.Expressible(replies[i], false)
			var m dialect.Message
			d.Write(&m, &dialect.Context{Model: "m", ID: "id", Epoch: 2e9}, &image)
			in := m.Raw()
			want := d.ParseReply(&in, dialect.ReadContext{Epoch: 2e9})
			h := http.Header{}
			for _, f := range m.Headers {
				h.Add(f.Name, f.Value)
			}
			for _, spoken := range []*dialect.Dialect{&d, nil} {
				tr := &Transport{cfg: Config{Peek: 1 << 16}, epoch: 2e9, dialect: spoken}
				r := reply{resp: &http.Response{StatusCode: m.Status, Header: h}, buf: m.Body}
				if m.Broken {
					r.err = io.ErrUnexpectedEOF
				}
				if spoken == nil {
					sniffed := dialect.Detect(&in)
					want = sniffed.ParseReply(&in, dialect.ReadContext{Epoch: 2e9})
				}
				got := tr.parse(&r)
				for _, reader := range readers {
					var a, b wire.Outcome
					reader.Read(&want, 0, &a)
					reader.Read(&got, 0, &b)
					require.Equal(t, a, b, "%s %T: %s", d.Name, reader, m.Body)
				}
			}
		}
	}
}

// A response that is no answer of a model is not retried for missing content.
func TestResponsesThatAreNoAnswers(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, err := io.WriteString(z, chatAnswer)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	var refused bytes.Buffer
	z = gzip.NewWriter(&refused)
	_, err = io.WriteString(z, body14003)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	limits := []string{"X-Ratelimit-Limit-Requests", "60", "X-Ratelimit-Remaining-Requests", "59"}
	for name, c := range map[string]struct {
		method   string
		status   int
		body     string
		headers  []string
		attempts int
	}{
		"embeddings":           {"POST", 200, `{"object":"list","data":[{"embedding":[0.5]}],"usage":{"prompt_tokens":3}}`, limits, 1},
		"a list of models":     {"GET", 200, `{"object":"list","data":[]}`, limits, 1},
		"a count of tokens":    {"POST", 200, `{"input_tokens":14}`, limits, 1},
		"an array":             {"POST", 200, `[1]`, nil, 1},
		"speech":               {"POST", 200, "\xff\xfb\x00", []string{"Content-Type", "audio/mpeg"}, 1},
		"a transcript":         {"POST", 200, "Hello.", []string{"Content-Type", "text/plain"}, 1},
		"head":                 {"HEAD", 200, "", nil, 1},
		"no content":           {"DELETE", 204, "", nil, 1},
		"nothing for a DELETE": {"DELETE", 200, "", nil, 1},
		"nothing for a POST":   {"POST", 200, "", nil, 4},
		"a redirect":           {"POST", 307, "<html>there</html>", []string{"Content-Type", "text/html"}, 1},
		"a page":               {"POST", 200, "<html>welcome</html>", []string{"Content-Type", "text/html"}, 4},
		"not modified":         {"GET", 304, "", nil, 1},
		"gzip":                 {"POST", 200, zipped.String(), []string{"Content-Encoding", "gzip"}, 1},
		"a 14003 in gzip":      {"POST", 200, refused.String(), []string{"Content-Encoding", "gzip"}, 4},
		"brotli":               {"POST", 200, "\x0b\x02\x80", []string{"Content-Encoding", "br"}, 1},
		"a long answer":        {"POST", 200, `{"choices":[{"message":{"content":"` + strings.Repeat("x", 1<<17), nil, 1},
		"a long page":          {"POST", 200, "<html>" + strings.Repeat("x", 1<<17), []string{"Content-Type", "text/html"}, 4},
		"a long refusal":       {"POST", 503, strings.Repeat("x", 1<<17), nil, 4},
	} {
		t.Run(name, func(t *testing.T) {
			p := &provider{respond: func(int, *http.Request) (*http.Response, error) { return jsonResponse(c.status, c.body, c.headers...) }}
			withTransport(t, p, configOf(retryFour), func(tr *Transport) {
				req, err := http.NewRequest(c.method, "http://herd.test/v1/anything", strings.NewReader(chatRequest))
				require.NoError(t, err)
				resp, err := tr.RoundTrip(req)
				require.NoError(t, err)
				body, err := io.ReadAll(resp.Body)
				require.NoError(t, err)
				require.NoError(t, resp.Body.Close())
				require.Equal(t, c.body, string(body))
				require.EqualValues(t, c.attempts, p.requests.Load())
			})
		})
	}
}

// oddBody is a body with short and empty reads and any error.
type oddBody struct {
	text  []byte
	chunk int
	err   error
	calls int
}

func (h *oddBody) Read(p []byte) (int, error) {
	if h.calls++; h.calls%3 == 0 {
		return 0, nil
	}
	n := copy(p[:min(len(p), h.chunk)], h.text)
	if h.text = h.text[n:]; len(h.text) == 0 {
		return n, h.err
	}
	return n, nil
}

func (*oddBody) Close() error { return nil }

// The transport neither panics nor hangs on any reply, and returns it unchanged.
func FuzzReplies(f *testing.F) {
	for _, d := range dialect.All() {
		for _, b := range []wire.Body{wire.Completion, wire.CodeBody, wire.Garbage} {
			var m dialect.Message
			image := d.Expressible(wire.Reply{Status: 200, Body: b, Tokens: 2, Hint: wire.Hint{Value: time.Second}}, true)
			d.WriteStream(&m, &dialect.Context{Model: "m", ID: "id", Epoch: 2e9}, &image)
			f.Add(uint16(m.Status), m.Headers.Get("Content-Type"), "", "3", m.Body, uint8(7), int64(-1), false)
		}
	}
	f.Add(uint16(200), "application/json", "gzip", "-1", []byte("\x1f\x8b\x08"), uint8(1), int64(1<<62), true)
	f.Add(uint16(429), "text/html", "", "Thu, 01 Jan 1970 00:00:00 GMT", []byte("<"), uint8(1), int64(0), false)
	f.Add(uint16(101), "", "", "9223372036854775807", []byte{}, uint8(0), int64(1<<63-1), true)
	f.Fuzz(func(t *testing.T, status uint16, contentType, encoding, after string, body []byte, chunk uint8, length int64, breaks bool) {
		end := io.EOF
		if breaks {
			end = io.ErrUnexpectedEOF
		}
		q := &provider{respond: func(int, *http.Request) (*http.Response, error) {
			h := http.Header{"Content-Type": {contentType}, "Content-Encoding": {encoding}, "Retry-After": {after}, "X-Ratelimit-Reset-Requests": {after}}
			return &http.Response{StatusCode: int(status), Header: h, Body: &oddBody{text: bytes.Clone(body), chunk: int(chunk) + 1, err: end}, ContentLength: length}, nil
		}}
		tr := Must(Config{Base: q, Peek: 300, Seed: 1, Strategy: strategies.Definition{Name: "mine", Layers: []strategies.Layer{
			layers.Retry{Backoff: backoffs.Fixed{}, Hints: layers.Hints{Use: layers.HintIgnored}, MaxAttempts: 3},
			layers.Cache{TTL: time.Minute, Entries: 8, Scope: strategies.PerFleet},
		}}})
		defer tr.Close()
		req, err := http.NewRequest(http.MethodPost, "http://herd.test/v1/chat/completions", strings.NewReader(chatRequest))
		require.NoError(t, err)
		resp, err := tr.RoundTrip(req)
		if err == nil {
			got, err := io.ReadAll(resp.Body)
			require.True(t, bytes.Equal(body, got), "%q %q", body, got)
			require.True(t, err == nil && !breaks || err == io.ErrUnexpectedEOF && breaks, err)
			require.NoError(t, resp.Body.Close())
		}
		require.LessOrEqual(t, q.requests.Load(), int32(3))
		require.Zero(t, q.openBodies.Load())
		require.Len(t, tr.freeRows, int(tr.rows))
	})
}
