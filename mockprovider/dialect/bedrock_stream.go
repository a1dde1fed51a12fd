package dialect

import (
	"encoding/base64"
	"encoding/json"
	"strings"
)

func (bedrockVoice) event(b []byte, name string, payload any) []byte {
	return appendMessage(b, "event", ":event-type", name, appendJSON(nil, payload))
}

type bedrockChunk struct {
	Bytes string `json:"bytes"`
}

// chunks writes the events of Anthropic's stream as InvokeModel wraps them.
func (v bedrockVoice) chunks(b, events []byte) []byte {
	(&sse{}).feed(events, func(_ string, data []byte) {
		b = v.event(b, "chunk", bedrockChunk{base64.StdEncoding.EncodeToString(data)})
	})
	return b
}

func (v bedrockVoice) begin(b []byte, c *Context, model string) []byte {
	if c.Operation == Invoke {
		return v.chunks(b, anthropicVoice{}.begin(nil, c, model))
	}
	return v.event(b, "messageStart", bedrockBody{Role: "assistant"})
}

func (v bedrockVoice) token(b []byte, c *Context, model string, i int, text string) []byte {
	if c.Operation == Invoke {
		return v.chunks(b, anthropicVoice{}.token(nil, c, model, i, text))
	}
	return v.event(b, "contentBlockDelta", bedrockBody{Index: new(int), Delta: &bedrockBlock{text}})
}

func (v bedrockVoice) finish(b []byte, c *Context, a *answer) []byte {
	if c.Operation == Invoke {
		return v.chunks(b, anthropicVoice{}.finish(nil, c, a))
	}
	b = v.event(b, "contentBlockStop", bedrockBody{Index: new(int)})
	b = v.event(b, "messageStop", bedrockBody{Stop: a.ends("end_turn", "max_tokens")})
	return v.event(b, "metadata", bedrockBody{Metrics: &bedrockMetrics{}, Usage: bedrockUsageOf(c, a)})
}

func (bedrockVoice) fail(b []byte, _ *Context, f *failure, _ int) []byte {
	name := strings.ToLower(f.Kind[:1]) + f.Kind[1:]
	return appendMessage(b, "exception", ":exception-type", name, appendJSON(nil, bedrockError{f.Message, f.hintFields}))
}

func (v bedrockVoice) frame(event string, data []byte, in *findings) {
	if kind, failed := strings.CutPrefix(event, thrown); failed {
		v.read(data, in)
		if in.Failed = true; kind != "" {
			in.Kind = strings.ToUpper(kind[:1]) + kind[1:]
		}
		return
	}
	if event != "chunk" {
		v.readAnswer(data, in)
		return
	}
	var chunk bedrockChunk
	_ = json.Unmarshal(data, &chunk)
	if inner, err := base64.StdEncoding.DecodeString(chunk.Bytes); err == nil && json.Valid(inner) {
		anthropicVoice{}.frame("", inner, in)
	}
}
