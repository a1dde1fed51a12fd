package strategies

import (
	"time"

	"herdlab/mockprovider/wire"
)

// The libraries for retries know errors and not providers: unless they are told
// otherwise, they retry a bad key like an overload.

// anything is what retries whatever fails.
var anything = Rules{Classes: AnyFailure, Marks: MarksIgnored, Replay: ReplayAll}

// tenacity is the decorator @retry without arguments (2026-07-15): whatever fails,
// at once, for ever.
func tenacity(Knowledge) Definition {
	return Definition{Reader: sdkReader{}, Layers: []Layer{Retry{Backoff: Fixed{}, On: anything, Hints: ignored}}}
}

// retryableHTTP is hashicorp/go-retryablehttp 0.7.8: four retries after 1, 2, 4
// and 8 s, without jitter, of 429, 5xx but 501, and broken connections. It obeys
// the Retry-After of a 429 and a 503, in whole seconds or as a date, be it hours.
func retryableHTTP(Knowledge) Definition {
	return Definition{
		Reader: sdkReader{hears: retryAfter, on: []Statuses{Status(429), Status(503)}, whole: true},
		Layers: []Layer{Retry{
			Backoff:     exponential(time.Second, 30*time.Second),
			MaxAttempts: 5,
			On: Rules{
				Statuses: []Statuses{Status(429), Status(500), {502, 999}},
				Marks:    MarksIgnored, Replay: ReplayNothing,
			},
			Hints: Hints{Use: HintAsWait},
		}},
	}
}

// cenkaltiBackoff is cenkalti/backoff v5.0.3: 0.5 s·1.5ⁿ up to 60 s, each ± half
// and so up to 90 s, until the next wait would end after 15 minutes. A
// RetryAfterError, which has whole seconds, is the wait, and begins the backoff
// anew.
func cenkaltiBackoff(Knowledge) Definition {
	return Definition{
		Reader: sdkReader{hears: retryAfter, whole: true},
		Layers: []Layer{Retry{
			Backoff:    PlusMinus(Exponential{Base: time.Second / 2, Cap: time.Minute, Factor: 1.5}, 50),
			MaxElapsed: 15 * time.Minute,
			On:         anything,
			Hints:      Hints{Use: HintAsWait, Restart: true},
		}},
	}
}

// grpcRetry is gRPC with the policy that gRFC A6 shows: four attempts after
// UNAVAILABLE, min(1 s, 0.1·2ⁿ) ± 20 %, ten tokens and 0.1 for a success. The
// server's pushback is the wait, or forbids the retry, and begins the backoff
// anew; a response that has begun is not retried. Without a policy gRPC does not
// retry at all.
func grpcRetry(Knowledge) Definition {
	unavailable := ClassesOf(wire.Overloaded, wire.Disconnected)
	return Definition{
		Reader: sdkReader{body: true, hears: retryAfterMs},
		Layers: []Layer{
			GRPCBudget{MaxTokens: 10, Ratio: 100, Counts: unavailable, Scope: PerClient},
			Retry{
				Backoff:     PlusMinus(exponential(100*time.Millisecond, time.Second), 20),
				MaxAttempts: 4,
				On:          Rules{Classes: unavailable, Replay: ReplayNothing},
				Hints:       Hints{Use: HintAsWait, Restart: true},
			},
		},
	}
}

// polly is Polly 8.7's retry strategy with its defaults: three retries, 2 s apart.
func polly(Knowledge) Definition {
	return Definition{Reader: sdkReader{}, Layers: []Layer{
		Retry{Backoff: Fixed{Every: 2 * time.Second}, MaxAttempts: 4, On: anything, Hints: ignored},
	}}
}

// pollyJitter is the same with an exponential backoff and jitter.
func pollyJitter(Knowledge) Definition {
	return Definition{Reader: sdkReader{}, Layers: []Layer{
		Retry{Backoff: PollyJitter{Base: 2 * time.Second}, MaxAttempts: 4, On: anything, Hints: ignored},
	}}
}

// resilience4j is its Retry around its CircuitBreaker, both with their defaults
// (2026-05-05): three attempts 0.5 s apart of whatever fails, the breaker's
// refusals included; the breaker counts every failure, a bad request too, and
// waits without a limit until its ten probes have all ended.
func resilience4j(Knowledge) Definition {
	on := anything
	on.Refusals = true
	return Definition{Reader: sdkReader{}, Layers: []Layer{
		Retry{Backoff: Fixed{Every: time.Second / 2}, MaxAttempts: 3, On: on, Hints: ignored},
		Breaker{
			Trip:      CountWindow{Last: 100, Percent: 50, SlowPercent: 100},
			SlowAfter: time.Minute,
			Counts:    AnyFailure,
			OpenFor:   time.Minute, FailFast: true,
			Probes: 10, CloseAfter: 6, OpenAfter: 5, AllProbes: true, ProbeTimeout: Never,
			Scope: PerClient,
		},
	}}
}

// failsafeGo is failsafe-go 0.9.8's retry policy: two retries, at once.
func failsafeGo(Knowledge) Definition {
	return Definition{Reader: sdkReader{}, Layers: []Layer{
		Retry{Backoff: Fixed{}, MaxAttempts: 3, On: anything, Hints: ignored},
	}}
}

// gobreaker is sony/gobreaker v2.4: it opens after more than five failures in a
// row, whatever they are, and probes after a minute; a probe that never ends
// keeps it half open.
func gobreaker(Knowledge) Definition {
	return Definition{Reader: sdkReader{}, Layers: []Layer{Breaker{
		Failures: 6, OpenFor: time.Minute, FailFast: true,
		Counts: AnyFailure, IgnoreStragglers: true, ProbeTimeout: Never,
		Scope: PerClient,
	}}}
}

// xTimeRate is golang.org/x/time/rate with the limit of the bug reports, 20 a
// second and a burst of 5. It limits and does not retry; see reservations.
func xTimeRate(Knowledge) Definition {
	return Definition{Reader: sdkReader{}, Layers: []Layer{reservations{limit: 20, burst: 5}}}
}
