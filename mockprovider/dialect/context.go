package dialect

import (
	"strings"
	"time"

	"herdlab/mockprovider/wire"
)

// Context is what a writer knows beside the compact reply.
type Context struct {
	// Operation is what was asked, and decides the shape of the answer; the
	// zero Operation is Complete.
	Operation Operation
	// Model is the model asked for, Served the one that answers if it is
	// another, ID the request's id.
	Model, Served, ID string
	// Epoch is the Unix time, in seconds, at which the provider's clock shows 0.
	// It must not be before 2001-09-09 (1e9), because smaller numbers are read
	// as waits. Now is what that clock shows.
	Epoch int64
	Now   time.Duration
	// InputTokens is the length of the prompt, MaxTokens the cap on the answer
	// that the request states, 0 if none: an answer that long says that it was cut
	// off there.
	InputTokens, MaxTokens uint32
	// TokenLimit says that a success tells of the limit on tokens, not on
	// requests.
	TokenLimit bool
	// Tokens are those that the provider's limits on tokens count.
	Tokens Tokens
	// Usage asks for usage in streams that do not have it by themselves.
	Usage bool
	// Message, if not empty, stands in place of the dialect's own text.
	Message string
}

// Tokens are the tokens that limits count, for dialects that tell of those of
// prompts and of answers apart.
type Tokens uint8

// The tokens. The zero Tokens are both, or not known.
const (
	AllTokens Tokens = iota
	InputTokens
	OutputTokens
)

// served is the model that answers r.
func (c *Context) served(r *wire.Reply) string {
	switch {
	case r.Marks&wire.DegradedReply == 0:
		return c.Model
	case c.Served != "":
		return c.Served
	}
	return "a-lesser-model"
}

// created is the Unix time that bodies carry.
func (c *Context) created() int64 { return c.Epoch + int64(c.Now/time.Second) }

// ReadContext is what a reader knows beside the bytes.
type ReadContext struct {
	// Epoch is the Unix time, in seconds, at which the reader's clock shows 0:
	// the provider's Epoch, so that a reply read back is in the provider's own
	// time, or any other that the client counts from.
	Epoch int64
	// Model is the model asked for, to tell whether another answered; "" does
	// not ask.
	Model string
}

// Header is one header field.
type Header struct{ Name, Value string }

// Headers are header fields in the order in which they are sent.
type Headers []Header

// Get returns the first value of that name, in any case; "" if there is none.
func (h Headers) Get(name string) string {
	for i := range h {
		if strings.EqualFold(h[i].Name, name) {
			return h[i].Value
		}
	}
	return ""
}

func (h *Headers) add(name, value string) { *h = append(*h, Header{name, value}) }

// Message is a reply as bytes. Its memory can be used again.
type Message struct {
	Status  int
	Headers Headers // without Content-Length and Date, which are the server's
	Body    []byte
	// Length is the Content-Length to declare. It is more than the body has
	// where the connection is to be broken after it: then Broken.
	Length int
	Broken bool
}

// Raw returns the message as a client receives it.
func (m *Message) Raw() RawReply {
	return RawReply{Status: m.Status, Header: m.Headers.Get, Body: m.Body, Broken: m.Broken}
}

// RawReply is a reply that came over the wire.
type RawReply struct {
	Status int
	// Header returns the first value of a header, "" if there is none:
	// http.Header's Get.
	Header func(name string) string
	Body   []byte
	// Broken says that the connection broke before the body was complete.
	Broken bool
}
