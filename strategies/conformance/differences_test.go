package conformance

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
)

// Real code has some behaviour that its preset does not: the compact reply has no field for
// whether a stream was requested, one spelling of a hint and no malformed hints, and a
// success is not retried. The test asserts both sides, so that it detects a change of
// either.
func TestKnownDifferences(t *testing.T) {
	answer := func(b wire.Body, tokens uint32) scriptedReply {
		return scriptedReply{reply: wire.Reply{Status: 200, Shown: wire.Overloaded, Body: b, Tokens: tokens, Hint: wire.Hint{Value: wire.NoHint}}}
	}
	coded := scriptedReply{reply: wire.Reply{Status: 200, Class: wire.Rate, Shown: wire.Rate, Body: wire.CodeBody, Code: wire.Code14003, Hint: wire.Hint{Value: wire.NoHint}}}
	header := func(line string) scriptedReply {
		a := says(429, wire.Rate)
		a.header = line
		return a
	}
	plain, broken := answer(wire.Completion, 3), says(401, wire.Auth)
	plain.header, broken.truncated = "x-should-retry: true", true
	hinted := says(429, wire.Rate)
	hinted.reply.Hint.Value, hinted.reply.Hint.Spelling = 3*time.Second, wire.HeaderSeconds

	for name, row := range map[string]struct {
		preset, speak string
		stream        bool
		act           scriptedReply
		once          bool // followed by successes
		real, model   call
		waits         [2]wait // before the second attempt, if the calls are equal
	}{
		// Real successes are not marked so. The SDKs check the mark first.
		"a success that says x-should-retry: true":               {preset: "openai-go", speak: "openai", act: plain, real: call{3, true}, model: call{1, true}},
		"a success that says x-should-retry: true, to Anthropic": {preset: "anthropic-go", speak: "anthropic", act: plain, real: call{3, true}, model: call{1, true}},
		// A truncated body is read within the SDK, a stream by its caller.
		"a stream that breaks before its first token": {preset: "anthropic-go", speak: "anthropic", stream: true, act: answer(wire.TruncatedBody, 0), real: call{1, false}, model: call{3, false}},
		"a refusal whose body breaks":                 {preset: "anthropic-go", speak: "anthropic", act: broken, real: call{3, false}, model: call{1, false}},
		// Readers of streams skip data that is not an event, and unknown events, except
		// Google's.
		"no JSON instead of a stream":               {preset: "openai-go", speak: "openai", stream: true, act: answer(wire.Garbage, 0), real: call{1, true}, model: call{1, false}},
		"no JSON instead of Anthropic's":            {preset: "anthropic-go", speak: "anthropic", stream: true, act: answer(wire.Garbage, 0), real: call{1, true}, model: call{1, false}},
		"a code in a stream":                        {preset: "openai-go", speak: "codybuddy", stream: true, act: answer(wire.StreamError, 3), real: call{1, true}, model: call{1, false}},
		"14003 instead of Google's":                 {preset: "google-genai", speak: "gemini", stream: true, act: coded, real: call{1, false}, model: call{1, true}},
		"the answer twice in Google's":              {preset: "google-genai", speak: "gemini", stream: true, act: answer(wire.Doubled, 3), real: call{1, true}, model: call{1, false}},
		"429 around a name that Bedrock's have not": {preset: "aws-standard-2026", speak: "bedrock", act: says(429, wire.Auth), real: call{3, false}, model: call{1, false}},
		// Hints: in two units at once, or malformed.
		"seconds beside milliseconds, to who reads seconds": {
			preset: "go-retryablehttp", speak: "openai", act: hinted, real: call{5, false}, model: call{5, false}, waits: [2]wait{exactly(3 * time.Second), exactly(time.Second)},
		},
		"a date of another form": {
			preset: "openai-go", speak: "openai", act: header("Retry-After: 2026-10-21T07:28:30.5Z"), real: call{3, false}, model: call{3, false},
			waits: [2]wait{first, exactly(30500 * ms)},
		},
		"a negative time": {
			preset: "anthropic-go", speak: "anthropic", act: header("Retry-After: -5"), real: call{3, false}, model: call{3, false},
			waits: [2]wait{exactly(0), first},
		},
		// 9,223,372,037 s overflow nanoseconds: the wait wraps around, and the loop does
		// not wait. 18,446,744,074 s wrap around to 290 ms.
		"a time that overflows": {
			preset: "go-retryablehttp", speak: "anthropic", act: header("Retry-After: 18446744074"), once: true, real: call{2, true}, model: call{2, true},
			waits: [2]wait{exactly(18_446_744_074*1_000_000_000 - 1<<64), exactly(1 << 62)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := clientOf(t, row.preset)
			d := &script{dialect: row.speak, stream: row.stream, replies: []scriptedReply{row.act}, pauses: []time.Duration{0}}
			if row.once {
				d.replies = append(d.replies, answer(wire.Completion, 3))
			}
			lives := [2]*runResult{d.run(t, c.open), d.run(t, preset(t, row.preset, row.speak, 1))}
			require.Equal(t, row.real, lives[0].calls[0], "the real code")
			require.Equal(t, row.model, lives[1].calls[0], "the preset")
			if row.waits == [2]wait{} {
				return
			}
			for i, l := range lives {
				got := l.sent[1] - l.answered[0]
				require.GreaterOrEqual(t, got, row.waits[i].low, "%d", i)
				require.LessOrEqual(t, got, row.waits[i].high, "%d", i)
			}
		})
	}
}
