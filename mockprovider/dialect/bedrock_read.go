package dialect

import (
	"encoding/json"
	"strings"
)

func (v bedrockCodec) readBody(body []byte, in *findings) {
	var top struct {
		Type    json.RawMessage `json:"type"`
		Message json.RawMessage `json:"message"`
		Kind    json.RawMessage `json:"__type"`
		Code    json.RawMessage `json:"code"` // only in errors of other providers
		hintFields
	}
	_ = json.Unmarshal(body, &top)
	switch {
	case len(top.Code) > 0:
	case text(top.Type) == "message":
		anthropicCodec{}.readBody(body, in)
	case text(top.Message) != "" || text(top.Kind) != "":
		in.Failed, in.Message, in.hintFields = true, text(top.Message), top.hintFields
		kind := text(top.Kind)
		in.Kind = kind[strings.LastIndexByte(kind, '#')+1:]
	default:
		v.readAnswer(body, in)
	}
}

// readAnswer reads the answer of Converse, or an event of its streams.
func (bedrockCodec) readAnswer(data []byte, in *findings) {
	var body bedrockBody
	_ = json.Unmarshal(data, &body)
	if body.Output != nil {
		for _, block := range body.Output.Message.Content {
			in.piece(block.Text)
		}
	}
	if body.Role != "" && in.Finished {
		in.Doubled = true
	}
	if body.Delta != nil {
		in.piece(body.Delta.Text)
	}
	if body.Stop != "" {
		in.Answered, in.Finished = true, true
	}
	if body.Usage != nil {
		in.usage(body.Usage.Output)
	}
}

func (bedrockCodec) readRequest(r *Request, body []byte) error {
	if r.Operation == Invoke {
		streams := r.Stream // determined by the path
		err := anthropicCodec{}.readRequest(r, body)
		r.Stream = streams
		return err
	}
	var messages, system, tools json.RawMessage
	var maxTokens count
	err := decode(body,
		field{"messages", &messages}, field{"system", &system}, field{"toolConfig", &tools},
		field{"inferenceConfig", fields{{"maxTokens", &maxTokens}}},
	)
	if err != nil {
		return err
	}
	if !isList(messages) {
		return badRequest("messages: it must be a list of at least one message")
	}
	r.prompt(messages, system, tools)
	return r.cap("inferenceConfig.maxTokens", maxTokens)
}

func (bedrockCodec) likeness(p *probe) int {
	if p.header("x-amzn-RequestId") || p.header("x-amzn-ErrorType") || p.has("output", "stopReason") {
		return 3
	}
	return 0
}
