package dialect

import (
	"time"

	"herdlab/mockprovider/wire"
)

// Context is what a writer needs besides the compact reply.
type Context struct {
	// Operation is the operation of the request, which determines the form of
	// the answer. The zero Operation is Complete.
	Operation Operation
	// Model is the model of the request, Served the model that answers if it is
	// another one, ID the id of the request.
	Model, Served, ID string
	//  Epoch is the Unix time, in seconds, at which the provider's clock shows 0.
	//  It must be at least 1e9 (2001-09-09), because smaller numbers are read as
	//  waits. Now is the time that this clock shows.
	Epoch int64
	Now   time.Duration
	// InputTokens is the length of the prompt. MaxTokens is the cap on the
	// answer in the request, 0 without a cap. An answer with at least MaxTokens
	// has the finish reason of a capped answer.
	InputTokens, MaxTokens uint32
	// TokenLimit is true if a successful reply describes the limit on tokens
	// and not that on requests.
	TokenLimit bool
	// Tokens are the tokens that the provider's limits on tokens count.
	Tokens Tokens
	// Usage is true if the request asked for usage in the stream. Some dialects
	// send it always.
	Usage bool
	// Message replaces the text of the dialect, if it is not empty.
	Message string
}

// Tokens are the tokens that limits count. Some dialects describe the limits on
// prompts and on answers separately.
type Tokens uint8

// The kinds of tokens. The zero Tokens is both kinds, or unknown.
const (
	AllTokens Tokens = iota
	InputTokens
	OutputTokens
)

// served returns the model that answers r.
func (c *Context) served(r *wire.Reply) string {
	switch {
	case r.Marks&wire.DegradedReply == 0:
		return c.Model
	case c.Served != "":
		return c.Served
	}
	return "a-lesser-model"
}

// created returns the Unix time in bodies.
func (c *Context) created() int64 { return c.Epoch + int64(c.Now/time.Second) }

// ReadContext is what a reader needs besides the bytes.
type ReadContext struct {
	// Epoch is the Unix time, in seconds, at which the reader's clock shows 0.
	// With the provider's Epoch, the times of a reply read back are those of the
	// provider's clock.
	Epoch int64
	// Model is the model of the request, to detect that another model answered;
	// "" does not detect it.
	Model string
}
