package dialect

import (
	"strings"

	"herdlab/mockprovider/wire"
)

// CodeInBody describes a provider that replies with HTTP 200 to every request
// and puts the result into a field of the body, as company-internal gateways
// often do: {"code":14003,"message":"too many requests","retry_after":3}. Only
// Name is required; every other field has a default. Validate checks it.
type CodeInBody struct {
	// Name is the name in scenarios and URLs, Title the name for users; "" is
	// Name.
	Name  string `required:"our-gateway" about:"The name of the dialect, in lower-case letters, digits, dots and hyphens."`
	Title string `without:"the name" about:"What people call it."`
	// Path is the path of requests for answers; "" is /NAME/v1/chat. The path
	// of the list of models is Path with models in place of the last part.
	Path string `without:"/NAME/v1/chat" about:"The path where answers are asked for; the list of models is beside it, at …/models."`

	// Code is the field with the business code; "" is "code". Success is the
	// code of a successful reply. Message is the field with the text, Data the
	// field with the answer; "" is "message" and "data".
	Code    string `default:"code" about:"The field with the business code."`
	Success int32  `unit:"business code" least:"-2147483648" default:"0" about:"The business code of a success."`
	Message string `default:"message" about:"The field with the text."`
	Data    string `default:"data" about:"The field with the answer."`
	// RetryAfter is the field with the hint. If it is empty and Spelled is
	// zero, replies have no hint. Limit and Remaining are the fields about the
	// limit; either both are empty or neither.
	RetryAfter string `without:"no reply asks for a wait, unless spelled says how" about:"The field with the wait that a reply asks for."`
	Limit      string `without:"replies do not state it" about:"The field with the limit that refused."`
	Remaining  string `without:"replies do not state it" about:"The field with what remains of that limit."`
	// Spelled is the form of hints.
	Spelled wire.Spelling `default:"body_seconds" about:"How replies state waits."`

	// Replies are the replies of the classes from wire.Rate to wire.Timeout. A
	// zero field has the value of Codybuddy or, for the limits that Codybuddy
	// has no code for, the value of wire.Rate. Classes with the same code read
	// as the first of them.
	Replies [wire.NumClasses]CodeReply `without:"as codybuddy writes them" about:"How each class of reply is written: its code, or more; limits of other kinds are written like rate."`
}

// CodeReply is the reply of one class. Zero fields have default values.
type CodeReply struct {
	// Code is the business code. Status is the HTTP status: 200 or that of an
	// error, because some such providers use statuses for a few classes.
	Code   int32  `unit:"business code" least:"-2147483648" without:"the usual one" about:"The business code of the reply, not 0."`
	Status uint16 `unit:"HTTP status" least:"200" most:"599" default:"200" about:"The HTTP status of the reply."`
	// Text is the message, which keyword readers use. {model}, {limit},
	// {remaining} and {used} are filled in. A part in brackets that contains
	// one of them is left out if no limit is known.
	Text string `without:"the usual one" about:"The message, in which {model}, {limit}, {remaining} and {used} are filled in."`
	// Spelled is how its waits are written; wire.NoPlaceForHint never asks for one.
	Spelled wire.Spelling `without:"as the dialect says" about:"How the reply states a wait."`
}

// defaultReplies are the replies of Codybuddy. Limits that are missing have the
// reply of wire.Rate.
var defaultReplies = [wire.NumClasses]CodeReply{
	wire.Rate:        {Code: wire.Code14003, Text: "too many requests"},
	wire.Overloaded:  {Code: 14010, Text: "the model is at capacity"},
	wire.Quota:       {Code: 14004, Spelled: wire.NoPlaceForHint, Text: "the quota of today is used up"},
	wire.Auth:        {Code: 14001, Spelled: wire.NoPlaceForHint, Text: "invalid token"},
	wire.Permission:  {Code: 14002, Spelled: wire.NoPlaceForHint, Text: "no permission for this model"},
	wire.BadRequest:  {Code: 14000, Spelled: wire.NoPlaceForHint, Text: "invalid request"},
	wire.TooLarge:    {Code: 14005, Spelled: wire.NoPlaceForHint, Text: "the prompt is too long"},
	wire.ServerError: {Code: 14011, Text: "internal error"},
	wire.Timeout:     {Code: 14012, Text: "the model did not answer in time"},
}

// withDefaults replaces zero fields by their defaults.
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
	case f.RetryAfter == "" && f.Spelled == wire.ExactSeconds:
		f.Spelled = wire.NoPlaceForHint
	case f.Spelled == wire.ExactSeconds:
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
		if r.Spelled == wire.ExactSeconds {
			r.Spelled = usual.Spelled
		}
		if r.Spelled == wire.ExactSeconds {
			r.Spelled = f.Spelled
		}
	}
	return f
}

// Dialect returns the dialect. Its Example is a request with curl; a program
// can replace it.
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

// hintInField reports whether hints are usually in a field.
func (f *CodeInBody) hintInField() bool {
	switch f.Spelled {
	case wire.BodySeconds, wire.BodyMillis, wire.BodyDelay, wire.BothSeconds:
		return true
	}
	return false
}

// modelsPath returns the path of the list of models.
func (f *CodeInBody) modelsPath() string {
	return f.Path[:strings.LastIndexByte(f.Path, '/')] + "/models"
}

// firstWithCode returns the first class before another one with the same code,
// or wire.OK.
func (f *CodeInBody) firstWithCode(class wire.Class) wire.Class {
	for c := wire.Rate; c < class; c++ {
		if f.Replies[c].Code == f.Replies[class].Code {
			return c
		}
	}
	return wire.OK
}
