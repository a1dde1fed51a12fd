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

// Recorder hears what a transport does. It is called from many goroutines, by
// those who make the calls: it must be quick.
type Recorder interface {
	// Attempt hears of each attempt that has ended, or whose stream has begun.
	Attempt(Attempt)
	// Call hears of each call that is over.
	Call(Call)
	// Signal hears of the strategy's alarms and notes.
	Signal(strategies.SignalSpec)
}

// Attempt is what became of one attempt. It has no secrets: neither keys nor
// what was asked and answered.
type Attempt struct {
	// Call is the number of the call, Number that of the attempt within it, from 1.
	Call   uint64
	Number uint32
	// Began is when it was sent, since the transport began; Took is how long it
	// was until its reply was read, or until its stream had begun. Waited is how
	// long nothing had happened to the call before: since its last attempt was
	// sent or had ended, or since it began.
	Began, Took, Waited time.Duration
	// Class is what the client makes of it, Status the HTTP status, 0 if no
	// reply came; Code is a business code; RetryAfter is what the provider asked
	// for, or wire.NoHint.
	Class      wire.Class
	Status     uint16
	Code       int32
	RetryAfter time.Duration
	// Target is the model, region and key, as indices; Switched says that they
	// are not the first.
	Target   wire.Target
	Switched bool
	// Model is the name of the model that was asked. Of attempts that succeeded it
	// may be missing, where nobody has had to read the request; of others, where the
	// request does not say or is too long to keep.
	Model string
	// RequestID is the provider's.
	RequestID string
	// Sent is the length of the request's body, -1 if unknown; Tokens is how many
	// output tokens came.
	Sent   int64
	Tokens uint32
	// Begun says that a stream has begun: its end is the call's.
	Begun bool
	// Err is why no reply came, without the URL, in which a key may stand.
	Err error
}

// Call is what became of one call.
type Call struct {
	ID       uint64
	Attempts uint32
	Took     time.Duration
	Reason   strategies.Reason
	Class    wire.Class
	Degraded bool
}

// requestIDs are the headers in which providers name requests.
var requestIDs = []string{"X-Request-Id", "Request-Id", "X-Amzn-Requestid", "Apim-Request-Id", "X-Goog-Request-Id"}

func requestID(h http.Header) string {
	for _, name := range requestIDs {
		if id := h.Get(name); id != "" {
			return id
		}
	}
	return ""
}

// record tells the recorder how an attempt has ended. An attempt of which nobody
// waits for the end is recorded all the same, perhaps after its call.
func (a *attempt) record(l *letter) {
	t := a.t
	if t.cfg.Recorder == nil {
		return
	}
	r := Attempt{
		Call: a.call, Number: a.number, Began: a.sentAt, Took: t.now() - a.sentAt, Waited: a.waited,
		Class: a.outcome.Class, Status: a.outcome.Status, Code: a.outcome.Code, RetryAfter: a.outcome.RetryAfter,
		Target: a.target, Switched: a.target != wire.Target{}, Sent: a.length,
		Model: a.model, Tokens: a.outcome.Tokens, Begun: l.kind == strategies.Head, Err: harmless(a.err),
	}
	if c := a.c; (r.Class != wire.OK || r.Begun) && r.Model == "" && !t.async() && !c.understood {
		c.understand() // on its own goroutine, for what is worth it
		r.Model = c.model
	}
	if l.reply.resp != nil {
		r.RequestID = requestID(l.reply.resp.Header)
	}
	t.cfg.Recorder.Attempt(r)
}

// record tells the recorder that the call is over.
func (c *caller) record() {
	if r := c.t.cfg.Recorder; r != nil {
		e := c.end.End
		r.Call(Call{
			ID: c.call.ID, Attempts: c.call.Attempts, Took: c.t.now() - c.call.Born,
			Reason: e.Reason, Class: e.Class, Degraded: e.Degraded,
		})
	}
}

// Recorders tells all of rs.
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

// Log returns a recorder that writes to l: attempts that failed and calls that
// did as warnings, others for debugging, alarms as errors.
func Log(l *slog.Logger) Recorder { return logged{l} }

type logged struct{ l *slog.Logger }

// Attempt implements Recorder.
func (g logged) Attempt(a Attempt) {
	level := slog.LevelDebug
	if a.Class != wire.OK {
		level = slog.LevelWarn
	}
	if !g.l.Enabled(context.Background(), level) {
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
	g.l.LogAttrs(context.Background(), level, "attempt", attrs...)
}

// Call implements Recorder.
func (g logged) Call(c Call) {
	level := slog.LevelDebug
	if c.Class != wire.OK {
		level = slog.LevelWarn
	}
	g.l.LogAttrs(context.Background(), level, "call", slog.Uint64("call", c.ID), slog.Uint64("attempts", uint64(c.Attempts)),
		slog.Duration("took", c.Took), slog.String("reason", c.Reason.String()), slog.String("class", c.Class.String()), slog.Bool("degraded", c.Degraded))
}

// Signal implements Recorder.
func (g logged) Signal(s strategies.SignalSpec) {
	level := slog.LevelInfo
	if s.Alarm {
		level = slog.LevelError
	}
	g.l.LogAttrs(context.Background(), level, "signal", slog.String("reason", s.Reason), slog.Bool("alarm", s.Alarm))
}

// harmless is an error without the URL that it may tell, in which a key may stand.
func harmless(err error) error {
	for u := (*url.Error)(nil); errors.As(err, &u); {
		err = u.Err
	}
	return err
}
