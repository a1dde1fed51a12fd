package dialect

import (
	"encoding/json"

	"herdlab/mockprovider/wire"
)

// qianfanV2 is version 2 of Qianfan: OpenAI's answers, real statuses, and
// {"error":{"code","message","type"},"id"} with words as codes.
//
// Not verified: the codes of concurrency, acceleration, overload, failures and
// timeouts, and everything about streams.
func qianfanV2() Dialect {
	return Dialect{
		Name: "qianfan-v2", Title: "Qianfan v2",
		Example: openAISDK("/v2"),
		codec:   qianfanV2Codec{},
		templates: templates{
			wire.OK: {Status: 200},
			wire.Rate: {
				Status: 429, Kind: "rate_limit_exceeded", Code: "rpm_rate_limit_exceeded", Spelled: wire.NoPlaceForHint,
				Text: "Rate limit reached for RPM",
			},
			wire.TokenRate: {
				Status: 429, Kind: "rate_limit_exceeded", Code: "tpm_rate_limit_exceeded", Spelled: wire.NoPlaceForHint,
				Text: "Rate limit reached for TPM",
			},
			wire.Concurrency: {
				Status: 429, Kind: "rate_limit_exceeded", Code: "rpm_rate_limit_exceeded", As: wire.Rate, Spelled: wire.NoPlaceForHint,
				Text: "Rate limit reached for concurrent requests",
			},
			wire.Acceleration: {
				Status: 429, Kind: "rate_limit_exceeded", Code: "rpm_rate_limit_exceeded", As: wire.Rate, Spelled: wire.NoPlaceForHint,
				Text: "Rate limit reached: requests grow too fast",
			},
			wire.Overloaded: {
				Status: 503, Kind: "internal_error", Code: "server_busy", Spelled: wire.NoPlaceForHint,
				Text: "server is busy, please try again later",
			},
			wire.Quota: {
				Status: 403, Kind: "access_denied", Code: "BILLING_INSUFFICIENT_BALANCE", Spelled: wire.NoPlaceForHint,
				Text: "The account balance is not sufficient",
			},
			wire.Auth: {
				Status: 401, Kind: "invalid_request_error", Code: "invalid_iam_token", Spelled: wire.NoPlaceForHint,
				Text: "IAM certification failed",
			},
			wire.Permission: {
				Status: 403, Kind: "access_denied", Code: "no_permission", Spelled: wire.NoPlaceForHint,
				Text: "No permission to use the model",
			},
			wire.BadRequest: {
				Status: 400, Kind: "invalid_request_error", Code: "invalid_argument", Spelled: wire.NoPlaceForHint,
				Text: "Invalid Argument",
			},
			wire.TooLarge: {
				Status: 400, Kind: "invalid_request_error", Code: "tokens_too_long", Spelled: wire.NoPlaceForHint,
				Text: "Prompt tokens too long",
			},
			wire.ServerError: {
				Status: 500, Kind: "internal_error", Code: "internal_error", Spelled: wire.NoPlaceForHint,
				Text: "Internal error",
			},
			wire.Timeout: {
				Status: 500, Kind: "internal_error", Code: "internal_error", As: wire.ServerError, Spelled: wire.NoPlaceForHint,
				Text: "Internal error",
			},
		},
		limits: qianfan().limits,
		routes: []route{
			{"POST", "/v2/chat/completions", Complete, false},
			{"GET", "/v2/models", ListModels, false},
		},
		keys: []keyPlace{{header: "Authorization", scheme: "Bearer "}},
		classify: func(in *findings) wire.Class {
			switch in.Code {
			case "characters_too_long":
				return wire.TooLarge
			case "malformed_json", "invalid_messages":
				return wire.BadRequest
			}
			return qianfanClass(in)
		},
	}
}

type qianfanV2Codec struct{ chat }

type qianfanV2Error struct {
	Error struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Type    string `json:"type"`
		hintFields
	} `json:"error"`
	ID string `json:"id"`
}

func (qianfanV2Codec) errorOf(c *Context, f *failure) (e qianfanV2Error) {
	e.Error.Code, e.Error.Message, e.Error.Type, e.Error.hintFields = f.template.Code, f.Message, f.Kind, f.hintFields
	e.ID = "as-" + c.ID
	return e
}

func (v qianfanV2Codec) appendError(b []byte, c *Context, f *failure) []byte {
	return appendJSON(b, v.errorOf(c, f))
}

func (v qianfanV2Codec) appendStreamError(b []byte, c *Context, f *failure, _ int) []byte {
	return appendEvent(b, "", v.errorOf(c, f))
}

// readBody also accepts the error object without its envelope, as in older
// pages of the documentation.
func (v qianfanV2Codec) readBody(body []byte, in *findings) {
	var flat struct {
		Code    json.RawMessage `json:"code"`
		Message json.RawMessage `json:"message"`
	}
	if _ = json.Unmarshal(body, &flat); text(flat.Code) != "" && len(flat.Message) > 0 {
		readError(body, in)
		return
	}
	v.readErrorOrAnswer(body, in)
}

func (v qianfanV2Codec) readFrame(_ string, data []byte, in *findings) {
	if string(data) == doneMarker {
		v.readAnswer(data, in)
		return
	}
	v.readBody(data, in)
}

func (qianfanV2Codec) likeness(p *probe) int {
	if p.errorHas("code", "message", "type") && p.has("id") && !p.errorHas("param") || p.has("code", "message", "type") {
		return 3
	}
	return 0
}
