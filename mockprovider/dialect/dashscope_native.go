package dialect

import (
	"cmp"
	"encoding/json"

	"herdlab/mockprovider/wire"
)

// dashScopeNative is DashScope in its native mode: {"output","usage"} and,
// without nesting, {"code","message","request_id"}. The header X-DashScope-SSE
// asks for a stream; its pieces are always increments here. Answers do not
// contain the model. X-DashScope-Wait-Time, which asks the server to queue
// requests during acceleration, is ignored, because the scenario defines the
// queue.
//
// Not verified: Throttling.Concurrency (only in a third party's catalogue),
// ModelUnavailable and its status, the status of InternalError.Timeout.
func dashScopeNative() Dialect {
	d := dashScope()
	d.Name, d.Title = "dashscope-native", "DashScope (native)"
	d.codec, d.hidesModel = dashScopeNativeCodec{}, true
	for class, code := range [...]string{
		wire.Rate: "Throttling.RateQuota", wire.TokenRate: "Throttling.AllocationQuota",
		wire.Concurrency: "Throttling.Concurrency", wire.Acceleration: "Throttling.BurstRate",
		wire.Overloaded: "ModelUnavailable", wire.Quota: "AllocationQuota.FreeTierOnly",
		wire.Auth: "InvalidApiKey", wire.Permission: "AccessDenied",
		wire.BadRequest: "InvalidParameter", wire.TooLarge: "InvalidParameter",
		wire.ServerError: "InternalError", wire.Timeout: "InternalError.Timeout",
	} {
		if code != "" {
			d.templates[class].Kind, d.templates[class].Code = "", code
		}
	}
	d.templates[wire.Concurrency].As, d.templates[wire.Timeout].As = wire.OK, wire.OK
	d.routes = []route{{"POST", "/api/v1/services/aigc/text-generation/generation", Complete, false}}
	d.streamHeader = "X-DashScope-SSE"
	d.Example = Example{
		Body: "{\"model\":\"{model}\",\n\"input\":{\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}]}}",
		SDK:  "dashscope.base_http_api_url = \"{base}/api/v1\"\ndashscope.api_key = \"" + ExampleKey + "\"",
	}
	return d
}

type dashScopeNativeCodec struct{}

type dashScopeBody struct {
	Output struct {
		Choices []dashScopeChoice `json:"choices"`
	} `json:"output"`
	Usage     dashScopeUsage `json:"usage"`
	RequestID string         `json:"request_id"`
}

type dashScopeChoice struct {
	Finish  string      `json:"finish_reason"`
	Message chatMessage `json:"message"`
}

type dashScopeUsage struct {
	Input  uint32 `json:"input_tokens"`
	Output uint32 `json:"output_tokens"`
	Total  uint64 `json:"total_tokens"`
}

// dashScopeUnfinished is the finish reason of an unfinished answer.
const dashScopeUnfinished = "null"

func (dashScopeNativeCodec) body(c *Context, text, finish string, tokens uint32) (body dashScopeBody) {
	body.Output.Choices = []dashScopeChoice{{finish, chatMessage{"assistant", &text}}}
	body.Usage = dashScopeUsage{c.InputTokens, tokens, uint64(c.InputTokens) + uint64(tokens)}
	body.RequestID = c.ID
	return body
}

func (v dashScopeNativeCodec) appendAnswer(b []byte, c *Context, a *answer) []byte {
	return appendJSON(b, v.body(c, a.Text, cmp.Or(a.finishReason("stop", "length"), dashScopeUnfinished), a.Tokens))
}

type dashScopeFailure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	hintFields
	RequestID string `json:"request_id"`
}

func (dashScopeNativeCodec) errorOf(c *Context, f *failure) dashScopeFailure {
	return dashScopeFailure{f.template.Code, f.Message, f.hintFields, c.ID}
}

func (v dashScopeNativeCodec) appendError(b []byte, c *Context, f *failure) []byte {
	return appendJSON(b, v.errorOf(c, f))
}

func (dashScopeNativeCodec) appendModels(b []byte, c *Context, names []string) []byte {
	return chat{}.appendModels(b, c, names)
}

func (v dashScopeNativeCodec) appendStart(b []byte, c *Context, _ string) []byte {
	return appendEvent(b, "result", v.body(c, "", dashScopeUnfinished, 0))
}

func (v dashScopeNativeCodec) appendToken(b []byte, c *Context, _ string, i int, text string) []byte {
	return appendEvent(b, "result", v.body(c, text, dashScopeUnfinished, uint32(i)+1))
}

func (v dashScopeNativeCodec) appendEnd(b []byte, c *Context, a *answer) []byte {
	return appendEvent(b, "result", v.body(c, "", a.finishReason("stop", "length"), a.Tokens))
}

func (v dashScopeNativeCodec) appendStreamError(b []byte, c *Context, f *failure, _ int) []byte {
	return appendEvent(b, "error", v.errorOf(c, f))
}

func (dashScopeNativeCodec) readBody(body []byte, in *findings) {
	var failed struct {
		Code    json.RawMessage `json:"code"`
		Message json.RawMessage `json:"message"`
		hintFields
	}
	// Codes that are numbers are those of other providers.
	if _ = json.Unmarshal(body, &failed); text(failed.Code) != "" && !isDigits(text(failed.Code)) {
		in.Failed, in.Code, in.Message, in.hintFields = true, text(failed.Code), text(failed.Message), failed.hintFields
		return
	}
	var answered dashScopeBody
	_ = json.Unmarshal(body, &answered)
	for _, choice := range answered.Output.Choices {
		if choice.Message.Content != nil {
			in.piece(*choice.Message.Content)
		}
		if choice.Finish != "" && choice.Finish != dashScopeUnfinished {
			in.Finished = true
		}
		in.usage(answered.Usage.Output)
	}
}

func (v dashScopeNativeCodec) readFrame(_ string, data []byte, in *findings) { v.readBody(data, in) }

func (dashScopeNativeCodec) readRequest(r *Request, body []byte) error {
	var messages, prompt json.RawMessage
	var maxTokens count
	err := decode(body,
		field{"model", &r.Model}, field{"input", fields{{"messages", &messages}, {"prompt", &prompt}}},
		field{"parameters", fields{{"max_tokens", &maxTokens}}},
	)
	if err != nil {
		return err
	}
	if !isList(messages) && text(prompt) == "" {
		return badRequest("input.messages: it must be a list of at least one message")
	}
	r.prompt(messages, prompt)
	return r.cap("parameters.max_tokens", maxTokens)
}

func (dashScopeNativeCodec) likeness(p *probe) int {
	code := p.text("code")
	if code != "" && !isDigits(code) && p.has("request_id", "message") || p.has("output", "usage", "request_id") {
		return 3
	}
	return 0
}
