package dialect

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
)

// refusalOf returns the reply of a provider of the dialect for a class, with
// all possible fields.
func refusalOf(d *Dialect, class wire.Class, hint time.Duration, limit, remaining int32) wire.Reply {
	r := replyOf(d, class)
	r.Hint.Value, r.Limit, r.Remaining, r.Reset = hint, limit, remaining, 30*time.Second
	if r.Hint.Spelling == wire.NoPlaceForHint {
		r.Hint.Value = wire.NoHint // the provider sends no hint
	}
	return d.Expressible(r, false)
}

// TestWrittenAsDocumented: errors have the bytes in the documentation of the
// provider, except names and numbers.
func TestWrittenAsDocumented(t *testing.T) {
	c := Context{Model: "demo", ID: "req_demo", Epoch: epoch, InputTokens: 400, Tokens: InputTokens}
	for _, x := range []struct {
		dialect string
		class   wire.Class
		status  int
		headers string // the required headers
		body    string
	}{
		{"openai", wire.Rate, 429, "Retry-After: 17, retry-after-ms: 17000, x-ratelimit-limit-requests: 60, x-ratelimit-remaining-requests: 0, x-ratelimit-reset-requests: 30s", `{"error":{"message":"Rate limit reached for demo in organization org-herdlab on requests per min (RPM): Limit 60, Used 60, Requested 1. Please try again in 17s.","type":"requests","param":null,"code":"rate_limit_exceeded"}}`},
		{"openai", wire.TokenRate, 429, "x-ratelimit-limit-tokens: 60, x-ratelimit-remaining-tokens: 0, x-ratelimit-reset-tokens: 30s", `{"error":{"message":"Rate limit reached for demo in organization org-herdlab on tokens per min (TPM): Limit 60, Used 60, Requested 400. Please try again in 17s.","type":"tokens","param":null,"code":"rate_limit_exceeded"}}`},
		{"openai", wire.Acceleration, 429, "Retry-After: 17", `{"error":{"message":"Traffic is growing faster than allowed; keep a steady rate before ramping.","type":"rate_limit_error","param":null,"code":"slow_down"}}`},
		{"openai", wire.Overloaded, 503, "Retry-After: 17", `{"error":{"message":"The server is overloaded, retry later.","type":"service_unavailable_error","param":null,"code":"server_is_overloaded"}}`},
		{"openai", wire.Quota, 429, "Retry-After: ", `{"error":{"message":"Credit balance is used up; check plan and billing.","type":"insufficient_quota","param":null,"code":"credit_balance_exhausted"}}`},
		{"openai", wire.Auth, 401, "Retry-After: ", `{"error":{"message":"Incorrect API key provided.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`},
		{"anthropic", wire.Rate, 429, "retry-after: 17, retry-after-ms: , anthropic-ratelimit-requests-limit: 60, anthropic-ratelimit-requests-remaining: 0, anthropic-ratelimit-requests-reset: 2026-10-21T07:28:30Z, request-id: req_demo", `{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed the rate limit for your organization of 60 requests per minute."},"request_id":"req_demo"}`},
		{"anthropic", wire.TokenRate, 429, "anthropic-ratelimit-tokens-limit: 60, anthropic-ratelimit-tokens-reset: 2026-10-21T07:28:30Z", `{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed the rate limit for your organization of 60 tokens per minute."},"request_id":"req_demo"}`},
		{"anthropic", wire.TokenRate, 429, "anthropic-ratelimit-input-tokens-limit: 60, anthropic-ratelimit-input-tokens-remaining: 0, anthropic-ratelimit-input-tokens-reset: 2026-10-21T07:28:30Z, anthropic-ratelimit-output-tokens-limit: ", `{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed the rate limit for your organization of 60 tokens per minute."},"request_id":"req_demo"}`},
		{"anthropic", wire.Quota, 429, "retry-after: ", `{"type":"error","error":{"type":"rate_limit_error","message":"Monthly spend limit reached.","details":{"error_code":"enforced_spend_limit_reached"}},"request_id":"req_demo"}`},
		{"anthropic", wire.Overloaded, 529, "", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_demo"}`},
		{"anthropic", wire.Auth, 401, "", `{"type":"error","error":{"type":"authentication_error","message":"invalid api key"},"request_id":"req_demo"}`},
		{"anthropic", wire.Permission, 403, "", `{"type":"error","error":{"type":"permission_error","message":"Your API key does not have permission to use the specified resource."},"request_id":"req_demo"}`},
		{"gemini", wire.Rate, 429, "Retry-After: ", `{"error":{"code":429,"message":"You exceeded your current quota of requests per minute for demo, limit: 60. Please retry in 16.25s.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaMetric":"generativelanguage.googleapis.com/generate_requests_per_model","quotaId":"GenerateRequestsPerMinutePerProjectPerModel","quotaDimensions":{"location":"global","model":"demo"},"quotaValue":"60"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"16.25s"}]}}`},
		{"gemini", wire.Overloaded, 503, "", `{"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}`},
		{"gemini", wire.Auth, 400, "", `{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com"}]}}`},
		{"gemini", wire.Permission, 403, "", `{"error":{"code":403,"message":"The caller does not have permission","status":"PERMISSION_DENIED"}}`},
		{"codybuddy", wire.Rate, 200, "", `{"code":14003,"message":"too many requests","retry_after":16.25,"limit":60,"remaining":0}`},
		{"azure", wire.TokenRate, 429, "retry-after: 17, retry-after-ms: 17000, x-ratelimit-limit-tokens: 60, x-ratelimit-remaining-tokens: 0", `{"error":{"code":"429","message":"Requests to the ChatCompletions_Create Operation under Azure OpenAI API version 2024-10-21 have exceeded token rate limit of your current OpenAI S0 pricing tier. Please retry after 17 seconds."}}`},
		{"azure", wire.Concurrency, 429, "retry-after: 17", `{"error":{"code":"429","message":"Rate limit is exceeded. Try again in 17 seconds."}}`},
		{"azure", wire.Overloaded, 429, "", `{"error":{"code":"429","message":"The system is experiencing high demand and cannot process your request."}}`},
		{"azure", wire.Auth, 401, "", `{"error":{"code":"401","message":"Access denied due to invalid subscription key or wrong API endpoint."}}`},
		{"bedrock", wire.Rate, 429, "x-amzn-ErrorType: ThrottlingException, x-amz-retry-after: 16250, Retry-After: ", `{"message":"Too many requests, please wait before trying again."}`},
		{"bedrock", wire.Overloaded, 503, "x-amzn-ErrorType: ServiceUnavailableException", `{"message":"The service is unable to process your request right now."}`},
		{"bedrock", wire.Quota, 400, "x-amzn-ErrorType: ServiceQuotaExceededException, x-amz-retry-after: ", `{"message":"Your request exceeds the service quota for your account."}`},
		{"bedrock", wire.Permission, 403, "x-amzn-ErrorType: AccessDeniedException", `{"message":"You don't have access to the model with the specified model ID."}`},
		{"bedrock", wire.Timeout, 408, "x-amzn-ErrorType: ModelTimeoutException", `{"message":"The request took too long to process."}`},
		{"zhipu", wire.Rate, 429, "Retry-After: ", `{"error":{"code":"1302","message":"您的账户已达到速率限制,请您控制请求频率"}}`},
		{"zhipu", wire.Overloaded, 429, "", `{"error":{"code":"1305","message":"该模型当前访问量过大,请您稍后再试"}}`},
		{"zhipu", wire.Quota, 429, "", `{"error":{"code":"1113","message":"您的账户已欠费,请充值后重试"}}`},
		{"zhipu", wire.Auth, 401, "", `{"error":{"code":"1000","message":"身份验证失败"}}`},
		{"dashscope", wire.Acceleration, 429, "", `{"error":{"message":"Request rate increased too quickly; smooth your request ramp.","type":"limit_burst_rate","param":null,"code":"limit_burst_rate"},"id":"chatcmpl-req_demo","request_id":"req_demo"}`},
		{"dashscope", wire.TokenRate, 429, "", `{"error":{"message":"You exceeded your current token allocation per minute.","type":"insufficient_quota","param":null,"code":"insufficient_quota"},"id":"chatcmpl-req_demo","request_id":"req_demo"}`},
		{"dashscope", wire.TooLarge, 400, "", `{"error":{"message":"Range of input length should be [1, 129024]","type":"invalid_request_error","param":null,"code":"invalid_parameter_error"},"id":"chatcmpl-req_demo","request_id":"req_demo"}`},
		{"dashscope-native", wire.Rate, 429, "", `{"code":"Throttling.RateQuota","message":"Requests rate limit exceeded, please try again later.","request_id":"req_demo"}`},
		{"openrouter", wire.Rate, 429, "Retry-After: 17", `{"error":{"code":429,"message":"Rate limit exceeded"}}`},
		{"openrouter", wire.Quota, 402, "Retry-After: ", `{"error":{"code":402,"message":"Insufficient credits"}}`},
		{"openrouter", wire.Overloaded, 200, "", `{"error":{"code":503,"message":"No provider available for this model right now","metadata":{"error_type":"provider_overloaded","provider_name":"Herdlab"}}}`},
		{"qianfan", wire.Rate, 200, "X-Ratelimit-Limit-Requests: 60, X-Ratelimit-Remaining-Requests: 0", `{"error_code":336501,"error_msg":"Rate limit reached for RPM","id":"as-req_demo"}`},
		{"qianfan", wire.TokenRate, 200, "X-Ratelimit-Limit-Tokens: 60", `{"error_code":336502,"error_msg":"Rate limit reached for TPM","id":"as-req_demo"}`},
		{"qianfan", wire.Concurrency, 200, "", `{"error_code":18,"error_msg":"Open api qps request limit reached","id":"as-req_demo"}`},
		{"qianfan", wire.Overloaded, 200, "", `{"error_code":336100,"error_msg":"server is busy, please try again later","id":"as-req_demo"}`},
		{"qianfan", wire.Quota, 200, "", `{"error_code":17,"error_msg":"Open api daily request limit reached","id":"as-req_demo"}`},
		{"qianfan", wire.Permission, 200, "", `{"error_code":6,"error_msg":"No permission to access data","id":"as-req_demo"}`},
		{"minimax", wire.Quota, 200, "", `{"id":"req_demo","object":"chat.completion","created":1792567680,"model":"demo","choices":null,"usage":{"prompt_tokens":400,"completion_tokens":0,"total_tokens":400},"input_sensitive":false,"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}`},
	} {
		name := fmt.Sprintf("%s %v", x.dialect, x.class)
		d, ok := ByName(x.dialect)
		require.True(t, ok, name)
		r := refusalOf(&d, x.class, 16250*time.Millisecond, 60, 0)
		var m Message
		d.Write(&m, &c, &r)
		require.Equal(t, x.status, m.Status, name)
		require.Equal(t, x.body, string(m.Body), name)
		for _, h := range strings.Split(x.headers, ", ") {
			field, value, _ := strings.Cut(h, ": ")
			require.Equal(t, value, m.Headers.Get(field), "%s: %s", name, field)
		}
	}
}

// TestRefusalsByteForByte compares every refusal of every dialect with the
// golden file. Other tests check that the bytes are correct.
func TestRefusalsByteForByte(t *testing.T) {
	var b strings.Builder
	for _, d := range All() {
		for class := wire.Rate; class <= wire.Timeout; class++ {
			r := refusalOf(&d, class, 16250*time.Millisecond, 60, 3)
			var m Message
			d.Write(&m, &Context{Model: "demo", ID: "req_demo", Epoch: epoch, InputTokens: 400}, &r)
			fmt.Fprintf(&b, "%s %v: %d\n", d.Name, class, m.Status)
			for _, h := range m.Headers {
				fmt.Fprintf(&b, "  %s: %s\n", h.Name, h.Value)
			}
			fmt.Fprintf(&b, "%s\n\n", m.Body)
		}
	}
	const golden = "testdata/refusals.txt"
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), b.String())
}
