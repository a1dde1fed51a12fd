package scenarios_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/dialect"
	"herdlab/mockprovider/wire"
	"herdlab/scenarios"
)

// ownDialect has all keys of a dialect in a file.
const ownDialect = `  dialect:
    code_in_body:
      name: our-gateway
      title: Our gateway
      path: /llm/v2/generate
      code: errno
      success: -1
      message: errmsg
      data: result
      retry_after: wait_ms
      limit: quota
      remaining: left
      spelled: body_millis
      replies:
        rate: {code: 45009, text: "slow down[, {limit} a minute]"}
        concurrency: -45010
        overloaded: {status: 503, spelled: seconds}
        auth: {code: 40001, status: 401, text: who are you}
        quota: {spelled: sentence}
        timeout: 45009
`

// withDialect returns a valid scenario with that dialect.
func withDialect(lines string) string {
	return strings.Replace(valid, "provider:\n", "provider:\n"+lines, 1)
}

// A dialect of a file equals the same dialect in Go. A client that reads its bytes
// has the same outcome as a client in the simulator.
func TestOwnDialect(t *testing.T) {
	s, err := scenarios.Parse("x.yaml", []byte(withDialect(ownDialect)))
	require.NoError(t, err)
	d, ok := s.Dialect()
	require.True(t, ok)
	want := dialect.CodeInBody{
		Name: "our-gateway", Title: "Our gateway", Path: "/llm/v2/generate", Code: "errno", Success: -1, Message: "errmsg", Data: "result",
		RetryAfter: "wait_ms", Limit: "quota", Remaining: "left", Spelled: wire.BodyMillis,
		Replies: [wire.NumClasses]dialect.CodeReply{
			wire.Rate:        {Code: 45009, Text: "slow down[, {limit} a minute]"},
			wire.Concurrency: {Code: -45010}, wire.Overloaded: {Status: 503, Spelled: wire.HeaderSeconds},
			wire.Auth: {Code: 40001, Status: 401, Text: "who are you"}, wire.Quota: {Spelled: wire.Sentence}, wire.Timeout: {Code: 45009},
		},
	}.Dialect()
	require.Equal(t, want, d)
	require.Equal(t, want.Forms(), s.Provider().Forms)

	for class := wire.Rate; class <= wire.Timeout; class++ {
		src := strings.Replace(withDialect(ownDialect), "outage: {from: 0s, to: 10s}", "errors: {class: "+class.String()+", retry_after: 2500ms}", 1)
		s, err := scenarios.Parse("x.yaml", []byte(src))
		require.NoError(t, err)
		x, err := s.Experiment(0, 1)
		require.NoError(t, err)
		compact := x.Provider.Step(0, &wire.Input{Kind: wire.Arrive}, nil)[0].Reply
		require.Equal(t, class, compact.Class)
		require.Equal(t, wire.CodeBody, compact.Body)
		var m dialect.Message
		d.Write(&m, &dialect.Context{Epoch: 2e9}, &compact)
		in := m.Raw()
		parsed := d.ParseReply(&in, dialect.ReadContext{Epoch: 2e9})
		for _, reader := range []wire.Reader{wire.ByStatus{}, wire.ByKeyword{}, wire.ByLibrary{}, wire.ByBody{}} {
			var simulated, read wire.Outcome
			reader.Read(&compact, 0, &simulated)
			reader.Read(&parsed, 0, &read)
			assert.Equal(t, simulated, read, "%s to %T: %s", class, reader, m.Body)
		}
		var byStatus, byBody wire.Outcome
		wire.ByStatus{}.Read(&compact, 0, &byStatus)
		wire.ByBody{}.Read(&compact, 0, &byBody)
		switch class {
		case wire.Overloaded:
			assert.Equal(t, wire.Outcome{Status: 503, Class: wire.Overloaded, RetryAfter: 3 * time.Second}, byStatus, "read from the status and the header")
		case wire.Auth:
			assert.Equal(t, wire.Auth, byStatus.Class)
		default:
			assert.Equal(t, wire.OK, byStatus.Class, class)
		}
		switch class {
		case wire.Concurrency:
			assert.EqualValues(t, -45010, byBody.Code)
			assert.Equal(t, wire.Concurrency, byBody.Class, "concurrency has its own code")
		case wire.TokenRate, wire.Acceleration, wire.Timeout:
			assert.EqualValues(t, 45009, byBody.Code)
			assert.Equal(t, wire.Rate, byBody.Class, "%s has the code of rate", class)
		default:
			assert.Equal(t, class, byBody.Class)
		}
	}
}

// A built-in dialect may be written as a word or a mapping; a file may have none.
func TestDialect(t *testing.T) {
	for _, known := range dialect.All() {
		for _, line := range []string{"  dialect: " + known.Name + "\n", "  dialect: {" + known.Name + ": {}}\n"} {
			s, err := scenarios.Parse("x.yaml", []byte(withDialect(line)))
			require.NoError(t, err)
			d, ok := s.Dialect()
			require.True(t, ok)
			require.Equal(t, known.Name, d.Name)
			require.Equal(t, known.Forms(), s.Provider().Forms)
		}
	}
	s, err := scenarios.Parse("x.yaml", []byte(valid))
	require.NoError(t, err)
	_, ok := s.Dialect()
	require.False(t, ok)
	require.Nil(t, s.Provider().Forms)
	s, err = scenarios.Parse("x.yaml", []byte(withDialect("  dialect: {code_in_body: {name: gw}}\n")))
	require.NoError(t, err)
	own, ok := s.Dialect()
	require.True(t, ok)
	require.Equal(t, []string{"POST /gw/v1/chat", "GET /gw/v1/models"}, own.Routes())
}

// Errors in a dialect are reported at their place.
func TestDialectMistakes(t *testing.T) {
	for _, c := range []struct{ old, line, at, says string }{
		{"      name", "      name: openai", "12:13", "openai is the name of a built-in dialect"},
		{"      name", "      name: Our Gateway", "12:13", `"Our Gateway" is not a valid name of a dialect`},
		{"      name", "", "11:5", "code_in_body needs the key name, such as name: our-gateway"},
		{"      name", "      nmae: gw", "12:7", `unknown key "nmae" in code_in_body; did you mean "name"?`},
		{"      title", `      title: "a\nb"`, "13:14", "the title must be one line"},
		{"      path", "      path: generate", "14:13", `"generate" is not a valid path`},
		{"      path", "      path: /v1/models", "14:13", "use another last part"},
		{"      code", "      code: errmsg", "17:16", `another field has the name "errmsg"`},
		{"      code", "      code: [a]", "15:13", "expected a text, found a list"},
		{"      success", "      success: 45009", "24:15", "rate: the code 45009 is that of success"},
		{"      success", "      success: no", "16:16", "expected a whole number"},
		{"      retry_after", "      retry_after: retryDelay", "19:20", `another field has the name "retryDelay"`},
		{"      limit", "", "21:18", "remaining needs limit"},
		{"      remaining", "", "20:14", "limit needs remaining"},
		{"      spelled", "      spelled: sentence", "19:20", "hints with this spelling are not in a field"},
		{"      spelled", "      spelled: body_minutes", "22:16", `unknown spelled "body_minutes"`},
		{"      replies", "      replies: []\n      x:", "23:16", "expected a mapping for replies, found a list"},
		{"        rate", "        ok: 1", "24:13", "ok: no provider replies with this class"},
		{"        rate", "        rates: 1", "24:9", `unknown key "rates" in replies; did you mean "rate"?`},
		{"        rate", "        rate: 0", "24:15", "the code 0 means no code"},
		{"        rate", "        rate: {code: 0}", "24:22", "the code 0 means no code"},
		{"        rate", "        rate: 4.5", "24:15", "expected a whole number"},
		{"        rate", "        rate: {codes: 4}", "24:16", `unknown key "codes" in the reply; did you mean "code"?`},
		{"        rate", "        rate: {code: 3000000000}", "24:22", "out of range"},
		{"        rate", "        rate: {status: 302}", "24:15", "the status 302 is neither 200 nor that of an error"},
		{"        rate", "        rate: {status: 99}", "24:24", "99 is out of range"},
		{"        rate", "        rate: {text: come again and retry in 5 seconds}", "24:15", "rate: the text contains a wait"},
		{"        quota", "        quota: {code: 40001}", "27:15", "auth: the code 40001 with the status 401 is that of quota with the status 200"},
		{"        auth", "        auth: 14003", "27:15", "the code 14003 means too many requests"},
		{"  dialect", "  dialect: code_in_body\n  x:", "10:12", "code_in_body needs the key name"},
		{"  dialect", "  dialect: {openai: {name: x}}\n  x:", "10:22", `unknown key "name" in openai; it has no keys`},
		{"  dialect", "  dialect: [openai]\n  x:", "10:12", "expected one dialect (openai, anthropic"},
		{"  dialect", "  dialect: code_in_bdy\n  x:", "10:12", `unknown dialect "code_in_bdy"; did you mean "code_in_body"?`},
	} {
		lines := strings.Split(withDialect(ownDialect), "\n")
		for i := range lines {
			if strings.HasPrefix(lines[i], c.old) {
				lines[i] = c.line
				break
			}
		}
		var said []string
		for _, p := range problems(t, strings.Join(lines, "\n")) {
			said = append(said, p.Error())
		}
		all := strings.Join(said, "\n")
		assert.Contains(t, all, "x.yaml:"+c.at+": ", c.line)
		assert.Contains(t, all, c.says, c.line)
	}
}
