package dialect

import (
	"strings"

	"herdlab/mockprovider/wire"
)

// dashScope is Alibaba's DashScope (Model Studio) in its OpenAI-compatible
// mode; dashScopeNative is its native mode. insufficient_quota is different
// from OpenAI's: it is the limit on tokens per minute, and waiting helps.
//
// Not verified: the codes of a service that is unavailable, fails or takes too
// long; that an error in a stream has the form of one in a body.
func dashScope() Dialect {
	return Dialect{
		Name: "dashscope", Title: "DashScope (compatible mode)",
		Example: openAISDK("/compatible-mode/v1"),
		codec:   dashScopeCodec{},
		templates: templates{
			wire.OK: {Status: 200},
			wire.Rate: {
				Status: 429, Kind: "limit_requests", Code: "limit_requests", Spelled: wire.NoPlaceForHint,
				Text: "Requests rate limit exceeded, please try again later.",
			},
			wire.TokenRate: {
				Status: 429, Kind: "insufficient_quota", Code: "insufficient_quota", Spelled: wire.NoPlaceForHint,
				Text: "You exceeded your current token allocation per minute.",
			},
			wire.Concurrency: {
				Status: 429, Kind: "limit_requests", Code: "limit_requests", As: wire.Rate, Spelled: wire.NoPlaceForHint,
				Text: "Too many requests in flight, please try again later.",
			},
			wire.Acceleration: {
				Status: 429, Kind: "limit_burst_rate", Code: "limit_burst_rate", Spelled: wire.NoPlaceForHint,
				Text: "Request rate increased too quickly; smooth your request ramp.",
			},
			wire.Overloaded: {
				Status: 503, Kind: "service_unavailable", Code: "service_unavailable", Spelled: wire.NoPlaceForHint,
				Text: "The model is too busy, please try again later.",
			},
			wire.Quota: {
				Status: 403, Kind: "AllocationQuota.FreeTierOnly", Code: "AllocationQuota.FreeTierOnly", Spelled: wire.NoPlaceForHint,
				Text: "The free tier of the model has been exhausted.",
			},
			wire.Auth: {
				Status: 401, Kind: "invalid_request_error", Code: "invalid_api_key", Spelled: wire.NoPlaceForHint,
				Text: "Incorrect API key provided.",
			},
			wire.Permission: {
				Status: 403, Kind: "access_denied", Code: "access_denied", Spelled: wire.NoPlaceForHint,
				Text: "Access denied.",
			},
			wire.BadRequest: {
				Status: 400, Kind: "invalid_request_error", Code: "invalid_parameter_error", Spelled: wire.NoPlaceForHint,
				Text: "The request is not valid.",
			},
			wire.TooLarge: {
				Status: 400, Kind: "invalid_request_error", Code: "invalid_parameter_error", As: wire.BadRequest, Spelled: wire.NoPlaceForHint,
				Text: "Range of input length should be [1, 129024]",
			},
			wire.ServerError: {
				Status: 500, Kind: "internal_error", Code: "internal_error", Spelled: wire.NoPlaceForHint,
				Text: "An internal error has occurred, please try again later.",
			},
			wire.Timeout: {
				Status: 500, Kind: "internal_error", Code: "internal_error", As: wire.ServerError, Spelled: wire.NoPlaceForHint,
				Text: "An internal timeout has occurred, please try again later.",
			},
		},
		routes: []route{
			{"POST", "/compatible-mode/v1/chat/completions", Complete, false},
			{"GET", "/compatible-mode/v1/models", ListModels, false},
		},
		keys:            []keyPlace{{header: "Authorization", scheme: "Bearer "}},
		requestIDHeader: "x-request-id",
		classify:        dashScopeClass,
	}
}

// dashScopeClass classifies the codes of both modes that no template has.
func dashScopeClass(in *findings) wire.Class {
	switch code := in.Code; {
	case code == "Arrearage":
		return wire.Quota
	case strings.HasPrefix(code, "AccessDenied.") || code == "Model.AccessDenied":
		return wire.Permission
	case code == "ModelNotFound" || code == "model_not_found":
		return wire.BadRequest
	case code == "Throttling":
		return wire.Rate
	}
	return wire.OK
}

type dashScopeCodec struct{ chat }

// dashScopeError is OpenAI's error object with two ids in addition.
type dashScopeError struct {
	chatErrorBody
	ID        string `json:"id,omitempty"`
	RequestID string `json:"request_id"`
}

func (dashScopeCodec) errorOf(c *Context, f *failure) dashScopeError {
	return dashScopeError{errorOf(f), "chatcmpl-" + c.ID, c.ID}
}

func (v dashScopeCodec) appendError(b []byte, c *Context, f *failure) []byte {
	return appendJSON(b, v.errorOf(c, f))
}

func (v dashScopeCodec) appendStreamError(b []byte, c *Context, f *failure, _ int) []byte {
	return appendEvent(b, "", v.errorOf(c, f))
}

func (v dashScopeCodec) readBody(body []byte, in *findings) { v.readErrorOrAnswer(body, in) }

func (v dashScopeCodec) readFrame(_ string, data []byte, in *findings) { v.readErrorOrAnswer(data, in) }

func (dashScopeCodec) likeness(p *probe) int {
	if p.has("error", "request_id") && p.errorHas("message", "type", "code") {
		return 3
	}
	return 0
}
