package dialect

import "strings"

// Header is one header field.
type Header struct{ Name, Value string }

// Headers are header fields in the order in which they are sent.
type Headers []Header

// Get returns the first value of that name, in any case, or "".
func (h Headers) Get(name string) string {
	for i := range h {
		if strings.EqualFold(h[i].Name, name) {
			return h[i].Value
		}
	}
	return ""
}

func (h *Headers) add(name, value string) { *h = append(*h, Header{name, value}) }

// Message is a reply as bytes. Its memory can be reused.
type Message struct {
	Status  int
	Headers Headers // without Content-Length and Date, which the server adds
	Body    []byte
	// Length is the Content-Length to declare. If Broken, it is longer than
	// Body: the server breaks the connection after Body.
	Length int
	Broken bool
}

// Raw returns the message as a client receives it.
func (m *Message) Raw() RawReply {
	return RawReply{Status: m.Status, Header: m.Headers.Get, Body: m.Body, Broken: m.Broken}
}

// RawReply is a reply as a client receives it.
type RawReply struct {
	Status int
	// Header returns the first value of a header, or "", like http.Header.Get.
	Header func(name string) string
	Body   []byte
	// Broken is true if the connection was lost before the body was complete.
	Broken bool
}
