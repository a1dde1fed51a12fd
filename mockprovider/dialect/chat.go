package dialect

import "encoding/json"

// chat is the success half of a codec: OpenAI's chat completions, which many
// providers have taken over. A codec that embeds it adds its errors, and calls
// readAnswer for what is none.
type chat struct {
	// extend adds to a completion or a chunk what this provider has beside
	// OpenAI's fields. It may be nil.
	extend func(chatBody, *Context) chatBody
	// usageInLast says that the last chunk has the usage, asked for or not.
	usageInLast bool
}

type chatBody struct {
	ID      string       `json:"id"`
	Object  string       `json:"object"`
	Created int64        `json:"created"`
	Model   string       `json:"model"`
	Choices []chatChoice `json:"choices"`
	Usage   *chatUsage   `json:"usage,omitempty"`

	// What some have beside it.
	RequestID string         `json:"request_id,omitempty"`
	Provider  string         `json:"provider,omitempty"`
	Filtered  []azureFilter  `json:"prompt_filter_results,omitempty"`
	Sensitive *bool          `json:"input_sensitive,omitempty"`
	Status    *miniMaxStatus `json:"base_resp,omitempty"`
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

// chatFinishReason is the finish marker.
func chatFinishReason(a *answer) *string {
	if reason := a.finishReason("stop", "length"); reason != "" {
		return &reason
	}
	return nil
}

// body is a completion, or a chunk of one.
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

// whole is the completion of an answer.
func (v chat) whole(c *Context, a *answer) chatBody {
	choice := chatChoice{Message: &chatMessage{Role: "assistant", Content: &a.Text}, Finish: chatFinishReason(a)}
	return v.body(c, "chat.completion", a.Model, usageOf(c, a.Tokens), choice)
}

// answer implements codec.
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

// models implements codec.
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
	return append(body.append(append(b, "data: "...)), "\n\n"...)
}

// begin implements codec.
func (v chat) appendStart(b []byte, c *Context, model string) []byte {
	return v.chunk(b, c, model, nil, chatChoice{Delta: &chatMessage{Role: "assistant", Content: new(string)}})
}

// token implements codec.
func (v chat) appendToken(b []byte, c *Context, model string, _ int, text string) []byte {
	return v.chunk(b, c, model, nil, chatChoice{Delta: &chatMessage{Content: &text}})
}

// finish implements codec.
func (v chat) appendEnd(b []byte, c *Context, a *answer) []byte {
	last, usage := chatChoice{Delta: &chatMessage{}, Finish: chatFinishReason(a)}, usageOf(c, a.Tokens)
	if v.usageInLast {
		b = v.chunk(b, c, a.Model, usage, last)
	} else if b = v.chunk(b, c, a.Model, nil, last); c.Usage {
		b = v.chunk(b, c, a.Model, usage)
	}
	return append(b, "data: "+doneMarker+"\n\n"...)
}

// readAnswer notes a completion, or a chunk of one.
func (chat) readAnswer(data []byte, in *findings) {
	if string(data) == doneMarker {
		in.Finished = true
		return
	}
	var body chatBody
	// A field of an unexpected type leaves the others as they are.
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

// readErrorOrAnswer notes a body, or a frame, that is an error if it has "error", and
// else an answer.
func (v chat) readErrorOrAnswer(data []byte, in *findings) {
	var top struct {
		Error json.RawMessage `json:"error"`
	}
	_ = json.Unmarshal(data, &top) // [DONE] is none
	if readError(top.Error, in); !in.Failed {
		v.readAnswer(data, in)
	}
}

// ask implements codec.
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
	if r.Model == "" { // a path that names one has the last word
		r.Model = model
	}
	r.Stream = r.Stream || stream
	if !isList(messages) {
		return badRequest("messages: it must be a list of at least one message")
	}
	r.prompt(messages, tools)
	return r.cap("max_tokens", maxCompletion, maxTokens)
}

// chatError is the error object of OpenAI and its likes.
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

// errorOf is the error object of a failure.
func errorOf(f *failure) chatErrorBody {
	e := chatError{Message: f.Message, Type: f.Kind, hintFields: f.hintFields}
	if f.template.Code != "" {
		e.Code = &f.template.Code
	}
	return chatErrorBody{e}
}

// readError notes an error object {"message","type","code"}, whose code may be
// a string or a number.
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
