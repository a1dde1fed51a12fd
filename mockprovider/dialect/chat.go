package dialect

import "encoding/json"

// chat is the part of a codec for successful replies in the form of OpenAI's
// chat completions, which many providers use. A codec that embeds it adds the
// errors, and calls readAnswer for bodies that are not errors.
type chat struct {
	// extend adds the fields that this provider has in addition to OpenAI's to
	// a completion or a chunk. It may be nil.
	extend func(chatBody, *Context) chatBody
	// usageInLast is true if the last chunk always has the usage, even if the
	// request did not ask for it.
	usageInLast bool
}

type chatBody struct {
	ID      string       `json:"id"`
	Object  string       `json:"object"`
	Created int64        `json:"created"`
	Model   string       `json:"model"`
	Choices []chatChoice `json:"choices"`
	Usage   *chatUsage   `json:"usage,omitempty"`

	// extra has the additional fields of a provider: a struct, or nil. They are
	// written after the others.
	extra any
}

type chatChoice struct {
	Index   int          `json:"index"`
	Message *chatMessage `json:"message,omitempty"`
	Delta   *chatMessage `json:"delta,omitempty"`
	Finish  *string      `json:"finish_reason"`
}

type chatMessage struct {
	Role    string  `json:"role,omitempty"`
	Content *string `json:"content,omitempty"`
}

type chatUsage struct {
	Prompt     uint32 `json:"prompt_tokens"`
	Completion uint32 `json:"completion_tokens"`
	Total      uint64 `json:"total_tokens"`
}

func usageOf(c *Context, tokens uint32) *chatUsage {
	return &chatUsage{c.InputTokens, tokens, uint64(c.InputTokens) + uint64(tokens)}
}

// chatFinishReason returns the finish marker.
func chatFinishReason(a *answer) *string {
	if reason := a.finishReason("stop", "length"); reason != "" {
		return &reason
	}
	return nil
}

// body returns a completion, or a chunk of one.
func (v chat) body(c *Context, object, model string, usage *chatUsage, choices ...chatChoice) chatBody {
	body := chatBody{ID: "chatcmpl-" + c.ID, Object: object, Created: c.created(), Model: model, Choices: choices, Usage: usage}
	if choices == nil {
		body.Choices = []chatChoice{}
	}
	if v.extend != nil {
		body = v.extend(body, c)
	}
	return body
}

// whole returns the completion of an answer.
func (v chat) whole(c *Context, a *answer) chatBody {
	choice := chatChoice{Message: &chatMessage{Role: "assistant", Content: &a.Text}, Finish: chatFinishReason(a)}
	return v.body(c, "chat.completion", a.Model, usageOf(c, a.Tokens), choice)
}

// appendAnswer implements codec.
func (v chat) appendAnswer(b []byte, c *Context, a *answer) []byte {
	body := v.whole(c, a)
	return body.append(b)
}

type modelList struct {
	Object string      `json:"object"`
	Data   []chatModel `json:"data"`
}

type chatModel struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
}

// appendModels implements codec.
func (chat) appendModels(b []byte, c *Context, names []string) []byte {
	list := modelList{Object: "list", Data: []chatModel{}}
	for _, name := range names {
		list.Data = append(list.Data, chatModel{name, "model", c.Epoch, "herdlab"})
	}
	return appendJSON(b, list)
}

// chunk writes one frame.
func (v chat) chunk(b []byte, c *Context, model string, usage *chatUsage, choices ...chatChoice) []byte {
	body := v.body(c, "chat.completion.chunk", model, usage, choices...)
	return body.appendEvent(b)
}

// appendStart implements codec.
func (v chat) appendStart(b []byte, c *Context, model string) []byte {
	return v.chunk(b, c, model, nil, chatChoice{Delta: &chatMessage{Role: "assistant", Content: new(string)}})
}

// appendToken implements codec.
func (v chat) appendToken(b []byte, c *Context, model string, _ int, text string) []byte {
	return v.chunk(b, c, model, nil, chatChoice{Delta: &chatMessage{Content: &text}})
}

// appendEnd implements codec.
func (v chat) appendEnd(b []byte, c *Context, a *answer) []byte {
	last, usage := chatChoice{Delta: &chatMessage{}, Finish: chatFinishReason(a)}, usageOf(c, a.Tokens)
	if v.usageInLast {
		b = v.chunk(b, c, a.Model, usage, last)
	} else if b = v.chunk(b, c, a.Model, nil, last); c.Usage {
		b = v.chunk(b, c, a.Model, usage)
	}
	return append(b, "data: "+doneMarker+"\n\n"...)
}

// readAnswer reads a completion, or a chunk of one.
func (chat) readAnswer(data []byte, in *findings) {
	if string(data) == doneMarker {
		in.Finished = true
		return
	}
	var body chatBody
	// A field with an unexpected type does not affect the others.
	_ = json.Unmarshal(data, &body)
	if body.Model != "" {
		in.Model = body.Model
	}
	if u := body.Usage; u != nil {
		in.usage(u.Completion)
	}
	for _, choice := range body.Choices {
		if choice.Index != 0 {
			continue
		}
		for _, m := range []*chatMessage{choice.Message, choice.Delta} {
			if m != nil && m.Content != nil {
				in.piece(*m.Content)
			}
		}
		if choice.Finish != nil && *choice.Finish != "" {
			in.Answered, in.Finished = true, true
		}
	}
}

// readErrorOrAnswer reads a body, or a frame: an error if it has "error", else
// an answer.
func (v chat) readErrorOrAnswer(data []byte, in *findings) {
	var top struct {
		Error json.RawMessage `json:"error"`
	}
	_ = json.Unmarshal(data, &top) // [DONE] has no error
	if readError(top.Error, in); !in.Failed {
		v.readAnswer(data, in)
	}
}

// readRequest implements codec.
func (chat) readRequest(r *Request, body []byte) error {
	var (
		model                    string
		messages, tools          json.RawMessage
		stream                   bool
		maxTokens, maxCompletion count
	)
	err := decode(body,
		field{"model", &model}, field{"messages", &messages}, field{"tools", &tools}, field{"stream", &stream},
		field{"max_tokens", &maxTokens}, field{"max_completion_tokens", &maxCompletion},
		field{"stream_options", fields{{"include_usage", &r.Usage}}},
	)
	if err != nil {
		return err
	}
	if r.Model == "" { // a model in the path has priority
		r.Model = model
	}
	r.Stream = r.Stream || stream
	if !isList(messages) {
		return badRequest("messages: it must be a list of at least one message")
	}
	r.prompt(messages, tools)
	return r.cap("max_tokens", maxCompletion, maxTokens)
}

// chatError is the error object of OpenAI and similar providers.
type chatError struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
	hintFields
}

type chatErrorBody struct {
	Error chatError `json:"error"`
}

// errorOf returns the error object of a failure.
func errorOf(f *failure) chatErrorBody {
	e := chatError{Message: f.Message, Type: f.Kind, hintFields: f.hintFields}
	if f.template.Code != "" {
		e.Code = &f.template.Code
	}
	return chatErrorBody{e}
}

// readError reads an error object {"message","type","code"}. The code may be a
// string or a number.
func readError(raw json.RawMessage, in *findings) {
	if len(raw) == 0 || string(raw) == "null" {
		return
	}
	in.Failed = true
	if in.Message = text(raw); in.Message != "" {
		return // {"error":"server busy"}
	}
	var e struct {
		Message json.RawMessage `json:"message"`
		Type    json.RawMessage `json:"type"`
		Code    number          `json:"code"`
		hintFields
	}
	_ = json.Unmarshal(raw, &e)
	in.Message, in.Kind, in.hintFields = text(e.Message), text(e.Type), e.hintFields
	if in.Code = string(e.Code); in.Code == "null" {
		in.Code = ""
	}
}
