package serve

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"herdlab/mockprovider/dialect"
	"herdlab/mockprovider/wire"
)

// Headers by which a test says what a client of a real provider cannot: which
// call a request belongs to, for the draws that are the call's, which attempt of
// it it is, which region it is for, and how long its answer is to be. Without
// them a call is known by its Idempotency-Key, and an attempt by
// X-Stainless-Retry-Count.
const (
	CallHeader    = "X-Herdlab-Call"
	AttemptHeader = "X-Herdlab-Attempt"
	RegionHeader  = "X-Herdlab-Region"
	OutputHeader  = "X-Herdlab-Output-Tokens"
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
	a := &answering{s: s, w: w, r: r, control: http.NewResponseController(w), world: s.world.Load()}
	if a.read() {
		a.answer()
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
	control *http.ResponseController
	asked   dialect.Asked
	dialect *dialect.Dialect
	context dialect.Context
	message dialect.Message
	x       exchange
}

// read reads the request. It reports false if it has refused it.
func (a *answering) read() bool {
	_ = a.control.SetReadDeadline(time.Now().Add(bodyTime))
	body, err := io.ReadAll(http.MaxBytesReader(a.w, a.r.Body, a.s.cfg.MaxBody))
	if err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			a.s.protect(a.w, http.StatusRequestEntityTooLarge, "body", fmt.Sprintf("the body is larger than %d bytes", tooLarge.Limit))
		} else {
			a.s.protect(a.w, http.StatusRequestTimeout, "slow", "the body did not come")
		}
		return false
	}
	_ = a.control.SetReadDeadline(time.Time{})
	a.asked = dialect.Asked{Method: a.r.Method, Path: a.r.URL.Path, Query: a.r.URL.RawQuery, Header: a.r.Header.Get, Body: body}
	return true
}

// answer answers the request.
func (a *answering) answer() {
	d := a.world.driver
	number := a.world.requests.Add(1)
	a.context = dialect.Context{ID: requestID(a.s.cfg.Seed, number), Epoch: d.clock.epoch, Now: d.shows()}
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
		a.dialect.Models(&a.message, &a.context, a.s.models)
		a.send()
		return
	}
	a.context.TokenLimit = a.world.tokenLimit
	q := &a.x.request
	q.Dialect = uint8(which + 1)
	if !valid {
		who.account = a.s.nobody
	}
	q.Call, q.Attempt = a.call(number)
	q.Account, q.Target.Key, q.Target.Model = who.account, who.key, place(a.s.cfg.Models, req.Model)
	q.Target.Region = place(a.s.cfg.Regions, a.r.Header.Get(RegionHeader))
	q.Address, _ = a.world.addresses.of(host(a.r.RemoteAddr))
	q.Stream = req.Stream
	q.Demand = wire.Demand{InputTokens: req.InputTokens, OutputTokens: a.output(), MaxTokens: req.MaxTokens, Prompt: req.Prompt}
	a.meet(d)
}

// refuse answers a request that never reaches the provider.
func (a *answering) refuse(err error) {
	why := err.Error()
	if lost(err) {
		a.w.Header().Set(OriginHeader, OriginHarness)
		why, _, _ = strings.Cut(why, ". ") // the way is for who has lost it
	}
	a.dialect.Refuse(&a.message, &a.context, err)
	a.world.driver.refused(&a.x, uint16(a.message.Status), why)
	a.send()
}

// call is which call and attempt the request is, as far as its client says.
func (a *answering) call(number uint64) (call uint64, attempt uint32) {
	call, attempt = number, 1
	if key := a.r.Header.Get("Idempotency-Key"); key != "" {
		call = hash(a.x.from.tenant, key)
	}
	if n, ok := a.number(CallHeader, 64); ok {
		call = n
	}
	if n, ok := a.number("X-Stainless-Retry-Count", 16); ok {
		attempt = uint32(n) + 1
	}
	if n, ok := a.number(AttemptHeader, 32); ok {
		attempt = uint32(max(n, 1))
	}
	return call, attempt
}

// number is the number of so many bits in a header; ok is false if there is
// none.
func (a *answering) number(header string, bits int) (n uint64, ok bool) {
	text := a.r.Header.Get(header)
	if text == "" {
		return 0, false
	}
	n, err := strconv.ParseUint(text, 10, bits)
	return n, err == nil
}

// output is how long the answer is if nothing caps it.
func (a *answering) output() uint32 {
	n := a.s.cfg.OutputTokens
	if asked, ok := a.number(OutputHeader, 32); ok {
		n = uint32(asked)
	}
	return min(n, a.s.cfg.MaxTokens)
}

// host is an address without its port.
func host(address string) string {
	if h, _, err := net.SplitHostPort(address); err == nil {
		return h
	}
	return address
}
