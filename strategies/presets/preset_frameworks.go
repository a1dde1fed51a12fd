package presets

import (
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
)

// vercelAI is the Vercel AI SDK 7.0.173: two retries after 2 and 4 s, without
// jitter; a hint below 60 s replaces the wait. It parses answers strictly, so a 14003
// with status 200 fails without a retry. It restarts a stream that failed before its
// first token.
func vercelAI(Knowledge) strategies.Definition {
	return strategies.Definition{
		Reader: sdkReader{hints: byParseFloat, future: true, strict: true, early: true},
		Layers: []strategies.Layer{layers.Retry{
			Backoff:     exponential(2*time.Second, 0),
			MaxAttempts: 3,
			On: layers.Rules{
				Statuses: []layers.Statuses{layers.Status(408), layers.Status(409), layers.Status(429), serverErrors},
				Marks:    layers.MarksIgnored,
			},
			Hints: layers.Hints{Use: layers.HintAsWait, Most: 60*time.Second - 1},
		}},
	}
}

// langchainJS is @langchain/core 1.4.0: up to six retries, after U(1, 2)·2ⁿ s, for all
// statuses except a few. A 429 is retried only with a hint of 60 s or less, in the
// header or as a sentence; the wait is then the longer of hint and backoff. Hints of
// other statuses are not read. Errors that mention quota are not retried. The retries
// of the SDK inside are switched off.
func langchainJS(Knowledge) strategies.Definition {
	return strategies.Definition{
		Reader: sdkReader{hints: retryAfter | spelled(wire.Sentence), on: []layers.Statuses{layers.Status(429)}, strict: true, quota: true},
		Layers: []strategies.Layer{layers.Retry{
			Backoff:     backoffs.Proportional{Of: exponential(time.Second, 0), Low: 100, High: 200},
			MaxAttempts: 7,
			On: layers.Rules{
				Statuses:  []layers.Statuses{layers.Status(408), {First: 410, Last: 412}, {First: 414, Last: 999}},
				Except:    strategies.ClassesOf(wire.Quota),
				AskedOnly: []layers.Statuses{layers.Status(429)},
				Marks:     layers.MarksIgnored,
			},
			Hints: layers.Hints{Use: layers.HintAsFloor, Most: 60 * time.Second, Beyond: layers.GiveUp},
		}},
	}
}

// langchainPython is with_retry of LangChain for Python, which is tenacity's
// wait_exponential_jitter: three attempts on any failure, 2ⁿ + U(0, 1) s apart. A
// stream that fails after it began is not retried.
func langchainPython(Knowledge) strategies.Definition {
	return strategies.Definition{
		Reader: sdkReader{parses: true},
		Layers: []strategies.Layer{layers.Retry{
			Backoff:     backoffs.Exponential{Base: time.Second, Jitter: time.Second},
			MaxAttempts: 3,
			On: layers.Rules{
				Classes:  strategies.AnyFailure &^ strategies.ClassesOf(wire.BadRequest), // with status 200 or without a status
				Statuses: []layers.Statuses{{First: 400, Last: 999}},
				Marks:    layers.MarksIgnored,
			},
			Hints: ignored,
		}},
	}
}

// litellmRouter is LiteLLM's router (main, read in 2026-11) with two deployments,
// regions 0 and 1 of the provider. A failed deployment is not used for 5 s; see
// layers.Deployments. num_retries is 2. A retry starts at once while the other
// deployment is in use; otherwise it waits for the hint, if that is at most 60 s, or
// else min(8 s, 0.5·2ⁿ) + U(0, 0.75 s).
func litellmRouter(Knowledge) strategies.Definition {
	return strategies.Definition{
		Reader: sdkReader{hints: retryAfterMs, upTo: 60 * time.Second},
		Layers: []strategies.Layer{
			layers.Deployments{
				Targets:     []wire.Target{{}, {Region: 1}},
				MaxAttempts: 3,
				Backoff:     backoffs.Exponential{Base: time.Second / 2, Cap: 8 * time.Second, Jitter: 750 * time.Millisecond},
				On:          layers.Rules{Statuses: []layers.Statuses{layers.Status(408), layers.Status(409), layers.Status(429), serverErrors}, Marks: layers.MarksIgnored},
				Scope:       strategies.PerClient,
			},
			layers.AttemptTimeout{After: 6000 * time.Second},
		},
	}
}
