package dialect

import (
	"encoding/json"

	"herdlab/mockprovider/wire"
)

// qianfan is version 1 of Baidu's Qianfan (ERNIE): HTTP 200 for every reply,
// and {"error_code","error_msg"} for errors. Headers describe limits, with
// errors too. The pages of its documentation differ, so {"code","msg"} and
// codes that are words are also read; qianfanV2 has real statuses. Answers do
// not contain the model. The key is in the query.
//
// Not verified: 336000, 336003 and 336007 and their texts, finish_reason in an
// answer that is not a stream.
func qianfan() Dialect {
	return Dialect{
		Name: "qianfan", Title: "Qianfan v1",
		codec: qianfanCodec{}, hidesModel: true,
		templates: templates{
			wire.OK:           {Status: 200},
			wire.Rate:         {Status: 200, Number: 336501, Spelled: wire.NoPlaceForHint, Text: "Rate limit reached for RPM"},
			wire.TokenRate:    {Status: 200, Number: 336502, Spelled: wire.NoPlaceForHint, Text: "Rate limit reached for TPM"},
			wire.Concurrency:  {Status: 200, Number: 18, As: wire.Rate, Spelled: wire.NoPlaceForHint, Text: "Open api qps request limit reached"},
			wire.Acceleration: {Status: 200, Number: 4, As: wire.Rate, Spelled: wire.NoPlaceForHint, Text: "Open api request limit reached"},
			wire.Overloaded:   {Status: 200, Number: 336100, Spelled: wire.NoPlaceForHint, Text: "server is busy, please try again later"},
			wire.Quota:        {Status: 200, Number: 17, Spelled: wire.NoPlaceForHint, Text: "Open api daily request limit reached"},
			wire.Auth:         {Status: 200, Number: 110, Spelled: wire.NoPlaceForHint, Text: "Access token invalid or no longer valid"},
			wire.Permission:   {Status: 200, Number: 6, Spelled: wire.NoPlaceForHint, Text: "No permission to access data"},
			wire.BadRequest:   {Status: 200, Number: 336003, Spelled: wire.NoPlaceForHint, Text: "The request is not valid"},
			wire.TooLarge:     {Status: 200, Number: 336007, Spelled: wire.NoPlaceForHint, Text: "the prompt is longer than the model takes"},
			wire.ServerError:  {Status: 200, Number: 336000, Spelled: wire.NoPlaceForHint, Text: "Internal error"},
			wire.Timeout:      {Status: 200, Number: 336000, As: wire.ServerError, Spelled: wire.NoPlaceForHint, Text: "Internal error"},
		},
		limits: limits{
			requests: limitHeaders{"X-Ratelimit-Limit-Requests", "X-Ratelimit-Remaining-Requests", ""},
			tokens:   limitHeaders{"X-Ratelimit-Limit-Tokens", "X-Ratelimit-Remaining-Tokens", ""},
			onCode:   true,
		},
		routes:   []route{{"POST", "/rpc/2.0/ai_custom/v1/wenxinworkshop/chat/{model}", Complete, false}},
		keys:     []keyPlace{{query: "access_token"}, {header: "Authorization", scheme: "Bearer "}},
		classify: qianfanClass,
	}
}

// qianfanClass classifies the codes of both versions that no template has.
func qianfanClass(in *findings) wire.Class {
	switch in.Number {
	case 4, 18:
		return wire.Rate
	case 19: // the total quota
		return wire.Quota
	case 111: // expired
		return wire.Auth
	case 336103:
		return wire.TooLarge
	}
	switch in.Code {
	case "rpm_rate_limit_exceeded", "RATE_LIMIT_TOTAL_QPS":
		return wire.Rate
	case "tpm_rate_limit_exceeded":
		return wire.TokenRate
	case "QUOTA_USER_DAILY_REQUEST", "BILLING_INSUFFICIENT_BALANCE":
		return wire.Quota
	case "invalid_model":
		return wire.BadRequest
	}
	return wire.OK
}

type qianfanCodec struct{}

type qianfanBody struct {
	ID        string     `json:"id"`
	Object    string     `json:"object"`
	Created   int64      `json:"created"`
	Sentence  *int       `json:"sentence_id,omitempty"`
	End       *bool      `json:"is_end,omitempty"`
	Truncated bool       `json:"is_truncated"`
	Result    *string    `json:"result"`
	Clear     bool       `json:"need_clear_history"`
	Finish    string     `json:"finish_reason,omitempty"`
	Usage     *chatUsage `json:"usage"`
}

func (qianfanCodec) body(c *Context, text string, tokens uint32) qianfanBody {
	return qianfanBody{ID: "as-" + c.ID, Object: "chat.completion", Created: c.created(), Result: &text, Usage: usageOf(c, tokens)}
}

func (v qianfanCodec) appendAnswer(b []byte, c *Context, a *answer) []byte {
	body := v.body(c, a.Text, a.Tokens)
	body.Finish, body.Truncated = a.finishReason("normal", "length"), a.Capped
	return appendJSON(b, body)
}

type qianfanError struct {
	Code    int32  `json:"error_code"`
	Message string `json:"error_msg"`
	ID      string `json:"id,omitempty"`
	hintFields
}

func (qianfanCodec) appendError(b []byte, c *Context, f *failure) []byte {
	return appendJSON(b, qianfanError{f.Code, f.Message, "as-" + c.ID, f.hintFields})
}

func (qianfanCodec) appendModels(b []byte, c *Context, names []string) []byte {
	return chat{}.appendModels(b, c, names)
}

// piece writes the i-th piece of a stream, with the usage so far.
func (v qianfanCodec) piece(b []byte, c *Context, i int, text string, end, truncated bool, tokens uint32) []byte {
	body := v.body(c, text, tokens)
	body.Sentence, body.End, body.Truncated = &i, &end, truncated
	return appendEvent(b, "", body)
}

func (v qianfanCodec) appendStart(b []byte, c *Context, _ string) []byte {
	return v.piece(b, c, 0, "", false, false, 0)
}

func (v qianfanCodec) appendToken(b []byte, c *Context, _ string, i int, text string) []byte {
	return v.piece(b, c, i+1, text, false, false, uint32(i)+1)
}

func (v qianfanCodec) appendEnd(b []byte, c *Context, a *answer) []byte {
	return v.piece(b, c, Pieces(a.Tokens)+1, "", true, a.Capped, a.Tokens)
}

func (v qianfanCodec) appendStreamError(b []byte, c *Context, f *failure, _ int) []byte {
	return append(v.appendError(append(b, "data: "...), c, f), "\n\n"...)
}

func (v qianfanCodec) readBody(body []byte, in *findings) {
	var failed struct {
		ErrorCode json.RawMessage `json:"error_code"`
		ErrorText json.RawMessage `json:"error_msg"`
		Code      json.RawMessage `json:"code"`
		Text      json.RawMessage `json:"msg"`
		hintFields
	}
	_ = json.Unmarshal(body, &failed)
	code, message := failed.ErrorCode, text(failed.ErrorText)
	if len(code) == 0 && len(failed.Text) > 0 {
		code, message = failed.Code, text(failed.Text)
	}
	if number, numbered := parseInt32(code); numbered && number != 0 || text(code) != "" {
		in.Failed, in.Coded, in.Number, in.Message, in.hintFields = true, true, number, message, failed.hintFields
		if !numbered {
			in.Code = text(code)
		}
		return
	}
	var answered qianfanBody
	_ = json.Unmarshal(body, &answered)
	if answered.Result == nil {
		return
	}
	in.piece(*answered.Result)
	if answered.Usage != nil {
		in.usage(answered.Usage.Completion)
	}
	if answered.Finish != "" || answered.End != nil && *answered.End {
		in.Finished = true
	}
}

func (v qianfanCodec) readFrame(_ string, data []byte, in *findings) { v.readBody(data, in) }

func (qianfanCodec) readRequest(r *Request, body []byte) error {
	var messages, system json.RawMessage
	var maxTokens count
	err := decode(body,
		field{"messages", &messages}, field{"system", &system}, field{"stream", &r.Stream}, field{"max_output_tokens", &maxTokens},
	)
	if err != nil {
		return err
	}
	if !isList(messages) {
		return badRequest("messages: it must be a list of at least one message")
	}
	r.prompt(messages, system)
	return r.cap("max_output_tokens", maxTokens)
}

func (qianfanCodec) likeness(p *probe) int {
	if p.has("error_code") || p.has("result", "object") || p.has("code", "msg") {
		return 3
	}
	return 0
}
