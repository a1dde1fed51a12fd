package dialect

import (
	"strconv"
	"strings"

	"herdlab/mockprovider/wire"
)

// template is the form of the replies of one class.
type template struct {
	Status uint16
	// Kind and Code are the strings of the error body that programs read: a
	// type and a code, or what the provider has in their place.
	Kind, Code string
	// Number is the business code. A template with a Number is a wire.CodeBody.
	Number int32
	// Text is the message. {model}, {limit}, {remaining}, {used} and {input}
	// are filled in. A part in brackets that contains one of them is left out
	// if no limit is known.
	Text string
	// Sentence is the end of the message with the hint; "" is
	// Dialect.hintSentence.
	Sentence string
	// As is the class that the template reads as if the provider has no form of
	// its own for the class; wire.OK otherwise.
	As wire.Class
	// Spelled is the form of hints, Marks the x-should-retry that is sent.
	Spelled wire.Spelling
	Marks   wire.Marks

	keywords wire.Words // what the text mentions; see findKeywords
}

// templates has one template for each class of replies. That of OK has only a
// status.
type templates [wire.Timeout + 1]template

// shown returns the class that the template for class reads as.
func (p *templates) shown(class wire.Class) wire.Class {
	if as := p[class].As; as != wire.OK {
		return as
	}
	return class
}

// of returns the template for a reply: that of its class, of the class that it
// shows, or another one that shows the same class, whichever has the keywords
// of the reply. The class and the text can differ because a fault can give a
// reply the form of another class: a missing permission in the form of
// overload, for example. If no template has these keywords, of returns the
// first of the candidates.
func (p *templates) of(r *wire.Reply) *template {
	shown := r.Shown
	if int(shown) >= len(p) || shown == wire.OK {
		shown = wire.ServerError // no provider replies with such a class
	}
	first := shown
	if class := r.Class; int(class) < len(p) && class != wire.OK && p.shown(class) == r.Shown {
		first = class
	}
	if p[first].keywords == r.Words {
		return &p[first]
	}
	if p[shown].keywords == r.Words {
		return &p[shown]
	}
	for class := wire.Rate; int(class) < len(p); class++ {
		if p.shown(class) == r.Shown && p[class].keywords == r.Words {
			return &p[class]
		}
	}
	return &p[first]
}

// findKeywords computes what the templates mention.
func (p *templates) findKeywords() {
	for class := range p {
		p[class].keywords = wire.WordsOf(p[class].fill(nil, &wire.Reply{Limit: 1}))
	}
}

// body returns the kind of body of the template.
func (p *template) body() wire.Body {
	if p.Number != 0 {
		return wire.CodeBody
	}
	return wire.ErrorBody
}

// fill returns the text of the template for a reply.
func (p *template) fill(c *Context, r *wire.Reply) string {
	text := p.Text
	if head, rest, ok := strings.Cut(text, "["); ok {
		optional, tail, _ := strings.Cut(rest, "]")
		if strings.Contains(optional, "{") { // else the brackets are part of the text
			if r.Limit <= 0 {
				optional = ""
			}
			text = head + optional + tail
		}
	}
	if !strings.Contains(text, "{") {
		return text
	}
	model, input := "the model", uint32(0)
	if c != nil {
		input = c.InputTokens
		// A model's name must not add keywords to the text.
		if c.Model != "" && wire.WordsOf(c.Model) == 0 {
			model = c.Model
		}
	}
	var b []byte
	for {
		before, rest, found := strings.Cut(text, "{")
		b = append(b, before...)
		if !found {
			return string(b)
		}
		name, after, closed := strings.Cut(rest, "}")
		if !closed {
			name = ""
		}
		switch name {
		case "model":
			b = append(b, model...)
		case "limit":
			b = strconv.AppendInt(b, int64(r.Limit), 10)
		case "remaining":
			b = strconv.AppendInt(b, int64(r.Remaining), 10)
		case "used":
			b = strconv.AppendInt(b, int64(r.Limit)-int64(r.Remaining), 10)
		case "input":
			b = strconv.AppendUint(b, uint64(input), 10)
		default: // a brace without a known name
			b, after = append(b, '{'), rest
		}
		text = after
	}
}

// Forms returns the form of each class of replies of this dialect. Classes that
// no provider replies with have no form.
func (d *Dialect) Forms() *wire.Forms {
	var f wire.Forms
	for class := range d.templates {
		p := &d.templates[class]
		f[class] = wire.Form{
			Status: p.Status, Body: p.body(), Code: p.Number, Shown: d.templates.shown(wire.Class(class)),
			Words: p.keywords, Foreign: otherForm(p.body(), wire.Class(class)), Spelling: p.Spelled, Marks: p.Marks | d.limits.marks(p.body()),
		}
	}
	f[wire.OK] = wire.Form{Status: 200, Marks: d.limits.marks(wire.Completion)}
	return &f
}

// otherForm returns what a reply of that class shows and mentions in the other
// kind of body: a business code for wire.ErrorBody, an error object for
// wire.CodeBody.
func otherForm(body wire.Body, class wire.Class) wire.Text {
	name := "codybuddy"
	if body == wire.CodeBody {
		name = "openai"
	}
	other, _ := ByName(name)
	return wire.Text{Shown: other.templates.shown(class), Words: other.templates[class].keywords}
}
