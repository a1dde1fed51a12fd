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

// What the loop of Gemini CLI does, row by row of its source: the waits, the
// models and the end of one call.
func TestGeminiCLI(t *testing.T) {
	delay := func(r wire.Reply, d time.Duration) wire.Reply { return asks(r, d, wire.BodyDelay) }
	full, lost, well := says(429, wire.Overloaded), wire.Reply{}, wire.Reply{Status: 200, Hint: wire.Hint{Value: wire.NoHint}}
	const s = time.Second
	// ± 30 % of 5 s, doubled up to 30 s.
	own := slices.Concat(between(3.5, 6.5, 7, 13, 14, 26), slices.Repeat(between(21, 39), 6))
	minutes := slices.Repeat(between(60, 72), 9)
	at := func(pro, flash int) []uint8 {
		return slices.Concat(slices.Repeat([]uint8{0}, pro), slices.Repeat([]uint8{1}, flash))
	}
	for name, row := range map[string]struct {
		preset string
		told   []wire.Reply
		waits  []float64
		models []uint8
		end    strategies.Reason
	}{
		"503":                        {"gemini-cli", []wire.Reply{busy}, own, at(10, 0), strategies.TriesExhausted},
		"500":                        {"gemini-cli", []wire.Reply{says(500, wire.ServerError)}, own, at(10, 0), strategies.TriesExhausted},
		"499":                        {"gemini-cli", []wire.Reply{says(499, wire.BadRequest)}, own, at(10, 0), strategies.TriesExhausted},
		"a lost connection":          {"gemini-cli", []wire.Reply{lost}, own, at(10, 0), strategies.TriesExhausted},
		"by the minute":              {"gemini-cli", []wire.Reply{limited}, minutes, at(10, 0), strategies.TriesExhausted},
		"tokens by the minute":       {"gemini-cli", []wire.Reply{says(429, wire.TokenRate)}, minutes, at(10, 0), strategies.TriesExhausted},
		"by the minute, 0 s":         {"gemini-cli", []wire.Reply{delay(limited, 0)}, minutes, at(10, 0), strategies.TriesExhausted},
		"400":                        {"gemini-cli", []wire.Reply{says(400, wire.BadRequest)}, nil, at(1, 0), strategies.Failed},
		"401":                        {"gemini-cli", []wire.Reply{says(401, wire.Auth)}, nil, at(1, 0), strategies.Failed},
		"404":                        {"gemini-cli", []wire.Reply{says(404, wire.BadRequest)}, nil, at(1, 0), strategies.Failed},
		"408":                        {"gemini-cli", []wire.Reply{says(408, wire.Timeout)}, nil, at(1, 0), strategies.Failed},
		"the day's quota":            {"gemini-cli", []wire.Reply{delay(quota429, s)}, nil, at(1, 0), strategies.Failed},
		"300 s":                      {"gemini-cli", []wire.Reply{delay(limited, 300*s), well}, between(300, 360), at(2, 0), strategies.Succeeded},
		"301 s":                      {"gemini-cli", []wire.Reply{delay(limited, 301*s)}, nil, at(1, 0), strategies.HintTooLong},
		"12 s, and then nothing":     {"gemini-cli", []wire.Reply{delay(busy, 12*s), busy, busy, well}, between(12, 14.4, 16.8, 31.2, 21, 39), at(4, 0), strategies.Succeeded},
		"40 s, and then nothing":     {"gemini-cli", []wire.Reply{delay(busy, 40*s), busy, well}, between(40, 48, 21, 39), at(3, 0), strategies.Succeeded},
		"less than its own":          {"gemini-cli", []wire.Reply{delay(busy, s), delay(busy, s), well}, between(5, 6, 10, 12), at(3, 0), strategies.Succeeded},
		"Retry-After":                {"gemini-cli", []wire.Reply{asks(busy, 60*s, wire.HeaderSeconds), well}, between(3.5, 6.5), at(2, 0), strategies.Succeeded},
		"in words, at another error": {"gemini-cli", []wire.Reply{asks(says(500, wire.ServerError), 60*s, wire.Sentence), well}, between(60, 72), at(2, 0), strategies.Succeeded},
		"no capacity":                {"gemini-cli", []wire.Reply{full}, between(1, 1.2, 3, 3.6), at(3, 0), strategies.TriesExhausted},
		"no capacity for 7 s":        {"gemini-cli", []wire.Reply{delay(full, 7*s)}, between(7, 8.4, 7, 8.4), at(3, 0), strategies.TriesExhausted},
		"no capacity, and then 503":  {"gemini-cli", []wire.Reply{full, busy, busy, well}, between(1, 1.2, 1.4, 2.6, 2.8, 5.2), at(4, 0), strategies.Succeeded},
		"a stream that breaks":       {"gemini-cli", []wire.Reply{spoilt(wire.StreamError, 30)}, exactly(1, 2, 4), at(4, 0), strategies.TriesExhausted},
		"a stream that just ends":    {"gemini-cli", []wire.Reply{spoilt(wire.SilentEnd, 30)}, exactly(1, 2, 4), at(4, 0), strategies.TriesExhausted},
		"14003 instead of a stream":  {"gemini-cli", []wire.Reply{body200}, exactly(1, 2, 4), at(4, 0), strategies.TriesExhausted},
		"broken, then 503, then well": {
			"gemini-cli", []wire.Reply{spoilt(wire.TruncatedBody, 3), busy, busy, well}, between(1, 1, 3.5, 6.5, 7, 13), at(4, 0), strategies.Succeeded,
		},

		"503 at both":                {"gemini-cli-fallback", []wire.Reply{busy}, slices.Concat(between(3.5, 6.5, 7, 13, 0, 0), own), at(3, 10), strategies.TriesExhausted},
		"the quota of both":          {"gemini-cli-fallback", []wire.Reply{quota429}, exactly(0), at(1, 1), strategies.Failed},
		"Pro is not there":           {"gemini-cli-fallback", []wire.Reply{says(404, wire.BadRequest), well}, exactly(0), at(1, 1), strategies.Succeeded},
		"Pro asks for 301 s":         {"gemini-cli-fallback", []wire.Reply{delay(limited, 301*s), well}, exactly(0), at(1, 1), strategies.Succeeded},
		"neither has capacity":       {"gemini-cli-fallback", []wire.Reply{full}, between(1, 1.2, 3, 3.6, 0, 0), at(3, 1), strategies.TriesExhausted},
		"Flash is without, once":     {"gemini-cli-fallback", []wire.Reply{quota429, full, well}, between(0, 0, 1, 1.2), at(1, 2), strategies.Succeeded},
		"no connection to either":    {"gemini-cli-fallback", []wire.Reply{lost}, between(3.5, 6.5, 7, 13), at(3, 0), strategies.TriesExhausted},
		"a bad key at Pro":           {"gemini-cli-fallback", []wire.Reply{says(401, wire.Auth)}, nil, at(1, 0), strategies.Failed},
		"broken at Flash, and again": {"gemini-cli-fallback", []wire.Reply{quota429, spoilt(wire.TruncatedBody, 3), well}, exactly(0, 1), at(1, 2), strategies.Succeeded},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(20) {
				got := replies(t, row.preset, seed, 20, row.told...)
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

// A process whose user has agreed to Flash stays there, as its other calls find;
// another process begins at Pro.
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
