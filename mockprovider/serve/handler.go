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
	if n := s.inFlight.Add(1); n > int64(s.cfg.MaxInFlight) {
		s.inFlight.Add(-1)
		s.harnessRefuse(w, http.StatusServiceUnavailable, "requests", "too many requests in flight")
		return
	}
	defer s.inFlight.Add(-1)
	if headerBytes(r) > maxHeader {
		s.harnessRefuse(w, http.StatusRequestHeaderFieldsTooLarge, "headers", fmt.Sprintf("the headers are larger than %d bytes", maxHeader))
		return
	}
	a, _ := s.pool.Get().(*responder)
	if a == nil {
		a = new(responder)
	}
	a.s, a.w, a.r, a.controller, a.run = s, w, r, *http.NewResponseController(w), s.run.Load()
	if a.readBody() {
		a.respond()
	}
	if a.finished {
		a.clear()
		s.pool.Put(a)
	}
}

// harnessRefuse refuses a request to protect the harness.
func (s *Server) harnessRefuse(w http.ResponseWriter, status int, reason, text string) {
	s.metrics.harness.add(reason)
	h := w.Header()
	h.Set(OriginHeader, OriginHarness)
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Connection", "close")
	h.Set("Content-Length", strconv.Itoa(len(text)+1))
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text+"\n")
}

// headerBytes returns the approximate size of the headers.
func headerBytes(r *http.Request) int {
	n := len(r.RequestURI) + len(r.Host)
	for name, values := range r.Header {
		for _, v := range values {
			n += len(name) + len(v) + 4
		}
	}
	return n
}

// responder answers one request.
type responder struct {
	s          *Server
	run        *providerRun
	w          http.ResponseWriter
	r          *http.Request
	controller http.ResponseController
	body       bytes.Buffer
	input      dialect.RawRequest
	dialect    *dialect.Dialect
	context    dialect.Context
	message    dialect.Message
	x          exchange
	finished   bool // answered, and not used by others: it can be reused
}

// clear resets a for reuse and keeps the buffers.
func (a *responder) clear() {
	const limit = 64 << 10 // larger buffers are not kept
	body, headers, reply, news := a.body, a.message.Headers, a.message.Body, a.x.updates
	*a = responder{}
	clear(headers)
	a.message.Headers, a.x.updates = headers[:0], news
	if body.Cap() <= limit {
		a.body = body
	}
	if cap(reply) <= limit {
		a.message.Body = reply[:0]
	}
}

// readBody reads the body. It returns false if the request was refused.
func (a *responder) readBody() bool {
	a.body.Reset()
	_, err := a.body.ReadFrom(http.MaxBytesReader(a.w, a.r.Body, a.s.cfg.MaxBody))
	if err != nil {
		var tooLarge *http.MaxBytesError
		switch {
		case errors.As(err, &tooLarge):
			a.s.harnessRefuse(a.w, http.StatusRequestEntityTooLarge, "body", fmt.Sprintf("the body is larger than %d bytes", tooLarge.Limit))
		case errors.Is(err, os.ErrDeadlineExceeded):
			a.s.harnessRefuse(a.w, http.StatusRequestTimeout, "slow", "the body was not received in time")
		default:
			a.s.harnessRefuse(a.w, http.StatusBadRequest, "broken", "the body does not match the headers")
		}
		return false
	}
	a.input = dialect.RawRequest{Method: a.r.Method, Path: a.r.URL.Path, Query: a.r.URL.RawQuery, Header: a.r.Header.Get, Body: a.body.Bytes()}
	return true
}

// respond answers the request.
func (a *responder) respond() {
	d := a.run.driver
	number := a.run.requests.Add(1)
	a.context = dialect.Context{ID: requestID(a.s.cfg.Seed, number), Epoch: d.clock.epoch}
	path := a.input.Path
	which, known := a.s.route(&a.input)
	a.dialect = &a.s.dialects[which]
	req, err := a.dialect.ParseRequest(&a.input)
	if !known || isNotFound(err) {
		err = a.s.notFound(a.input.Method, path, a.r.Host)
	}
	owner, valid := a.run.tenants.of(req.Key)
	a.x.from = origin{id: a.context.ID, tenant: owner.id, dialect: a.dialect.Name, model: req.Model}
	if err != nil {
		a.reject(err)
		return
	}
	a.context.Model, a.context.InputTokens, a.context.MaxTokens = req.Model, req.InputTokens, req.MaxTokens
	a.context.Usage, a.context.Operation = req.Usage, req.Operation
	if req.Operation == dialect.ListModels {
		a.context.Now = d.clockTime()
		if valid {
			a.dialect.Models(&a.message, &a.context, a.s.models)
		} else {
			a.dialect.WriteAuthError(&a.message, &a.context)
		}
		a.send()
		return
	}
	a.context.TokenLimit, a.context.Tokens = a.run.tokenLimit, a.run.tokens
	q := &a.x.request
	q.Dialect = uint8(which + 1)
	if !valid {
		owner.account = a.s.invalidAccount
	}
	q.Account, q.Target.Key, q.Target.Model = owner.account, owner.key, indexOf(a.s.cfg.Models, req.Model)
	q.Address, _ = a.run.addresses.of(host(a.r.RemoteAddr))
	q.Stream = req.Stream
	q.Demand = wire.Demand{InputTokens: req.InputTokens, OutputTokens: a.s.cfg.OutputTokens, MaxTokens: req.MaxTokens, Prompt: req.Prompt}
	if err := a.readHeaders(q, number); err != nil {
		a.reject(err)
		return
	}
	a.runProvider(d)
}

// reject answers a request that does not reach the provider.
func (a *responder) reject(err error) {
	why, notFound := err.Error(), isNotFound(err)
	var wrong headerError
	if notFound || errors.As(err, &wrong) {
		a.w.Header().Set(OriginHeader, OriginHarness)
	}
	if notFound {
		why, _, _ = strings.Cut(why, ". ") // without the list of routes
	}
	a.context.Now = a.run.driver.clockTime()
	a.dialect.WriteRequestError(&a.message, &a.context, err)
	a.x.arrived = a.run.driver.rejected(&a.x, uint16(a.message.Status), why)
	a.logRejected()
	a.send()
}

// host returns an address without its port.
func host(address string) string {
	if h, _, err := net.SplitHostPort(address); err == nil {
		return h
	}
	return address
}
