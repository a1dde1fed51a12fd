package dialect

import (
	"encoding/json"
	"strings"

	"herdlab/mockprovider/wire"
)

// gemini is Google's Gemini API. Errors are a google.rpc.Status. The wait is in
// its details (RetryInfo) and in the message. No header describes limits. An
// invalid key has status 400 and differs from a bad request only in the
// details. The quota per day and the limit per minute differ in a quotaId. The
// text of every limit contains "quota", so that keyword readers take any limit
// for a spent quota.
func gemini() Dialect {
	return Dialect{
		Name: "gemini", Title: "Google Gemini",
		Example: Example{
			Header: "x-goog-api-key: " + ExampleKey,
			Body:   `{"contents":[{"parts":[{"text":"Hello"}]}]}`,
			SDK:    "genai.Client(api_key=\"" + ExampleKey + "\",\n             http_options={\"base_url\": \"{base}\"})",
		},
		codec: geminiCodec{},
		templates: templates{
			wire.OK: {Status: 200},
			wire.Rate: {
				Status: 429, Kind: exhausted, Code: "GenerateRequestsPerMinutePerProjectPerModel", Spelled: wire.BodyDelay,
				Text: "You exceeded your current quota of requests per minute for {model}[, limit: {limit}].",
			},
			wire.TokenRate: {
				Status: 429, Kind: exhausted, Code: "GenerateContentInputTokensPerModelPerMinute", Spelled: wire.BodyDelay,
				Text: "You exceeded your current quota of input tokens per minute for {model}[, limit: {limit}].",
			},
			wire.Concurrency: {
				Status: 429, Kind: exhausted, Code: "GenerateRequestsPerMinutePerProjectPerModel", As: wire.Rate, Spelled: wire.BodyDelay,
				Text: "You exceeded your current quota of concurrent requests for {model}[, limit: {limit}].",
			},
			wire.Acceleration: {
				Status: 429, Kind: exhausted, Code: "GenerateRequestsPerMinutePerProjectPerModel", As: wire.Rate, Spelled: wire.BodyDelay,
				Text: "You exceeded your current quota: traffic to {model} grows too fast.",
			},
			wire.Overloaded: {Status: 503, Kind: "UNAVAILABLE", Spelled: wire.NoPlaceForHint, Text: "The model is overloaded. Please try again later."},
			wire.Quota: {
				Status: 429, Kind: exhausted, Code: "GenerateRequestsPerDayPerProjectPerModel", Spelled: wire.BodyDelay,
				Text: "You exceeded your current quota, please check your plan and billing details.",
			},
			wire.Auth: {
				Status: 400, Kind: "INVALID_ARGUMENT", Code: "API_KEY_INVALID", Spelled: wire.NoPlaceForHint,
				Text: "API key not valid. Please pass a valid API key.",
			},
			wire.Permission: {Status: 403, Kind: "PERMISSION_DENIED", Spelled: wire.NoPlaceForHint, Text: "The caller does not have permission"},
			wire.BadRequest: {Status: 400, Kind: "INVALID_ARGUMENT", Spelled: wire.NoPlaceForHint, Text: "Request contains an invalid argument."},
			wire.TooLarge: {
				Status: 400, Kind: "INVALID_ARGUMENT", As: wire.BadRequest, Spelled: wire.NoPlaceForHint,
				Text: "The input token count exceeds the maximum number of tokens allowed.",
			},
			wire.ServerError: {Status: 500, Kind: "INTERNAL", Spelled: wire.NoPlaceForHint, Text: "An internal error has occurred."},
			wire.Timeout:     {Status: 504, Kind: "DEADLINE_EXCEEDED", Spelled: wire.NoPlaceForHint, Text: "The request took too long."},
		},
		routes: []route{
			{"POST", "/v1beta/models/{model}:generateContent", Complete, false},
			{"POST", "/v1beta/models/{model}:streamGenerateContent", Complete, true},
			{"GET", "/v1beta/models", ListModels, false},
		},
		keys:         []keyPlace{{header: "x-goog-api-key"}, {query: "key"}, {header: "Authorization", scheme: "Bearer "}},
		hintSentence: "Please retry in %ss.",
		classify:     geminiClass,
	}
}

const exhausted = "RESOURCE_EXHAUSTED"

// geminiClass distinguishes the quotas by parts of their names, because the
// names have suffixes for tiers.
func geminiClass(in *findings) wire.Class {
	switch quota := in.Code; {
	case in.Code == "MODEL_CAPACITY_EXHAUSTED":
		return wire.Overloaded
	case strings.Contains(quota, "PerDay"):
		return wire.Quota
	case strings.Contains(quota, "PerMinute") && strings.Contains(quota, "Token"):
		return wire.TokenRate
	case in.Kind == exhausted:
		return wire.Rate
	}
	return wire.OK
}

type geminiCodec struct{}

type geminiBody struct {
	Candidates []geminiCandidate `json:"candidates"`
	Usage      *geminiUsage      `json:"usageMetadata,omitempty"`
	Model      string            `json:"modelVersion"`
	ResponseID string            `json:"responseId,omitempty"`
}

type geminiCandidate struct {
	Content geminiContent `json:"content"`
	Finish  string        `json:"finishReason,omitempty"`
	Index   int           `json:"index"`
}

type geminiContent struct {
	Parts []geminiPart `json:"parts"`
	Role  string       `json:"role"`
}

type geminiPart struct {
	Text string `json:"text"`
}

type geminiUsage struct {
	Prompt     uint32 `json:"promptTokenCount"`
	Candidates uint32 `json:"candidatesTokenCount"`
	Total      uint64 `json:"totalTokenCount"`
}

// piece returns a body with one part; usage is left out if nil.
func (geminiCodec) piece(c *Context, model, text, finish string, usage *geminiUsage) geminiBody {
	return geminiBody{
		Candidates: []geminiCandidate{{Content: geminiContent{[]geminiPart{{text}}, "model"}, Finish: finish}},
		Usage:      usage, Model: model, ResponseID: c.ID,
	}
}

func (geminiCodec) usage(c *Context, a *answer) *geminiUsage {
	return &geminiUsage{c.InputTokens, a.Tokens, uint64(c.InputTokens) + uint64(a.Tokens)}
}

func (v geminiCodec) appendAnswer(b []byte, c *Context, a *answer) []byte {
	return appendJSON(b, v.piece(c, a.Model, a.Text, a.finishReason("STOP", "MAX_TOKENS"), v.usage(c, a)))
}

func (v geminiCodec) appendError(b []byte, c *Context, f *failure) []byte {
	return appendJSON(b, v.errorOf(c, f))
}

func (geminiCodec) appendModels(b []byte, _ *Context, names []string) []byte {
	type model struct {
		Name    string   `json:"name"`
		Display string   `json:"displayName"`
		Methods []string `json:"supportedGenerationMethods"`
	}
	list := struct {
		Models []model `json:"models"`
	}{[]model{}}
	for _, name := range names {
		list.Models = append(list.Models, model{"models/" + name, name, []string{"generateContent"}})
	}
	return appendJSON(b, list)
}

func (v geminiCodec) appendStart(b []byte, c *Context, model string) []byte {
	return appendEvent(b, "", v.piece(c, model, "", "", nil))
}

func (v geminiCodec) appendToken(b []byte, c *Context, model string, _ int, text string) []byte {
	return appendEvent(b, "", v.piece(c, model, text, "", nil))
}

func (v geminiCodec) appendEnd(b []byte, c *Context, a *answer) []byte {
	return appendEvent(b, "", v.piece(c, a.Model, "", a.finishReason("STOP", "MAX_TOKENS"), v.usage(c, a)))
}

func (v geminiCodec) appendStreamError(b []byte, c *Context, f *failure, _ int) []byte {
	return appendEvent(b, "", v.errorOf(c, f))
}

func (v geminiCodec) readBody(body []byte, in *findings) {
	var top struct {
		Error json.RawMessage `json:"error"`
	}
	if _ = json.Unmarshal(body, &top); len(top.Error) > 0 {
		v.readError(top.Error, in)
		return
	}
	var g geminiBody
	_ = json.Unmarshal(body, &g)
	if g.Model != "" {
		in.Model = g.Model
	}
	for _, c := range g.Candidates {
		for _, p := range c.Content.Parts {
			in.piece(p.Text)
		}
		if c.Finish != "" {
			in.Answered, in.Finished = true, true
		}
	}
	if g.Usage != nil && len(g.Candidates) > 0 {
		in.usage(g.Usage.Candidates)
	}
}

func (v geminiCodec) readFrame(_ string, data []byte, in *findings) { v.readBody(data, in) }

func (geminiCodec) readRequest(r *Request, body []byte) error {
	var contents, system, tools json.RawMessage
	var maxTokens count
	err := decode(body,
		field{"contents", &contents}, field{"systemInstruction", &system}, field{"tools", &tools},
		field{"generationConfig", fields{{"maxOutputTokens", &maxTokens}}},
	)
	if err != nil {
		return err
	}
	if !isList(contents) {
		return badRequest("contents: it must be a list of at least one content")
	}
	r.prompt(contents, system, tools)
	return r.cap("generationConfig.maxOutputTokens", maxTokens)
}

func (geminiCodec) likeness(p *probe) int {
	if p.errorHas("code") && p.errorText("status") != "" || p.has("candidates") {
		return 3
	}
	return 0
}
