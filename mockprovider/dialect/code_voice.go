package dialect

import (
	"encoding/json"
	"strconv"

	"herdlab/mockprovider/wire"
)

// codeVoice is the voice of a provider of the family: the names of its fields.
// Those about a limit have none if it does not tell of limits.
type codeVoice struct {
	code, message, data, limit, remaining string
	// The fields in which waits stand, by how they are written.
	seconds, millis, delay string
	success                int32
}

// newCodeVoice returns the voice of what is complete. Waits that are not written
// as usual stand where they do elsewhere.
func newCodeVoice(f *CodeInBody) codeVoice {
	v := codeVoice{
		code: f.Code, message: f.Message, data: f.Data, limit: f.Limit, remaining: f.Remaining, success: f.Success,
		seconds: "retry_after", millis: "retry_after_ms", delay: "retryDelay",
	}
	if f.RetryAfter == "" {
		return v
	}
	switch f.Spelled {
	case wire.BodySeconds, wire.BothSeconds:
		v.seconds = f.RetryAfter
	case wire.BodyMillis:
		v.millis = f.RetryAfter
	case wire.BodyDelay:
		v.delay = f.RetryAfter
	}
	return v
}

// member appends a member to the JSON object in b, whose value is the JSON in
// value; nothing if the field has no name.
func member(b []byte, name string, value []byte) []byte {
	if name == "" || len(value) == 0 {
		return b
	}
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	b = append(appendJSON(b, name), ':')
	return append(b, value...)
}

func digits(n int32) []byte { return strconv.AppendInt(nil, int64(n), 10) }

// codeAnswer is what stands in the data of an answer, or of a frame.
type codeAnswer struct {
	Model   string     `json:"model,omitempty"`
	Content string     `json:"content"`
	Finish  string     `json:"finish_reason,omitempty"`
	Usage   *chatUsage `json:"usage,omitempty"`
}

func (v codeVoice) wrap(b []byte, a codeAnswer) []byte {
	b = append(b, '{')
	b = member(b, v.code, digits(v.success))
	b = member(b, v.message, []byte(`"ok"`))
	b = member(b, v.data, appendJSON(nil, a))
	return append(b, '}')
}

func (v codeVoice) answer(b []byte, c *Context, a *answer) []byte {
	return v.wrap(b, codeAnswer{a.Model, a.Text, a.ends("stop", "length"), usageOf(c, a.Tokens)})
}

func (v codeVoice) failure(b []byte, _ *Context, f *failure) []byte {
	b = append(b, '{')
	b = member(b, v.code, digits(f.Code))
	b = member(b, v.message, appendJSON(nil, f.Message))
	b = member(b, v.seconds, []byte(f.Seconds))
	b = member(b, v.millis, []byte(f.Millis))
	if f.Delay != "" {
		b = member(b, v.delay, appendJSON(nil, f.Delay))
	}
	if f.Limit != 0 || f.Remaining != 0 {
		b = member(b, v.limit, digits(f.Limit))
		b = member(b, v.remaining, digits(f.Remaining))
	}
	return append(b, '}')
}

func (v codeVoice) models(b []byte, _ *Context, names []string) []byte {
	b = append(b, '{')
	b = member(b, v.code, digits(v.success))
	b = member(b, v.data, appendJSON(nil, append([]string{}, names...)))
	return append(b, '}')
}

func (v codeVoice) event(b, data []byte) []byte {
	return append(append(append(b, "data: "...), data...), "\n\n"...)
}

func (v codeVoice) begin(b []byte, _ *Context, model string) []byte {
	return v.event(b, v.wrap(nil, codeAnswer{Model: model}))
}

func (v codeVoice) token(b []byte, _ *Context, _ string, _ int, text string) []byte {
	return v.event(b, v.wrap(nil, codeAnswer{Content: text}))
}

func (v codeVoice) finish(b []byte, c *Context, a *answer) []byte {
	return v.event(b, v.wrap(nil, codeAnswer{Model: a.Model, Finish: a.ends("stop", "length"), Usage: usageOf(c, a.Tokens)}))
}

func (v codeVoice) fail(b []byte, c *Context, f *failure, _ int) []byte {
	return v.event(b, v.failure(nil, c, f))
}

func (v codeVoice) read(body []byte, in *findings) {
	var top map[string]json.RawMessage
	if json.Unmarshal(body, &top) != nil {
		return
	}
	code, ok := parseInt32(top[v.code])
	switch {
	case !ok:
		return
	case code != v.success:
		in.Failed, in.Coded, in.Number = true, true, code
		in.Message, in.Delay = text(top[v.message]), text(top[v.delay])
		_ = in.Seconds.UnmarshalJSON(top[v.seconds])
		_ = in.Millis.UnmarshalJSON(top[v.millis])
		in.Limit, _ = parseInt32(top[v.limit])
		in.Remaining, _ = parseInt32(top[v.remaining])
		return
	}
	var a codeAnswer
	if raw := top[v.data]; len(raw) == 0 || json.Unmarshal(raw, &a) != nil {
		return
	}
	in.piece(a.Content)
	if a.Model != "" {
		in.Model = a.Model
	}
	if a.Usage != nil {
		in.usage(a.Usage.Completion)
	}
	if a.Finish != "" {
		in.Finished = true
	}
}

// parseInt32 reads a whole number, or a string that holds one.
func parseInt32(raw json.RawMessage) (int32, bool) {
	var n number
	_ = n.UnmarshalJSON(raw)
	i, err := strconv.ParseInt(string(n), 10, 32)
	return int32(i), err == nil
}

func (v codeVoice) frame(_ string, data []byte, in *findings) { v.read(data, in) }

func (codeVoice) ask(r *Request, body []byte) error { return chat{}.ask(r, body) }

func (v codeVoice) resembles(p *probe) int {
	if _, ok := parseInt32(p.top[v.code]); ok && !p.has("choices") && !p.has("error") {
		return 2
	}
	return 0
}
