package presets

import (
	"math"
	"time"

	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
)

// The SDKs of OpenAI and Anthropic come from one generator and share a core: three
// attempts; waits of min(8 s, 0.5·2ⁿ) minus up to a quarter; retries of connection
// errors, timeouts, 408, 409, 429 and all statuses from 500 up; x-should-retry
// overrides these rules; 600 s for each attempt; no retry once a stream has begun. They
// differ in the hints that they read and accept. An accepted hint is followed exactly,
// without jitter, so clients with the same hint retry together.
func stainless(reader sdkReader, hints layers.Hints, replay layers.Replay, inside ...strategies.Layer) func(Knowledge) strategies.Definition {
	hints.Use = layers.HintAsWait
	loop := layers.Retry{
		Backoff:     backoffs.Proportional{Of: exponential(time.Second/2, 8*time.Second), Low: 75, High: 100},
		MaxAttempts: 3,
		On: layers.Rules{
			Statuses: []layers.Statuses{layers.Status(408), layers.Status(409), layers.Status(429), serverErrors},
			Marks:    layers.MarksDecide,
			Replay:   replay,
		},
		Hints: hints,
	}
	return func(Knowledge) strategies.Definition {
		return strategies.Definition{Reader: reader, Layers: append([]strategies.Layer{loop}, inside...)}
	}
}

// tenMinutes is the timeout of the SDKs for an attempt.
var tenMinutes = layers.AttemptTimeout{After: 600 * time.Second}

// millis31 is the longest timeout of a JavaScript timer, 2³¹ − 1 ms.
const millis31 = math.MaxInt32 * time.Millisecond

var (
	// openai-python 3.3.1: 0 < hint ≤ 120 s; a longer one ends the call. (Before
	// 2.52.0 the bound was 60 s, and a longer hint was replaced by the backoff.)
	openaiPython = stainless(sdkReader{hints: retryAfterMs}, layers.Hints{Least: 1, Most: 120 * time.Second, Beyond: layers.GiveUp}, layers.ReplayNothing, tenMinutes)
	// openai-node 7.59.0: 0 ≤ hint ≤ 60 s; after a longer one, or a date in the
	// past, it retries after half a second.
	openaiNode = stainless(sdkReader{hints: byParseFloat, future: true}, layers.Hints{Most: 60 * time.Second}, layers.ReplayNothing, tenMinutes)
	// openai-go v3.99.0: 0 ≤ hint ≤ 120 s; a longer one ends the call. It has
	// no timeout for an attempt.
	openaiGo = stainless(sdkReader{hints: retryAfterMs}, layers.Hints{Most: 120 * time.Second, Beyond: layers.GiveUp}, layers.ReplayNothing)
	// anthropic-python 0.121.0: 0 < hint ≤ 60 s, otherwise the backoff.
	anthropicPython = stainless(sdkReader{hints: retryAfterMs}, layers.Hints{Least: 1, Most: 60 * time.Second}, layers.ReplayNothing, tenMinutes)
	// anthropic-ts 1.14.0: any positive hint that fits into a timer. (API keys are
	// modelled. A refused OAuth token would be renewed, with one more attempt.)
	anthropicTS = stainless(sdkReader{hints: byParseFloat}, layers.Hints{Least: 1, Most: millis31}, layers.ReplayNothing, tenMinutes)
	// anthropic-go v2.15.0: any hint; an answer with a truncated body is retried,
	// unless it is a stream. (Streams have no timeout.)
	anthropicGo = stainless(sdkReader{hints: retryAfterMs}, layers.Hints{}, layers.ReplayUndelivered, tenMinutes)
)
