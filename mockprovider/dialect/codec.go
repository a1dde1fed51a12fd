package dialect

import "herdlab/mockprovider/wire"

// codec writes and reads the bodies of one provider. Methods that begin with
// append write: they append to b and return the extended slice. A body is one
// JSON value. A frame of a stream includes its framing.
type codec interface {
	// appendAnswer writes a successful reply, appendError an error.
	appendAnswer(b []byte, c *Context, a *answer) []byte
	appendError(b []byte, c *Context, f *failure) []byte
	// appendModels writes the list of models.
	appendModels(b []byte, c *Context, names []string) []byte

	// appendStart, appendToken and appendEnd write the frames of a stream: its
	// beginning, its i-th piece (from 0), and its end with the usage and the
	// finish marker. appendStreamError writes an error after the status 200 and
	// sent pieces. model is the model that answers.
	appendStart(b []byte, c *Context, model string) []byte
	appendToken(b []byte, c *Context, model string, i int, text string) []byte
	appendEnd(b []byte, c *Context, a *answer) []byte
	appendStreamError(b []byte, c *Context, f *failure, sent int) []byte

	// readBody adds to in what a whole body contains, readFrame what one frame
	// of a stream contains. The data are valid JSON; for readFrame they may
	// also be the literal that the stream has as its finish marker, [DONE].
	readBody(body []byte, in *findings)
	readFrame(event string, data []byte, in *findings)

	// readRequest reads the body of a request.
	readRequest(r *Request, body []byte) error

	// likeness rates how likely a reply is one of the provider: 0 not, 1
	// possible, 2 or more increasingly likely.
	likeness(p *probe) int
}

// answer is a successful reply to be written.
type answer struct {
	// Text is the text of the answer, Model the model that answers.
	Text, Model string
	// Tokens is the number of output tokens.
	Tokens uint32
	// NoFinish leaves out the finish marker. Capped is true if the answer ends
	// because of the cap in the request.
	NoFinish, Capped bool
}

// finishReason returns why the answer ends: whole if it is complete, capped if
// the cap ended it, "" without a finish marker.
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
	// Class is the true class. Status and Code are those of the reply.
	Class  wire.Class
	Status uint16
	Code   int32
	// Message is the text of the template, filled in, and the sentence with the
	// hint.
	Message          string
	Limit, Remaining int32
	hintFields
}

// findings are the contents of a body, or of the frames of a stream so far.
type findings struct {
	// Failed is true after an error; Coded if it was a business code in place
	// of an answer. Kind, Code, Number and Message are as in a template. Status
	// is the HTTP status, or the status in an error event.
	Failed, Coded bool
	Kind, Code    string
	Number        int32
	Message       string
	Status        int
	// Limit and Remaining are the values in the body.
	Limit, Remaining int32
	hintFields
	// Answered is true after a part of an answer, Finished after the finish
	// marker, Doubled if the answer continued after the finish marker.
	Answered, Finished, Doubled bool
	// Pieces is the number of pieces of a stream with text. Tokens is the
	// stated usage, if Counted.
	Pieces, Tokens uint32
	Counted        bool
	// Model is the model that answered.
	Model string

	class wire.Class // the class according to another dialect; wire.OK if none
}

// usage records that the answer has n output tokens.
func (in *findings) usage(n uint32) { in.Tokens, in.Counted = n, true }

// piece records a piece of an answer.
func (in *findings) piece(text string) {
	in.Answered = true
	if in.Finished {
		in.Doubled = true
	} else if text != "" {
		in.Pieces++
	}
}

// tokens returns the number of output tokens that the client has.
func (in *findings) tokens() uint32 {
	if in.Counted {
		return in.Tokens
	}
	return in.Pieces
}
