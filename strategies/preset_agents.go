package strategies

import (
	"time"

	"herdlab/mockprovider/wire"
)

// codexCLI is OpenAI's Codex CLI: a loop of five attempts at a request, after 5xx
// and broken connections but never after 429, within a loop that begins a stream
// again that broke, up to five times, and waits as long as the message says
// ("try again in 1.898s"). Both wait 0.2·2ⁿ s ± 10 %.
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
		},
	}
}

// geminiCLI is Google's Gemini CLI 0.61: ten attempts after 429, 499 and 5xx, min(30
// s, 5·2ⁿ) ± 30 %; retryDelay is a floor, with up to 20 % on top, and ends the call
// beyond five minutes, as a spent daily quota does. Its fallback to another model,
// after three refusals for capacity, asks the user and is left out.
func geminiCLI(Knowledge) Definition {
	return Definition{
		Reader: sdkReader{body: true, hears: retryAfter | spelled(wire.BodyDelay)},
		Layers: []Layer{Retry{
			Backoff:     PlusMinus(exponential(5*time.Second, 30*time.Second), 30),
			MaxAttempts: 10,
			On: Rules{
				Statuses: []Statuses{Status(429), Status(499), {500, 599}},
				Except:   ClassesOf(wire.Quota),
				Marks:    MarksIgnored, Replay: ReplayNothing,
			},
			Hints: Hints{Use: HintAsFloor, Spread: 20, Most: 300 * time.Second, Beyond: GiveUp},
		}},
	}
}
