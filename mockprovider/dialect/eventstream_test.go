package dialect

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
)

// oneHeader is the example of a message with one header in the description of
// the format.
var oneHeader = []byte("\x00\x00\x00\x3d\x00\x00\x00\x20\x07\xfd\x83\x96\x0ccontent-type\x07\x00\x10application/json{'foo':'bar'}\x8d\x9c\x08\xb1")

func feedAll(t *testing.T, stream []byte, step int) (frames []string, ok bool) {
	s := &eventStream{}
	for rest := stream; len(rest) > 0; {
		n := min(step, len(rest))
		if !s.feed(rest[:n], func(event string, data []byte) { frames = append(frames, event+"|"+string(data)) }) {
			return frames, false
		}
		rest = rest[n:]
	}
	require.Less(t, len(s.buffer), max(1, len(stream)))
	return frames, true
}

func TestEventStreamExamples(t *testing.T) {
	for stream, want := range map[string]string{
		"\x00\x00\x00\x10\x00\x00\x00\x00\x05\xc2\x48\xeb\x7d\x98\xc8\xff":              "|",
		"\x00\x00\x00\x1d\x00\x00\x00\x00\xfd\x52\x8c\x5a{'foo':'bar'}\xc3\x65\x39\x36": "|{'foo':'bar'}",
		string(oneHeader): "|{'foo':'bar'}",
	} {
		frames, ok := feedAll(t, []byte(stream), 1)
		require.True(t, ok)
		require.Equal(t, []string{want}, frames)
	}
}

func TestEventStreamRoundTrip(t *testing.T) {
	var stream []byte
	stream = appendMessage(stream, "event", ":event-type", "messageStart", []byte(`{"role":"assistant"}`))
	stream = appendMessage(stream, "event", ":event-type", "metadata", nil)
	stream = appendMessage(stream, "exception", ":exception-type", "throttlingException", []byte(`{"message":"x"}`))
	want := []string{`messageStart|{"role":"assistant"}`, "metadata|", `!throttlingException|{"message":"x"}`}
	for step := 1; step < len(stream); step += 3 {
		frames, ok := feedAll(t, stream, step)
		require.True(t, ok)
		require.Equal(t, want, frames)
	}
}

// TestEventStreamDamage: every changed bit is detected, and a length that is
// too long ends the stream.
func TestEventStreamDamage(t *testing.T) {
	for i := range oneHeader {
		damaged := bytes.Clone(oneHeader)
		damaged[i] ^= 1 << (i % 8)
		frames, ok := feedAll(t, damaged, len(damaged))
		require.False(t, ok, "byte %d", i)
		require.Empty(t, frames)
	}
	d, _ := ByName("bedrock")
	r := wire.Reply{Status: 200, Tokens: 2, Hint: wire.Hint{Value: wire.NoHint}}
	var m Message
	d.WriteStream(&m, &testContext, &r)
	m.Body[len(m.Body)/2] ^= 1
	s := d.ReadStream(m.Raw(), ReadContext{})
	s.Feed(m.Body)
	require.Equal(t, wire.Garbage, s.End(false).Body)
}

// TestConverseStream checks the events of a stream of Converse and their order.
func TestConverseStream(t *testing.T) {
	d, _ := ByName("bedrock")
	c := Context{Model: "m", InputTokens: 7}
	r := wire.Reply{Status: 200, Tokens: 1, Hint: wire.Hint{Value: wire.NoHint}}
	var m Message
	d.WriteStream(&m, &c, &r)
	require.Equal(t, eventStreamType, m.Headers.Get("Content-Type"))
	frames, ok := feedAll(t, m.Body, 5)
	require.True(t, ok)
	require.Equal(t, []string{
		`messageStart|{"role":"assistant"}`,
		`contentBlockDelta|{"contentBlockIndex":0,"delta":{"text":"The "}}`,
		`contentBlockStop|{"contentBlockIndex":0}`,
		`messageStop|{"stopReason":"end_turn"}`,
		`metadata|{"metrics":{"latencyMs":0},"usage":{"inputTokens":7,"outputTokens":1,"totalTokens":8}}`,
	}, frames)
	r = replyOf(&d, wire.Rate)
	r.Status, r.Body = 200, wire.StreamError
	frames, _ = feedAll(t, d.End(nil, &c, &r, 1), 5)
	require.Equal(t, []string{`!throttlingException|{"message":"Too many requests, please wait before trying again."}`}, frames)
	var refused Message
	r = replyOf(&d, wire.Overloaded)
	r.Hint.Value = 1234e6
	d.Write(&refused, &c, &r)
	require.Equal(t, "ServiceUnavailableException", refused.Headers.Get("x-amzn-ErrorType"))
	require.Equal(t, "1234", refused.Headers.Get("x-amz-retry-after"))
}
