package dialect

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
)

// readRequest reads a request whose headers are "Name: value" lines.
func readRequest(t *testing.T, name, method, target, headers, body string) (Request, error) {
	d, ok := ByName(name)
	require.True(t, ok, name)
	path, query, _ := strings.Cut(target, "?")
	h := http.Header{}
	for line := range strings.Lines(headers) {
		field, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		h.Set(field, value)
	}
	in := RawRequest{Method: method, Path: path, Query: query, Header: h.Get, Body: []byte(body)}
	return d.ParseRequest(&in)
}

func TestRequests(t *testing.T) {
	const hi = `"messages":[{"role":"user","content":"hi"}]` // 32 bytes of list: 8 tokens
	for _, c := range []struct {
		dialect, method, target, headers, body string
		want                                   Request
	}{
		{
			"openai", "POST", "/v1/chat/completions", "Authorization: Bearer sk-1",
			`{"model":"m",` + hi + `,"stream":true,"max_completion_tokens":7,"stream_options":{"include_usage":true}}`,
			Request{Model: "m", Key: "sk-1", Stream: true, Usage: true, MaxTokens: 7, InputTokens: 8},
		},
		{
			"openai", "POST", "/v1/chat/completions", "Authorization: bearer  sk-1", `{"model":"m", "max_tokens": 9, ` + hi + `}`,
			Request{Model: "m", Key: "sk-1", MaxTokens: 9, InputTokens: 8},
		},
		{
			"openai", "POST", "/v1/responses", "", `{"model":"m","input":"hello","max_output_tokens":5}`,
			Request{Operation: Respond, Model: "m", MaxTokens: 5, InputTokens: 2},
		},
		{"openai", "GET", "/v1/models", "", "", Request{Operation: ListModels}},
		{
			"anthropic", "POST", "/v1/messages", "x-api-key: k1", `{"model":"m","max_tokens":3,` + hi + `}`,
			Request{Model: "m", Key: "k1", MaxTokens: 3, InputTokens: 8},
		},
		{
			"anthropic", "POST", "/v1/messages", "Authorization: Bearer k2", `{"model":"m","max_tokens":3,"stream":true,` + hi + `}`,
			Request{Model: "m", Key: "k2", MaxTokens: 3, Stream: true, InputTokens: 8},
		},
		{
			"gemini", "POST", "/v1beta/models/demo-flash:generateContent", "x-goog-api-key: g", `{"contents":[{"parts":[{"text":"hi"}]}],"generationConfig":{"maxOutputTokens":4}}`,
			Request{Model: "demo-flash", Key: "g", MaxTokens: 4, InputTokens: 7},
		},
		{
			"gemini", "POST", "/v1beta/models/demo-flash:streamGenerateContent?alt=sse&key=q", "", `{"contents":[{"parts":[{"text":"hi"}]}]}`,
			Request{Model: "demo-flash", Key: "q", Stream: true, InputTokens: 7},
		},
		{
			"codybuddy", "POST", "/codybuddy/v1/chat", "Authorization: Bearer t", `{"model":"m",` + hi + `}`,
			Request{Model: "m", Key: "t", InputTokens: 8},
		},
		{
			"azure", "POST", "/openai/deployments/demo-large/chat/completions?api-version=2024-10-21", "api-key: a1", `{"model":"gpt",` + hi + `}`,
			Request{Model: "demo-large", Key: "a1", InputTokens: 8},
		},
		{
			"azure", "POST", "/openai/deployments/demo-large/chat/completions", "Authorization: Bearer entra", `{` + hi + `,"stream":true}`,
			Request{Model: "demo-large", Key: "entra", Stream: true, InputTokens: 8},
		},
		{
			"azure", "POST", "/openai/responses", "api-key: a1", `{"model":"m","input":"hello"}`,
			Request{Operation: Respond, Model: "m", Key: "a1", InputTokens: 2},
		},
		{
			"bedrock", "POST", "/model/demo.large-v1:0/converse",
			"Authorization: AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261130/us-east-1/bedrock/aws4_request, SignedHeaders=host, Signature=00",
			`{"messages":[{"role":"user","content":[{"text":"hi"}]}],"inferenceConfig":{"maxTokens":5}}`,
			Request{Model: "demo.large-v1:0", Key: "AKIDEXAMPLE", MaxTokens: 5, InputTokens: 11},
		},
		{
			"bedrock", "POST", "/model/arn:aws:bedrock:eu-west-1:1:inference-profile/eu.demo/converse-stream", "Authorization: Bearer b",
			`{"messages":[{"role":"user","content":[{"text":"hi"}]}]}`,
			Request{Model: "arn:aws:bedrock:eu-west-1:1:inference-profile/eu.demo", Key: "b", Stream: true, InputTokens: 11},
		},
		{
			"bedrock", "POST", "/model/anthropic.demo/invoke", "", `{"anthropic_version":"bedrock-2023-05-31","max_tokens":3,` + hi + `}`,
			Request{Operation: Invoke, Model: "anthropic.demo", MaxTokens: 3, InputTokens: 8},
		},
		{
			"bedrock", "POST", "/model/anthropic.demo/invoke-with-response-stream", "", `{"max_tokens":3,` + hi + `}`,
			Request{Operation: Invoke, Model: "anthropic.demo", MaxTokens: 3, Stream: true, InputTokens: 8},
		},
		{
			"zhipu", "POST", "/api/paas/v4/chat/completions", "Authorization: Bearer z", `{"model":"glm",` + hi + `}`,
			Request{Model: "glm", Key: "z", InputTokens: 8},
		},
		{
			"dashscope", "POST", "/compatible-mode/v1/chat/completions", "Authorization: Bearer d", `{"model":"qwen",` + hi + `}`,
			Request{Model: "qwen", Key: "d", InputTokens: 8},
		},
		{
			"dashscope-native", "POST", "/api/v1/services/aigc/text-generation/generation", "Authorization: Bearer d\nX-DashScope-SSE: enable",
			`{"model":"qwen","input":{` + hi + `},"parameters":{"max_tokens":4,"result_format":"message"}}`,
			Request{Model: "qwen", Key: "d", Stream: true, MaxTokens: 4, InputTokens: 8},
		},
		{
			"dashscope-native", "POST", "/api/v1/services/aigc/text-generation/generation", "", `{"model":"qwen","input":{"prompt":"hello!"}}`,
			Request{Model: "qwen", InputTokens: 2},
		},
		{
			"openrouter", "POST", "/api/v1/chat/completions", "Authorization: Bearer o", `{"model":"vendor/m",` + hi + `}`,
			Request{Model: "vendor/m", Key: "o", InputTokens: 8},
		},
		{
			"qianfan", "POST", "/rpc/2.0/ai_custom/v1/wenxinworkshop/chat/ernie?access_token=24.a", "", `{` + hi + `,"stream":true,"max_output_tokens":9}`,
			Request{Model: "ernie", Key: "24.a", Stream: true, MaxTokens: 9, InputTokens: 8},
		},
		{
			"qianfan-v2", "POST", "/v2/chat/completions", "Authorization: Bearer q", `{"model":"ernie",` + hi + `}`,
			Request{Model: "ernie", Key: "q", InputTokens: 8},
		},
		{
			"minimax", "POST", "/v1/text/chatcompletion_v2", "Authorization: Bearer x", `{"model":"abab",` + hi + `}`,
			Request{Model: "abab", Key: "x", InputTokens: 8},
		},
	} {
		got, err := readRequest(t, c.dialect, c.method, c.target, c.headers, c.body)
		require.NoError(t, err, c.target)
		require.Equal(t, c.want.Operation == ListModels, got.Prompt == 0)
		got.Prompt = 0
		require.Equal(t, c.want, got, c.target)
	}
}

func TestBadRequests(t *testing.T) {
	const path = "/v1/chat/completions"
	for _, c := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{"POST", path, ``, 400, "no body"},
		{"POST", path, `{`, 400, "not valid JSON"},
		{"POST", path, `[]`, 400, "it must be an object"},
		{"POST", path, `{"model":3}`, 400, "model: it must not be a JSON number"},
		{"POST", path, `{"model":"m"}`, 400, "messages"},
		{"POST", path, `{"model":"m","messages":[]}`, 400, "messages"},
		{"POST", path, `{"messages":["hi"]}`, 400, "model"},
		{"POST", path, `{"model":"m","messages":["hi"],"max_tokens":0}`, 400, "max_tokens"},
		{"POST", path, `{"model":"m","messages":["hi"],"max_tokens":-1}`, 400, "max_tokens"},
		{"POST", path, `{"model":"m","messages":["hi"],"max_tokens":1.5}`, 400, "max_tokens"},
		{"POST", path, `{"model":"m","messages":["hi"],"max_tokens":99999999999}`, 400, "max_tokens"},
		{"GET", path, ``, 405, "use POST"},
		{"POST", "/v2/nothing", `{}`, 404, "no such path"},
		{"POST", "", `{}`, 404, "no such path"},
	} {
		d, _ := ByName("openai")
		_, err := d.ParseRequest(&RawRequest{Method: c.method, Path: c.path, Body: []byte(c.body)})
		var refused *RequestError
		require.ErrorAs(t, err, &refused, c.body)
		require.Equal(t, c.status, refused.Status, c.body)
		require.ErrorContains(t, err, c.says)
		// Every dialect writes it in its own form and reads it back.
		for _, d := range All() {
			var m Message
			d.WriteRequestError(&m, &testContext, err)
			in := m.Raw()
			r := d.ParseReply(&in, ReadContext{})
			require.Equal(t, wire.BadRequest, r.Shown, "%s %s", d.Name, m.Body)
			require.Contains(t, string(m.Body), c.says)
		}
	}
	_, err := readRequest(t, "anthropic", "POST", "/v1/messages", "", `{"model":"m","messages":["hi"]}`)
	require.ErrorContains(t, err, "max_tokens: Field required")
}

func TestPromptHash(t *testing.T) {
	hash := func(body string) uint32 {
		r, err := readRequest(t, "openai", "POST", "/v1/chat/completions", "", body)
		require.NoError(t, err)
		return r.Prompt
	}
	base := hash(`{"model":"m","messages":[{"role":"user","content":"hi"}]}`)
	require.Equal(t, base, hash(`{"messages" : [ {"role":"user","content":"hi"} ],"stream":true,"model":"m"}`), "white space, order and streaming do not change the prompt")
	require.NotEqual(t, base, hash(`{"model":"n","messages":[{"role":"user","content":"hi"}]}`))
	require.NotEqual(t, base, hash(`{"model":"m","messages":[{"role":"user","content":"ho"}]}`))
}

func TestByPath(t *testing.T) {
	for _, d := range All() {
		for _, route := range d.Routes() {
			method, path, _ := strings.Cut(route, " ")
			h := http.Header{}
			if d.versionHeader != "" {
				h.Set(d.versionHeader, "2023-06-01")
			}
			got, ok := ByPath(&RawRequest{Method: method, Path: strings.Replace(path, "{model}", "m", 1), Header: h.Get})
			require.True(t, ok, route)
			require.Equal(t, d.Name, got.Name, route)
		}
	}
	_, ok := ByPath(&RawRequest{Method: "GET", Path: "/"})
	require.False(t, ok)
}

func TestModels(t *testing.T) {
	for _, d := range All() {
		for _, names := range [][]string{nil, {"demo-large", "demo-light"}} {
			var m Message
			d.Models(&m, &testContext, names)
			require.Equal(t, 200, m.Status)
			first, rest := split(m.Body)
			require.NotNil(t, first)
			require.Empty(t, rest)
			for _, name := range names {
				require.Contains(t, string(m.Body), name)
			}
		}
	}
}
