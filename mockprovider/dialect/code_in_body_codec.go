package dialect

import (
	"encoding/json"
	"strconv"

	"herdlab/mockprovider/wire"
)

// codeInBodyCodec writes and reads the bodies of a CodeInBody. Its fields are
// the names of JSON fields. limit and remaining are empty if replies do not
// describe limits.
type codeInBodyCodec struct {
	code, message, data, limit, remaining string
	// The fields with the hint, by its form.
	seconds, millis, delay string
	success                int32
}

// newCodeInBodyCodec returns the codec of a CodeInBody with its defaults. Hints
// in a form other than Spelled have the usual field of that form.
func newCodeInBodyCodec(f *CodeInBody) codeInBodyCodec {
	v := codeInBodyCodec{
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

// appendMember appends a member to the JSON object in b. It appends nothing if
// the name or the value, which is JSON, is empty.
func appendMember(b []byte, name string, value []byte) []byte {
	if name == "" || len(value) == 0 {
		return b
	}
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	b = append(appendJSON(b, name), ':')
	return append(b, value...)
}

// intJSON returns n as JSON.
func intJSON(n int32) []byte { return strconv.AppendInt(nil, int64(n), 10) }

// codeAnswer is the value of the data field of an answer, or of a frame.
type codeAnswer struct {
	Model   string     `json:"model,omitempty"`
	Content string     `json:"content"`
	Finish  string     `json:"finish_reason,omitempty"`
	Usage   *chatUsage `json:"usage,omitempty"`
}

func (v codeInBodyCodec) wrap(b []byte, a codeAnswer) []byte {
	b = append(b, '{')
	b = appendMember(b, v.code, intJSON(v.success))
	b = appendMember(b, v.message, []byte(`"ok"`))
	b = appendMember(b, v.data, appendJSON(nil, a))
	return append(b, '}')
}

func (v codeInBodyCodec) appendAnswer(b []byte, c *Context, a *answer) []byte {
	return v.wrap(b, codeAnswer{a.Model, a.Text, a.finishReason("stop", "length"), usageOf(c, a.Tokens)})
}

func (v codeInBodyCodec) appendError(b []byte, _ *Context, f *failure) []byte {
	b = append(b, '{')
	b = appendMember(b, v.code, intJSON(f.Code))
	b = appendMember(b, v.message, appendJSON(nil, f.Message))
	b = appendMember(b, v.seconds, []byte(f.Seconds))
	b = appendMember(b, v.millis, []byte(f.Millis))
	if f.Delay != "" {
		b = appendMember(b, v.delay, appendJSON(nil, f.Delay))
	}
	if f.Limit != 0 || f.Remaining != 0 {
		b = appendMember(b, v.limit, intJSON(f.Limit))
		b = appendMember(b, v.remaining, intJSON(f.Remaining))
	}
	return append(b, '}')
}

func (v codeInBodyCodec) appendModels(b []byte, _ *Context, names []string) []byte {
	b = append(b, '{')
	b = appendMember(b, v.code, intJSON(v.success))
	b = appendMember(b, v.data, appendJSON(nil, append([]string{}, names...)))
	return append(b, '}')
}

func (v codeInBodyCodec) event(b, data []byte) []byte {
	return append(append(append(b, "data: "...), data...), "\n\n"...)
}

func (v codeInBodyCodec) appendStart(b []byte, _ *Context, model string) []byte {
	return v.event(b, v.wrap(nil, codeAnswer{Model: model}))
}

func (v codeInBodyCodec) appendToken(b []byte, _ *Context, _ string, _ int, text string) []byte {
	return v.event(b, v.wrap(nil, codeAnswer{Content: text}))
}

func (v codeInBodyCodec) appendEnd(b []byte, c *Context, a *answer) []byte {
	return v.event(b, v.wrap(nil, codeAnswer{Model: a.Model, Finish: a.finishReason("stop", "length"), Usage: usageOf(c, a.Tokens)}))
}

func (v codeInBodyCodec) appendStreamError(b []byte, c *Context, f *failure, _ int) []byte {
	return v.event(b, v.appendError(nil, c, f))
}

func (v codeInBodyCodec) readBody(body []byte, in *findings) {
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

// parseInt32 reads a whole number, or a string that contains one.
func parseInt32(raw json.RawMessage) (int32, bool) {
	var n number
	_ = n.UnmarshalJSON(raw)
	i, err := strconv.ParseInt(string(n), 10, 32)
	return int32(i), err == nil
}

func (v codeInBodyCodec) readFrame(_ string, data []byte, in *findings) { v.readBody(data, in) }

func (codeInBodyCodec) readRequest(r *Request, body []byte) error { return chat{}.readRequest(r, body) }

func (v codeInBodyCodec) likeness(p *probe) int {
	if _, ok := parseInt32(p.top[v.code]); ok && !p.has("choices") && !p.has("error") {
		return 2
	}
	return 0
}
