package presets

import (
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
)

// codexCLI is OpenAI's Codex CLI: an inner loop makes five attempts at a request and
// retries after 5xx and lost connections but never after 429. An outer loop restarts
// a stream that broke off, up to five times, and follows a hint in the message ("try
// again in 1.898s"). Both wait 0.2·2ⁿ s ± 10 %. The real client times out if a stream
// is silent for 300 s; the pieces of a stream are not modelled, so here 300 s is the
// timeout of an attempt.
func codexCLI(Knowledge) strategies.Definition {
	backoff := backoffs.PlusMinus(exponential(200*time.Millisecond, 0), 10)
	return strategies.Definition{
		Reader: sdkReader{body: true, hints: spelled(wire.Sentence)},
		Layers: []strategies.Layer{
			layers.Retry{
				Backoff:     backoff,
				MaxAttempts: 6,
				On:          layers.Rules{Replay: layers.ReplayOnly, Marks: layers.MarksIgnored},
				Hints:       layers.Hints{Use: layers.HintAsWait},
			},
			layers.Retry{
				Backoff:     backoff,
				MaxAttempts: 5,
				On:          layers.Rules{Classes: strategies.Unanswered, Statuses: []layers.Statuses{serverErrors}, Replay: layers.ReplayNothing, Marks: layers.MarksIgnored},
				Hints:       ignored,
			},
			layers.AttemptTimeout{After: 300 * time.Second},
		},
	}
}
