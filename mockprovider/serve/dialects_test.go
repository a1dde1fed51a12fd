package serve

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/dialect"
	"herdlab/mockprovider/faults"
	"herdlab/mockprovider/limits"
	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// A refusal of a scenario with another status or form than the dialect's is read
// equally from its bytes and from the compact reply, by every reader.
func TestCustomRefusalsAreReadTheSame(t *testing.T) {
	for _, d := range append(dialect.All(), gateway.Dialect()) {
		for class := wire.Rate; class <= wire.Timeout; class++ {
			for _, refusal := range []mockprovider.Refusal{mockprovider.As14003, mockprovider.As429, mockprovider.As503, mockprovider.As401} {
				p, err := mockprovider.New(mockprovider.Config{
					Forms:  d.Forms(),
					Faults: []mockprovider.Fault{{To: mockprovider.Forever, Does: faults.Errors{Class: class, Refusal: refusal}}},
				}, draw.New(1))
				require.NoError(t, err)
				compact := p.Step(0, &wire.Input{}, nil)[0].Reply
				var m dialect.Message
				d.Write(&m, &dialect.Context{Model: "demo"}, &compact)
				in := m.Raw()
				parsed := d.ParseReply(&in, dialect.ReadContext{})
				for _, reader := range []wire.Reader{wire.ByStatus{}, wire.ByKeyword{}, wire.ByLibrary{}, wire.ByBody{}} {
					var want, got wire.Outcome
					reader.Read(&parsed, 0, &want)
					reader.Read(&compact, 0, &got)
					require.Equal(t, want, got, "%s: %s as %+v to %T\n%s", d.Name, class, refusal, reader, m.Body)
				}
			}
		}
	}
}

// gateway is a dialect with status 200 for everything but an invalid key.
var gateway = dialect.CodeInBody{
	Name: "own", Title: "Our gateway", Path: "/v1/chat/completions", Code: "errno", Message: "errmsg", Success: 1,
	RetryAfter: "wait_ms", Spelled: wire.BodyMillis, Limit: "quota", Remaining: "left",
	Replies: [wire.NumClasses]dialect.CodeReply{wire.Rate: {Code: 4290, Text: "slow down"}, wire.Auth: {Code: 4010, Status: 401}},
}

// A custom dialect is served below its name and at its path, even if other dialects
// have the same path.
func TestCustomDialect(t *testing.T) {
	own := gateway.Dialect()
	limit := limits.Window{Limit: 1, Length: time.Hour, Terms: mockprovider.Terms{Refusal: mockprovider.Refusal{Hint: mockprovider.Hint{Kind: mockprovider.Constant, Value: 1500 * time.Millisecond}}}}
	s, err := New(Config{Dialects: []dialect.Dialect{own}, Provider: mockprovider.Config{Limits: []mockprovider.Limit{limit}}})
	require.NoError(t, err)
	for _, c := range []struct {
		path, key string
		status    int
		says      string
	}{
		{"/own/v1/chat/completions", "sk-1", 200, `{"errno":1,"errmsg":"ok","data":{"model":"demo","content":"The herd `},
		{"/v1/chat/completions", "sk-1", 200, `{"errno":4290,"errmsg":"slow down","wait_ms":1500,"quota":1,"left":0}`},
		{"/openai/v1/chat/completions", "sk-1", 429, `"rate_limit_exceeded"`},
		{"/v1/chat/completions", "", 401, `{"errno":4010,"errmsg":"invalid token"}`},
		{"/own/v1/nothing", "sk-1", 200, `{"errno":14000,"errmsg":"No route for POST /own/v1/nothing.`},
	} {
		r := chat(t.Context(), t, "http://herd.test", false)
		r.URL.Path = c.path
		if r.Header.Set("Authorization", "Bearer "+c.key); c.key == "" {
			r.Header.Del("Authorization")
		}
		a := ask(t, s.Client(), r)
		require.Equal(t, c.status, a.StatusCode, c.path)
		require.Contains(t, a.body, c.says)
		if c.status == 200 && strings.HasPrefix(c.says, `{"errno":4290`) {
			in := dialect.RawReply{Status: a.StatusCode, Header: a.Header.Get, Body: []byte(a.body)}
			got := own.ParseReply(&in, dialect.ReadContext{})
			require.Equal(t, wire.Rate, got.Shown)
			require.Equal(t, 1500*time.Millisecond, got.Hint.Value)
			require.EqualValues(t, 4290, got.Code)
		}
	}
	for _, name := range []string{"", "openai", "a/b", "own"} {
		_, err := New(Config{Dialects: []dialect.Dialect{own, {Name: name}}})
		require.ErrorContains(t, err, "dialect 2", name)
	}
}
