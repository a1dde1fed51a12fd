package dialect

import (
	"strconv"
	"strings"

	"herdlab/mockprovider/wire"
)

// template is how a dialect says one class.
type template struct {
	Status uint16
	// Kind and Code are the words of the error body that programs read: a type
	// and a code, or whatever stands for them.
	Kind, Code string
	// Number is the business code; a template that has one is a wire.CodeBody.
	Number int32
	// Text is the message. {model}, {limit}, {remaining}, {used} and {input}
	// are filled in; brackets around any of them, with what stands in them, are
	// left out if no limit is known.
	Text string
	// Sentence is how the message ends that says when to come back, where that
	// is not as Dialect.sentence has it.
	Sentence string
	// As is the class that the template reads as; wire.OK for its own.
	As wire.Class
	// Spelled is how it writes hints, Marks the x-should-retry it sends.
	Spelled wire.Spelling
	Marks   wire.Marks

	keywords wire.Words // what the text mentions; see listen
}

// templates has one for each class that a provider can reply with. That of OK
// has only a status.
type templates [wire.Timeout + 1]template

// shown is the class that the template for class reads as.
func (p *templates) shown(class wire.Class) wire.Class {
	if as := p[class].As; as != wire.OK {
		return as
	}
	return class
}

// of returns the template for a reply: that of its class, of the class that it
// shows, or another that shows the same, whichever mentions what the reply
// does. For a reply can hide its class behind another's form: a permission that
// is missing may look like want of capacity, and that like a rate limit. If none
// mentions the same, the first of these that there is.
func (p *templates) of(r *wire.Reply) *template {
	shown := r.Shown
	if int(shown) >= len(p) || shown == wire.OK {
		shown = wire.ServerError // it has no words for what no provider says
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

// listen notes what the templates mention.
func (p *templates) findKeywords() {
	for class := range p {
		p[class].keywords = wire.WordsOf(p[class].fill(nil, &wire.Reply{Limit: 1}))
	}
}

// body is the shape of the template's replies.
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
		figures, tail, _ := strings.Cut(rest, "]")
		if strings.Contains(figures, "{") { // else they are the text's own
			if r.Limit <= 0 {
				figures = ""
			}
			text = head + figures + tail
		}
	}
	if !strings.Contains(text, "{") {
		return text
	}
	model, input := "the model", uint32(0)
	if c != nil {
		input = c.InputTokens
		// A model's name must not change what a keyword reader hears.
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
		default: // a brace, and no more
			b, after = append(b, '{'), rest
		}
		text = after
	}
}

// Forms returns how a provider of this dialect puts each class of reply. The
// classes that no provider can reply with have no form.
func (d *Dialect) Forms() *wire.Forms {
	var f wire.Forms
	for class := range d.templates {
		p := &d.templates[class]
		f[class] = wire.Form{
			Status: p.Status, Body: p.body(), Code: p.Number, Shown: d.templates.shown(wire.Class(class)),
			Words: p.keywords, Foreign: otherForm(p.body(), wire.Class(class)), Spelled: p.Spelled, Marks: p.Marks | d.limits.marks(p.body()),
		}
	}
	f[wire.OK] = wire.Form{Status: 200, Marks: d.limits.marks(wire.Completion)}
	return &f
}

// foreign is what a reply of that class says in the other shape than body, in
// the words of the dialect after which that shape is known.
func otherForm(body wire.Body, class wire.Class) wire.Said {
	name := "codybuddy"
	if body == wire.CodeBody {
		name = "openai"
	}
	other, _ := ByName(name)
	return wire.Said{Shown: other.templates.shown(class), Words: other.templates[class].keywords}
}
