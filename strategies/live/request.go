package live

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"herdlab/mockprovider/dialect"
	"herdlab/mockprovider/wire"
)

// requestHash identifies equal requests. Strategies identify them by 32 bits of
// it, which is too short to rely on.
type requestHash [sha256.Size]byte

// readDemand returns what a request asks for, if its dialect is known. It returns
// zero if the strategy does not need the demand, because it must read the body.
func (c *callRun) readDemand() wire.Demand {
	c.model, c.parsed = "", false
	p := c.t.program
	// With async attempts, the recorder's model cannot be found out later.
	recorded := c.t.cfg.Recorder != nil && c.t.async()
	if !p.AsksDemand && len(c.t.cfg.Models) == 0 && !recorded {
		return wire.Demand{}
	}
	r, text := c.parseRequest()
	if text == nil {
		return wire.Demand{}
	}
	demand := wire.Demand{InputTokens: r.InputTokens, MaxTokens: r.MaxTokens, Prompt: r.Prompt}
	if demand.Prompt != 0 && c.t.sharesAnswers() {
		if demand.Prompt = 0; !r.Stream { // a stream cannot be shared
			c.hash = c.hashRequest(text)
			demand.Prompt = max(1, binary.LittleEndian.Uint32(c.hash[:]))
		}
	}
	return demand
}

// parseRequest parses the request for its demand and model. It returns the
// request's body, or nil if it cannot be parsed.
func (c *callRun) parseRequest() (r dialect.Request, text []byte) {
	c.parsed = true
	text, ok := c.body.all()
	if !ok {
		return r, nil
	}
	in := dialect.RawRequest{Method: c.req.Method, Path: c.req.URL.Path, Query: c.req.URL.RawQuery, Header: c.req.Header.Get, Body: text}
	d, ok := c.t.dialect, c.t.dialect != nil
	if !ok {
		if d, ok = dialect.ByPath(&in); !ok {
			return r, nil
		}
	}
	r, _ = d.ParseRequest(&in) // invalid requests are rejected by the provider
	c.model = r.Model
	return r, text
}

// sharesAnswers reports whether a call may get the answer of another call.
func (t *Transport) sharesAnswers() bool { return t.program.Remembers || len(t.program.Flights) > 0 }

// hashRequest returns the hash of the request with this body: method, URL, host,
// keys, versions and body.
func (c *callRun) hashRequest(text []byte) (id requestHash) {
	h := sha256.New()
	part := func(s string) { // prefixed by its length, so that the parts are unambiguous
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

// versionHeaders are the headers, besides keys, that an answer depends on.
var versionHeaders = []string{"Accept", "Anthropic-Version", "Anthropic-Beta", "Openai-Organization", "Openai-Project", "Cookie"}

// request returns the request of an attempt: the caller's own if possible, else a
// copy with the demand and the target of the strategy.
func (c *callRun) request(a *attempt) (*http.Request, error) {
	cfg, from, want := &c.t.cfg, c.demand, c.call.Demand
	var own []byte // the rewritten body
	if m := a.rewrite; m != nil {
		if own, from = m.body, m.from; m.err != nil {
			return c.req, nil // it is not sent
		}
	}
	want.Prompt, from.Prompt = c.demand.Prompt, c.demand.Prompt
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
	if err := a.setTarget(req); err != nil {
		return nil, err
	}
	if model != "" || smaller || own != nil {
		text, ok := own, own != nil
		if !ok {
			text, ok = c.body.all()
		}
		if ok {
			if model != "" {
				quoted, _ := json.Marshal(model) // a string, so there is no error
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
	if !c.body.empty {
		req.Body, err = c.body.open()
	}
	return req, err
}
