package serve

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"

	"herdlab/mockprovider/dialect"
	"herdlab/mockprovider/wire"
)

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if n := s.underWay.Add(1); n > int64(s.cfg.MaxInFlight) {
		s.underWay.Add(-1)
		s.protect(w, http.StatusServiceUnavailable, "requests", "too many requests are under way")
		return
	}
	defer s.underWay.Add(-1)
	if headerBytes(r) > maxHeader {
		s.protect(w, http.StatusRequestHeaderFieldsTooLarge, "headers", fmt.Sprintf("the headers are larger than %d bytes", maxHeader))
		return
	}
	a, _ := s.spare.Get().(*answering)
	if a == nil {
		a = new(answering)
	}
	a.s, a.w, a.r, a.control, a.world = s, w, r, *http.NewResponseController(w), s.world.Load()
	if a.read() {
		a.answer()
	}
	if a.done {
		a.clear()
		s.spare.Put(a)
	}
}

// protect refuses a request for the harness's own sake.
func (s *Server) protect(w http.ResponseWriter, status int, reason, text string) {
	s.metrics.harness.add(reason)
	h := w.Header()
	h.Set(OriginHeader, OriginHarness)
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Connection", "close")
	h.Set("Content-Length", strconv.Itoa(len(text)+1))
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text+"\n")
}

// headerBytes is how long the headers are, about.
func headerBytes(r *http.Request) int {
	n := len(r.RequestURI) + len(r.Host)
	for name, values := range r.Header {
		for _, v := range values {
			n += len(name) + len(v) + 4
		}
	}
	return n
}

// answering is a request that is being answered.
type answering struct {
	s       *Server
	world   *world
	w       http.ResponseWriter
	r       *http.Request
	control http.ResponseController
	body    bytes.Buffer
	asked   dialect.RawRequest
	dialect *dialect.Dialect
	context dialect.Context
	message dialect.Message
	x       exchange
	done    bool // it is answered, and nobody else knows of it any more
}

// clear makes it a new one that has the memory of the old.
func (a *answering) clear() {
	const most = 64 << 10 // which is not kept for others
	body, headers, reply, news := a.body, a.message.Headers, a.message.Body, a.x.news
	*a = answering{}
	clear(headers)
	a.message.Headers, a.x.news = headers[:0], news
	if body.Cap() <= most {
		a.body = body
	}
	if cap(reply) <= most {
		a.message.Body = reply[:0]
	}
}

// read reads the request. It reports false if it has refused it.
func (a *answering) read() bool {
	a.body.Reset()
	_, err := a.body.ReadFrom(http.MaxBytesReader(a.w, a.r.Body, a.s.cfg.MaxBody))
	if err != nil {
		var tooLarge *http.MaxBytesError
		switch {
		case errors.As(err, &tooLarge):
			a.s.protect(a.w, http.StatusRequestEntityTooLarge, "body", fmt.Sprintf("the body is larger than %d bytes", tooLarge.Limit))
		case errors.Is(err, os.ErrDeadlineExceeded):
			a.s.protect(a.w, http.StatusRequestTimeout, "slow", "the body did not come")
		default:
			a.s.protect(a.w, http.StatusBadRequest, "broken", "the body is not as its headers say")
		}
		return false
	}
	a.asked = dialect.RawRequest{Method: a.r.Method, Path: a.r.URL.Path, Query: a.r.URL.RawQuery, Header: a.r.Header.Get, Body: a.body.Bytes()}
	return true
}

// answer answers the request.
func (a *answering) answer() {
	d := a.world.driver
	number := a.world.requests.Add(1)
	a.context = dialect.Context{ID: requestID(a.s.cfg.Seed, number), Epoch: d.clock.epoch}
	path := a.asked.Path
	which, known := a.s.route(&a.asked)
	a.dialect = &a.s.dialects[which]
	req, err := a.dialect.ParseRequest(&a.asked)
	if !known || lost(err) {
		err = a.s.signpost(a.asked.Method, path, a.r.Host)
	}
	who, valid := a.world.tenants.of(req.Key)
	a.x.from = origin{id: a.context.ID, tenant: who.hash, dialect: a.dialect.Name, model: req.Model}
	if err != nil {
		a.refuse(err)
		return
	}
	a.context.Model, a.context.InputTokens, a.context.MaxTokens = req.Model, req.InputTokens, req.MaxTokens
	a.context.Usage, a.context.Operation = req.Usage, req.Operation
	if req.Operation == dialect.ListModels {
		a.context.Now = d.shows()
		if valid {
			a.dialect.Models(&a.message, &a.context, a.s.models)
		} else {
			a.dialect.WriteAuthError(&a.message, &a.context)
		}
		a.send()
		return
	}
	a.context.TokenLimit, a.context.Tokens = a.world.tokenLimit, a.world.tokens
	q := &a.x.request
	q.Dialect = uint8(which + 1)
	if !valid {
		who.account = a.s.nobody
	}
	q.Account, q.Target.Key, q.Target.Model = who.account, who.key, place(a.s.cfg.Models, req.Model)
	q.Address, _ = a.world.addresses.of(host(a.r.RemoteAddr))
	q.Stream = req.Stream
	q.Demand = wire.Demand{InputTokens: req.InputTokens, OutputTokens: a.s.cfg.OutputTokens, MaxTokens: req.MaxTokens, Prompt: req.Prompt}
	if err := a.heed(q, number); err != nil {
		a.refuse(err)
		return
	}
	a.meet(d)
}

// refuse answers a request that never reaches the provider.
func (a *answering) refuse(err error) {
	why, way := err.Error(), lost(err)
	var wrong directionError
	if way || errors.As(err, &wrong) {
		a.w.Header().Set(OriginHeader, OriginHarness)
	}
	if way {
		why, _, _ = strings.Cut(why, ". ") // the way is for who has lost it
	}
	a.context.Now = a.world.driver.shows()
	a.dialect.WriteRequestError(&a.message, &a.context, err)
	a.x.arrived = a.world.driver.refused(&a.x, uint16(a.message.Status), why)
	a.logUnread()
	a.send()
}

// host is an address without its port.
func host(address string) string {
	if h, _, err := net.SplitHostPort(address); err == nil {
		return h
	}
	return address
}
