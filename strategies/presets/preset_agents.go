package presets

import (
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
)

// codexCLI is OpenAI's Codex CLI: a loop of five attempts at a request, after 5xx
// and broken connections but never after 429, within a loop that begins a stream
// again that broke, up to five times, and waits as long as the message says
// ("try again in 1.898s"). Both wait 0.2·2ⁿ s ± 10 %. A stream that says nothing
// for 300 s is given up; as pieces are not told apart here, an attempt has that
// long.
func codexCLI(Knowledge) strategies.Definition {
	backoff := backoffs.PlusMinus(exponential(200*time.Millisecond, 0), 10)
	return strategies.Definition{
		Reader: sdkReader{body: true, hears: spelled(wire.Sentence)},
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
