package dialect

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestTable compares the templates of every dialect with the golden file. Other
// tests check that they are correct.
func TestTable(t *testing.T) {
	var b strings.Builder
	for _, d := range All() {
		b.WriteString(d.Table())
		b.WriteByte('\n')
	}
	b.WriteString(Summary())
	const golden = "testdata/table.txt"
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(golden, []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), b.String())
}

// TestDocumentedBodies: the bodies in the documentation of the providers are
// read with the documented meaning.
func TestDocumentedBodies(t *testing.T) {
	for _, c := range []struct {
		dialect string
		status  int
		body    string
		want    wire.Class
	}{
		{"openai", 429, `{"error":{"message":"Rate limit reached for demo in organization org on requests per min (RPM): Limit 60, Used 60, Requested 1. Please try again in 1.2s.","type":"requests","param":null,"code":"rate_limit_exceeded"}}`, wire.Rate},
		{"openai", 429, `{"error":{"message":"Rate limit reached","type":"tokens","param":null,"code":"rate_limit_exceeded"}}`, wire.TokenRate},
		{"openai", 429, `{"error":{"message":"grows","type":"rate_limit_error","param":null,"code":"slow_down"}}`, wire.Acceleration},
		{"openai", 503, `{"error":{"message":"later","type":"service_unavailable_error","param":null,"code":"server_is_overloaded"}}`, wire.Overloaded},
		{"openai", 429, `{"error":{"message":"x","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`, wire.Quota},
		{"openai", 429, `{"error":{"message":"x","type":"insufficient_quota","param":null,"code":"project_spend_limit_exceeded"}}`, wire.Quota},
		{"openai", 429, `{"error":{"type":"usage_limit_reached","message":"The usage limit has been reached","plan_type":"plus","resets_at":1796040000}}`, wire.Quota},
		{"openai", 401, `{"error":{"message":"x","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`, wire.Auth},
		{"openai", 400, `{"error":{"message":"x","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, wire.TooLarge},
		{"openai", 404, `{"error":{"message":"x","type":"invalid_request_error","param":null,"code":"model_not_found"}}`, wire.BadRequest},
		{"openai", 502, `<html>bad gateway</html>`, wire.ServerError},
		{"openai", 503, ``, wire.Overloaded},
		{"openai", 503, `{"error":{"message":"Request queue is full","type":"ServiceUnavailable","param":null,"code":503}}`, wire.Overloaded},
		{"openai", 503, `{"error":"server busy, please try again.  maximum pending requests exceeded"}`, wire.Overloaded},
		{"openai", 200, `{"code":14003,"message":"too many requests","retry_after":3,"limit":20,"remaining":0}`, wire.Rate},
		{"openai", 200, `{"code":777,"message":"your balance is low"}`, wire.Quota},
		{"anthropic", 429, `{"type":"error","error":{"type":"rate_limit_error","message":"x"},"request_id":"r"}`, wire.Rate},
		{"anthropic", 429, `{"type":"error","error":{"type":"rate_limit_error","message":"Monthly spend limit reached.","details":{"error_code":"enforced_spend_limit_reached"}}}`, wire.Quota},
		{"anthropic", 402, `{"type":"error","error":{"type":"billing_error","message":"x"}}`, wire.Quota},
		{"anthropic", 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, wire.Overloaded},
		{"anthropic", 404, `{"type":"error","error":{"type":"not_found_error","message":"x"}}`, wire.BadRequest},
		{"gemini", 429, `{"error":{"code":429,"message":"You exceeded your current quota. Please retry in 34.07s.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaMetric":"m","quotaId":"GenerateRequestsPerMinutePerProjectPerModel-FreeTier","quotaValue":"5"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.07s"}]}}`, wire.Rate},
		{"gemini", 429, `{"error":{"code":429,"message":"x","status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaMetric":"m","quotaId":"GenerateRequestsPerMinutePerProjectPerModel"},{"quotaMetric":"m","quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}]}}`, wire.Quota},
		{"gemini", 429, `{"error":{"code":429,"message":"No capacity available for model demo-pro on the server","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"MODEL_CAPACITY_EXHAUSTED"}]}}`, wire.Overloaded},
		{"gemini", 429, `{"error":{"code":429,"message":"Resource exhausted, please try again later.","status":"RESOURCE_EXHAUSTED"}}`, wire.Rate},
		{"gemini", 400, `{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}`, wire.Auth},
		{"gemini", 403, `{"error":{"code":403,"message":"The caller does not have permission","status":"PERMISSION_DENIED"}}`, wire.Permission},
		{"codybuddy", 200, `{"code":14003,"message":"too many requests","retry_after":3,"limit":20,"remaining":0}`, wire.Rate},
		{"azure", 429, `{"error":{"code":"429","message":"Requests to the ChatCompletions_Create Operation under Azure OpenAI API version 2024-10-21 have exceeded token rate limit of your current OpenAI S0 pricing tier. Please retry after 17 seconds."}}`, wire.Rate},
		{"azure", 429, `{"error":{"code":"429","message":"The system is experiencing high demand and cannot process your request."}}`, wire.Rate},
		{"azure", 429, `{"statusCode":429,"message":"Rate limit is exceeded. Try again in 50 seconds."}`, wire.Rate},
		{"azure", 403, `{"statusCode":403,"message":"Out of call volume quota. Quota will be replenished in 02:10:37."}`, wire.Quota},
		{"azure", 401, `{"error":{"code":"401","message":"Access denied due to invalid subscription key or wrong API endpoint."}}`, wire.Auth},
		{"azure", 403, `{"error":{"code":"403","message":"Access denied due to Virtual Network/Firewall rules."}}`, wire.Permission},
		{"azure", 404, `{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist."}}`, wire.BadRequest},
		{"azure", 503, `{"error":{"code":"503","message":"temporarily unable to process your request"}}`, wire.Overloaded},
		{"bedrock", 429, `{"message":"Too many requests, please wait before trying again."}`, wire.Rate},
		{"bedrock", 429, `{"message":"Model is not ready for inference. Wait and try again.","__type":"ModelNotReadyException"}`, wire.Overloaded},
		{"bedrock", 400, `{"message":"x","__type":"com.amazon.coral.service#ServiceQuotaExceededException"}`, wire.Quota},
		{"bedrock", 403, `{"message":"You don't have access to the model with the specified model ID."}`, wire.Permission},
		{"bedrock", 424, `{"message":"x","__type":"ModelErrorException"}`, wire.ServerError},
		{"bedrock", 404, `{"message":"x","__type":"ResourceNotFoundException"}`, wire.BadRequest},
		{"zhipu", 429, `{"error":{"code":"1302","message":"您的账户已达到速率限制,请您控制请求频率"}}`, wire.Rate},
		{"zhipu", 429, `{"error":{"code":"1303","message":"x"}}`, wire.Rate},
		{"zhipu", 429, `{"error":{"code":"1304","message":"x"}}`, wire.Quota},
		{"zhipu", 429, `{"error":{"code":"1305","message":"该模型当前访问量过大,请您稍后再试"}}`, wire.Overloaded},
		{"zhipu", 429, `{"error":{"code":"1312","message":"x"}}`, wire.Overloaded},
		{"zhipu", 429, `{"error":{"code":"1308","message":"已达到 5 小时的使用上限。您的限额将在 2026-12-01 18:00:00 重置"}}`, wire.Quota},
		{"zhipu", 429, `{"error":{"code":"1113","message":"您的账户已欠费,请充值后重试"}}`, wire.Quota},
		{"zhipu", 401, `{"error":{"code":"1000","message":"身份验证失败"}}`, wire.Auth},
		{"zhipu", 401, `{"error":{"code":"1003","message":"x"}}`, wire.Auth},
		{"zhipu", 435, `{"error":{"code":"9999","message":"x"}}`, wire.BadRequest},
		{"dashscope", 429, `{"error":{"message":"Request rate increased too quickly; smooth your request ramp.","type":"limit_burst_rate","param":null,"code":"limit_burst_rate"},"id":"chatcmpl-demo","request_id":"demo-2"}`, wire.Acceleration},
		{"dashscope", 429, `{"error":{"message":"You exceeded your current token allocation per minute.","type":"insufficient_quota","param":null,"code":"insufficient_quota"},"request_id":"demo-3"}`, wire.TokenRate},
		{"dashscope", 429, `{"error":{"message":"x","type":"limit_requests","param":null,"code":"limit_requests"},"request_id":"demo-3"}`, wire.Rate},
		{"dashscope", 400, `{"error":{"message":"x","type":"Arrearage","param":null,"code":"Arrearage"},"request_id":"demo-3"}`, wire.Quota},
		{"dashscope-native", 429, `{"code":"Throttling.RateQuota","message":"Requests rate limit exceeded, please try again later.","request_id":"demo-1"}`, wire.Rate},
		{"dashscope-native", 429, `{"code":"Throttling.AllocationQuota","message":"x","request_id":"demo-1"}`, wire.TokenRate},
		{"dashscope-native", 429, `{"code":"Throttling.BurstRate","message":"x","request_id":"demo-1"}`, wire.Acceleration},
		{"dashscope-native", 403, `{"code":"AllocationQuota.FreeTierOnly","message":"x","request_id":"demo-1"}`, wire.Quota},
		{"dashscope-native", 403, `{"code":"AccessDenied.Unpurchased","message":"x","request_id":"demo-1"}`, wire.Permission},
		{"openrouter", 429, `{"error":{"code":429,"message":"Rate limit exceeded","metadata":{"provider_name":"DemoProvider"}}}`, wire.Rate},
		{"openrouter", 200, `{"error":{"code":429,"message":"Rate limit exceeded"}}`, wire.Rate},
		{"openrouter", 200, `{"error":{"code":503,"message":"No provider available for this model right now","metadata":{"error_type":"provider_overloaded"}}}`, wire.Overloaded},
		{"openrouter", 503, `{"error":{"code":503,"message":"No provider available for this model right now"}}`, wire.Overloaded},
		{"openrouter", 200, `{"error":{"code":502,"message":"Provider returned error"}}`, wire.ServerError},
		{"openrouter", 200, `{"error":{"code":408,"message":"x"}}`, wire.Timeout},
		{"openrouter", 402, `{"error":{"code":402,"message":"Insufficient credits"}}`, wire.Quota},
		{"openrouter", 402, `{"error":{"code":402,"message":"x","metadata":{"limit_source":"openrouter_in_flight_budget"}}}`, wire.Concurrency},
		{"openrouter", 403, `{"error":{"code":403,"message":"x","metadata":{"reasons":["violence"]}}}`, wire.Permission},
		{"qianfan", 200, `{"error_code":18,"error_msg":"Open api qps request limit reached"}`, wire.Rate},
		{"qianfan", 200, `{"error_code":4,"error_msg":"x"}`, wire.Rate},
		{"qianfan", 200, `{"error_code":336501,"error_msg":"Rate limit reached for RPM"}`, wire.Rate},
		{"qianfan", 200, `{"code":336502,"msg":"Rate limit reached for TPM"}`, wire.TokenRate},
		{"qianfan", 200, `{"code":"tpm_rate_limit_exceeded","msg":"x"}`, wire.TokenRate},
		{"qianfan", 200, `{"error_code":"rpm_rate_limit_exceeded","error_msg":"x"}`, wire.Rate},
		{"qianfan", 200, `{"error_code":336100,"error_msg":"server is busy, please try again later"}`, wire.Overloaded},
		{"qianfan", 200, `{"error_code":17,"error_msg":"Open api daily request limit reached"}`, wire.Quota},
		{"qianfan", 200, `{"error_code":19,"error_msg":"Open api total request limit reached"}`, wire.Quota},
		{"qianfan", 200, `{"error_code":110,"error_msg":"x"}`, wire.Auth},
		{"qianfan", 200, `{"error_code":111,"error_msg":"Access token expired"}`, wire.Auth},
		{"qianfan", 200, `{"error_code":6,"error_msg":"No permission to access data"}`, wire.Permission},
		{"qianfan-v2", 401, `{"error":{"code":"invalid_iam_token","message":"x","type":"invalid_request_error"},"id":"as-1"}`, wire.Auth},
		{"qianfan-v2", 429, `{"code":"RATE_LIMIT_TOTAL_QPS","message":"x","type":"rate"}`, wire.Rate},
		{"qianfan-v2", 429, `{"code":"QUOTA_USER_DAILY_REQUEST","message":"x","type":"quota"}`, wire.Quota},
		{"qianfan-v2", 403, `{"code":"BILLING_INSUFFICIENT_BALANCE","message":"x"}`, wire.Quota},
		{"qianfan-v2", 400, `{"error":{"code":"malformed_json","message":"Invalid Argument","type":"invalid_request_error"},"id":"as-1"}`, wire.BadRequest},
		{"minimax", 200, `{"id":"demo","choices":null,"created":1796000000,"model":"demo-minimax","object":"chat.completion","usage":{"total_tokens":0},"base_resp":{"status_code":1002,"status_msg":"rate limit"}}`, wire.Rate},
		{"minimax", 200, `{"id":"demo","choices":null,"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}`, wire.Quota},
		{"minimax", 200, `{"id":"demo","choices":null,"base_resp":{"status_code":1004,"status_msg":"login fail: not authorized"}}`, wire.Auth},
		{"minimax", 200, `{"base_resp":{"status_code":1039,"status_msg":"token limit"}}`, wire.TokenRate},
		{"minimax", 200, `{"base_resp":{"status_code":1041,"status_msg":"conn limit"}}`, wire.Concurrency},
		{"minimax", 200, `{"base_resp":{"status_code":2045,"status_msg":"rate growth limit"}}`, wire.Acceleration},
		{"minimax", 200, `{"base_resp":{"status_code":2056,"status_msg":"usage limit exceeded"}}`, wire.Quota},
	} {
		d, ok := ByName(c.dialect)
		require.True(t, ok)
		r := d.ParseReply(&RawReply{Status: c.status, Body: []byte(c.body)}, ReadContext{})
		require.Equal(t, c.want, r.Shown, "%s: %s", c.dialect, c.body)
	}
}

// TestBodyOf14003 checks the body of the reference experiment, byte for byte.
func TestBodyOf14003(t *testing.T) {
	d, _ := ByName("codybuddy")
	r := replyOf(&d, wire.Concurrency)
	r.Hint.Value, r.Limit = 3e9, 20
	var m Message
	d.Write(&m, &Context{Epoch: epoch}, &r)
	require.Equal(t, 200, m.Status)
	require.Equal(t, `{"code":14003,"message":"too many requests","retry_after":3,"limit":20,"remaining":0}`, string(m.Body))

	custom := CodeInBody{Name: "other", Code: "errno", Message: "errmsg", Success: 1}.Dialect()
	r = replyOf(&custom, wire.Concurrency)
	r.Hint.Value, r.Limit = 3e9, 20
	m = Message{}
	custom.Write(&m, &Context{}, &r)
	require.Equal(t, `{"errno":14003,"errmsg":"too many requests"}`, string(m.Body), "without fields for the hint and the limit")
	require.Equal(t, wire.OK, custom.ParseReply(&RawReply{Status: 200, Body: []byte(`{"errno":1,"errmsg":"ok"}`)}, ReadContext{}).Shown)
}

// TestKeywordReader: any keyword of the first group has priority over any of
// the second, and any keyword over the status.
func TestKeywordReader(t *testing.T) {
	believes := func(status uint16, text string) wire.Class {
		var o wire.Outcome
		wire.ByKeyword{}.Read(&wire.Reply{Status: status, Body: wire.ErrorBody, Words: wire.WordsOf(text), Hint: wire.Hint{Value: wire.NoHint}}, 0, &o)
		return o.Class
	}
	for _, c := range []struct {
		status uint16
		text   string
		want   wire.Class
	}{
		{429, "Rate limit reached", wire.Rate},
		{503, "Quota exceeded; the server is busy", wire.Quota},
		{503, "Rate limit: the model is at capacity", wire.Rate},
		{503, "You have no permission, or the model is overloaded", wire.Permission},
		{429, "Selected model is at capacity. Please try a different model.", wire.Overloaded},
		{401, "The server is BUSY", wire.Overloaded},
		{429, "Slow down.", wire.Rate},
		{529, "", wire.Overloaded},
		{500, "It broke.", wire.ServerError},
	} {
		require.Equal(t, c.want, believes(c.status, c.text), "%d %s", c.status, c.text)
	}
	// Replies that the reader misinterprets.
	for _, c := range []struct {
		dialect      string
		truth, wants wire.Class
	}{
		{"gemini", wire.Rate, wire.Quota},         // the text of every limit contains "quota"
		{"zhipu", wire.Quota, wire.Rate},          // no English text, and 429
		{"zhipu", wire.Overloaded, wire.Rate},     // the same
		{"azure", wire.Overloaded, wire.Rate},     // "high demand" is no keyword
		{"dashscope", wire.TokenRate, wire.Rate},  // the code is insufficient_quota, the text is not
		{"anthropic", wire.Auth, wire.Permission}, // "api key"
		{"qianfan", wire.Concurrency, wire.OK},    // HTTP 200, and "request limit" is no keyword
		{"openrouter", wire.Overloaded, wire.OK},  // HTTP 200 around a 503
		{"minimax", wire.Overloaded, wire.OK},     // HTTP 200, "unknown error"
		{"codybuddy", wire.Overloaded, wire.Overloaded},
	} {
		d, _ := ByName(c.dialect)
		r := replyOf(&d, c.truth)
		var o wire.Outcome
		wire.ByKeyword{}.Read(&r, 0, &o)
		require.Equal(t, c.wants, o.Class, "%s %s", c.dialect, c.truth)
	}
}

// TestWordsOfForms: the text of Gemini's limits mentions a quota, those of the
// others a limit.
func TestWordsOfForms(t *testing.T) {
	for name, want := range map[string]wire.Words{
		"openai": wire.MentionsLimit, "anthropic": wire.MentionsLimit, "gemini": wire.MentionsQuota, "codybuddy": wire.MentionsLimit,
	} {
		d, _ := ByName(name)
		require.Equal(t, want, d.Forms()[wire.Rate].Words, name)
	}
}
