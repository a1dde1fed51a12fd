package presets

import (
	"time"

	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
)

// Preset is a model of a public client library or application: its default
// behaviour, or the example of its documentation. Presets reproduce mistakes.
type Preset struct {
	Builtin
	// Version is the modelled version, or its date.
	Version string
	// Source names the files or the text that the model is based on.
	Source string
}

// Presets returns all presets, by family.
func Presets() []Preset {
	return []Preset{
		preset("openai-python", "3 attempts; follows hints up to 120 s exactly, a longer one ends the call", "3.3.1 (2026-08-21)", "openai/openai-python src/openai/_base_client.py", openaiPython),
		preset("openai-node", "3 attempts; follows hints up to 60 s exactly, ignores longer ones", "7.59.0", "npm openai src/client.ts", openaiNode),
		preset("openai-go", "3 attempts; follows hints up to 120 s, also 0; a longer one ends the call", "v3.99.0", "openai-go internal/requestconfig", openaiGo),
		preset("anthropic-python", "3 attempts; follows hints up to 60 s exactly, ignores longer ones and 0", "0.121.0 (2026-08-08)", "anthropics/anthropic-sdk-python src/anthropic/_base_client.py", anthropicPython),
		preset("anthropic-ts", "3 attempts; follows hints of any length exactly", "1.14.0", "npm @anthropic-ai/sdk src/client.ts", anthropicTS),
		preset("anthropic-go", "3 attempts; follows any hint exactly, also 0; retries truncated bodies", "v2.15.0", "anthropic-sdk-go internal/requestconfig", anthropicGo),

		preset("google-genai", "does not retry", "2.19.0", "googleapis/python-genai google/genai/_api_client.py", googleGenai),
		preset("google-genai-retry", "with retry_options: 5 attempts, min(60 s, 2ⁿ) + U(0, 1 s), ignores hints", "2.19.0", "googleapis/python-genai google/genai/_api_client.py", googleGenaiRetry),

		preset("aws-legacy", "5 attempts, U(0, 2ⁿ s), no retry budget, ignores hints", "botocore 1.43.67 (2026-08-07)", "botocore/data/_retry.json, retryhandler.py", awsLegacy),
		preset("aws-standard", "3 attempts, U(0, min(20 s, 2ⁿ)), a retry budget of 500 tokens", "botocore 1.43.67 (2026-08-07)", "botocore/retries/standard.py, quota.py", awsStandard),
		preset("aws-standard-2026", "3 attempts, the first retry after 25 ms on average", "aws-sdk-go-v2 v1.48.0 (2026-11-10)", "aws-sdk-go-v2 aws/retry", awsStandard2026),
		preset("aws-adaptive", "aws-standard behind a rate limit that CUBIC adapts to throttling", "botocore 1.43.67 (2026-08-07)", "botocore/retries/adaptive.py", awsAdaptive),

		preset("vercel-ai", "3 attempts after 2 and 4 s without jitter; follows hints below 60 s exactly", "7.0.173", "npm ai src/util/retry-with-exponential-backoff.ts", vercelAI),
		preset("langchain-js", "7 attempts, U(1, 2)·2ⁿ s; retries a 429 only with a hint of up to 60 s", "1.4.0", "npm @langchain/core dist/utils/async_caller.js", langchainJS),
		preset("litellm-router", "3 attempts; retries elsewhere at once, a failed target rests for 5 s", "main, read 2026-11", "BerriAI/litellm litellm/router.py, constants.py", litellmRouter),

		preset("codex", "5 attempts, 0.2·2ⁿ s ±10 %, no retry of a 429; restarts streams 6 times", "main, read 2026-11", "openai/codex codex-rs", codexCLI),
		preset("gemini-cli", "10 attempts, 5·2ⁿ s up to 30 s ±30 %, at least the hint; above 5 min it fails", "0.61", "npm @google/gemini-cli-core dist/src/utils/retry.js, googleQuotaErrors.js", geminiCLI),
		preset("gemini-cli-fallback", "gemini-cli by default: 3 attempts at Pro, 10 at Flash, if the user agrees", "0.61", "npm @google/gemini-cli-core dist/src/availability/policyCatalog.js, fallback/handler.js", geminiCLIFallback),

		preset("tenacity", "retries any failure at once without a bound: the decorator without arguments", "2026-07-15", "jd/tenacity tenacity/__init__.py", tenacity),
		preset("langchain-python", "with_retry: 3 attempts on any failure, 2ⁿ + U(0, 1 s), by tenacity", "2026-07-15", "jd/tenacity tenacity/wait.py wait_exponential_jitter", langchainPython),
		preset("go-retryablehttp", "5 attempts after 1, 2, 4 and 8 s without jitter; follows hints of any length", "0.7.8", "hashicorp/go-retryablehttp client.go", retryableHTTP),
		preset("cenkalti-backoff", "retries any failure, 0.5·1.5ⁿ s up to 60 s ±50 %, for 15 min", "v5.0.3", "cenkalti/backoff exponential.go, retry.go", cenkaltiBackoff),
		preset("grpc", "the example of gRFC A6: 4 attempts, 0.1·2ⁿ s up to 1 s ±20 %, throttled", "grpc-go 1.85", "grpc/proposal A6-client-retries.md, grpc-go stream.go", grpcRetry),
		preset("polly", "4 attempts on any failure, 2 s apart, without jitter", "8.7 (2026-08-21)", "App-vNext/Polly RetryStrategyOptions.cs", polly),
		preset("polly-jitter", "4 attempts on any failure, exponential from 2 s with Polly's jitter", "8.7 (2026-08-21)", "App-vNext/Polly RetryHelper.cs", pollyJitter),
		preset("resilience4j", "3 attempts 0.5 s apart; a breaker opens at 50 % failures of the last 100", "2026-05-05", "resilience4j RetryConfig.java, CircuitBreakerConfig.java", resilience4j),
		preset("failsafe-go", "3 attempts on any failure, at once", "0.9.8", "failsafe-go retrypolicy", failsafeGo),
		preset("gobreaker", "no retries; a breaker opens for 60 s after more than 5 failures in a row", "v2.4", "sony/gobreaker gobreaker.go", gobreaker),
		preset("x-time-rate", "no retries; 20 a second, burst 5; a cancelled waiter leaves its debt", "v0.16.0", "golang.org/x/time/rate rate.go", xTimeRate),

		preset("article-capacity", "5 attempts, 2ⁿ + U(0, 0.5 s): waits 15 s, its text says 31", "2026", "the reference article on capacity errors, §3.1", articleCapacity),
		preset("article-fallback", "flagship, standard, light, without waiting", "2026", "the reference article on capacity errors, §3.2", articleFallback),
		preset("article-three-tiers", "flagship twice, standard once, light once, 90 to 150 s apart", "2026", "the reference article on capacity errors, §4", articleThreeTiers),
		preset("article-14003", "5 attempts by retry_after or 2ⁿ, then a useless last sleep", "2026", "the reference article on 14003, §5.1", article14003),
		preset("article-14003-semaphore", "retries by recursion inside a semaphore of 2: deadlocks", "2026", "the reference article on 14003, §5.2", articleSemaphore),
		preset("article-14003-client", "paced once a call, sleeps with its permit and after the last attempt", "2026", "the reference article on 14003, the complete client", articleClient),
		preset("article-14003-bucket", "1.4 a second and a burst of 3 for each process; no retries", "2026", "the reference article on 14003, §5.3", articleBucket),
	}
}

func preset(name, summary, version, source string, define func(Knowledge) strategies.Definition) Preset {
	return Preset{Builtin{name, summary, define}, version, source}
}

// serverErrors are the statuses from 500 up.
var serverErrors = layers.Statuses{First: 500, Last: 999}

// exponential returns the exponential backoff that most libraries use.
func exponential(base, limit time.Duration) backoffs.Exponential {
	return backoffs.Exponential{Base: base, Cap: limit}
}

// ignored is the setting of clients that do not read hints.
var ignored = layers.Hints{Use: layers.HintIgnored}
