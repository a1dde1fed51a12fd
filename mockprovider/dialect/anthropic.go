package dialect

import (
	"encoding/json"
	"time"

	"herdlab/mockprovider/wire"
)

// anthropic is Anthropic's Messages API. Errors are
// {"type":"error","error":{"type","message"},"request_id"}. Resets are RFC 3339
// times. All limits have the same error type: only the message distinguishes
// acceleration, and only the headers distinguish requests from tokens.
func anthropic() Dialect {
	return Dialect{
		Name: "anthropic", Title: "Anthropic",
		Example: Example{
			Header: "x-api-key: " + ExampleKey,
			Body:   "{\"model\":\"{model}\",\"max_tokens\":20,\n\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}]}",
			SDK:    "Anthropic(base_url=\"{base}\",\n          api_key=\"" + ExampleKey + "\")",
		},
		codec: anthropicCodec{},
		templates: templates{
			wire.OK: {Status: 200},
			wire.Rate: {
				Status: 429, Kind: "rate_limit_error", Spelled: wire.HeaderSeconds,
				Text: "This request would exceed the rate limit for your organization[ of {limit} requests per minute].",
			},
			wire.TokenRate: {
				Status: 429, Kind: "rate_limit_error", As: wire.Rate, Spelled: wire.HeaderSeconds,
				Text: "This request would exceed the rate limit for your organization[ of {limit} tokens per minute].",
			},
			wire.Concurrency: {
				Status: 429, Kind: "rate_limit_error", As: wire.Rate, Spelled: wire.HeaderSeconds,
				Text: "This request would exceed the rate limit for your organization[ of {limit} concurrent requests].",
			},
			wire.Acceleration: {
				Status: 429, Kind: "rate_limit_error", As: wire.Rate, Spelled: wire.HeaderSeconds,
				Text: "This request would exceed the acceleration rate limit for your organization; scale up gradually.",
			},
			wire.Overloaded: {Status: 529, Kind: "overloaded_error", Spelled: wire.HeaderSeconds, Text: "Overloaded"},
			wire.Quota: {
				Status: 429, Kind: "rate_limit_error", Code: "enforced_spend_limit_reached", Spelled: wire.NoPlaceForHint,
				Text: "Monthly spend limit reached.",
			},
			wire.Auth: {Status: 401, Kind: "authentication_error", Spelled: wire.NoPlaceForHint, Text: "invalid api key"},
			wire.Permission: {
				Status: 403, Kind: "permission_error", Spelled: wire.NoPlaceForHint,
				Text: "Your API key does not have permission to use the specified resource.",
			},
			wire.BadRequest:  {Status: 400, Kind: "invalid_request_error", Spelled: wire.NoPlaceForHint, Text: "The request is not valid."},
			wire.TooLarge:    {Status: 413, Kind: "request_too_large", Spelled: wire.NoPlaceForHint, Text: "Request exceeds the maximum size"},
			wire.ServerError: {Status: 500, Kind: "api_error", Spelled: wire.HeaderSeconds, Text: "Internal server error"},
			wire.Timeout:     {Status: 504, Kind: "timeout_error", Spelled: wire.HeaderSeconds, Text: "The request took too long."},
		},
		limits: limits{
			requests: limitHeaders{"anthropic-ratelimit-requests-limit", "anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"},
			tokens:   limitHeaders{"anthropic-ratelimit-tokens-limit", "anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"},
			input:    limitHeaders{"anthropic-ratelimit-input-tokens-limit", "anthropic-ratelimit-input-tokens-remaining", "anthropic-ratelimit-input-tokens-reset"},
			output:   limitHeaders{"anthropic-ratelimit-output-tokens-limit", "anthropic-ratelimit-output-tokens-remaining", "anthropic-ratelimit-output-tokens-reset"},
			reset:    rfc3339,
		},
		routes: []route{
			{"POST", "/v1/messages", Complete, false},
			{"GET", "/v1/models", ListModels, false},
		},
		keys:            []keyPlace{{header: "x-api-key"}, {header: "Authorization", scheme: "Bearer "}},
		requestIDHeader: "request-id",
		versionHeader:   "anthropic-version",
		classify: func(in *findings) wire.Class {
			switch {
			case in.Kind == "billing_error":
				return wire.Quota
			case in.Kind == "not_found_error" || in.Kind == "conflict_error":
				return wire.BadRequest
			}
			return wire.OK
		},
	}
}

type anthropicCodec struct{}

type anthropicMessage struct {
	ID         string           `json:"id"`
	Type       string           `json:"type"`
	Role       string           `json:"role"`
	Model      string           `json:"model"`
	Content    []anthropicBlock `json:"content"`
	StopReason *string          `json:"stop_reason"`
	StopSeq    *string          `json:"stop_sequence"`
	Usage      *anthropicUsage  `json:"usage,omitempty"`
}

type anthropicBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type anthropicUsage struct {
	Input  uint32 `json:"input_tokens"`
	Output uint32 `json:"output_tokens"`
}

type anthropicError struct {
	Type  string `json:"type"`
	Error struct {
		Type    string            `json:"type"`
		Message string            `json:"message"`
		Details *anthropicDetails `json:"details,omitempty"`
		hintFields
	} `json:"error"`
	RequestID string `json:"request_id,omitempty"`
}

type anthropicDetails struct {
	ErrorCode string `json:"error_code"`
}

// anthropicStopReason returns the finish marker.
func anthropicStopReason(a *answer) *string {
	if reason := a.finishReason("end_turn", "max_tokens"); reason != "" {
		return &reason
	}
	return nil
}

func (anthropicCodec) appendAnswer(b []byte, c *Context, a *answer) []byte {
	return appendJSON(b, anthropicMessage{
		ID: "msg_" + c.ID, Type: "message", Role: "assistant", Model: a.Model,
		Content:    []anthropicBlock{{"text", a.Text}},
		StopReason: anthropicStopReason(a), Usage: &anthropicUsage{c.InputTokens, a.Tokens},
	})
}

// errorOf returns the error body of a failure.
func (anthropicCodec) errorOf(c *Context, f *failure) anthropicError {
	e := anthropicError{Type: "error", RequestID: c.ID}
	e.Error.Type, e.Error.Message, e.Error.hintFields = f.Kind, f.Message, f.hintFields
	if f.template.Code != "" {
		e.Error.Details = &anthropicDetails{f.template.Code}
	}
	return e
}

func (v anthropicCodec) appendError(b []byte, c *Context, f *failure) []byte {
	return appendJSON(b, v.errorOf(c, f))
}

func (anthropicCodec) appendModels(b []byte, c *Context, names []string) []byte {
	type model struct {
		Type        string `json:"type"`
		ID          string `json:"id"`
		DisplayName string `json:"display_name"`
		CreatedAt   string `json:"created_at"`
	}
	list := struct {
		Data    []model `json:"data"`
		HasMore bool    `json:"has_more"`
		FirstID *string `json:"first_id"`
		LastID  *string `json:"last_id"`
	}{Data: []model{}}
	for _, name := range names {
		list.Data = append(list.Data, model{"model", name, name, time.Unix(c.Epoch, 0).UTC().Format(time.RFC3339)})
	}
	if n := len(names); n > 0 {
		list.FirstID, list.LastID = &names[0], &names[n-1]
	}
	return appendJSON(b, list)
}

func (v anthropicCodec) readBody(body []byte, in *findings) {
	var top struct {
		Type string `json:"type"`
	}
	if _ = json.Unmarshal(body, &top); top.Type == "error" {
		v.readError(body, in)
		return
	}
	var m anthropicMessage
	if _ = json.Unmarshal(body, &m); m.Type != "message" {
		return
	}
	in.Answered, in.Finished, in.Model = true, m.StopReason != nil, m.Model
	if m.Usage != nil {
		in.usage(m.Usage.Output)
	}
}

func (anthropicCodec) readError(data []byte, in *findings) {
	var top struct {
		Error json.RawMessage `json:"error"`
	}
	_ = json.Unmarshal(data, &top)
	in.Failed = true
	readError(top.Error, in)
	var inner struct {
		Details json.RawMessage `json:"details"`
	}
	_ = json.Unmarshal(top.Error, &inner)
	var details anthropicDetails
	_ = json.Unmarshal(inner.Details, &details)
	in.Code = details.ErrorCode
}

func (anthropicCodec) readRequest(r *Request, body []byte) error {
	var (
		model                   string
		messages, system, tools json.RawMessage
		maxTokens               count
	)
	err := decode(body,
		field{"model", &model}, field{"messages", &messages}, field{"system", &system}, field{"tools", &tools},
		field{"stream", &r.Stream}, field{"max_tokens", &maxTokens},
	)
	if err != nil {
		return err
	}
	if r.Model == "" { // a model in the path has priority
		r.Model = model
	}
	switch {
	case !isList(messages):
		return badRequest("messages: it must be a list of at least one message")
	case !maxTokens.stated:
		return badRequest("max_tokens: Field required")
	}
	r.prompt(messages, system, tools)
	return r.cap("max_tokens", maxTokens)
}

func (anthropicCodec) likeness(p *probe) int {
	switch kind := p.text("type"); {
	case kind == "error" && p.has("error"), kind == "message" && p.has("content"), kind == "message_start",
		p.header("anthropic-ratelimit-requests-limit"):
		return 3
	}
	return 0
}
