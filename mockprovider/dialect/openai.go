package dialect

import (
	"encoding/json"

	"herdlab/mockprovider/wire"
)

// openAI is OpenAI's API: chat completions and responses. Errors are
// {"error":{"message","type","param","code"}}. Headers x-ratelimit-* describe
// limits; resets are Go durations.
func openAI() Dialect {
	return Dialect{
		Name: "openai", Title: "OpenAI",
		Example: openAISDK("/v1"),
		codec:   openAICodec{},
		templates: templates{
			wire.OK: {Status: 200},
			wire.Rate: {
				Status: 429, Kind: "requests", Code: "rate_limit_exceeded", Spelled: wire.BothSeconds,
				Text: "Rate limit reached for {model} in organization org-herdlab on requests per min (RPM)[: Limit {limit}, Used {used}, Requested 1].",
			},
			wire.TokenRate: {
				Status: 429, Kind: "tokens", Code: "rate_limit_exceeded", Spelled: wire.BothSeconds,
				Text: "Rate limit reached for {model} in organization org-herdlab on tokens per min (TPM)[: Limit {limit}, Used {used}, Requested {input}].",
			},
			wire.Concurrency: {
				Status: 429, Kind: "requests", Code: "rate_limit_exceeded", As: wire.Rate, Spelled: wire.BothSeconds,
				Text: "Rate limit reached for {model} in organization org-herdlab on concurrent requests[: Limit {limit}].",
			},
			wire.Acceleration: {
				Status: 429, Kind: "rate_limit_error", Code: "slow_down", Spelled: wire.HeaderSeconds,
				Text: "Traffic is growing faster than allowed; keep a steady rate before ramping.",
			},
			wire.Overloaded: {
				Status: 503, Kind: "service_unavailable_error", Code: "server_is_overloaded", Spelled: wire.HeaderSeconds,
				Text: "The server is overloaded, retry later.",
			},
			wire.Quota: {
				Status: 429, Kind: "insufficient_quota", Code: "credit_balance_exhausted", Spelled: wire.NoPlaceForHint,
				Text: "Credit balance is used up; check plan and billing.",
			},
			wire.Auth: {
				Status: 401, Kind: "invalid_request_error", Code: "invalid_api_key", Spelled: wire.NoPlaceForHint,
				Text: "Incorrect API key provided.",
			},
			wire.Permission: {
				Status: 403, Kind: "invalid_request_error", Code: "unsupported_country_region_territory", Spelled: wire.NoPlaceForHint,
				Text: "Country, region, or territory not supported.",
			},
			wire.BadRequest: {
				Status: 400, Kind: "invalid_request_error", Spelled: wire.NoPlaceForHint,
				Text: "The request is not valid.",
			},
			wire.TooLarge: {
				Status: 400, Kind: "invalid_request_error", Code: "context_length_exceeded", Spelled: wire.NoPlaceForHint,
				Text: "The messages are longer than the context of {model}; please reduce their length.",
			},
			wire.ServerError: {
				Status: 500, Kind: "server_error", Spelled: wire.HeaderSeconds,
				Text: "The server had an error while processing your request.",
			},
			wire.Timeout: {
				Status: 504, Kind: "server_error", Code: "timeout", Spelled: wire.HeaderSeconds,
				Text: "The request took too long.",
			},
		},
		limits: limits{
			requests: limitHeaders{"x-ratelimit-limit-requests", "x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"},
			tokens:   limitHeaders{"x-ratelimit-limit-tokens", "x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"},
			reset:    goDuration,
		},
		routes: []route{
			{"POST", "/v1/chat/completions", Complete, false},
			{"POST", "/v1/responses", Respond, false},
			{"GET", "/v1/models", ListModels, false},
		},
		keys:            []keyPlace{{header: "Authorization", scheme: "Bearer "}},
		requestIDHeader: "x-request-id",
		hintSentence:    "Please try again in %ss.",
		bothUnits:       true,
		classify:        openAIClass,
	}
}

// openAIClass classifies the codes that no template has.
func openAIClass(in *findings) wire.Class {
	if in.Kind == "insufficient_quota" {
		return wire.Quota // "may remain the type for all" such codes
	}
	switch in.Code {
	case "insufficient_quota", "organization_spend_limit_exceeded", "project_spend_limit_exceeded", "organization_usage_limit_exceeded":
		return wire.Quota
	}
	switch in.Kind {
	case "usage_limit_reached", "usage_not_included": // the backend of ChatGPT's subscriptions
		return wire.Quota
	}
	return wire.OK
}

// openAICodec writes chat completions itself; responses writes Responses.
type openAICodec struct{ chat }

func (v openAICodec) appendAnswer(b []byte, c *Context, a *answer) []byte {
	if c.Operation == Respond {
		return responses{}.appendAnswer(b, c, a)
	}
	return v.chat.appendAnswer(b, c, a)
}

func (openAICodec) appendError(b []byte, _ *Context, f *failure) []byte {
	return appendJSON(b, errorOf(f))
}

func (v openAICodec) appendStart(b []byte, c *Context, model string) []byte {
	if c.Operation == Respond {
		return responses{}.appendStart(b, c, model)
	}
	return v.chat.appendStart(b, c, model)
}

func (v openAICodec) appendToken(b []byte, c *Context, model string, i int, text string) []byte {
	if c.Operation == Respond {
		return responses{}.appendToken(b, c, i, text)
	}
	return v.chat.appendToken(b, c, model, i, text)
}

func (v openAICodec) appendEnd(b []byte, c *Context, a *answer) []byte {
	if c.Operation == Respond {
		return responses{}.appendEnd(b, c, a)
	}
	return v.chat.appendEnd(b, c, a)
}

func (openAICodec) appendStreamError(b []byte, c *Context, f *failure, sent int) []byte {
	if c.Operation == Respond {
		return responses{}.appendStreamError(b, c, f, sent)
	}
	return appendEvent(b, "", errorOf(f))
}

func (v openAICodec) readBody(body []byte, in *findings) {
	var top struct {
		Error  json.RawMessage `json:"error"`
		Object string          `json:"object"`
	}
	_ = json.Unmarshal(body, &top)
	if readError(top.Error, in); in.Failed {
		return
	}
	if top.Object == "response" {
		responses{}.readAnswer(body, in)
		return
	}
	v.chat.readAnswer(body, in)
}

func (v openAICodec) readFrame(event string, data []byte, in *findings) {
	if event != "" {
		responses{}.readFrame(event, data, in)
		return
	}
	if string(data) == doneMarker {
		v.chat.readAnswer(data, in)
		return
	}
	v.readBody(data, in)
}

func (v openAICodec) readRequest(r *Request, body []byte) error {
	if r.Operation == Respond {
		return responses{}.readRequest(r, body)
	}
	return v.chat.readRequest(r, body)
}

func (openAICodec) likeness(p *probe) int {
	switch object := p.text("object"); {
	case p.errorHas("message", "type", "param", "code"):
		return 2
	case object == "chat.completion" || object == "chat.completion.chunk" || object == "response" || p.has("response", "type"):
		return 2
	case p.has("error") || p.has("choices"):
		return 1
	}
	return 0
}
