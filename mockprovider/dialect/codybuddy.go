package dialect

import (
	"encoding/json"
	"strconv"

	"herdlab/mockprovider/wire"
)

// CodeFields are the names that an API uses which answers HTTP 200 to all and
// says in a field whether it did.
type CodeFields struct {
	// Code is the field with the business code and Success its value when all
	// is well. Message, RetryAfter (seconds), Limit and Remaining are the fields
	// beside it, Data the one that holds the answer.
	Code, Message, RetryAfter, Limit, Remaining, Data string
	Success                                           int32
	// Numbers are the codes of the classes; 0 leaves the usual one.
	Numbers [wire.NumClasses]int32
}

// codybuddy is the provider of the founding articles: HTTP 200, and 14003 for
// whatever limit was hit. The codes beside 14003 are ours: the articles have
// only that one.
func codybuddy() Dialect {
	return CodeInBody("codybuddy", "Codybuddy (200 + 14003)", "/codybuddy/v1", CodeFields{
		Code: "code", Message: "message", RetryAfter: "retry_after", Limit: "limit", Remaining: "remaining", Data: "data",
	})
}

// CodeInBody returns a dialect of that family, with its paths below root.
func CodeInBody(name, title, root string, fields CodeFields) Dialect {
	const tooMany = "too many requests"
	d := Dialect{
		Name: name, Title: title,
		voice: codeVoice{fields},
		phrases: phrases{
			wire.OK:           {Status: 200},
			wire.Rate:         {Status: 200, Number: wire.Code14003, Spelled: wire.BodySeconds, Text: tooMany},
			wire.TokenRate:    {Status: 200, Number: wire.Code14003, Spelled: wire.BodySeconds, Text: tooMany, As: wire.Rate},
			wire.Concurrency:  {Status: 200, Number: wire.Code14003, Spelled: wire.BodySeconds, Text: tooMany, As: wire.Rate},
			wire.Acceleration: {Status: 200, Number: wire.Code14003, Spelled: wire.BodySeconds, Text: tooMany, As: wire.Rate},
			wire.Overloaded:   {Status: 200, Number: 14010, Spelled: wire.BodySeconds, Text: "the model is at capacity"},
			wire.Quota:        {Status: 200, Number: 14004, Spelled: wire.Unspeakable, Text: "the quota of today is used up"},
			wire.Auth:         {Status: 200, Number: 14001, Spelled: wire.Unspeakable, Text: "invalid token"},
			wire.Permission:   {Status: 200, Number: 14002, Spelled: wire.Unspeakable, Text: "no permission for this model"},
			wire.BadRequest:   {Status: 200, Number: 14000, Spelled: wire.Unspeakable, Text: "invalid request"},
			wire.TooLarge:     {Status: 200, Number: 14005, Spelled: wire.Unspeakable, Text: "the prompt is too long"},
			wire.ServerError:  {Status: 200, Number: 14011, Spelled: wire.BodySeconds, Text: "internal error"},
			wire.Timeout:      {Status: 200, Number: 14012, Spelled: wire.BodySeconds, Text: "the model did not answer in time"},
		},
		limits: limits{inBody: true},
		routes: []route{
			{"POST", root + "/chat", Complete, false},
			{"GET", root + "/models", ListModels, false},
		},
		keys: []key{{header: "Authorization", scheme: "Bearer "}, {header: "x-api-key"}},
	}
	for class := range d.phrases {
		if n := fields.Numbers[class]; n != 0 && class != int(wire.OK) {
			d.phrases[class].Number, d.phrases[class].As = n, wire.OK
		}
	}
	d.phrases.listen()
	return d
}

type codeVoice struct{ CodeFields }

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

func (v codeVoice) success(b []byte, a codeAnswer) []byte {
	b = append(b, '{')
	b = member(b, v.Code, digits(v.Success))
	b = member(b, v.Message, []byte(`"ok"`))
	b = member(b, v.Data, appendJSON(nil, a))
	return append(b, '}')
}

func (v codeVoice) answer(b []byte, c *Context, a *answer) []byte {
	return v.success(b, codeAnswer{a.Model, a.Text, a.ends("stop", "length"), usageOf(c, a.Tokens)})
}

func (v codeVoice) failure(b []byte, _ *Context, f *failure) []byte {
	b = append(b, '{')
	b = member(b, v.Code, digits(f.Code))
	b = member(b, v.Message, appendJSON(nil, f.Message))
	b = member(b, v.RetryAfter, []byte(f.Seconds))
	if f.Millis != "" {
		b = member(b, "retry_after_ms", []byte(f.Millis))
	}
	if f.Delay != "" {
		b = member(b, "retryDelay", appendJSON(nil, f.Delay))
	}
	if f.Limit != 0 || f.Remaining != 0 {
		b = member(b, v.Limit, digits(f.Limit))
		b = member(b, v.Remaining, digits(f.Remaining))
	}
	return append(b, '}')
}

func (v codeVoice) models(b []byte, _ *Context, names []string) []byte {
	b = append(b, '{')
	b = member(b, v.Code, digits(v.Success))
	b = member(b, v.Data, appendJSON(nil, append([]string{}, names...)))
	return append(b, '}')
}

func (v codeVoice) event(b, data []byte) []byte {
	return append(append(append(b, "data: "...), data...), "\n\n"...)
}

func (v codeVoice) begin(b []byte, _ *Context, model string) []byte {
	return v.event(b, v.success(nil, codeAnswer{Model: model}))
}

func (v codeVoice) token(b []byte, _ *Context, _ string, _ int, text string) []byte {
	return v.event(b, v.success(nil, codeAnswer{Content: text}))
}

func (v codeVoice) finish(b []byte, c *Context, a *answer) []byte {
	return v.event(b, v.success(nil, codeAnswer{Model: a.Model, Finish: a.ends("stop", "length"), Usage: usageOf(c, a.Tokens)}))
}

func (v codeVoice) fail(b []byte, c *Context, f *failure, _ int) []byte {
	return v.event(b, v.failure(nil, c, f))
}

func (v codeVoice) read(body []byte, in *findings) {
	var top map[string]json.RawMessage
	if json.Unmarshal(body, &top) != nil {
		return
	}
	code, ok := parseInt32(top[v.Code])
	switch {
	case !ok:
		return
	case code != v.Success:
		in.Failed, in.Coded, in.Number = true, true, code
		in.Message, in.Delay = text(top[v.Message]), text(top["retryDelay"])
		_ = in.Seconds.UnmarshalJSON(top[v.RetryAfter])
		_ = in.Millis.UnmarshalJSON(top["retry_after_ms"])
		in.Limit, _ = parseInt32(top[v.Limit])
		in.Remaining, _ = parseInt32(top[v.Remaining])
		return
	}
	var a codeAnswer
	if raw := top[v.Data]; len(raw) == 0 || json.Unmarshal(raw, &a) != nil {
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
	if _, ok := parseInt32(p.top[v.Code]); ok && !p.has("choices") && !p.has("error") {
		return 2
	}
	return 0
}
