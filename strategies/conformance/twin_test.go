package conformance

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/mockprovider/dialect"
	"herdlab/mockprovider/wire"
)

// With the same replies, a preset and the real code that it models make the same attempts
// and report the same results, and the waits of both are in the preset's range.
func TestPresetsAsRealCode(t *testing.T) {
	for _, c := range clients {
		t.Run(c.preset, func(t *testing.T) {
			rapid.Check(t, func(r *rapid.T) {
				d, def := drawScript(r, &c), definition(r, c.preset)
				real := d.run(t, c.open)
				model := d.run(t, preset(r, c.preset, d.dialect, rapid.Uint64Min(1).Draw(r, "seed")))
				require.Equal(r, real.calls, model.calls, "calls of the real code and of the preset; told\n%+v", real.received)
				real.obeys(r, &def, "the real code")
				model.obeys(r, &def, "the preset")
				require.Zero(r, real.open, "bodies left open by the real code")
				require.Zero(r, model.open, "bodies left open by the preset")
			})
		})
	}
}

// If a provider never replies, real code and preset wait equally long: ten minutes per
// attempt, or for ever. Anthropic's streams, for which the SDK has no limit, are not
// distinguished.
func TestSilence(t *testing.T) {
	for i := range clients {
		c := &clients[i]
		model := *c
		model.open = preset(t, c.preset, c.dialects[0], 1)
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprint(c.preset, stream), func(t *testing.T) {
				silence := func(c *client) *trial {
					return (&trial{stream: stream, horizon: 3 * time.Hour, respond: func(attempt) (time.Duration, wire.Reply) { return 0, wire.Reply{} }}).run(t, c)
				}
				want := 1
				if c.limits {
					want = 3
				}
				got := silence(&model)
				require.Len(t, got.requests, want, "the preset")
				if stream {
					want = 1
				}
				real := silence(c)
				require.Len(t, real.requests, want, "the real code")
				for i := range real.requests[1:] {
					require.InDelta(t, float64(got.requests[i+1].at), float64(real.requests[i+1].at), float64(time.Second/2))
				}
			})
		}
	}
}

// drawScript draws a script that ends with a success. What the compact reply cannot express
// is left out, here and below, by client, dialect or kind of call; see
// TestKnownDifferences.
func drawScript(r *rapid.T, c *client) *script {
	d := &script{dialect: rapid.SampledFrom(c.dialects).Draw(r, "dialect")}
	d.stream = c.streams && rapid.Bool().Draw(r, "stream")
	calls := c.calls
	if calls == 0 {
		calls = 3
	}
	for range rapid.IntRange(1, calls).Draw(r, "calls") {
		// Odd nanoseconds avoid simultaneous events.
		d.pauses = append(d.pauses, time.Duration(rapid.SampledFrom([]int{0, 100, 30_000, 59_000, 61_000}).Draw(r, "pause ms"))*ms+1)
	}
	speak, _ := dialect.ByName(d.dialect)
	for range rapid.IntRange(0, calls+4).Draw(r, "failures") {
		d.replies = append(d.replies, anyAct(r, c, d, &speak))
	}
	d.replies = append(d.replies, scriptedReply{after: 300*ms + 99, reply: wire.Reply{Status: 200, Hint: wire.Hint{Value: wire.NoHint}, Tokens: 3}})
	return d
}

// statuses are statuses of real providers, besides those of the dialect.
var statuses = []uint16{400, 401, 403, 404, 408, 409, 413, 422, 425, 429, 498, 499, 500, 501, 502, 503, 504, 520, 529}

// failures are the classes that a provider replies with.
var failures = []wire.Class{
	wire.Rate, wire.TokenRate, wire.Concurrency, wire.Acceleration, wire.Overloaded, wire.Overloaded, wire.Quota, wire.Auth,
	wire.Permission, wire.BadRequest, wire.TooLarge, wire.ServerError, wire.Timeout,
}

// spellings are the forms of hints of real providers.
var spellings = []wire.Spelling{
	wire.HeaderSeconds, wire.HeaderSeconds, wire.HeaderMillis, wire.HeaderDate, wire.HeaderEpoch, wire.HeaderDuration, wire.ExactSeconds,
	wire.BodySeconds, wire.BodyMillis, wire.BodyDelay, wire.Sentence, wire.BothSeconds,
}

func anyAct(r *rapid.T, c *client, d *script, speak *dialect.Dialect) scriptedReply {
	a := scriptedReply{after: time.Duration(rapid.IntRange(0, 2000).Draw(r, "ms"))*ms + 2}
	kind := rapid.IntRange(0, 9).Draw(r, "kind")
	if kind == 0 {
		a.connectionLost = true
		return a
	}
	if kind == 1 {
		a.reply = drawAnswer(r, d)
		return a
	}
	if kind == 2 && c.limits && !d.stream {
		a.silent = true
		return a
	}
	class := rapid.SampledFrom(failures).Draw(r, "class")
	f := speak.Forms()[class]
	a.reply = wire.Reply{Class: class, Shown: f.Shown, Status: f.Status, Body: f.Body, Code: f.Code, Words: f.Words, Marks: f.Marks, Hint: wire.Hint{Value: wire.NoHint}}
	if kind == 3 && !(d.stream && d.dialect == "gemini") {
		a.reply.Status, a.reply.Body, a.reply.Code = 200, wire.CodeBody, wire.Code14003
	} else if a.reply.Status >= 400 && rapid.Bool().Draw(r, "other status") {
		if s := rapid.SampledFrom(statuses).Draw(r, "status"); !(d.dialect == "bedrock" && class == wire.Auth && s == 429) {
			a.reply.Status = s
		}
	}
	if rapid.Bool().Draw(r, "hint") {
		a.reply.Hint.Value = time.Duration(rapid.SampledFrom([]int{0, 300, 1000, 1500, 3000, 59_000, 60_000, 61_000, 120_000, 121_000, 3_600_000}).Draw(r, "hint ms")) * ms
		a.reply.Hint.Spelling = rapid.SampledFrom(spellings).Draw(r, "spelled")
	}
	if a.reply.Status >= 400 {
		a.reply.Marks |= rapid.SampledFrom([]wire.Marks{0, 0, 0, wire.ShouldRetry, wire.ShouldNotRetry}).Draw(r, "x-should-retry")
		a.truncated = c.preset != "anthropic-go" && rapid.IntRange(0, 9).Draw(r, "cut") == 0
	}
	return a
}

// drawAnswer draws an answer that is malformed or incomplete.
func drawAnswer(r *rapid.T, d *script) wire.Reply {
	bodies := []wire.Body{wire.TruncatedBody, wire.SilentEnd, wire.Completion}
	if d.stream {
		if d.dialect != "codybuddy" {
			bodies = append(bodies, wire.StreamError)
		}
	} else {
		bodies = append(bodies, wire.Garbage, wire.WrongType)
	}
	if !(d.stream && d.dialect == "gemini") {
		bodies = append(bodies, wire.Doubled)
	}
	reply := wire.Reply{Status: 200, Shown: wire.Overloaded, Hint: wire.Hint{Value: wire.NoHint}, Tokens: uint32(rapid.IntRange(1, 5).Draw(r, "tokens"))}
	reply.Body = rapid.SampledFrom(bodies).Draw(r, "body")
	return reply
}
