package dialect

import (
	"testing"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
)

// TestStreamsByteForByte checks the bytes of errors in streams.
func TestStreamsByteForByte(t *testing.T) {
	c := Context{Model: "m", ID: "1", Epoch: epoch}
	r := wire.Reply{Status: 200, Body: wire.StreamError, Class: wire.Overloaded, Shown: wire.Overloaded, Hint: wire.Hint{Value: wire.NoHint}, Tokens: 1}
	d, _ := ByName("openai")
	require.Equal(t, `data: {"error":{"message":"The server is overloaded, retry later.","type":"service_unavailable_error","param":null,"code":"server_is_overloaded"}}`+"\n\n", string(d.End(nil, &c, &r, 1)))
	c.Operation = Respond
	require.Equal(t, "event: response.failed\n"+`data: {"type":"response.failed","sequence_number":5,"response":{"id":"resp_1","object":"response","created_at":1792567680,"model":"m","status":"failed","output":[],"error":{"code":"server_is_overloaded","message":"The server is overloaded, retry later."},"incomplete_details":null,"usage":null}}`+"\n\n", string(d.End(nil, &c, &r, 1)))
	d, _ = ByName("anthropic")
	require.Equal(t, "event: error\n"+`data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`+"\n\n", string(d.End(nil, &c, &r, 1)))
	d, _ = ByName("gemini")
	require.Equal(t, `data: {"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}`+"\n\n", string(d.End(nil, &c, &r, 1)))

	c.Operation = Complete
	for name, want := range map[string]string{
		"azure":            `data: {"error":{"code":"429","message":"The system is experiencing high demand and cannot process your request."}}`,
		"zhipu":            `data: {"error":{"code":"1305","message":"该模型当前访问量过大,请您稍后再试"}}`,
		"dashscope":        `data: {"error":{"message":"The model is too busy, please try again later.","type":"service_unavailable","param":null,"code":"service_unavailable"},"id":"chatcmpl-1","request_id":"1"}`,
		"dashscope-native": "event: error\n" + `data: {"code":"ModelUnavailable","message":"The model is too busy, please try again later.","request_id":"1"}`,
		"openrouter":       `data: {"id":"gen-1","object":"chat.completion.chunk","created":1792567680,"model":"m","choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}],"provider":"Herdlab","error":{"code":503,"message":"No provider available for this model right now","metadata":{"error_type":"provider_overloaded","provider_name":"Herdlab"}}}`,
		"qianfan":          `data: {"error_code":336100,"error_msg":"server is busy, please try again later","id":"as-1"}`,
		"qianfan-v2":       `data: {"error":{"code":"server_busy","message":"server is busy, please try again later","type":"internal_error"},"id":"as-1"}`,
		"minimax":          `data: {"id":"1","object":"chat.completion","created":1792567680,"model":"m","choices":null,"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0},"input_sensitive":false,"base_resp":{"status_code":1000,"status_msg":"unknown error"}}`,
	} {
		d, _ := ByName(name)
		require.Equal(t, want+"\n\n", string(d.End(nil, &c, &r, 1)), name)
	}
}

// TestServerSentEvents: frames in the variations of real servers: comments,
// CRLF, several data lines, no blank line at the end.
func TestServerSentEvents(t *testing.T) {
	for stream, want := range map[string][]string{
		": keep-alive\n\ndata: 1\n\n":           {"|1"},
		"event: a\r\ndata: 1\r\n\r\ndata:2\n\n": {"a|1", "|2"},
		"data: 1\ndata: 2\n\n":                  {"|1\n2"},
		"data: 1":                               {"|1"},
		"id: 7\nretry: 3\ndata\n\n":             {"|"},
		"event: x\n\ndata: 1\n\n":               {"|1"},
		"\n\n\n":                                nil,
	} {
		for step := 1; step < 9; step++ {
			var got []string
			to := func(event string, data []byte) { got = append(got, event+"|"+string(data)) }
			s := &sse{}
			for rest := stream; rest != ""; {
				n := min(step, len(rest))
				require.True(t, s.feed([]byte(rest[:n]), to))
				rest = rest[n:]
			}
			s.end(to)
			require.Equal(t, want, got, "%q", stream)
		}
	}
	s := &sse{}
	require.False(t, s.feed(make([]byte, maxFrame+1), nil), "a line that is too long")
}

// TestCappedAnswers: an answer that the cap of the request ends has the finish
// reason of the dialect, and is read as complete.
func TestCappedAnswers(t *testing.T) {
	r := wire.Reply{Status: 200, Hint: wire.Hint{Value: wire.NoHint}, Tokens: 5}
	for _, d := range All() {
		for _, operation := range []Operation{Complete, Respond} {
			if operation == Respond && d.Name != "openai" {
				continue
			}
			write := func(most uint32, streamed bool) string {
				c := Context{Model: "m", ID: "id", Epoch: 2e9, MaxTokens: most, Operation: operation, Usage: true}
				var m Message
				if streamed && d.Streams(&r) {
					d.WriteStream(&m, &c, &r)
				} else {
					d.Write(&m, &c, &r)
				}
				in := m.Raw()
				s := d.ReadStream(in, ReadContext{Epoch: 2e9})
				s.Feed(m.Body)
				got := s.End(false)
				require.Equal(t, wire.Completion, got.Body, "%s with a cap of %d", d.Name, most)
				require.Equal(t, uint32(5), got.Tokens, d.Name)
				return string(m.Body)
			}
			for _, streamed := range []bool{false, true} {
				free := write(0, streamed)
				require.Equal(t, free, write(6, streamed), "%s: the cap was not in the way", d.Name)
				capped := write(5, streamed)
				require.NotEqual(t, free, capped, d.Name)
				require.Regexp(t, `"(length|max_tokens|MAX_TOKENS|max_output_tokens)"|"is_truncated":true`, capped, d.Name)
			}
		}
	}
}
