package live

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// Recorder receives what a transport does. Its methods are called from the
// goroutines of the calls, several at a time, and must return quickly.
type Recorder interface {
	// Attempt is called for each attempt that has ended or whose stream has begun.
	Attempt(Attempt)
	// Call is called for each call that is over.
	Call(Call)
	// Signal is called for the strategy's alarms and notes.
	Signal(strategies.SignalSpec)
}

// Attempt is the record of one attempt. It contains neither keys nor the content
// of request and answer.
type Attempt struct {
	// Call is the ID of the call; Number counts its attempts from 1.
	Call   uint64
	Number uint32
	// Began is the time of sending, since the transport began. Took is the time
	// until the reply was read, or until the stream began. Waited is the time
	// before Began without activity of the call: since its last attempt was sent
	// or ended, or since the call began.
	Began, Took, Waited time.Duration
	// Class is the outcome; Status is the HTTP status, 0 without a reply; Code is
	// the business code; RetryAfter is the wait that the reply asked for, or
	// wire.NoHint.
	Class      wire.Class
	Status     uint16
	Code       int32
	RetryAfter time.Duration
	// Target is the index of model, region and key; Switched is true if one of
	// them is not 0.
	Target   wire.Target
	Switched bool
	// Model is the requested model. It may be empty if the attempt succeeded and
	// the transport did not parse the request, or if the request contains none or
	// is too long to be kept.
	Model string
	// RequestID is the ID that the provider gave the request.
	RequestID string
	// Sent is the length of the request's body, -1 if unknown; Tokens is the
	// number of output tokens received.
	Sent   int64
	Tokens uint32
	// Begun is true if the answer is a stream, which the call's end will end.
	Begun bool
	// Err is the error if there was no reply, without the URL, which may contain
	// a key.
	Err error
}

// Call is the record of one call.
type Call struct {
	ID       uint64
	Attempts uint32
	Took     time.Duration
	Reason   strategies.Reason
	Class    wire.Class
	Degraded bool
}

// requestIDs are the headers with the provider's ID of a request.
var requestIDs = []string{"X-Request-Id", "Request-Id", "X-Amzn-Requestid", "Apim-Request-Id", "X-Goog-Request-Id"}

func requestID(h http.Header) string {
	for _, name := range requestIDs {
		if id := h.Get(name); id != "" {
			return id
		}
	}
	return ""
}

// record passes an ended attempt to the recorder, even if the attempt is abandoned
// and its call is over.
func (a *attempt) record(l *message) {
	t := a.t
	if t.cfg.Recorder == nil {
		return
	}
	r := Attempt{
		Call: a.call, Number: a.number, Began: a.sentAt, Took: t.now() - a.sentAt, Waited: a.waited,
		Class: a.outcome.Class, Status: a.outcome.Status, Code: a.outcome.Code, RetryAfter: a.outcome.RetryAfter,
		Target: a.target, Switched: a.target != wire.Target{}, Sent: a.length,
		Model: a.model, Tokens: a.outcome.Tokens, Begun: l.kind == strategies.Head, Err: withoutURL(a.err),
	}
	if c := a.c; (r.Class != wire.OK || r.Begun) && r.Model == "" && !t.async() && !c.parsed {
		c.parseRequest() // the attempt runs on the goroutine of the call
		r.Model = c.model
	}
	if l.reply.resp != nil {
		r.RequestID = requestID(l.reply.resp.Header)
	}
	t.cfg.Recorder.Attempt(r)
}

// record passes a finished call to the recorder.
func (c *callRun) record() {
	if r := c.t.cfg.Recorder; r != nil {
		e := c.end.End
		r.Call(Call{
			ID: c.call.ID, Attempts: c.call.Attempts, Took: c.t.now() - c.call.Born,
			Reason: e.Reason, Class: e.Class, Degraded: e.Degraded,
		})
	}
}

// Recorders returns a recorder that calls all of rs.
func Recorders(rs ...Recorder) Recorder { return recorders(rs) }

type recorders []Recorder

func (rs recorders) Attempt(a Attempt) {
	for _, r := range rs {
		r.Attempt(a)
	}
}

func (rs recorders) Call(c Call) {
	for _, r := range rs {
		r.Call(c)
	}
}

func (rs recorders) Signal(s strategies.SignalSpec) {
	for _, r := range rs {
		r.Signal(s)
	}
}

// Log returns a recorder that writes to l: failed attempts and calls as warnings,
// others at debug level, alarms as errors.
func Log(l *slog.Logger) Recorder { return logRecorder{l} }

type logRecorder struct{ logger *slog.Logger }

// Attempt implements Recorder.
func (g logRecorder) Attempt(a Attempt) {
	level := slog.LevelDebug
	if a.Class != wire.OK {
		level = slog.LevelWarn
	}
	if !g.logger.Enabled(context.Background(), level) {
		return
	}
	attrs := []slog.Attr{
		slog.Uint64("call", a.Call), slog.Uint64("attempt", uint64(a.Number)), slog.String("class", a.Class.String()),
		slog.Int("status", int(a.Status)), slog.Duration("waited", a.Waited), slog.Duration("took", a.Took), slog.Int64("request_bytes", a.Sent),
		slog.Uint64("output_tokens", uint64(a.Tokens)),
	}
	if a.RetryAfter != wire.NoHint {
		attrs = append(attrs, slog.Duration("retry_after", a.RetryAfter))
	}
	if a.Code != 0 {
		attrs = append(attrs, slog.Int("code", int(a.Code)))
	}
	if a.Model != "" {
		attrs = append(attrs, slog.String("model", a.Model))
	}
	if a.Switched {
		attrs = append(attrs, slog.Group("switched_to",
			slog.Int("model", int(a.Target.Model)), slog.Int("region", int(a.Target.Region)), slog.Int("key", int(a.Target.Key))))
	}
	if a.RequestID != "" {
		attrs = append(attrs, slog.String("request_id", a.RequestID))
	}
	if a.Err != nil {
		attrs = append(attrs, slog.String("error", a.Err.Error()))
	}
	g.logger.LogAttrs(context.Background(), level, "attempt", attrs...)
}

// Call implements Recorder.
func (g logRecorder) Call(c Call) {
	level := slog.LevelDebug
	if c.Class != wire.OK {
		level = slog.LevelWarn
	}
	g.logger.LogAttrs(context.Background(), level, "call", slog.Uint64("call", c.ID), slog.Uint64("attempts", uint64(c.Attempts)),
		slog.Duration("took", c.Took), slog.String("reason", c.Reason.String()), slog.String("class", c.Class.String()), slog.Bool("degraded", c.Degraded))
}

// Signal implements Recorder.
func (g logRecorder) Signal(s strategies.SignalSpec) {
	level := slog.LevelInfo
	if s.Alarm {
		level = slog.LevelError
	}
	g.logger.LogAttrs(context.Background(), level, "signal", slog.String("reason", s.Reason), slog.Bool("alarm", s.Alarm))
}

// withoutURL unwraps errors that contain a URL, which may contain a key.
func withoutURL(err error) error {
	for u := (*url.Error)(nil); errors.As(err, &u); {
		err = u.Err
	}
	return err
}
