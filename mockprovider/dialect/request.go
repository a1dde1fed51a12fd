package dialect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"herdlab/mockprovider/wire"
)

// Operation is the kind of a request.
type Operation uint8

// The operations.
const (
	Complete   Operation = iota // an answer in the dialect's usual form
	Respond                     // an answer in the form of OpenAI's Responses
	Invoke                      // an answer in the form of the model (Bedrock's InvokeModel)
	ListModels                  // the list of models
)

// Request is a request that was read.
type Request struct {
	Operation Operation
	// Model is the model, Key the API key without its scheme; each may be "".
	Model, Key string
	// Stream asks for a stream, Usage for usage in the stream.
	Stream, Usage bool
	// MaxTokens is the cap on the output, 0 without a cap. InputTokens is an
	// estimate: a quarter of the bytes of the prompt's JSON, rounded up.
	MaxTokens, InputTokens uint32
	// Prompt is a hash of the model and the prompt, never 0; it is used as
	// wire.Demand.Prompt.
	Prompt uint32
}

// RawRequest is a request as a server receives it.
type RawRequest struct {
	Method, Path string
	// Query is the raw query without the question mark.
	Query string
	// Header returns the first value of a header, "" if there is none.
	Header func(name string) string
	Body   []byte
}

// RequestError is the reason why a request cannot be served. WriteRequestError
// writes it in the form of a dialect.
type RequestError struct {
	Status  int // 400, 404 or 405
	Message string
}

// Error implements error.
func (e *RequestError) Error() string { return e.Message }

// badRequest returns a RequestError for a request with an invalid body.
func badRequest(format string, args ...any) error {
	return &RequestError{Status: 400, Message: fmt.Sprintf(format, args...)}
}

// ParseRequest reads a request. The error is a *RequestError. With an error,
// ParseRequest returns what it could read, at least the key.
func (d *Dialect) ParseRequest(in *RawRequest) (Request, error) {
	r := Request{Key: d.key(in)}
	route, model, other := d.route(in)
	switch {
	case route != nil:
	case other != nil:
		return r, &RequestError{405, "Not allowed to use this method on this path; use " + other.method + "."}
	default:
		return r, &RequestError{404, "There is no such path here; see the documentation for the paths of this API."}
	}
	r.Operation, r.Model, r.Stream = route.operation, model, route.stream
	if d.streamHeader != "" && in.Header != nil && in.Header(d.streamHeader) == "enable" {
		r.Stream = true
	}
	if r.Operation == ListModels {
		return r, nil
	}
	if err := d.codec.readRequest(&r, in.Body); err != nil {
		return r, err
	}
	if r.Model == "" {
		return r, badRequest("you must provide a model parameter")
	}
	return r, nil
}

// WriteRequestError writes a RequestError, or any other error as a bad request.
func (d *Dialect) WriteRequestError(m *Message, c *Context, err error) {
	with := *c
	with.Message = err.Error()
	form := &d.templates[wire.BadRequest]
	r := wire.Reply{
		Status: form.Status, Class: wire.BadRequest, Shown: wire.BadRequest, Body: form.body(), Code: form.Number, Words: form.keywords,
		Hint: wire.Hint{Value: wire.NoHint},
	}
	var refused *RequestError
	if errors.As(err, &refused) && r.Status >= 400 {
		r.Status = uint16(refused.Status)
	}
	d.Write(m, &with, &r)
}

// WriteAuthError writes the reply to a request with an invalid key.
func (d *Dialect) WriteAuthError(m *Message, c *Context) {
	form := &d.templates[wire.Auth]
	d.Write(m, c, &wire.Reply{
		Status: form.Status, Class: wire.Auth, Shown: d.templates.shown(wire.Auth), Body: form.body(), Code: form.Number, Words: form.keywords,
		Hint: wire.Hint{Value: wire.NoHint},
	})
}

// prompt computes the length and the hash of the prompt. The parts are JSON;
// absent parts are nil.
func (r *Request) prompt(parts ...json.RawMessage) {
	h, total := uint32(offset32), 0
	for i := range len(r.Model) {
		h = fnv1a(h, r.Model[i])
	}
	for _, part := range parts {
		h = fnv1a(h, 0)
		quoted, escaped := false, false
		for _, c := range part {
			switch {
			case escaped:
				escaped = false
			case c == '"':
				quoted = !quoted
			case c == '\\':
				escaped = true
			case !quoted && (c == ' ' || c == '\n' || c == '\r' || c == '\t'):
				continue // white space is not part of the prompt
			}
			h = fnv1a(h, c)
			total++
		}
	}
	r.InputTokens = uint32(min((total+3)/4, math.MaxInt32))
	r.Prompt = max(1, h)
}

// offset32 is the FNV-1a hash of the empty string, as in hash/fnv, which
// allocates.
const offset32 = 2166136261

// fnv1a returns the hash h extended by c.
func fnv1a(h uint32, c byte) uint32 { return (h ^ uint32(c)) * 16777619 }

// cap sets the cap on the output to the first stated count.
func (r *Request) cap(name string, counts ...count) error {
	for _, c := range counts {
		switch {
		case !c.stated:
			continue
		case c.n < 1 || c.n > math.MaxInt32:
			return badRequest("%s: it must be a whole number from 1 to %d, not %d", name, math.MaxInt32, c.n)
		}
		r.MaxTokens = uint32(c.n)
		return nil
	}
	return nil
}

// isList reports whether raw is a JSON array with at least one element. raw is
// valid JSON or empty.
func isList(raw json.RawMessage) bool {
	if len(raw) == 0 || raw[0] != '[' {
		return false
	}
	return bytes.TrimLeft(raw[1:], " \n\r\t")[0] != ']'
}
