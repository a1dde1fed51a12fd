package presets

import (
	"math"
	"time"

	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
)

// The SDKs of OpenAI and Anthropic come from one generator and share a core: three
// attempts, min(8 s, 0.5·2ⁿ) less a random quarter, connection errors, timeouts,
// 408, 409, 429 and everything from 500 up, x-should-retry over all of that, 600 s
// for each attempt, and no retry once a stream has begun. They differ in the hints
// that they understand and accept. A hint that they do accept is obeyed to the
// instant, so that a fleet wakes as one.
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

// tenMinutes is how long the SDKs wait for an answer.
var tenMinutes = layers.AttemptTimeout{After: 600 * time.Second}

// millis31 is how long a timer of JavaScript can run.
const millis31 = math.MaxInt32 * time.Millisecond

var (
	// openai-python 3.3.1: 0 < hint ≤ 120 s; a longer one ends the call. (Before
	// 2.52.0 it was 60 s, and a retry by the backoff.)
	openaiPython = stainless(sdkReader{hears: retryAfterMs}, layers.Hints{Least: 1, Most: 120 * time.Second, Beyond: layers.GiveUp}, layers.ReplayNothing, tenMinutes)
	// openai-node 7.59.0: 0 ≤ hint ≤ 60 s; a longer one, or a date that has passed,
	// is retried after half a second.
	openaiNode = stainless(sdkReader{hears: byParseFloat, future: true}, layers.Hints{Most: 60 * time.Second}, layers.ReplayNothing, tenMinutes)
	// openai-go v3.99.0: 0 ≤ hint ≤ 120 s; a longer one ends the call. It waits for
	// an answer without a limit.
	openaiGo = stainless(sdkReader{hears: retryAfterMs}, layers.Hints{Most: 120 * time.Second, Beyond: layers.GiveUp}, layers.ReplayNothing)
	// anthropic-python 0.121.0: 0 < hint ≤ 60 s, otherwise the backoff.
	anthropicPython = stainless(sdkReader{hears: retryAfterMs}, layers.Hints{Least: 1, Most: 60 * time.Second}, layers.ReplayNothing, tenMinutes)
	// anthropic-ts 1.14.0: any positive hint that a timer can take. (A key from
	// OAuth that is refused is renewed, and one attempt more made; API keys are
	// meant here.)
	anthropicTS = stainless(sdkReader{hears: byParseFloat}, layers.Hints{Least: 1, Most: millis31}, layers.ReplayNothing, tenMinutes)
	// anthropic-go v2.15.0: any hint; and an answer whose body broke is asked for
	// again, unless it was a stream. (Streams have no limit of time.)
	anthropicGo = stainless(sdkReader{hears: retryAfterMs}, layers.Hints{}, layers.ReplayUndelivered, tenMinutes)
)
