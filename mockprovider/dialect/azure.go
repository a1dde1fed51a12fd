package dialect

import (
	"encoding/json"

	"herdlab/mockprovider/wire"
)

// azure is Azure OpenAI: OpenAI's answers behind Microsoft's gateway. Errors
// are {"error":{"code","message"}}, whose code repeats the status. So requests,
// tokens and "high demand" have the same code and differ only in their texts.
// Errors of the model itself have OpenAI's form. A spent budget is an error of
// the gateway: {"statusCode":403,"message"}.
//
// Not verified: x-ratelimit-limit-requests (the other three limit headers are
// seen), the codes of bad requests, server errors and timeouts, errors in
// streams. The paths below /openai/v1 are left out, because a server has
// OpenAI's own API there, and with the prefix /azure they would be the same
// requests.
func azure() Dialect {
	return Dialect{
		Name: "azure", Title: "Azure OpenAI",
		Example: Example{
			Header: "api-key: " + ExampleKey,
			SDK:    "AzureOpenAI(azure_endpoint=\"{base}\",\n            api_version=\"2024-10-21\", api_key=\"" + ExampleKey + "\")",
		},
		codec: azureCodec{openAICodec{chat{extend: azureExtend}}},
		templates: templates{
			wire.OK: {Status: 200},
			wire.Rate: {
				Status: 429, Code: "429", Spelled: wire.BothSeconds,
				Text: "Requests to the ChatCompletions_Create Operation under Azure OpenAI API version 2024-10-21 have exceeded call rate limit of your current OpenAI S0 pricing tier.",
			},
			wire.TokenRate: {
				Status: 429, Code: "429", As: wire.Rate, Spelled: wire.BothSeconds,
				Text: "Requests to the ChatCompletions_Create Operation under Azure OpenAI API version 2024-10-21 have exceeded token rate limit of your current OpenAI S0 pricing tier.",
			},
			wire.Concurrency: {
				Status: 429, Code: "429", As: wire.Rate, Spelled: wire.BothSeconds,
				Text: "Rate limit is exceeded.", Sentence: "Try again in %s seconds.",
			},
			wire.Acceleration: {
				Status: 429, Code: "429", As: wire.Rate, Spelled: wire.BothSeconds,
				Text: "Rate limit is exceeded.", Sentence: "Try again in %s seconds.",
			},
			wire.Overloaded: {
				Status: 429, Code: "429", As: wire.Rate, Spelled: wire.HeaderSeconds,
				Text: "The system is experiencing high demand and cannot process your request.",
			},
			wire.Quota: {
				Status: 403, Kind: azureGateway, Code: "403", Spelled: wire.NoPlaceForHint,
				Text: "Out of call volume quota.",
			},
			wire.Auth: {
				Status: 401, Code: "401", Spelled: wire.NoPlaceForHint,
				Text: "Access denied due to invalid subscription key or wrong API endpoint.",
			},
			wire.Permission: {
				Status: 403, Code: "403", Spelled: wire.NoPlaceForHint,
				Text: "Access denied due to Virtual Network/Firewall rules.",
			},
			wire.BadRequest: {Status: 400, Code: "BadRequest", Spelled: wire.NoPlaceForHint, Text: "The request is not valid."},
			wire.TooLarge: {
				Status: 400, Kind: "invalid_request_error", Code: "context_length_exceeded", Spelled: wire.NoPlaceForHint,
				Text: "The messages are longer than the context of {model}; please reduce their length.",
			},
			wire.ServerError: {Status: 500, Code: "InternalServerError", Spelled: wire.HeaderSeconds, Text: "The server had an error while processing your request."},
			wire.Timeout:     {Status: 408, Code: "Timeout", Spelled: wire.HeaderSeconds, Text: "The operation was timeout."},
		},
		limits: limits{
			requests: limitHeaders{"x-ratelimit-limit-requests", "x-ratelimit-remaining-requests", ""},
			tokens:   limitHeaders{"x-ratelimit-limit-tokens", "x-ratelimit-remaining-tokens", ""},
		},
		routes: []route{
			{"POST", "/openai/deployments/{model}/chat/completions", Complete, false},
			{"POST", "/openai/responses", Respond, false},
			{"GET", "/openai/models", ListModels, false},
		},
		keys:            []keyPlace{{header: "api-key"}, {header: "Authorization", scheme: "Bearer "}},
		requestIDHeader: "apim-request-id",
		hintSentence:    "Please retry after %s seconds.",
		bothUnits:       true,
		classify: func(in *findings) wire.Class {
			if in.Code == "DeploymentNotFound" {
				return wire.BadRequest
			}
			return openAIClass(in)
		},
	}
}

// azureGateway is the Kind of the errors of the gateway.
const azureGateway = "gateway"

// azureFilter is the result of the content filter for a prompt.
type azureFilter struct {
	Index   int                      `json:"prompt_index"`
	Results map[string]azureSeverity `json:"content_filter_results"`
}

type azureSeverity struct {
	Filtered bool   `json:"filtered"`
	Severity string `json:"severity"`
}

// azureFields are the additional fields of an answer.
type azureFields struct {
	Filtered []azureFilter `json:"prompt_filter_results"`
}

// azurePassed returns the result for a prompt that the filter accepted.
func azurePassed() azureFields {
	safe := azureSeverity{Severity: "safe"}
	return azureFields{[]azureFilter{{Results: map[string]azureSeverity{"hate": safe, "self_harm": safe, "sexual": safe, "violence": safe}}}}
}

func azureExtend(body chatBody, _ *Context) chatBody {
	if body.Object == "chat.completion" {
		body.extra = azurePassed()
	}
	return body
}

type azureCodec struct{ openAICodec }

// azureError is an error of the service, azureRefusal one of the gateway.
type azureError struct {
	Error struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		hintFields
	} `json:"error"`
}

type azureRefusal struct {
	Status  number `json:"statusCode"`
	Message string `json:"message"`
	hintFields
}

func (azureCodec) errorOf(f *failure) any {
	switch f.Kind {
	case azureGateway:
		return azureRefusal{number(f.template.Code), f.Message, f.hintFields}
	case "":
		var e azureError
		e.Error.Code, e.Error.Message, e.Error.hintFields = f.template.Code, f.Message, f.hintFields
		return e
	}
	return errorOf(f)
}

func (v azureCodec) appendError(b []byte, _ *Context, f *failure) []byte {
	return appendJSON(b, v.errorOf(f))
}

// appendStart writes a first frame without a choice, as the service does.
// Clients that read the first choice of each frame fail on it.
func (v azureCodec) appendStart(b []byte, c *Context, model string) []byte {
	if c.Operation != Respond {
		first := chatBody{Choices: []chatChoice{}, extra: azurePassed()}
		b = first.appendEvent(b)
	}
	return v.openAICodec.appendStart(b, c, model)
}

func (v azureCodec) appendStreamError(b []byte, c *Context, f *failure, sent int) []byte {
	if c.Operation == Respond {
		return v.openAICodec.appendStreamError(b, c, f, sent)
	}
	return appendEvent(b, "", v.errorOf(f))
}

func (v azureCodec) readBody(body []byte, in *findings) {
	var refusal struct {
		Status  number          `json:"statusCode"`
		Message json.RawMessage `json:"message"`
		hintFields
	}
	if _ = json.Unmarshal(body, &refusal); refusal.Status != "" {
		in.Failed, in.Kind, in.Code = true, azureGateway, string(refusal.Status)
		in.Message, in.hintFields = text(refusal.Message), refusal.hintFields
		return
	}
	v.openAICodec.readBody(body, in)
}

func (v azureCodec) readFrame(event string, data []byte, in *findings) {
	if event != "" || string(data) == doneMarker {
		v.openAICodec.readFrame(event, data, in)
		return
	}
	v.readBody(data, in)
}

func (azureCodec) likeness(p *probe) int {
	switch {
	case p.header("apim-request-id") || p.has("prompt_filter_results") || p.has("statusCode", "message"):
		return 3
	case p.errorText("code") != "" && !p.errorHas("type"):
		return 2
	}
	return 0
}
