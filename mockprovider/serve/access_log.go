package serve

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"sync"
	"time"

	"herdlab/mockprovider/wire"
)

// Access is one line of the access log: a request that has ended. Lines are in the
// order in which requests end. The first three fields are those of a recorded
// trace, so that a log can be replayed: the demand of a request, answered or not.
type Access struct {
	// At is the time of arrival, in seconds on the provider's clock since the
	// server was started.
	At float64 `json:"t"`
	// Prompt is the length of the prompt, Output the length of the complete answer,
	// and Delivered the number of tokens that the provider sent.
	Prompt    uint32 `json:"prompt_tokens"`
	Output    uint32 `json:"output_tokens"`
	Delivered uint32 `json:"delivered_tokens"`
	// Class is the outcome; Status is the HTTP status, 0 if there was no reply.
	Class  string `json:"class"`
	Status uint16 `json:"status"`
	// Wait is the time from arrival to end, in seconds on the provider's clock.
	Wait float64 `json:"wait"`
	// Attempt counts the attempts of a call from 1, as stated by the client.
	Attempt uint32 `json:"attempt"`
	Dialect string `json:"dialect"`
	Model   string `json:"model"`
	// Tenant is a hash of the API key, which is never logged.
	Tenant string `json:"tenant"`
	Stream bool   `json:"stream"`
	// Gone is true if the client hung up before the end.
	Gone bool `json:"gone"`
	// Unread is true if the request was invalid and did not reach the provider; it
	// is not a row of a trace.
	Unread bool   `json:"unread,omitempty"`
	ID     string `json:"id"`
}

// accessLog writes complete lines. It is safe for concurrent use.
type accessLog struct {
	mu       sync.Mutex
	out      io.Writer
	errorLog *log.Logger // nil for the standard logger
	err      error       // of the first failed write, which is the last
}

func (l *accessLog) write(a *Access) {
	if l.out == nil {
		return
	}
	line, err := json.Marshal(a)
	if err != nil {
		return // impossible: there are neither cycles nor infinities
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return
	}
	if _, err := l.out.Write(append(line, '\n')); err != nil {
		l.err = fmt.Errorf("the access log is incomplete: %w", err)
		cmp.Or(l.errorLog, log.Default()).Print(l.err)
	}
}

// writeError returns the error that made the log incomplete; nil if it is complete.
func (l *accessLog) writeError() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// logEnd writes the line of a request that has ended; gone is true if the client hung
// up before the end.
func (a *responder) logEnd(n update, gone bool) {
	if a.s.accessLog.out == nil {
		return
	}
	q, end := &a.x.request, wire.Effect{Kind: n.kind, Reply: n.reply}
	a.s.accessLog.write(&Access{
		At: seconds(a.run.startedAt + a.x.arrived), Prompt: q.Demand.InputTokens, Output: q.Demand.Output(), Delivered: n.reply.Tokens,
		Class: endClass(&end).String(), Status: n.reply.Status, Wait: seconds(n.at - a.x.arrived), Attempt: q.Attempt,
		Dialect: a.x.from.dialect, Model: a.x.from.model, Tenant: a.x.from.tenant, Stream: q.Stream, Gone: gone, ID: a.x.from.id,
	})
}

// logRejected writes the line of a request that did not reach the provider.
func (a *responder) logRejected() {
	if a.s.accessLog.out == nil {
		return
	}
	a.s.accessLog.write(&Access{
		At: seconds(a.run.startedAt + a.x.arrived), Class: wire.BadRequest.String(), Status: uint16(a.message.Status), Attempt: 1,
		Dialect: a.x.from.dialect, Model: a.x.from.model, Tenant: a.x.from.tenant, Unread: true, ID: a.x.from.id,
	})
}

// seconds returns d in seconds, rounded to microseconds.
func seconds(d time.Duration) float64 { return float64(d.Round(time.Microsecond).Microseconds()) / 1e6 }
