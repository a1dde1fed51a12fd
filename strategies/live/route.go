package live

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"herdlab/mockprovider/dialect"
	"herdlab/mockprovider/wire"
)

// identity tells requests apart for those who share answers. Strategies know a
// question by a number of 32 bits, which is too short for that.
type identity [sha256.Size]byte

// demand is what a request asks for, as far as its dialect can tell. It is found
// out only for strategies that use it, because that means reading the body.
func (c *caller) demand() wire.Demand {
	c.model, c.understood = "", false
	p := c.t.program
	// Others than the caller's goroutine cannot find out later what to record.
	recorded := c.t.cfg.Recorder != nil && c.t.async()
	if !p.AsksDemand && len(c.t.cfg.Models) == 0 && !recorded {
		return wire.Demand{}
	}
	r, text := c.understand()
	if text == nil {
		return wire.Demand{}
	}
	asked := wire.Demand{InputTokens: r.InputTokens, MaxTokens: r.MaxTokens, Prompt: r.Prompt}
	if asked.Prompt != 0 && c.t.shares() {
		if asked.Prompt = 0; !r.Stream { // a stream is read once
			c.asks = c.identify(text)
			asked.Prompt = max(1, binary.LittleEndian.Uint32(c.asks[:]))
		}
	}
	return asked
}

// understand reads what a request asks for, and of which model. It returns the
// request's body; nil if it cannot tell.
func (c *caller) understand() (r dialect.Request, text []byte) {
	c.understood = true
	text, ok := c.body.all()
	if !ok {
		return r, nil
	}
	in := dialect.Asked{Method: c.req.Method, Path: c.req.URL.Path, Query: c.req.URL.RawQuery, Header: c.req.Header.Get, Body: text}
	d, ok := c.t.dialect, c.t.dialect != nil
	if !ok {
		if d, ok = dialect.Addressed(&in); !ok {
			return r, nil
		}
	}
	r, _ = d.ParseRequest(&in) // what is wrong with it is the provider's to say
	c.model = r.Model
	return r, text
}

// shares reports whether one call may get another's answer.
func (t *Transport) shares() bool { return t.program.Remembers || len(t.program.Flights) > 0 }

// identify is the identity of a request with this body: what is asked, where, as
// whom, and of which version.
func (c *caller) identify(text []byte) (id identity) {
	h := sha256.New()
	part := func(s string) { // with its length, so that nothing can pass for another
		_ = binary.Write(h, binary.LittleEndian, uint64(len(s)))
		_, _ = io.WriteString(h, s)
	}
	part(c.req.Method)
	part(c.req.URL.String())
	part(c.req.Host)
	for _, headers := range [][]string{keyHeaders, versionHeaders} {
		for _, name := range headers {
			part(strings.Join(c.req.Header.Values(name), "\n"))
		}
	}
	_, _ = h.Write(text)
	h.Sum(id[:0])
	return id
}

// versionHeaders decide, beside the keys, what the answer to a body is.
var versionHeaders = []string{"Accept", "Anthropic-Version", "Anthropic-Beta", "Openai-Organization", "Openai-Project", "Cookie"}

// request returns the request of an attempt: the caller's own where that will
// do, else a copy that asks what the strategy wants, where it wants.
func (c *caller) request(a *attempt) (*http.Request, error) {
	cfg, from, want := &c.t.cfg, c.asked, c.call.Demand
	var own []byte // if not the caller's
	if m := a.made; m != nil {
		if own, from = m.body, m.from; m.err != nil {
			return c.req, nil // it is not sent
		}
	}
	want.Prompt, from.Prompt = c.asked.Prompt, c.asked.Prompt
	smaller := want != from
	if a.ctx == c.ctx && own == nil && c.body.sendable() && a.target == (wire.Target{}) && !smaller {
		c.body.original = nil // the base closes it
		return c.req, nil
	}
	req := c.req.Clone(a.ctx)
	model, err := pick("model", cfg.Models, a.target.Model)
	if err != nil {
		return nil, err
	}
	if err := a.address(req); err != nil {
		return nil, err
	}
	if model != "" || smaller || own != nil {
		text, ok := own, own != nil
		if !ok {
			text, ok = c.body.all()
		}
		if ok {
			if model != "" {
				quoted, _ := json.Marshal(model) // a string, so it cannot fail
				text, _ = splice(text, quoted, "model")
				swapModel(req.URL, c.model, model)
			}
			if smaller {
				if text, err = cfg.shrink(text, from, want); err != nil {
					return nil, err
				}
			}
			req.Body, req.ContentLength, req.GetBody = io.NopCloser(bytes.NewReader(text)), int64(len(text)), nil
			return req, nil
		}
	}
	if !c.body.none {
		req.Body, err = c.body.open()
	}
	return req, err
}

// pick returns what target i means; "" if it is the request's own.
func pick(what string, list []string, i uint8) (string, error) {
	switch {
	case i == 0:
		return "", nil
	case int(i) >= len(list):
		return "", fmt.Errorf("live: the strategy asks for %s %d, but the transport knows %d; list them all in its Config", what, i, len(list))
	}
	return list[i], nil
}

// address sends a request to the attempt's region with the attempt's key.
func (a *attempt) address(req *http.Request) error {
	cfg := &a.t.cfg
	key, err := pick("key", cfg.Keys, a.target.Key)
	if err != nil {
		return err
	}
	if key != "" {
		swapKey(req, key)
	}
	switch i := int(a.target.Region); {
	case i == 0:
	case i >= len(cfg.Regions):
		return fmt.Errorf("live: the strategy asks for region %d, but the transport knows %d; list them all in its Config", i, len(cfg.Regions))
	default:
		to := cfg.Regions[i]
		req.URL.Scheme, req.URL.Host, req.Host = to.Scheme, to.Host, ""
		setPath(req.URL, strings.TrimSuffix(to.EscapedPath(), "/")+req.URL.EscapedPath())
	}
	return nil
}

// keyHeaders are where API keys stand, if not in the query.
var keyHeaders = []string{"Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key"}

// swapKey puts a key in the place of the one that a request has.
func swapKey(req *http.Request, key string) {
	for _, h := range keyHeaders {
		old := req.Header.Get(h)
		if old == "" {
			continue
		}
		if scheme, _, ok := strings.Cut(old, " "); ok {
			key = scheme + " " + key
		}
		req.Header.Set(h, key)
		return
	}
	if q := req.URL.Query(); q.Get("key") != "" {
		q.Set("key", key)
		req.URL.RawQuery = q.Encode()
	}
}

// swapModel replaces the model in a path that has it.
func swapModel(u *url.URL, from, to string) {
	if from == "" {
		return
	}
	path := u.EscapedPath()
	for _, written := range []string{url.PathEscape(from), from} {
		for _, after := range []string{":", "/"} {
			if before, rest, ok := strings.Cut(path, "/"+written+after); ok {
				setPath(u, before+"/"+url.PathEscape(to)+after+rest)
				return
			}
		}
	}
}

// setPath sets a path that is escaped already.
func setPath(u *url.URL, escaped string) {
	if plain, err := url.PathUnescape(escaped); err == nil {
		u.Path, u.RawPath = plain, escaped
	}
}

// caps are where requests state how long their answer may be, as the dialects read
// them.
var caps = [][]string{
	{"max_completion_tokens"}, {"max_output_tokens"}, {"max_tokens"},
	{"generationConfig", "maxOutputTokens"}, {"inferenceConfig", "maxTokens"}, {"parameters", "max_tokens"},
}

// shrink is Config.Shrink or its default.
func (cfg *Config) shrink(body []byte, from, to wire.Demand) ([]byte, error) {
	if cfg.Shrink != nil {
		return cfg.Shrink(body, from, to)
	}
	if to.MaxTokens == from.MaxTokens || to.MaxTokens == 0 {
		return body, nil
	}
	most := []byte(strconv.FormatUint(uint64(to.MaxTokens), 10))
	for _, path := range caps {
		if changed, ok := splice(body, most, path...); ok {
			return changed, nil
		}
	}
	return body, nil
}

// splice returns a JSON object with another value for the key of its own, or of the
// objects within it, that path leads to; false if there is none. All else stays
// byte for byte.
func splice(body, value []byte, path ...string) ([]byte, bool) {
	from, to, ok := member(body, path[0])
	if !ok {
		return body, false
	}
	if len(path) > 1 {
		if value, ok = splice(body[from:to], value, path[1:]...); !ok {
			return body, false
		}
	}
	return bytes.Join([][]byte{body[:from], value, body[to:]}, nil), true
}

// member is where the value of a JSON object's own key stands.
func member(body []byte, key string) (from, to int, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(body))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return 0, 0, false
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return 0, 0, false
		}
		var raw json.RawMessage
		if dec.Decode(&raw) != nil {
			return 0, 0, false
		}
		if name == key {
			to = int(dec.InputOffset())
			return to - len(raw), to, true
		}
	}
	return 0, 0, false
}
