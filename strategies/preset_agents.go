package strategies

import (
	"time"

	"herdlab/mockprovider/wire"
)

// codexCLI is OpenAI's Codex CLI: a loop of five attempts at a request, after 5xx
// and broken connections but never after 429, within a loop that begins a stream
// again that broke, up to five times, and waits as long as the message says
// ("try again in 1.898s"). Both wait 0.2·2ⁿ s ± 10 %. A stream that says nothing
// for 300 s is given up; as pieces are not told apart here, an attempt has that
// long.
func codexCLI(Knowledge) Definition {
	backoff := PlusMinus(exponential(200*time.Millisecond, 0), 10)
	return Definition{
		Reader: sdkReader{body: true, hears: spelled(wire.Sentence)},
		Layers: []Layer{
			Retry{
				Backoff:     backoff,
				MaxAttempts: 6,
				On:          Rules{Replay: ReplayOnly, Marks: MarksIgnored},
				Hints:       Hints{Use: HintAsWait},
			},
			Retry{
				Backoff:     backoff,
				MaxAttempts: 5,
				On:          Rules{Classes: Unanswered, Statuses: []Statuses{serverErrors}, Replay: ReplayNothing, Marks: MarksIgnored},
				Hints:       ignored,
			},
			AttemptTimeout{After: 300 * time.Second},
		},
	}
}
