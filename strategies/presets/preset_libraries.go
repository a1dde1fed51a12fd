package presets

import (
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
)

// Retry libraries handle errors without knowledge of providers: by default they retry
// an invalid key like an overload.

// anything retries any failure.
var anything = layers.Rules{Classes: strategies.AnyFailure, Marks: layers.MarksIgnored, Replay: layers.ReplayAll}

// tenacity is the decorator @retry without arguments (2026-07-15): it retries any
// failure at once and without a bound.
func tenacity(Knowledge) strategies.Definition {
	return strategies.Definition{Reader: sdkReader{}, Layers: []strategies.Layer{layers.Retry{Backoff: backoffs.Fixed{}, On: anything, Hints: ignored}}}
}

// retryableHTTP is hashicorp/go-retryablehttp 0.7.8: four retries after 1, 2, 4
// and 8 s, without jitter, of 429, 5xx except 501, and lost connections. It follows
// the Retry-After of a 429 or 503, in whole seconds or as a date, of any length.
func retryableHTTP(Knowledge) strategies.Definition {
	return strategies.Definition{
		Reader: sdkReader{hints: retryAfter, on: []layers.Statuses{layers.Status(429), layers.Status(503)}, whole: true},
		Layers: []strategies.Layer{layers.Retry{
			Backoff:     exponential(time.Second, 30*time.Second),
			MaxAttempts: 5,
			On: layers.Rules{
				Statuses: []layers.Statuses{layers.Status(429), layers.Status(500), {First: 502, Last: 999}},
				Marks:    layers.MarksIgnored, Replay: layers.ReplayNothing,
			},
			Hints: layers.Hints{Use: layers.HintAsWait},
		}},
	}
}

// cenkaltiBackoff is cenkalti/backoff v5.0.3: 0.5 s·1.5ⁿ up to 60 s, each ± 50 %
// and so up to 90 s, until the next wait would end after 15 minutes. A
// RetryAfterError, in whole seconds, replaces the wait and restarts the backoff.
func cenkaltiBackoff(Knowledge) strategies.Definition {
	return strategies.Definition{
		Reader: sdkReader{hints: retryAfter, whole: true},
		Layers: []strategies.Layer{layers.Retry{
			Backoff:    backoffs.PlusMinus(backoffs.Exponential{Base: time.Second / 2, Cap: time.Minute, Factor: 1.5}, 50),
			MaxElapsed: 15 * time.Minute,
			On:         anything,
			Hints:      layers.Hints{Use: layers.HintAsWait, Restart: true},
		}},
	}
}

// grpcRetry is gRPC with the example policy of gRFC A6: four attempts on UNAVAILABLE,
// waits of min(1 s, 0.1·2ⁿ) ± 20 %, and throttling with ten tokens and 0.1 per success.
// The server's pushback replaces the wait, or forbids the retry, and restarts the
// backoff. A response that has begun is not retried. Without a policy gRPC does not
// retry at all.
func grpcRetry(Knowledge) strategies.Definition {
	unavailable := strategies.ClassesOf(wire.Overloaded, wire.ConnectionLost)
	return strategies.Definition{
		Reader: sdkReader{body: true, hints: retryAfterMs},
		Layers: []strategies.Layer{
			layers.GRPCBudget{MaxTokens: 10, Ratio: 100, Counts: unavailable, Scope: strategies.PerClient},
			layers.Retry{
				Backoff:     backoffs.PlusMinus(exponential(100*time.Millisecond, time.Second), 20),
				MaxAttempts: 4,
				On:          layers.Rules{Classes: unavailable, Replay: layers.ReplayNothing},
				Hints:       layers.Hints{Use: layers.HintAsWait, Restart: true},
			},
		},
	}
}

// polly is Polly 8.7's retry strategy with its defaults: three retries, 2 s apart.
func polly(Knowledge) strategies.Definition {
	return strategies.Definition{Reader: sdkReader{}, Layers: []strategies.Layer{
		layers.Retry{Backoff: backoffs.Fixed{Every: 2 * time.Second}, MaxAttempts: 4, On: anything, Hints: ignored},
	}}
}

// pollyJitter is the same strategy with exponential backoff and Polly's jitter.
func pollyJitter(Knowledge) strategies.Definition {
	return strategies.Definition{Reader: sdkReader{}, Layers: []strategies.Layer{
		layers.Retry{Backoff: backoffs.PollyJitter{Base: 2 * time.Second}, MaxAttempts: 4, On: anything, Hints: ignored},
	}}
}

// resilience4j is Retry around CircuitBreaker, both with their defaults (2026-05-05):
// three attempts 0.5 s apart on any failure, also on a refusal by the breaker. The
// breaker counts every failure, also a bad request, and when half open waits without
// a bound until all its ten probes have ended.
func resilience4j(Knowledge) strategies.Definition {
	on := anything
	on.Refusals = true
	return strategies.Definition{Reader: sdkReader{}, Layers: []strategies.Layer{
		layers.Retry{Backoff: backoffs.Fixed{Every: time.Second / 2}, MaxAttempts: 3, On: on, Hints: ignored},
		layers.Breaker{
			Trip:      layers.CountWindow{Last: 100, Percent: 50, SlowPercent: 100},
			SlowAfter: time.Minute,
			Counts:    strategies.AnyFailure,
			OpenFor:   time.Minute, FailFast: true,
			Probes: 10, CloseAfter: 6, OpenAfter: 5, AllProbes: true, ProbeTimeout: strategies.Never,
			Scope: strategies.PerClient,
		},
	}}
}

// failsafeGo is failsafe-go 0.9.8's retry policy: two retries, at once.
func failsafeGo(Knowledge) strategies.Definition {
	return strategies.Definition{Reader: sdkReader{}, Layers: []strategies.Layer{
		layers.Retry{Backoff: backoffs.Fixed{}, MaxAttempts: 3, On: anything, Hints: ignored},
	}}
}

// gobreaker is sony/gobreaker v2.4: it opens after more than five failures of any kind
// in a row and probes after a minute; a probe that never ends keeps it half open.
func gobreaker(Knowledge) strategies.Definition {
	return strategies.Definition{Reader: sdkReader{}, Layers: []strategies.Layer{layers.Breaker{
		Failures: 6, OpenFor: time.Minute, FailFast: true,
		Counts: strategies.AnyFailure, IgnoreStragglers: true, ProbeTimeout: strategies.Never,
		Scope: strategies.PerClient,
	}}}
}

// xTimeRate is golang.org/x/time/rate with the limit of the bug reports: 20 calls a
// second and a burst of 5. It does not retry; see rateReservations.
func xTimeRate(Knowledge) strategies.Definition {
	return strategies.Definition{Reader: sdkReader{}, Layers: []strategies.Layer{rateReservations{limit: 20, burst: 5}}}
}
