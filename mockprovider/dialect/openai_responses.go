package dialect

import (
	"cmp"
	"encoding/json"
)

// responses writes and reads OpenAI's Responses. A stream has numbered events
// with named types and ends with response.completed or response.failed.
type responses struct{}

type response struct {
	ID         string           `json:"id"`
	Object     string           `json:"object"`
	CreatedAt  int64            `json:"created_at"`
	Model      string           `json:"model"`
	Status     string           `json:"status"`
	Output     []responseOutput `json:"output"`
	Error      *responseError   `json:"error"`
	Incomplete *incomplete      `json:"incomplete_details"`
	Usage      *responseUsage   `json:"usage"`
}

// incomplete is the reason why a response is incomplete.
type incomplete struct {
	Reason string `json:"reason"`
}

type responseOutput struct {
	ID      string         `json:"id"`
	Type    string         `json:"type"`
	Status  string         `json:"status"`
	Role    string         `json:"role"`
	Content []responsePart `json:"content"`
}

type responsePart struct {
	Type        string   `json:"type"`
	Text        string   `json:"text"`
	Annotations []string `json:"annotations"`
}

type responseError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	hintFields
}

type responseUsage struct {
	Input  uint32 `json:"input_tokens"`
	Output uint32 `json:"output_tokens"`
	Total  uint64 `json:"total_tokens"`
}

func responseOf(c *Context, model, status string) response {
	return response{ID: "resp_" + c.ID, Object: "response", CreatedAt: c.created(), Model: model, Status: status, Output: []responseOutput{}}
}

func outputOf(c *Context, status string, parts ...responsePart) responseOutput {
	if parts == nil {
		parts = []responsePart{}
	}
	return responseOutput{"msg_" + c.ID, "message", status, "assistant", parts}
}

func partOf(text string) responsePart { return responsePart{"output_text", text, []string{}} }

// whole returns the response of an answer.
func (responses) whole(c *Context, a *answer) response {
	status := cmp.Or(a.finishReason("completed", "incomplete"), "in_progress")
	r := responseOf(c, a.Model, status)
	if status == "incomplete" {
		r.Incomplete = &incomplete{"max_output_tokens"}
	}
	r.Output = append(r.Output, outputOf(c, status, partOf(a.Text)))
	r.Usage = &responseUsage{c.InputTokens, a.Tokens, uint64(c.InputTokens) + uint64(a.Tokens)}
	return r
}

func (v responses) appendAnswer(b []byte, c *Context, a *answer) []byte {
	return appendJSON(b, v.whole(c, a))
}

// responseEvent is an event of a stream. Fields that an event does not use are
// left out.
type responseEvent struct {
	Type     string          `json:"type"`
	Sequence int             `json:"sequence_number"`
	Response *response       `json:"response,omitempty"`
	ItemID   string          `json:"item_id,omitempty"`
	Output   *int            `json:"output_index,omitempty"`
	Content  *int            `json:"content_index,omitempty"`
	Item     *responseOutput `json:"item,omitempty"`
	Part     *responsePart   `json:"part,omitempty"`
	Delta    string          `json:"delta,omitempty"`
	Text     string          `json:"text,omitempty"`
}

// firstEvents is the number of events that appendStart writes.
const firstEvents = 4

func (responses) appendStart(b []byte, c *Context, model string) []byte {
	r, first := responseOf(c, model, "in_progress"), new(int)
	item, part := outputOf(c, "in_progress"), partOf("")
	for i, e := range [firstEvents]responseEvent{
		{Type: "response.created", Response: &r},
		{Type: "response.in_progress", Response: &r},
		{Type: "response.output_item.added", Output: first, Item: &item},
		{Type: "response.content_part.added", ItemID: item.ID, Output: first, Content: first, Part: &part},
	} {
		e.Sequence = i
		b = appendEvent(b, e.Type, e)
	}
	return b
}

func (responses) appendToken(b []byte, c *Context, i int, text string) []byte {
	first := new(int)
	e := responseEvent{Type: "response.output_text.delta", Sequence: firstEvents + i, ItemID: "msg_" + c.ID, Output: first, Content: first, Delta: text}
	return appendEvent(b, e.Type, e)
}

func (v responses) appendEnd(b []byte, c *Context, a *answer) []byte {
	r, first := v.whole(c, a), new(int)
	item, part := r.Output[0], r.Output[0].Content[0]
	for i, e := range []responseEvent{
		{Type: "response.output_text.done", ItemID: item.ID, Output: first, Content: first, Text: a.Text},
		{Type: "response.content_part.done", ItemID: item.ID, Output: first, Content: first, Part: &part},
		{Type: "response.output_item.done", Output: first, Item: &item},
		{Type: "response." + r.Status, Response: &r},
	} {
		e.Sequence = firstEvents + Pieces(a.Tokens) + i
		b = appendEvent(b, e.Type, e)
	}
	return b
}

func (responses) appendStreamError(b []byte, c *Context, f *failure, sent int) []byte {
	r := responseOf(c, c.Model, "failed")
	r.Error = &responseError{f.template.Code, f.Message, f.hintFields}
	if r.Error.Code == "" {
		r.Error.Code = f.Kind
	}
	e := responseEvent{Type: "response.failed", Sequence: firstEvents + sent, Response: &r}
	return appendEvent(b, e.Type, e)
}

func (responses) readAnswer(data []byte, in *findings) {
	var r response
	_ = json.Unmarshal(data, &r)
	if r.Model != "" {
		in.Model = r.Model
	}
	if r.Usage != nil {
		in.usage(r.Usage.Output)
	}
	in.Answered = in.Answered || len(r.Output) > 0
	if r.Status == "completed" || r.Status == "incomplete" {
		in.Answered, in.Finished = true, true
	}
}

func (v responses) readFrame(event string, data []byte, in *findings) {
	var e struct {
		Response json.RawMessage `json:"response"`
		Error    json.RawMessage `json:"error"`
		Delta    string          `json:"delta"`
	}
	_ = json.Unmarshal(data, &e)
	switch event {
	case "response.output_text.delta":
		in.piece(e.Delta)
	case "response.failed":
		var r struct {
			Error json.RawMessage `json:"error"`
		}
		_ = json.Unmarshal(e.Response, &r)
		in.Failed = true
		readError(r.Error, in)
	case "error":
		if in.Failed = true; len(e.Error) > 0 {
			readError(e.Error, in)
		} else {
			readError(data, in)
		}
	default:
		if len(e.Response) == 0 {
			return
		}
		if in.Finished {
			in.Doubled = true
			return
		}
		v.readAnswer(e.Response, in)
	}
}

// readRequest reads the body of a request for a response.
func (responses) readRequest(r *Request, body []byte) error {
	var input, instructions, tools json.RawMessage
	var maxTokens count
	err := decode(body,
		field{"model", &r.Model}, field{"input", &input}, field{"instructions", &instructions}, field{"tools", &tools},
		field{"stream", &r.Stream}, field{"max_output_tokens", &maxTokens},
	)
	if err != nil {
		return err
	}
	if text(input) == "" && !isList(input) {
		return badRequest("input: it must be a text or a list of at least one item")
	}
	r.prompt(input, instructions, tools)
	return r.cap("max_output_tokens", maxTokens)
}
