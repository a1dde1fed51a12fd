package strategies

import "time"

// googleGenai is the Gen AI SDK for Python, 2.19.0, as it comes: one attempt.
// Those for Go and JavaScript do the same.
func googleGenai(Knowledge) Definition { return Definition{Reader: sdkReader{single: true}} }

// googleGenaiRetry is the same with retry_options: five attempts in all,
// min(60 s, 2ⁿ) + U(0, 1 s), after a list of statuses that has no 529 and after
// transport errors. It hears neither Retry-After nor RetryInfo.
func googleGenaiRetry(Knowledge) Definition {
	return Definition{
		Reader: sdkReader{single: true},
		Layers: []Layer{Retry{
			Backoff:     Exponential{Base: time.Second, Cap: time.Minute, Jitter: time.Second},
			MaxAttempts: 5,
			On: Rules{
				Statuses: []Statuses{Status(408), Status(429), Status(500), {502, 504}},
				Marks:    MarksIgnored, Replay: ReplayNothing,
			},
			Hints: ignored,
		}},
	}
}
