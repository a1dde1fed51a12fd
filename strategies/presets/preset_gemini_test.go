package presets

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/strategytest"
)

// The waits, the models and the end of one call of Gemini CLI, for each case in its
// source.
func TestGeminiCLI(t *testing.T) {
	delay := func(r wire.Reply, d time.Duration) wire.Reply { return asks(r, d, wire.BodyDelay) }
	full, lost, answer := says(429, wire.Overloaded), wire.Reply{}, wire.Reply{Status: 200, Hint: wire.Hint{Value: wire.NoHint}}
	const s = time.Second
	// 5 s ± 30 %, doubled up to 30 s ± 30 %.
	own := slices.Concat(between(3.5, 6.5, 7, 13, 14, 26), slices.Repeat(between(21, 39), 6))
	minutes := slices.Repeat(between(60, 72), 9)
	at := func(pro, flash int) []uint8 {
		return slices.Concat(slices.Repeat([]uint8{0}, pro), slices.Repeat([]uint8{1}, flash))
	}
	for name, row := range map[string]struct {
		preset string
		given  []wire.Reply
		waits  []float64
		models []uint8
		end    strategies.Reason
	}{
		"503":                       {"gemini-cli", []wire.Reply{busy}, own, at(10, 0), strategies.TriesExhausted},
		"500":                       {"gemini-cli", []wire.Reply{says(500, wire.ServerError)}, own, at(10, 0), strategies.TriesExhausted},
		"499":                       {"gemini-cli", []wire.Reply{says(499, wire.BadRequest)}, own, at(10, 0), strategies.TriesExhausted},
		"a lost connection":         {"gemini-cli", []wire.Reply{lost}, own, at(10, 0), strategies.TriesExhausted},
		"limit per minute":          {"gemini-cli", []wire.Reply{limited}, minutes, at(10, 0), strategies.TriesExhausted},
		"tokens per minute":         {"gemini-cli", []wire.Reply{says(429, wire.TokenRate)}, minutes, at(10, 0), strategies.TriesExhausted},
		"limit per minute, 0 s":     {"gemini-cli", []wire.Reply{delay(limited, 0)}, minutes, at(10, 0), strategies.TriesExhausted},
		"400":                       {"gemini-cli", []wire.Reply{says(400, wire.BadRequest)}, nil, at(1, 0), strategies.Failed},
		"401":                       {"gemini-cli", []wire.Reply{says(401, wire.Auth)}, nil, at(1, 0), strategies.Failed},
		"404":                       {"gemini-cli", []wire.Reply{says(404, wire.BadRequest)}, nil, at(1, 0), strategies.Failed},
		"408":                       {"gemini-cli", []wire.Reply{says(408, wire.Timeout)}, nil, at(1, 0), strategies.Failed},
		"daily quota":               {"gemini-cli", []wire.Reply{delay(quota429, s)}, nil, at(1, 0), strategies.Failed},
		"300 s":                     {"gemini-cli", []wire.Reply{delay(limited, 300*s), answer}, between(300, 360), at(2, 0), strategies.Succeeded},
		"301 s":                     {"gemini-cli", []wire.Reply{delay(limited, 301*s)}, nil, at(1, 0), strategies.HintTooLong},
		"12 s, then no hint":        {"gemini-cli", []wire.Reply{delay(busy, 12*s), busy, busy, answer}, between(12, 14.4, 16.8, 31.2, 21, 39), at(4, 0), strategies.Succeeded},
		"40 s, then no hint":        {"gemini-cli", []wire.Reply{delay(busy, 40*s), busy, answer}, between(40, 48, 21, 39), at(3, 0), strategies.Succeeded},
		"hint below the backoff":    {"gemini-cli", []wire.Reply{delay(busy, s), delay(busy, s), answer}, between(5, 6, 10, 12), at(3, 0), strategies.Succeeded},
		"Retry-After":               {"gemini-cli", []wire.Reply{asks(busy, 60*s, wire.HeaderSeconds), answer}, between(3.5, 6.5), at(2, 0), strategies.Succeeded},
		"sentence with status 500":  {"gemini-cli", []wire.Reply{asks(says(500, wire.ServerError), 60*s, wire.Sentence), answer}, between(60, 72), at(2, 0), strategies.Succeeded},
		"no capacity":               {"gemini-cli", []wire.Reply{full}, between(1, 1.2, 3, 3.6), at(3, 0), strategies.TriesExhausted},
		"no capacity for 7 s":       {"gemini-cli", []wire.Reply{delay(full, 7*s)}, between(7, 8.4, 7, 8.4), at(3, 0), strategies.TriesExhausted},
		"no capacity, then 503":     {"gemini-cli", []wire.Reply{full, busy, busy, answer}, between(1, 1.2, 1.4, 2.6, 2.8, 5.2), at(4, 0), strategies.Succeeded},
		"a stream with an error":    {"gemini-cli", []wire.Reply{spoilt(wire.StreamError, 30)}, exactly(1, 2, 4), at(4, 0), strategies.TriesExhausted},
		"a stream without an end":   {"gemini-cli", []wire.Reply{spoilt(wire.SilentEnd, 30)}, exactly(1, 2, 4), at(4, 0), strategies.TriesExhausted},
		"14003 instead of a stream": {"gemini-cli", []wire.Reply{body200}, exactly(1, 2, 4), at(4, 0), strategies.TriesExhausted},
		"broken, then 503, then an answer": {
			"gemini-cli", []wire.Reply{spoilt(wire.TruncatedBody, 3), busy, busy, answer}, between(1, 1, 3.5, 6.5, 7, 13), at(4, 0), strategies.Succeeded,
		},

		"503 at both":                {"gemini-cli-fallback", []wire.Reply{busy}, slices.Concat(between(3.5, 6.5, 7, 13, 0, 0), own), at(3, 10), strategies.TriesExhausted},
		"quotas of both used up":     {"gemini-cli-fallback", []wire.Reply{quota429}, exactly(0), at(1, 1), strategies.Failed},
		"Pro does not exist":         {"gemini-cli-fallback", []wire.Reply{says(404, wire.BadRequest), answer}, exactly(0), at(1, 1), strategies.Succeeded},
		"Pro asks for 301 s":         {"gemini-cli-fallback", []wire.Reply{delay(limited, 301*s), answer}, exactly(0), at(1, 1), strategies.Succeeded},
		"neither has capacity":       {"gemini-cli-fallback", []wire.Reply{full}, between(1, 1.2, 3, 3.6, 0, 0), at(3, 1), strategies.TriesExhausted},
		"Flash has no capacity once": {"gemini-cli-fallback", []wire.Reply{quota429, full, answer}, between(0, 0, 1, 1.2), at(1, 2), strategies.Succeeded},
		"no connection to either":    {"gemini-cli-fallback", []wire.Reply{lost}, between(3.5, 6.5, 7, 13), at(3, 0), strategies.TriesExhausted},
		"a bad key at Pro":           {"gemini-cli-fallback", []wire.Reply{says(401, wire.Auth)}, nil, at(1, 0), strategies.Failed},
		"broken at Flash":            {"gemini-cli-fallback", []wire.Reply{quota429, spoilt(wire.TruncatedBody, 3), answer}, exactly(0, 1), at(1, 2), strategies.Succeeded},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(20) {
				got := replies(t, row.preset, seed, 20, row.given...)
				require.Equal(t, row.end, got.end.Reason)
				require.Equal(t, row.models, got.models)
				require.Equal(t, got.ok && got.models[len(got.models)-1] > 0, got.end.Degraded)
				require.Len(t, got.waits, len(row.waits)/2, "%v", got.waits)
				for i, w := range got.waits {
					require.GreaterOrEqual(t, w.Seconds(), row.waits[2*i]-1e-6, "wait %d of %v", i+1, got.waits)
					require.LessOrEqual(t, w.Seconds(), row.waits[2*i+1]+1e-6, "wait %d of %v", i+1, got.waits)
				}
			}
		})
	}
}

// After a fallback, later calls of the process begin at Flash; calls of another process
// begin at Pro.
func TestGeminiCLIStaysAtFlash(t *testing.T) {
	w := strategytest.NewWorld(t, map[string][]strategies.Layer{"": layersOf(t, "gemini-cli-fallback")}, 1)
	model := func(call string, events ...*wire.Outcome) uint8 {
		c := w.Call(call)
		c.Next(strategies.Event{Kind: strategies.Begin})
		for _, o := range events {
			c.Next(strategies.Event{Kind: strategies.Reply, Attempt: c.Attempts, Outcome: o})
			c.Next(strategies.Event{Kind: strategies.Wake})
		}
		return c.Target.Model
	}
	spent := &wire.Outcome{Class: wire.Quota, Status: 429, RetryAfter: wire.NoHint}
	require.Zero(t, model("a.1"))
	require.EqualValues(t, 1, model("a.2", spent))
	require.EqualValues(t, 1, model("a.3"))
	require.Zero(t, model("b.1"))
}
