package dialect

import (
	"encoding/json"

	"herdlab/mockprovider/wire"
)

// miniMax is MiniMax: OpenAI's answers with a status in them, base_resp, whose
// status_code is not 0 for an error; then choices is null. Streams end with the
// whole completion, without [DONE]. There are no hints and no limit headers.
//
// Not verified: that errors have HTTP 200, 1000 for a provider at capacity,
// whether clients treat 1024 and 1000 differently.
func miniMax() Dialect {
	return Dialect{
		Name: "minimax", Title: "MiniMax",
		codec: miniMaxCodec{chat{extend: miniMaxExtend}},
		templates: templates{
			wire.OK:           {Status: 200},
			wire.Rate:         {Status: 200, Number: 1002, Spelled: wire.NoPlaceForHint, Text: "rate limit"},
			wire.TokenRate:    {Status: 200, Number: 1039, Spelled: wire.NoPlaceForHint, Text: "token limit"},
			wire.Concurrency:  {Status: 200, Number: 1041, Spelled: wire.NoPlaceForHint, Text: "conn limit"},
			wire.Acceleration: {Status: 200, Number: 2045, Spelled: wire.NoPlaceForHint, Text: "rate growth limit"},
			wire.Overloaded:   {Status: 200, Number: 1000, Spelled: wire.NoPlaceForHint, Text: "unknown error"},
			wire.Quota:        {Status: 200, Number: 1008, Spelled: wire.NoPlaceForHint, Text: "insufficient balance"},
			wire.Auth:         {Status: 200, Number: 1004, Spelled: wire.NoPlaceForHint, Text: "login fail: not authorized"},
			wire.Permission:   {Status: 200, Number: 1004, As: wire.Auth, Spelled: wire.NoPlaceForHint, Text: "token not match group"},
			wire.BadRequest:   {Status: 200, Number: 2013, Spelled: wire.NoPlaceForHint, Text: "invalid params"},
			wire.TooLarge:     {Status: 200, Number: 2013, As: wire.BadRequest, Spelled: wire.NoPlaceForHint, Text: "invalid params, context window exceeds limit"},
			wire.ServerError:  {Status: 200, Number: 1024, Spelled: wire.NoPlaceForHint, Text: "internal error"},
			wire.Timeout:      {Status: 200, Number: 1001, Spelled: wire.NoPlaceForHint, Text: "request timeout"},
		},
		routes: []route{{"POST", "/v1/text/chatcompletion_v2", Complete, false}},
		keys:   []keyPlace{{header: "Authorization", scheme: "Bearer "}},
		classify: func(in *findings) wire.Class {
			switch in.Number {
			case 1033:
				return wire.ServerError
			case 2049:
				return wire.Auth
			case 2056: // the limit of the plan for five hours
				return wire.Quota
			}
			return wire.OK
		},
	}
}

// miniMaxStatus is the status of a request.
type miniMaxStatus struct {
	Code    int32  `json:"status_code"`
	Message string `json:"status_msg"`
	hintFields
}

// miniMaxFields are the additional fields of an answer.
type miniMaxFields struct {
	Sensitive bool           `json:"input_sensitive"`
	Status    *miniMaxStatus `json:"base_resp,omitempty"` // in a completion
}

func miniMaxExtend(body chatBody, c *Context) chatBody {
	var fields miniMaxFields
	if body.Object == "chat.completion" {
		fields.Status = &miniMaxStatus{}
	}
	body.ID, body.extra = c.ID, fields
	return body
}

type miniMaxCodec struct{ chat }

func (v miniMaxCodec) appendError(b []byte, c *Context, f *failure) []byte {
	body := v.body(c, "chat.completion", c.Model, usageOf(c, 0))
	body.Choices, body.extra = nil, miniMaxFields{Status: &miniMaxStatus{f.Code, f.Message, f.hintFields}}
	return body.append(b)
}

// appendEnd writes the whole completion as the last frame.
func (v miniMaxCodec) appendEnd(b []byte, c *Context, a *answer) []byte {
	body := v.whole(c, a)
	return body.appendEvent(b)
}

func (v miniMaxCodec) appendStreamError(b []byte, c *Context, f *failure, _ int) []byte {
	return append(v.appendError(append(b, "data: "...), c, f), "\n\n"...)
}

func (v miniMaxCodec) readBody(body []byte, in *findings) {
	var top struct {
		Status struct {
			Code    json.RawMessage `json:"status_code"`
			Message json.RawMessage `json:"status_msg"`
			hintFields
		} `json:"base_resp"`
	}
	_ = json.Unmarshal(body, &top)
	if code, ok := parseInt32(top.Status.Code); ok && code != 0 {
		in.Failed, in.Coded, in.Number = true, true, code
		in.Message, in.hintFields = text(top.Status.Message), top.Status.hintFields
		return
	}
	v.readAnswer(body, in)
}

func (v miniMaxCodec) readFrame(_ string, data []byte, in *findings) { v.readBody(data, in) }

func (miniMaxCodec) likeness(p *probe) int {
	if p.has("base_resp") || p.has("choices", "input_sensitive") {
		return 3
	}
	return 0
}
