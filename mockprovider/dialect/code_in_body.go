package dialect

import (
	"strings"

	"herdlab/mockprovider/wire"
)

// CodeInBody is a provider of the family that answers HTTP 200 to all and says in
// a field of the body whether it did, as gateways do that have grown within a
// company: {"code":14003,"message":"too many requests","retry_after":3}. With a
// name it is complete; Validate says whether the rest will do.
type CodeInBody struct {
	// Name is the word for it in scenarios and URLs, Title what people call it;
	// the name if empty.
	Name, Title string
	// Path is where answers are asked for, /NAME/v1/chat if empty. The list of
	// models is beside it: its last part is models in place of chat.
	Path string

	// Code is the field with the business code, "code" if empty, and Success its
	// value when all is well. Message is the field with the text and Data the one
	// that holds the answer, "message" and "data" if empty.
	Code    string
	Success int32
	Message string
	Data    string
	// RetryAfter is the field with the wait that is asked for; without it, and
	// without Spelled, nobody is asked to wait. Limit and Remaining are the fields about the limit; both or neither.
	RetryAfter, Limit, Remaining string
	// Spelled is how waits are usually written, in RetryAfter or elsewhere; if it
	// is wire.Plainly, as wire.BodySeconds.
	Spelled wire.Spelling

	// Replies are how the classes are put, for wire.Rate to wire.Timeout. What is
	// not said is as Codybuddy has it, and for limits of other kinds as for
	// wire.Rate. Classes of the same code read as the first of them.
	Replies [wire.NumClasses]CodeReply
}

// CodeReply is how a provider of that family says one class. What is zero is as
// it would be without it.
type CodeReply struct {
	// Code is the business code. Status is the HTTP status, 200 or an error's:
	// some members of the family have a few classes that they do not hide.
	Code   int32
	Status uint16
	// Text is the message, which keyword readers go by. {model}, {limit},
	// {remaining} and {used} are filled in; brackets around any of them, with what
	// stands in them, are left out if no limit is known.
	Text string
	// Spelled is how its waits are written; wire.Unspeakable never asks for one.
	Spelled wire.Spelling
}

// defaultReplies are those of Codybuddy. The limits that it has no code for are for
// it what wire.Rate is.
var defaultReplies = [wire.NumClasses]CodeReply{
	wire.Rate:        {Code: wire.Code14003, Text: "too many requests"},
	wire.Overloaded:  {Code: 14010, Text: "the model is at capacity"},
	wire.Quota:       {Code: 14004, Spelled: wire.Unspeakable, Text: "the quota of today is used up"},
	wire.Auth:        {Code: 14001, Spelled: wire.Unspeakable, Text: "invalid token"},
	wire.Permission:  {Code: 14002, Spelled: wire.Unspeakable, Text: "no permission for this model"},
	wire.BadRequest:  {Code: 14000, Spelled: wire.Unspeakable, Text: "invalid request"},
	wire.TooLarge:    {Code: 14005, Spelled: wire.Unspeakable, Text: "the prompt is too long"},
	wire.ServerError: {Code: 14011, Text: "internal error"},
	wire.Timeout:     {Code: 14012, Text: "the model did not answer in time"},
}

// complete fills in what is not said.
func (f CodeInBody) withDefaults() CodeInBody {
	orElse := func(s *string, other string) {
		if *s == "" {
			*s = other
		}
	}
	orElse(&f.Title, f.Name)
	orElse(&f.Path, "/"+f.Name+"/v1/chat")
	orElse(&f.Code, "code")
	orElse(&f.Message, "message")
	orElse(&f.Data, "data")
	switch {
	case f.RetryAfter == "" && f.Spelled == wire.Plainly:
		f.Spelled = wire.Unspeakable
	case f.Spelled == wire.Plainly:
		f.Spelled = wire.BodySeconds
	}
	for class := wire.Rate; class <= wire.Timeout; class++ {
		usual := defaultReplies[class]
		if usual.Code == 0 {
			usual = f.Replies[wire.Rate]
		}
		r := &f.Replies[class]
		if r.Code == 0 {
			r.Code = usual.Code
		}
		if r.Status == 0 {
			r.Status = max(usual.Status, 200)
		}
		orElse(&r.Text, usual.Text)
		if r.Spelled == wire.Plainly {
			r.Spelled = usual.Spelled
		}
		if r.Spelled == wire.Plainly {
			r.Spelled = f.Spelled
		}
	}
	return f
}

// Dialect returns the dialect.
func (f CodeInBody) Dialect() Dialect {
	f = f.withDefaults()
	d := Dialect{
		Name: f.Name, Title: f.Title,
		codec:     newCodeInBodyCodec(&f),
		templates: templates{wire.OK: {Status: 200}},
		limits:    limits{inBody: f.Limit != ""},
		routes: []route{
			{"POST", f.Path, Complete, false},
			{"GET", f.modelsPath(), ListModels, false},
		},
		keys: []keyPlace{{header: "Authorization", scheme: "Bearer "}, {header: "x-api-key"}},
	}
	for class := wire.Rate; class <= wire.Timeout; class++ {
		r := &f.Replies[class]
		d.templates[class] = template{Status: r.Status, Number: r.Code, Text: r.Text, Spelled: r.Spelled, As: f.firstWithCode(class)}
	}
	d.templates.findKeywords()
	return d
}

// inField reports whether waits are usually written in a field.
func (f *CodeInBody) hintInField() bool {
	switch f.Spelled {
	case wire.BodySeconds, wire.BodyMillis, wire.BodyDelay, wire.BothSeconds:
		return true
	}
	return false
}

// modelsPath is the path of the list of models.
func (f *CodeInBody) modelsPath() string {
	return f.Path[:strings.LastIndexByte(f.Path, '/')] + "/models"
}

// same is the first class before another that has the same code; wire.OK if
// there is none.
func (f *CodeInBody) firstWithCode(class wire.Class) wire.Class {
	for c := wire.Rate; c < class; c++ {
		if f.Replies[c].Code == f.Replies[class].Code {
			return c
		}
	}
	return wire.OK
}
