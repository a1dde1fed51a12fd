package dialect

import (
	"encoding/json"

	"herdlab/mockprovider/wire"
)

// openRouter is OpenRouter, a router in front of other providers: OpenAI's
// answers with the name of the provider, and
// {"error":{"code","message","metadata"}} with a number as the code. For
// refusals of the router itself, the status is the code. A failure of the
// provider behind it is an error with status 200, which SDKs take for an answer
// without choices. A 402 is permanent, unless the budget of requests in flight
// is spent.
//
// Not verified: metadata.provider_name, the X-RateLimit headers, that the last
// chunk of a stream always has the usage, the text for a prompt that is too
// long.
func openRouter() Dialect {
	return Dialect{
		Name: "openrouter", Title: "OpenRouter",
		Example: openAISDK("/api/v1"),
		codec:   openRouterCodec{chat{extend: openRouterExtend, usageInLast: true}},
		templates: templates{
			wire.OK:        {Status: 200},
			wire.Rate:      {Status: 429, Code: "429", Spelled: wire.HeaderSeconds, Text: "Rate limit exceeded"},
			wire.TokenRate: {Status: 429, Code: "429", As: wire.Rate, Spelled: wire.HeaderSeconds, Text: "Rate limit exceeded: tokens per minute"},
			wire.Concurrency: {
				Status: 402, Kind: "openrouter_in_flight_budget", Code: "402", Spelled: wire.HeaderSeconds,
				Text: "The budget for requests in flight is used up",
			},
			wire.Acceleration: {Status: 429, Code: "429", As: wire.Rate, Spelled: wire.HeaderSeconds, Text: "Rate limit exceeded: slow down"},
			wire.Overloaded: {
				Status: 200, Kind: "provider_overloaded", Number: 503, Spelled: wire.HeaderSeconds,
				Text: "No provider available for this model right now",
			},
			wire.Quota:       {Status: 402, Code: "402", Spelled: wire.NoPlaceForHint, Text: "Insufficient credits"},
			wire.Auth:        {Status: 401, Code: "401", Spelled: wire.NoPlaceForHint, Text: "No auth credentials found"},
			wire.Permission:  {Status: 403, Code: "403", Spelled: wire.NoPlaceForHint, Text: "The guardrails of this key do not allow the request"},
			wire.BadRequest:  {Status: 400, Code: "400", Spelled: wire.NoPlaceForHint, Text: "The request is not valid"},
			wire.TooLarge:    {Status: 400, Code: "400", As: wire.BadRequest, Spelled: wire.NoPlaceForHint, Text: "The prompt is longer than the context of {model}"},
			wire.ServerError: {Status: 200, Number: 502, Spelled: wire.NoPlaceForHint, Text: "Provider returned error"},
			wire.Timeout:     {Status: 200, Number: 408, Spelled: wire.NoPlaceForHint, Text: "Your request timed out"},
		},
		limits: limits{
			requests: limitHeaders{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"},
			reset:    epochMillis,
		},
		routes: []route{
			{"POST", "/api/v1/chat/completions", Complete, false},
			{"GET", "/api/v1/models", ListModels, false},
		},
		keys: []keyPlace{{header: "Authorization", scheme: "Bearer "}},
	}
}

// openRouterProvider is the name of the provider behind the router.
const openRouterProvider = "Herdlab"

// openRouterFields are the additional fields of an answer.
type openRouterFields struct {
	Provider string           `json:"provider"`
	Error    *openRouterError `json:"error,omitempty"` // in a chunk that ends with an error
}

func openRouterExtend(body chatBody, c *Context) chatBody {
	body.ID, body.extra = "gen-"+c.ID, openRouterFields{Provider: openRouterProvider}
	return body
}

type openRouterCodec struct{ chat }

type openRouterError struct {
	Code     number              `json:"code"`
	Message  string              `json:"message"`
	Metadata *openRouterMetadata `json:"metadata,omitempty"`
	hintFields
}

type openRouterMetadata struct {
	ErrorType   string `json:"error_type,omitempty"`
	LimitSource string `json:"limit_source,omitempty"`
	Provider    string `json:"provider_name,omitempty"`
}

// kind returns the string in the metadata that programs read.
func (m *openRouterMetadata) kind() string {
	if m.LimitSource != "" {
		return m.LimitSource
	}
	return m.ErrorType
}

func (openRouterCodec) errorOf(f *failure) openRouterError {
	e := openRouterError{Code: number(f.template.Code), Message: f.Message, hintFields: f.hintFields}
	if f.template.Number != 0 {
		e.Code = number(intJSON(f.Code))
		e.Metadata = &openRouterMetadata{ErrorType: f.Kind, Provider: openRouterProvider}
	} else if f.Kind != "" {
		e.Metadata = &openRouterMetadata{LimitSource: f.Kind}
	}
	return e
}

func (v openRouterCodec) appendError(b []byte, _ *Context, f *failure) []byte {
	return appendJSON(b, struct {
		Error openRouterError `json:"error"`
	}{v.errorOf(f)})
}

// appendStreamError writes a chunk that ends the answer with an error.
func (v openRouterCodec) appendStreamError(b []byte, c *Context, f *failure, _ int) []byte {
	reason := "error"
	last := chatChoice{Delta: &chatMessage{Content: new(string)}, Finish: &reason}
	body, failed := v.body(c, "chat.completion.chunk", c.Model, nil, last), v.errorOf(f)
	body.extra = openRouterFields{openRouterProvider, &failed}
	return body.appendEvent(b)
}

// appendStart first writes the comment that keeps a connection open.
func (v openRouterCodec) appendStart(b []byte, c *Context, model string) []byte {
	return v.chat.appendStart(append(b, ": OPENROUTER PROCESSING\n\n"...), c, model)
}

func (v openRouterCodec) readBody(body []byte, in *findings) {
	var top struct {
		Error json.RawMessage `json:"error"`
	}
	if _ = json.Unmarshal(body, &top); len(top.Error) == 0 {
		v.readAnswer(body, in)
		return
	}
	var e struct {
		Code     json.RawMessage `json:"code"`
		Message  json.RawMessage `json:"message"`
		Metadata json.RawMessage `json:"metadata"`
		hintFields
	}
	_ = json.Unmarshal(top.Error, &e)
	code, ok := parseInt32(e.Code)
	if !ok {
		return // codes that are words are those of other providers
	}
	var metadata openRouterMetadata
	_ = json.Unmarshal(e.Metadata, &metadata)
	in.Failed, in.Kind, in.Message, in.hintFields = true, metadata.kind(), text(e.Message), e.hintFields
	if in.Status >= 400 || !openRouterBehind(code) {
		in.Code = string(intJSON(code))
		if in.Status < 400 && code >= 400 && code < 600 {
			in.Status = int(code) // in other dialects, the code is a status
		}
		return
	}
	in.Coded, in.Number = true, code
}

// openRouterBehind reports whether a code is one of the provider behind the
// router, or unknown.
func openRouterBehind(code int32) bool {
	switch code {
	case 400, 401, 402, 403, 429:
		return false
	}
	return true
}

func (v openRouterCodec) readFrame(_ string, data []byte, in *findings) {
	if string(data) == doneMarker {
		v.readAnswer(data, in)
		return
	}
	v.readBody(data, in)
}

func (openRouterCodec) likeness(p *probe) int {
	if _, ok := parseInt32(p.inner["code"]); ok && p.text("type") == "" && !p.errorHas("status") && !p.errorHas("type") && p.errorText("code") == "" {
		return 3
	}
	if p.has("provider", "choices") {
		return 3
	}
	return 0
}
