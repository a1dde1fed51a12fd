package dialect

import (
	"herdlab/mockprovider/wire"
)

// bedrock is the AWS Bedrock Runtime: Converse, and InvokeModel for models with
// Anthropic's form of requests. Errors are {"message"}; the type is in the
// header x-amzn-ErrorType, or in the headers of the exception in a binary
// stream. All limits have the same exception. Hints are milliseconds in
// x-amz-retry-after. Replies do not describe limits and, with Converse, do not
// contain the model. The service's description has only throttling, validation,
// unavailability and failures of the model or the server as exceptions in a
// stream; other exceptions are written in the same way here, and SDKs report
// them as unknown.
//
// Not verified: the status of UnrecognizedClientException, that the service
// sends x-amz-retry-after, the texts for tokens, concurrency and timeouts.
func bedrock() Dialect {
	return Dialect{
		Name: "bedrock", Title: "AWS Bedrock",
		Example: Example{
			Body: `{"messages":[{"role":"user","content":[{"text":"Hello"}]}]}`,
			SDK:  "boto3.client(\"bedrock-runtime\", region_name=\"us-east-1\",\n             endpoint_url=\"{base}\",\n             aws_access_key_id=\"" + ExampleKey + "\", aws_secret_access_key=\"any\")",
		},
		codec: bedrockCodec{},
		templates: templates{
			wire.OK: {Status: 200},
			wire.Rate: {
				Status: 429, Kind: "ThrottlingException", Spelled: wire.HeaderMillis,
				Text: "Too many requests, please wait before trying again.",
			},
			wire.TokenRate: {
				Status: 429, Kind: "ThrottlingException", As: wire.Rate, Spelled: wire.HeaderMillis,
				Text: "Too many tokens, please wait before trying again.",
			},
			wire.Concurrency: {
				Status: 429, Kind: "ThrottlingException", As: wire.Rate, Spelled: wire.HeaderMillis,
				Text: "Too many concurrent requests, please wait before trying again.",
			},
			wire.Acceleration: {
				Status: 429, Kind: "ThrottlingException", As: wire.Rate, Spelled: wire.HeaderMillis,
				Text: "Too many requests, please wait before trying again.",
			},
			wire.Overloaded: {
				Status: 503, Kind: "ServiceUnavailableException", Spelled: wire.HeaderMillis,
				Text: "The service is unable to process your request right now.",
			},
			wire.Quota: {
				Status: 400, Kind: "ServiceQuotaExceededException", Spelled: wire.NoPlaceForHint,
				Text: "Your request exceeds the service quota for your account.",
			},
			wire.Auth: {
				Status: 403, Kind: "UnrecognizedClientException", Spelled: wire.NoPlaceForHint,
				Text: "The security token included in the request is invalid.",
			},
			wire.Permission: {
				Status: 403, Kind: "AccessDeniedException", Spelled: wire.NoPlaceForHint,
				Text: "You don't have access to the model with the specified model ID.",
			},
			wire.BadRequest: {Status: 400, Kind: "ValidationException", Spelled: wire.NoPlaceForHint, Text: "The input fails to satisfy the constraints of the service."},
			wire.TooLarge: {
				Status: 400, Kind: "ValidationException", As: wire.BadRequest, Spelled: wire.NoPlaceForHint,
				Text: "Input is too long for requested model.",
			},
			wire.ServerError: {Status: 500, Kind: "InternalServerException", Spelled: wire.HeaderMillis, Text: "The service failed; try again."},
			wire.Timeout: {
				Status: 408, Kind: "ModelTimeoutException", Spelled: wire.HeaderMillis,
				Text: "The request took too long to process.",
			},
		},
		routes: []route{
			{"POST", "/model/{model}/converse", Complete, false},
			{"POST", "/model/{model}/converse-stream", Complete, true},
			{"POST", "/model/{model}/invoke", Invoke, false},
			{"POST", "/model/{model}/invoke-with-response-stream", Invoke, true},
			{"GET", "/foundation-models", ListModels, false},
		},
		keys: []keyPlace{
			{header: "Authorization", scheme: "AWS4-HMAC-SHA256 Credential=", until: "/"}, // the id of the access key
			{header: "Authorization", scheme: "Bearer "},
		},
		requestIDHeader: "x-amzn-RequestId",
		millisHeader:    "x-amz-retry-after",
		kindHeader:      "x-amzn-ErrorType",
		hidesModel:      true,
		streamType:      eventStreamType,
		framing:         func() framing { return &eventStream{} },
		classify: func(in *findings) wire.Class {
			switch in.Kind {
			case "ModelNotReadyException":
				return wire.Overloaded
			case "ModelErrorException", "ModelStreamErrorException":
				return wire.ServerError
			case "ResourceNotFoundException":
				return wire.BadRequest
			}
			return wire.OK
		},
	}
}

type bedrockCodec struct{}

type bedrockMessage struct {
	Role    string         `json:"role"`
	Content []bedrockBlock `json:"content"`
}

type bedrockBlock struct {
	Text string `json:"text"`
}

type bedrockUsage struct {
	Input  uint32 `json:"inputTokens"`
	Output uint32 `json:"outputTokens"`
	Total  uint64 `json:"totalTokens"`
}

// bedrockMetrics is always present in real replies. The latency is unknown when
// a body is written.
type bedrockMetrics struct {
	Latency int `json:"latencyMs"`
}

// bedrockBody is the answer of Converse, or the payload of an event of its
// streams.
type bedrockBody struct {
	Metrics *bedrockMetrics `json:"metrics,omitempty"`
	Output  *struct {
		Message bedrockMessage `json:"message"`
	} `json:"output,omitempty"`
	Role  string        `json:"role,omitempty"`
	Index *int          `json:"contentBlockIndex,omitempty"`
	Delta *bedrockBlock `json:"delta,omitempty"`
	Stop  string        `json:"stopReason,omitempty"`
	Usage *bedrockUsage `json:"usage,omitempty"`
}

func bedrockUsageOf(c *Context, a *answer) *bedrockUsage {
	return &bedrockUsage{c.InputTokens, a.Tokens, uint64(c.InputTokens) + uint64(a.Tokens)}
}

func (bedrockCodec) appendAnswer(b []byte, c *Context, a *answer) []byte {
	if c.Operation == Invoke {
		return anthropicCodec{}.appendAnswer(b, c, a)
	}
	body := bedrockBody{Metrics: &bedrockMetrics{}, Usage: bedrockUsageOf(c, a)}
	body.Output = &struct {
		Message bedrockMessage `json:"message"`
	}{bedrockMessage{"assistant", []bedrockBlock{{a.Text}}}}
	body.Stop = a.finishReason("end_turn", "max_tokens")
	return appendJSON(b, body)
}

type bedrockError struct {
	Message string `json:"message"`
	hintFields
}

func (bedrockCodec) appendError(b []byte, _ *Context, f *failure) []byte {
	return appendJSON(b, bedrockError{f.Message, f.hintFields})
}

func (bedrockCodec) appendModels(b []byte, _ *Context, names []string) []byte {
	type model struct {
		ID        string `json:"modelId"`
		Name      string `json:"modelName"`
		Provider  string `json:"providerName"`
		Streaming bool   `json:"responseStreamingSupported"`
	}
	list := struct {
		Models []model `json:"modelSummaries"`
	}{[]model{}}
	for _, name := range names {
		list.Models = append(list.Models, model{name, name, "herdlab", true})
	}
	return appendJSON(b, list)
}
