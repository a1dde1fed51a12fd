package dialect

import "encoding/json"

// anthropicEvent is one event of a stream. Its type determines its fields.
type anthropicEvent struct {
	Type    string            `json:"type"`
	Message *anthropicMessage `json:"message,omitempty"`
	Index   *int              `json:"index,omitempty"`
	Block   *anthropicBlock   `json:"content_block,omitempty"`
	Delta   *anthropicDelta   `json:"delta,omitempty"`
	Usage   *anthropicUsage   `json:"usage,omitempty"`
}

type anthropicDelta struct {
	Type       string  `json:"type,omitempty"`
	Text       *string `json:"text,omitempty"`
	StopReason *string `json:"stop_reason,omitempty"`
}

func anthropicFrame(b []byte, e anthropicEvent) []byte { return appendEvent(b, e.Type, e) }

func (anthropicCodec) appendStart(b []byte, c *Context, model string) []byte {
	b = anthropicFrame(b, anthropicEvent{Type: "message_start", Message: &anthropicMessage{
		ID: "msg_" + c.ID, Type: "message", Role: "assistant", Model: model, Content: []anthropicBlock{},
		Usage: &anthropicUsage{Input: c.InputTokens},
	}})
	return anthropicFrame(b, anthropicEvent{Type: "content_block_start", Index: new(int), Block: &anthropicBlock{Type: "text"}})
}

func (anthropicCodec) appendToken(b []byte, _ *Context, _ string, _ int, text string) []byte {
	return anthropicFrame(b, anthropicEvent{Type: "content_block_delta", Index: new(int), Delta: &anthropicDelta{Type: "text_delta", Text: &text}})
}

func (anthropicCodec) appendEnd(b []byte, c *Context, a *answer) []byte {
	b = anthropicFrame(b, anthropicEvent{Type: "content_block_stop", Index: new(int)})
	b = anthropicFrame(b, anthropicEvent{
		Type: "message_delta", Delta: &anthropicDelta{StopReason: anthropicStopReason(a)},
		Usage: &anthropicUsage{c.InputTokens, a.Tokens},
	})
	return anthropicFrame(b, anthropicEvent{Type: "message_stop"})
}

func (v anthropicCodec) appendStreamError(b []byte, _ *Context, f *failure, _ int) []byte {
	return appendEvent(b, "error", v.errorOf(&Context{}, f))
}

func (v anthropicCodec) readFrame(event string, data []byte, in *findings) {
	if event == "error" {
		v.readError(data, in)
		return
	}
	var e anthropicEvent
	_ = json.Unmarshal(data, &e)
	switch e.Type {
	case "message_start":
		if in.Finished {
			in.Doubled = true
		} else if e.Message != nil {
			in.Model = e.Message.Model
		}
	case "content_block_delta":
		if e.Delta != nil && e.Delta.Text != nil {
			in.piece(*e.Delta.Text)
		}
	case "message_delta":
		if e.Usage != nil {
			in.usage(e.Usage.Output)
		}
	case "message_stop":
		in.Answered, in.Finished = true, true
	case "error":
		v.readError(data, in)
	}
}
