package presets

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
)

// between are waits that must lie within bounds, in seconds: low, high, low, …
func between(bounds ...float64) []float64 { return bounds }

func exactly(waits ...float64) (bounds []float64) {
	for _, w := range waits {
		bounds = append(bounds, w, w)
	}
	return bounds
}

// Bounds that several clients share.
var (
	own      = between(0.375, 0.5, 0.75, 1) // the SDKs of OpenAI and Anthropic
	doubling = exactly(2, 4)
)

// The behaviour of real clients against a server that always sends the same reply,
// measured with their defaults (openai-node 7.59, openai-go 3.99, anthropic-ts
// 1.14, anthropic-go 2.15, Vercel AI 7, LangChain JS 1.4, Google Gen AI JS) or read
// from their code. Nil bounds mean a single attempt.
func TestPresetsAgainstTheMeasuredMatrix(t *testing.T) {
	for name, row := range map[string]struct {
		reply   wire.Reply
		ok      bool
		clients map[string][]float64
	}{
		"429 without a hint": {limited, false, map[string][]float64{
			"openai-node": own, "openai-go": own, "openai-python": own, "anthropic-ts": own, "anthropic-go": own, "anthropic-python": own,
			"vercel-ai": doubling, "langchain-js": nil, "google-genai": nil, "codex": nil,
			"google-genai-retry": between(1, 2, 2, 3, 4, 5, 8, 9), "go-retryablehttp": exactly(1, 2, 4, 8),
			"aws-legacy": between(0, 1, 0, 2, 0, 4, 0, 8), "aws-standard": between(0, 1, 0, 2), "aws-standard-2026": between(0, 1, 0, 2),
		}},
		"Retry-After: 0": {asks(limited, 0, wire.HeaderSeconds), false, map[string][]float64{
			"openai-node": exactly(0, 0), "openai-go": exactly(0, 0), "openai-python": own, "anthropic-ts": own, "anthropic-go": exactly(0, 0),
			"anthropic-python": own, "vercel-ai": exactly(0, 0), "langchain-js": between(1, 2, 2, 4, 4, 8, 8, 16, 16, 32, 32, 64), "google-genai": nil,
			"go-retryablehttp": exactly(0, 0, 0, 0),
		}},
		"Retry-After: 1": {asks(limited, time.Second, wire.HeaderSeconds), false, map[string][]float64{
			"openai-node": exactly(1, 1), "openai-go": exactly(1, 1), "anthropic-ts": exactly(1, 1), "anthropic-go": exactly(1, 1),
			"vercel-ai": exactly(1, 1), "langchain-js": between(1, 2, 2, 4, 4, 8, 8, 16, 16, 32, 32, 64), "google-genai": nil,
			"google-genai-retry": between(1, 2, 2, 3, 4, 5, 8, 9),
		}},
		"Retry-After: 59": {asks(limited, 59*time.Second, wire.HeaderSeconds), false, map[string][]float64{
			"openai-node": exactly(59, 59), "openai-go": exactly(59, 59), "openai-python": exactly(59, 59), "anthropic-ts": exactly(59, 59),
			"anthropic-go": exactly(59, 59), "anthropic-python": exactly(59, 59), "vercel-ai": exactly(59, 59),
			"langchain-js": between(59, 59, 59, 59, 59, 59, 59, 59, 59, 59, 59, 64), "google-genai": nil,
		}},
		"Retry-After: 61": {asks(limited, 61*time.Second, wire.HeaderSeconds), false, map[string][]float64{
			"openai-node": own, "openai-go": exactly(61, 61), "openai-python": exactly(61, 61), "anthropic-ts": exactly(61, 61),
			"anthropic-go": exactly(61, 61), "anthropic-python": own, "vercel-ai": doubling, "langchain-js": nil, "google-genai": nil,
		}},
		"Retry-After: 121": {asks(limited, 121*time.Second, wire.HeaderSeconds), false, map[string][]float64{
			"openai-node": own, "openai-go": nil, "openai-python": nil, "anthropic-ts": exactly(121, 121), "anthropic-go": exactly(121, 121),
			"anthropic-python": own, "vercel-ai": doubling, "langchain-js": nil,
		}},
		"an hour": {asks(limited, time.Hour, wire.HeaderSeconds), false, map[string][]float64{
			"anthropic-ts": exactly(3600, 3600), "anthropic-go": exactly(3600, 3600), "go-retryablehttp": exactly(3600, 3600, 3600, 3600),
		}},
		"Retry-After: 1.5": {asks(limited, 1500*time.Millisecond, wire.ExactSeconds), false, map[string][]float64{
			"openai-go": exactly(1.5, 1.5), "openai-node": exactly(1.5, 1.5), "vercel-ai": exactly(1.5, 1.5), "go-retryablehttp": exactly(1, 2, 4, 8),
		}},
		"Retry-After: 6m0s": {asks(limited, 6*time.Minute, wire.HeaderDuration), false, map[string][]float64{
			"openai-node": exactly(6, 6), "anthropic-ts": exactly(6, 6), "vercel-ai": exactly(6, 6), "langchain-js": nil,
			"openai-python": own, "anthropic-python": own, "openai-go": own, "anthropic-go": own, "go-retryablehttp": exactly(1, 2, 4, 8),
		}},
		"Retry-After: 500ms": {asks(limited, 500*time.Millisecond, wire.HeaderDuration), false, map[string][]float64{
			"openai-node": own, "anthropic-ts": exactly(500, 500), "vercel-ai": doubling, "openai-go": own,
		}},
		"Retry-After: a date, half a minute ago": {asks(limited, -30*time.Second, wire.HeaderDate), false, map[string][]float64{
			"openai-node": own, "anthropic-ts": own, "vercel-ai": doubling, "openai-python": own, "anthropic-python": own,
			"openai-go": exactly(0, 0), "anthropic-go": exactly(0, 0), "go-retryablehttp": exactly(0, 0, 0, 0),
			"langchain-js": between(1, 2, 2, 4, 4, 8, 8, 16, 16, 32, 32, 64),
		}},
		"retry-after-ms: 300": {asks(limited, 300*time.Millisecond, wire.HeaderMillis), false, map[string][]float64{
			"openai-node": exactly(.3, .3), "openai-go": exactly(.3, .3), "anthropic-ts": exactly(.3, .3), "anthropic-go": exactly(.3, .3),
			"vercel-ai": exactly(.3, .3), "langchain-js": nil, "go-retryablehttp": exactly(1, 2, 4, 8),
		}},
		"x-amz-retry-after: 700": {asks(limited, 700*time.Millisecond, wire.HeaderMillis), false, map[string][]float64{
			"aws-standard-2026": between(.7, 1, .7, 2), "aws-standard": between(0, 1, 0, 2),
		}},
		"x-amz-retry-after: 30000": {asks(limited, 30*time.Second, wire.HeaderMillis), false, map[string][]float64{
			"aws-standard-2026": between(5, 6, 5, 7),
		}},
		"AWS does not read Retry-After: 2": {asks(limited, 2*time.Second, wire.HeaderSeconds), false, map[string][]float64{
			"aws-standard-2026": between(0, 1, 0, 2), "aws-legacy": between(0, 1, 0, 2, 0, 4, 0, 8),
		}},
		"500 with a hint": {asks(says(500, wire.ServerError), time.Minute, wire.HeaderSeconds), false, map[string][]float64{
			"go-retryablehttp": exactly(1, 2, 4, 8), "openai-go": exactly(60, 60), "langchain-js": between(1, 2, 2, 4, 4, 8, 8, 16, 16, 32, 32, 64),
		}},
		"a sentence: try again in 1.898s": {asks(limited, 1898*time.Millisecond, wire.Sentence), false, map[string][]float64{
			"langchain-js": between(1.898, 2, 2, 4, 4, 8, 8, 16, 16, 32, 32, 64), "openai-go": own, "codex": nil,
		}},
		"retryDelay: 34s": {asks(limited, 34*time.Second, wire.BodyDelay), false, map[string][]float64{
			"gemini-cli":         between(34, 40.8, 34, 40.8, 34, 40.8, 34, 40.8, 34, 40.8, 34, 40.8, 34, 40.8, 34, 40.8, 34, 40.8),
			"google-genai-retry": between(1, 2, 2, 3, 4, 5, 8, 9),
		}},
		"x-should-retry: false": {marked(limited, wire.ShouldNotRetry), false, map[string][]float64{
			"openai-node": nil, "openai-go": nil, "anthropic-ts": nil, "anthropic-go": nil, "vercel-ai": doubling, "go-retryablehttp": exactly(1, 2, 4, 8),
		}},
		"400 with x-should-retry: true": {marked(says(400, wire.BadRequest), wire.ShouldRetry), false, map[string][]float64{
			"openai-node": own, "openai-go": own, "anthropic-ts": own, "anthropic-go": own, "vercel-ai": nil, "langchain-js": nil,
		}},
		"429 for a spent quota": {quota429, false, map[string][]float64{
			"openai-node": own, "openai-go": own, "anthropic-ts": own, "anthropic-go": own, "vercel-ai": doubling, "langchain-js": nil,
			"gemini-cli": nil, "codex": nil, "polly": exactly(2, 2, 2),
		}},
		"498": {says(498, wire.Overloaded), false, map[string][]float64{
			"openai-node": nil, "openai-go": nil, "anthropic-ts": nil, "anthropic-go": nil, "vercel-ai": nil, "google-genai": nil,
			"langchain-js": between(1, 2, 2, 4, 4, 8, 8, 16, 16, 32, 32, 64), "google-genai-retry": nil,
		}},
		"409": {says(409, wire.BadRequest), false, map[string][]float64{
			"openai-node": own, "openai-go": own, "anthropic-ts": own, "anthropic-go": own, "vercel-ai": doubling, "langchain-js": nil, "google-genai": nil,
		}},
		"408": {says(408, wire.Timeout), false, map[string][]float64{
			"openai-go": own, "anthropic-go": own, "go-retryablehttp": nil, "aws-standard-2026": nil, "aws-standard": nil,
		}},
		"501": {says(501, wire.ServerError), false, map[string][]float64{"go-retryablehttp": nil, "openai-go": own}},
		"503": {busy, false, map[string][]float64{
			"openai-go": own, "codex": between(.18, .22, .36, .44, .72, .88, 1.44, 1.76), "grpc": between(.08, .12, .16, .24, .32, .48),
			"aws-standard-2026": between(0, .05, 0, .1), "aws-standard": between(0, 1, 0, 2), "failsafe-go": exactly(0, 0), "gobreaker": nil,
			"polly": exactly(2, 2, 2), "resilience4j": exactly(.5, .5), "langchain-python": between(1, 2, 2, 3),
			"article-capacity": between(1, 1.5, 2, 2.5, 4, 4.5, 8, 8.5),
		}},
		"529": {says(529, wire.Overloaded), false, map[string][]float64{
			"openai-node": own, "openai-go": own, "anthropic-ts": own, "anthropic-go": own, "vercel-ai": doubling, "google-genai": nil,
			"google-genai-retry": nil, "aws-standard-2026": nil, "go-retryablehttp": exactly(1, 2, 4, 8),
		}},
		"400 with x-should-retry, asking for 121 s": {asks(marked(says(400, wire.BadRequest), wire.ShouldRetry), 121*time.Second, wire.HeaderSeconds), false, map[string][]float64{
			"openai-python": nil, "openai-go": nil, "openai-node": own, "anthropic-python": own, "anthropic-ts": exactly(121, 121), "anthropic-go": exactly(121, 121),
		}},
		"401": {says(401, wire.Auth), false, map[string][]float64{
			"openai-go": nil, "anthropic-go": nil, "go-retryablehttp": nil, "codex": nil, "gemini-cli": nil, "grpc": nil, "failsafe-go": exactly(0, 0),
			"article-capacity": nil,
		}},
		"200 around 14003": {body200, true, map[string][]float64{
			"openai-node": nil, "openai-go": nil, "anthropic-ts": nil, "anthropic-go": nil, "google-genai": nil, "go-retryablehttp": nil, "polly": nil,
		}},
		"200 around 14003, read strictly": {body200, false, map[string][]float64{
			"vercel-ai": nil, "langchain-js": nil,
			"article-14003": exactly(3, 3, 3, 3), "article-14003-client": between(3, 3.5, 3, 3.5, 3, 3.5),
		}},
		"a connection that breaks before the answer": {wire.Reply{}, false, map[string][]float64{
			"openai-node": own, "openai-go": own, "anthropic-ts": own, "anthropic-go": own, "vercel-ai": doubling, "google-genai": nil,
			"langchain-js": between(1, 2, 2, 4, 4, 8, 8, 16, 16, 32, 32, 64), "codex": between(.18, .22, .36, .44, .72, .88, 1.44, 1.76),
			"go-retryablehttp": exactly(1, 2, 4, 8), "aws-standard-2026": between(0, .05, 0, .1),
		}},
		"a body cut half-way": {spoilt(wire.TruncatedBody, 0), false, map[string][]float64{
			"openai-node": nil, "openai-go": nil, "anthropic-ts": nil, "anthropic-go": own, "vercel-ai": doubling, "google-genai": nil,
			"langchain-js": between(1, 2, 2, 4, 4, 8, 8, 16, 16, 32, 32, 64),
		}},
		"an error event after tokens": {spoilt(wire.StreamError, 30), false, map[string][]float64{
			"openai-node": nil, "openai-go": nil, "anthropic-ts": nil, "anthropic-go": nil, "vercel-ai": nil,
			"codex": between(.18, .22, .36, .44, .72, .88, 1.44, 1.76, 2.88, 3.52),
		}},
		"an error event before the first token": {spoilt(wire.StreamError, 0), false, map[string][]float64{
			"openai-node": nil, "openai-go": nil, "anthropic-ts": nil, "anthropic-go": nil, "vercel-ai": doubling,
		}},
		"a stream that just ends": {spoilt(wire.SilentEnd, 30), true, map[string][]float64{
			"openai-node": nil, "openai-go": nil, "anthropic-ts": nil, "anthropic-go": nil, "vercel-ai": nil, "google-genai": nil,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			for client, bounds := range row.clients {
				for seed := range uint64(20) {
					got := replies(t, client, seed, 20, row.reply)
					require.Equal(t, row.ok, got.ok, client)
					require.Len(t, got.waits, len(bounds)/2, "%s waits %v", client, got.waits)
					for i, w := range got.waits {
						require.GreaterOrEqual(t, w.Seconds(), bounds[2*i]-1e-6, "%s, wait %d of %v", client, i+1, got.waits)
						require.LessOrEqual(t, w.Seconds(), bounds[2*i+1]+1e-6, "%s, wait %d of %v", client, i+1, got.waits)
					}
				}
			}
		})
	}
}
