package dialect

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// Detect returns the dialect that a reply looks like, for clients that do not
// know whom they talk to; the first of All if it looks like none. For a stream,
// give it the data of the first frame as the body.
func Detect(in *RawReply) Dialect { return *sniff(in) }

// sniff is the same without a copy.
func sniff(in *RawReply) *Dialect {
	first, _ := split(in.Body)
	p := probe{in: in}
	if first != nil {
		// What is no object has no keys, which is what the probe then says.
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

// errorHas reports whether its error object has these keys.
func (p *probe) errorHas(keys ...string) bool { return hasAll(p.inner, keys) }

// text returns a key's value if it is a string, else "".
func (p *probe) text(key string) (s string) { return text(p.top[key]) }

// errorText is the same for the error object.
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

// text returns raw, which is valid JSON or nothing, if it is a string, else "".
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
