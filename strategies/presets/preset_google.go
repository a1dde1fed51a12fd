package presets

import (
	"time"

	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
)

// googleGenai is the Gen AI SDK for Python, 2.19.0, by default: one attempt. The SDKs
// for Go and JavaScript behave in the same way.
func googleGenai(Knowledge) strategies.Definition {
	return strategies.Definition{Reader: sdkReader{single: true}}
}

// googleGenaiRetry is the same SDK with retry_options: five attempts in total,
// min(60 s, 2ⁿ) + U(0, 1 s), after some statuses (529 is not among them) and
// after transport errors. It reads neither Retry-After nor RetryInfo.
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
