package dialect

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// Detect returns the dialect that most likely wrote a reply, for clients that
// do not know their provider; without any indication the first of All. For a
// stream, the body of in is the data of the first frame.
func Detect(in *RawReply) Dialect { return *detect(in) }

// detect is Detect without a copy.
func detect(in *RawReply) *Dialect {
	first, _ := split(in.Body)
	p := probe{in: in}
	if first != nil {
		// A body that is not an object has no keys.
		_ = json.Unmarshal(first, &p.top)
		_ = json.Unmarshal(p.top["error"], &p.inner)
	}
	best, sure := 0, 0
	for i := range dialects {
		if n := dialects[i].codec.likeness(&p); n > sure {
			best, sure = i, n
		}
	}
	return &dialects[best]
}

// probe is a reply whose dialect is not known.
type probe struct {
	in         *RawReply
	top, inner map[string]json.RawMessage
}

// has reports whether the body has these keys.
func (p *probe) has(keys ...string) bool { return hasAll(p.top, keys) }

// errorHas reports whether the error object has these keys.
func (p *probe) errorHas(keys ...string) bool { return hasAll(p.inner, keys) }

// text returns the value of a key if it is a string, else "".
func (p *probe) text(key string) (s string) { return text(p.top[key]) }

// errorText returns the value of a key of the error object if it is a string,
// else "".
func (p *probe) errorText(key string) string { return text(p.inner[key]) }

// header reports whether the reply has that header.
func (p *probe) header(name string) bool { return p.in.Header != nil && p.in.Header(name) != "" }

func hasAll(m map[string]json.RawMessage, keys []string) bool {
	for _, key := range keys {
		if _, ok := m[key]; !ok {
			return false
		}
	}
	return true
}

// text returns raw if it is a JSON string, else "". raw is valid JSON or empty.
func text(raw json.RawMessage) string {
	if len(raw) == 0 || raw[0] != '"' {
		return ""
	}
	if plain := raw[1 : len(raw)-1]; bytes.IndexByte(plain, '\\') < 0 && utf8.Valid(plain) {
		return string(plain)
	}
	var s string
	_ = json.Unmarshal(raw, &s)
	return s
}
