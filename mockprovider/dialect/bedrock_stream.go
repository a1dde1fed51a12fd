package dialect

import (
	"encoding/base64"
	"encoding/json"
	"strings"
)

func (bedrockCodec) event(b []byte, name string, payload any) []byte {
	return appendMessage(b, "event", ":event-type", name, appendJSON(nil, payload))
}

type bedrockChunk struct {
	Bytes string `json:"bytes"`
}

// chunks writes the events of Anthropic's stream in the form of InvokeModel.
func (v bedrockCodec) chunks(b, events []byte) []byte {
	(&sse{}).feed(events, func(_ string, data []byte) {
		b = v.event(b, "chunk", bedrockChunk{base64.StdEncoding.EncodeToString(data)})
	})
	return b
}

func (v bedrockCodec) appendStart(b []byte, c *Context, model string) []byte {
	if c.Operation == Invoke {
		return v.chunks(b, anthropicCodec{}.appendStart(nil, c, model))
	}
	return v.event(b, "messageStart", bedrockBody{Role: "assistant"})
}

func (v bedrockCodec) appendToken(b []byte, c *Context, model string, i int, text string) []byte {
	if c.Operation == Invoke {
		return v.chunks(b, anthropicCodec{}.appendToken(nil, c, model, i, text))
	}
	return v.event(b, "contentBlockDelta", bedrockBody{Index: new(int), Delta: &bedrockBlock{text}})
}

func (v bedrockCodec) appendEnd(b []byte, c *Context, a *answer) []byte {
	if c.Operation == Invoke {
		return v.chunks(b, anthropicCodec{}.appendEnd(nil, c, a))
	}
	b = v.event(b, "contentBlockStop", bedrockBody{Index: new(int)})
	b = v.event(b, "messageStop", bedrockBody{Stop: a.finishReason("end_turn", "max_tokens")})
	return v.event(b, "metadata", bedrockBody{Metrics: &bedrockMetrics{}, Usage: bedrockUsageOf(c, a)})
}

func (bedrockCodec) appendStreamError(b []byte, _ *Context, f *failure, _ int) []byte {
	name := strings.ToLower(f.Kind[:1]) + f.Kind[1:]
	return appendMessage(b, "exception", ":exception-type", name, appendJSON(nil, bedrockError{f.Message, f.hintFields}))
}

func (v bedrockCodec) readFrame(event string, data []byte, in *findings) {
	if kind, failed := strings.CutPrefix(event, exceptionPrefix); failed {
		v.readBody(data, in)
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
		anthropicCodec{}.readFrame("", inner, in)
	}
}
