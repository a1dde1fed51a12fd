package dialect

import (
	"slices"

	"herdlab/mockprovider/wire"
)

// Dialect is how one provider writes replies and reads requests. It is
// immutable.
type Dialect struct {
	// Name is the word for it in scenarios and URLs, Title what people call it.
	Name, Title string
	// Example is a request that documentation prints for users.
	Example Example

	codec     codec
	templates templates
	limits    limits
	routes    []route
	keys      []keyPlace
	// requestIDHeader is the header that carries the request's id.
	requestIDHeader string
	// streamHeader is a request header that asks for a stream with "enable"; empty if
	// there is none.
	streamHeader string
	// versionHeader is a request header that only this dialect's clients send; it
	// decides where routes are shared. Empty if there is none.
	versionHeader string
	// millisHeader is the header for hints in milliseconds; retry-after-ms if empty.
	millisHeader string
	// hintSentence is how a message ends that says when to come back, with %s for
	// the number of seconds, for example "Please try again in %ss."
	hintSentence string
	// bothUnits sends a hint of whole seconds in milliseconds beside it.
	bothUnits bool
	// kindHeader is the header that has the Kind of an error, where its body has not.
	kindHeader string
	// hidesModel says that answers do not tell which model they are from.
	hidesModel bool
	// streamType is the content type of streams; text/event-stream if empty.
	streamType string
	// reads finds the class of an error where the words of the templates do not
	// suffice, or for words that the provider has but the templates do not use;
	// wire.OK is for those it has no opinion on. It may be nil.
	classify func(*findings) wire.Class
	// framing makes the reader of its streams' framing; that of server-sent
	// events if nil.
	framing func() framing
}

// dialects are the dialects there are, in the order of their documentation.
// What several could have written is taken for the first's. Nothing changes the
// table; it is made once because servers look into it for every request.
var dialects = withKeywords(
	openAI(),
	anthropic(),
	gemini(),
	codybuddy(),
	azure(),
	bedrock(),
	zhipu(),
	dashScope(),
	dashScopeNative(),
	openRouter(),
	qianfan(),
	qianfanV2(),
	miniMax(),
)

func withKeywords(all ...Dialect) []Dialect {
	for i := range all {
		all[i].templates.findKeywords()
	}
	return all
}

// All returns the dialects there are, in the order of their documentation.
func All() []Dialect { return slices.Clone(dialects) }

// ByName returns the dialect of that name.
func ByName(name string) (Dialect, bool) {
	for i := range dialects {
		if dialects[i].Name == name {
			return dialects[i], true
		}
	}
	return Dialect{}, false
}

// codec writes and reads the bodies of one provider. Its methods append to b.
// A body is one JSON value; a frame of a stream is complete with its framing.
type codec interface {
	// answer writes a success, failure an error.
	appendAnswer(b []byte, c *Context, a *answer) []byte
	appendError(b []byte, c *Context, f *failure) []byte
	// models writes the list of models.
	appendModels(b []byte, c *Context, names []string) []byte

	// begin, token and finish write the frames of a stream: its head, its i-th
	// piece (from 0), and its end with usage and the finish marker. fail writes
	// an error after the 200, when sent pieces have been sent. model is who
	// answers.
	appendStart(b []byte, c *Context, model string) []byte
	appendToken(b []byte, c *Context, model string, i int, text string) []byte
	appendEnd(b []byte, c *Context, a *answer) []byte
	appendStreamError(b []byte, c *Context, f *failure, sent int) []byte

	// read notes what a whole body says, frame what one frame of a stream does.
	// Both get valid JSON, except that frame gets whatever literal the stream
	// uses as its finish marker ([DONE]) too.
	readBody(body []byte, in *findings)
	readFrame(event string, data []byte, in *findings)

	// ask reads the body of a request.
	readRequest(r *Request, body []byte) error

	// resembles says how sure it is that a reply is its provider's: 0 no, 1 it
	// could be, 2 and more the surer.
	likeness(p *probe) int
}

// answer is a success to be written.
type answer struct {
	// Text is the answer, Model who gives it.
	Text, Model string
	// Tokens is how many output tokens it has.
	Tokens uint32
	// NoFinish leaves out the finish marker. Capped says that the request's cap ended
	// the answer, and not its meaning.
	NoFinish, Capped bool
}

// ends is why the answer ends: whole where it has come to its end, capped where
// the cap was in the way, "" where nobody says so.
func (a *answer) finishReason(whole, capped string) string {
	switch {
	case a.NoFinish:
		return ""
	case a.Capped:
		return capped
	}
	return whole
}

// failure is an error to be written.
type failure struct {
	*template
	// Class is the truth; Status and Code are the reply's.
	Class  wire.Class
	Status uint16
	Code   int32
	// Message is the template's text, filled in, with the sentence of the hint.
	Message          string
	Limit, Remaining int32
	hintFields
}

// findings are what a body or the frames of a stream have said so far.
type findings struct {
	// Failed says that there was an error; Coded that it was a business code
	// where a success could have stood. Kind, Code, Number and Message are as in
	// a template; Status is the HTTP status, or the status that an error event
	// repeats.
	Failed, Coded bool
	Kind, Code    string
	Number        int32
	Message       string
	Status        int
	// Limit and Remaining are those that the body states.
	Limit, Remaining int32
	hintFields
	// Answered says that there was some of an answer; Finished that its finish
	// marker was seen, Doubled that an answer went on after it.
	Answered, Finished, Doubled bool
	// Pieces is how many pieces of a stream had text. Tokens is the usage that
	// was stated, if Counted.
	Pieces, Tokens uint32
	Counted        bool
	// Model is who answered.
	Model string

	class wire.Class // what another dialect has made of it; wire.OK if none
}

// usage notes that the answer has n output tokens.
func (in *findings) usage(n uint32) { in.Tokens, in.Counted = n, true }

// piece notes a piece of an answer.
func (in *findings) piece(text string) {
	in.Answered = true
	if in.Finished {
		in.Doubled = true
	} else if text != "" {
		in.Pieces++
	}
}

// tokens is how many output tokens the reader has.
func (in *findings) tokens() uint32 {
	if in.Counted {
		return in.Tokens
	}
	return in.Pieces
}
