package layers

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/strategytest"
)

func TestShrink(t *testing.T) {
	strategytest.Play(t, []strategies.Layer{Shrink{Context: 0.5, Times: 2, Backoff: backoffs.Fixed{Every: time.Second}}}, `
		begin -> send
		503 after=3s -> wait 3s + note shrunk
		wake -> send
		413 after=3s -> wait 1s + note shrunk     # a hint says nothing of size
		wake -> send
		503 -> stop failed overloaded             # twice is enough
		begin -> send
		429 -> stop failed rate`) // smaller requests are as many
	strategytest.Play(t, []strategies.Layer{Shrink{Pieces: 3}}, `
		begin -> send
		413 -> wait 0s + note shrunk
		wake -> send
		200 -> wait 0s                            # a piece
		wake -> send
		200 -> wait 0s
		wake -> send
		200 -> stop succeeded
		begin -> send                             # the next call is whole
		200 -> stop succeeded
		begin -> send
		413 -> wait 0s + note shrunk
		wake -> send
		503 -> stop failed`) // a piece that fails fails the call
}

// What arrives at the provider, attempt by attempt.
func TestShrunkDemands(t *testing.T) {
	whole := wire.Demand{InputTokens: 50_000, OutputTokens: 1000, Prompt: 7, Priority: 2}
	for name, c := range map[string]struct {
		shrink   Shrink
		outer    bool // a retry loop around it, of two attempts
		limit    uint32
		want     []string // input/output/cap of each attempt
		degraded bool
		reason   strategies.Reason
	}{
		"trimmed": {Shrink{Context: 0.4, Times: 5}, false, 10_000, []string{"50000/1000/0", "20000/1000/0", "8000/1000/0"}, true, strategies.Succeeded},
		"capped":  {Shrink{Output: 0.25, Times: 2}, false, 50_100, []string{"50000/1000/0", "50000/1000/250", "50000/1000/63"}, true, strategies.Succeeded},
		"split":   {Shrink{Pieces: 6}, false, 10_000, []string{"50000/1000/0", "8334/167/0", "8334/167/0", "8334/167/0", "8334/167/0", "8334/167/0", "8334/167/0"}, false, strategies.Succeeded},
		"split, then trimmed": {Shrink{Pieces: 2, Context: 0.5, Times: 2}, false, 10_000,
			[]string{"50000/1000/0", "12500/500/0", "6250/500/0", "6250/500/0"}, true, strategies.Succeeded},
		"begun afresh": {Shrink{Context: 0.5}, true, 10_000, []string{"50000/1000/0", "25000/1000/0", "50000/1000/0", "25000/1000/0"}, false, strategies.TriesExhausted},
		"not needed":   {Shrink{Context: 0.5}, false, 100_000, []string{"50000/1000/0"}, false, strategies.Succeeded},
	} {
		t.Run(name, func(t *testing.T) {
			layers := []strategies.Layer{strategytest.Asking{Demand: whole}, c.shrink}
			if c.outer {
				layers = []strategies.Layer{strategytest.Asking{Demand: whole}, Retry{Backoff: backoffs.Fixed{Every: time.Second}, MaxAttempts: 2}, c.shrink}
			}
			l := strategytest.NewLab(t, layers...)
			var got []string
			l.Serve = func(call *strategytest.Caller) (time.Duration, wire.Outcome) {
				d := call.Demand
				got = append(got, fmt.Sprintf("%d/%d/%d", d.InputTokens, d.OutputTokens, d.MaxTokens))
				if c.shrink.Pieces > 0 && len(got) > 1 {
					require.Zero(t, d.Prompt, "a piece is another question")
				} else {
					require.Equal(t, whole.Prompt, d.Prompt)
				}
				require.Equal(t, whole.Priority, d.Priority)
				if d.InputTokens+d.Output() > c.limit {
					return 0, strategytest.Refused(wire.TokenRate)
				}
				return 0, strategytest.Answered
			}
			var end strategies.End
			l.Settled = func(_ *strategytest.Caller, d strategies.Decision) { end = d.End }
			l.Begin("a", 0)
			l.Run(time.Hour)
			require.Equal(t, c.want, got)
			require.Equal(t, c.reason, end.Reason)
			require.Equal(t, c.degraded, end.Degraded)
		})
	}
}
