package dialect

import (
	"bytes"
	"encoding/json"
	"strings"

	"herdlab/mockprovider/wire"
)

// ParseReply returns the contents of a whole reply. The Class of the result is
// Shown, because the true class is not in the bytes. ParseReply accepts any
// bytes.
func (d *Dialect) ParseReply(in *RawReply, at ReadContext) wire.Reply {
	r := wire.Reply{Status: uint16(in.Status), Hint: wire.Hint{Value: wire.NoHint}, Marks: retryMarks(in)}
	f := findings{Status: in.Status}
	first, rest := split(in.Body)
	switch {
	case in.Broken && in.Status < 400:
		r.Body = wire.TruncatedBody
	case first == nil && in.Status >= 400:
		d.fillErrorText(in, at, &r)
	case first == nil || len(rest) > 0 && !json.Valid(rest):
		r.Body = replacedBody(in)
		r.Words = wire.WordsOf(string(in.Body[:min(len(in.Body), 1<<16)]))
	default:
		d.codec.readBody(first, &f)
		d.readOtherForms(first, &f)
		switch {
		case f.Failed:
			d.fillError(in, at, &f, &r)
		case in.Status >= 400:
			d.fillErrorText(in, at, &r)
		default:
			fillAnswer(&f, at, &r)
			if r.Body == wire.Completion && len(rest) > 0 {
				r.Body = wire.Doubled
			}
		}
	}
	r.Class = r.Shown
	d.limits.read(in.Header, at.Epoch, &r)
	return r
}

// readOtherForms reads a body in which d has found nothing in the two most
// common forms, because gateways and scenarios also send bodies in forms that
// the provider does not have.
func (d *Dialect) readOtherForms(body []byte, f *findings) {
	if f.Failed || f.Answered {
		return
	}
	for _, name := range []string{"codybuddy", "openai"} {
		other, _ := ByName(name)
		got := findings{Status: f.Status}
		if other.codec.readBody(body, &got); got.Failed {
			if *f = got; f.Code == "" && f.Kind == "" || d.classOfCodes(&got) == wire.OK {
				f.class = other.classOf(&got)
			}
			return
		}
	}
}

// fillError writes the error in f to r.
func (d *Dialect) fillError(in *RawReply, at ReadContext, f *findings, r *wire.Reply) {
	switch {
	case f.Coded:
		r.Body, r.Code = wire.CodeBody, f.Number
		r.Limit, r.Remaining = f.Limit, f.Remaining
	case in.Status >= 400:
		r.Body = wire.ErrorBody
	default:
		r.Body = wire.StreamError
	}
	if d.kindHeader != "" && f.Kind == "" && in.Header != nil {
		f.Kind, _, _ = strings.Cut(in.Header(d.kindHeader), ":") // the rest is the namespace
	}
	r.Shown, r.Words = d.classOf(f), wire.WordsOf(f.Message)
	d.readHint(in, f, at.Epoch, r)
}

// fillErrorText writes to r an error whose body has no known form.
func (d *Dialect) fillErrorText(in *RawReply, at ReadContext, r *wire.Reply) {
	text := string(in.Body[:min(len(in.Body), 1<<16)])
	r.Body, r.Shown, r.Words = wire.ErrorBody, wire.ClassOfStatus(r.Status), wire.WordsOf(text)
	d.readHint(in, &findings{Failed: true, Message: text}, at.Epoch, r)
}

// fillAnswer writes the answer in f to r.
func fillAnswer(f *findings, at ReadContext, r *wire.Reply) {
	r.Body, r.Tokens = wire.Completion, f.tokens()
	switch {
	case f.Doubled:
		r.Body = wire.Doubled
	case !f.Finished:
		r.Body = wire.SilentEnd
	}
	r.Marks |= degradedMarks(f, at)
}

// degradedMarks returns wire.DegradedReply if another model answered. A longer
// name is a version of the model asked for.
func degradedMarks(f *findings, at ReadContext) wire.Marks {
	if at.Model != "" && f.Model != "" && !strings.HasPrefix(f.Model, at.Model) {
		return wire.DegradedReply
	}
	return 0
}

// retryMarks reads x-should-retry.
func retryMarks(in *RawReply) wire.Marks {
	if in.Header == nil {
		return 0
	}
	switch in.Header("x-should-retry") {
	case "true":
		return wire.ShouldRetry
	case "false":
		return wire.ShouldNotRetry
	}
	return 0
}

// classOf returns the class that an error shows.
func (d *Dialect) classOf(f *findings) wire.Class {
	if f.class != wire.OK {
		return f.class
	}
	if class := d.classOfCodes(f); class != wire.OK {
		return class
	}
	if class := wire.ClassOfStatus(uint16(f.Status)); class != wire.OK {
		return class
	}
	// An unknown business code with status 200: use the meaning that it has for
	// codybuddy, if any, and else the text.
	if f.Number != 0 {
		family, _ := ByName("codybuddy")
		if class := family.classOfCodes(&findings{Number: f.Number}); class != wire.OK {
			return class
		}
	}
	var o wire.Outcome
	wire.ByKeyword{}.Read(&wire.Reply{Status: 500, Words: wire.WordsOf(f.Message)}, 0, &o)
	return o.Class
}

// classOfCodes returns the class that d has for the codes of an error: with the
// same status if possible, else with any status, else by the code or the kind
// alone; wire.OK if there is none.
func (d *Dialect) classOfCodes(f *findings) wire.Class {
	if d.classify != nil {
		if class := d.classify(f); class != wire.OK {
			return class
		}
	}
	if f.Kind == "" && f.Code == "" && f.Number == 0 {
		return wire.OK
	}
	for _, fits := range []func(p *template) bool{
		func(p *template) bool {
			return p.Kind == f.Kind && p.Code == f.Code && p.Number == f.Number && int(p.Status) == f.Status
		},
		func(p *template) bool { return p.Kind == f.Kind && p.Code == f.Code && p.Number == f.Number },
		func(p *template) bool { return f.Code != "" && p.Code == f.Code },
		func(p *template) bool { return f.Kind != "" && p.Kind == f.Kind && p.Code == "" },
	} {
		for class := wire.Rate; int(class) < len(d.templates); class++ {
			if p := &d.templates[class]; p.As == wire.OK && fits(p) {
				return class
			}
		}
	}
	return wire.OK
}

// split returns the first JSON value of a body, and the rest of the body
// without white space. It returns nil if there is no complete value.
func split(body []byte) (first, rest []byte) {
	dec := json.NewDecoder(bytes.NewReader(body))
	var raw json.RawMessage
	if dec.Decode(&raw) != nil {
		return nil, nil
	}
	return raw, bytes.TrimSpace(body[dec.InputOffset():])
}

// replacedBody returns which kind of text replaces an answer.
func replacedBody(in *RawReply) wire.Body {
	if in.Header != nil && strings.Contains(in.Header("Content-Type"), "html") || bytes.HasPrefix(bytes.TrimSpace(in.Body), []byte("<")) {
		return wire.WrongType
	}
	return wire.Garbage
}
