package presets

import (
	"time"

	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
)

// googleGenai is the Gen AI SDK for Python, 2.19.0, as it comes: one attempt.
// Those for Go and JavaScript do the same.
func googleGenai(Knowledge) strategies.Definition {
	return strategies.Definition{Reader: sdkReader{single: true}}
}

// googleGenaiRetry is the same with retry_options: five attempts in all,
// min(60 s, 2ⁿ) + U(0, 1 s), after a list of statuses that has no 529 and after
// transport errors. It hears neither Retry-After nor RetryInfo.
func googleGenaiRetry(Knowledge) strategies.Definition {
	return strategies.Definition{
		Reader: sdkReader{single: true},
		Layers: []strategies.Layer{layers.Retry{
			Backoff:     backoffs.Exponential{Base: time.Second, Cap: time.Minute, Jitter: time.Second},
			MaxAttempts: 5,
			On: layers.Rules{
				Statuses: []layers.Statuses{layers.Status(408), layers.Status(429), layers.Status(500), {First: 502, Last: 504}},
				Marks:    layers.MarksIgnored, Replay: layers.ReplayNothing,
			},
			Hints: ignored,
		}},
	}
}
