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

// Access is one line of the access log: a request that has ended. Lines come in
// the order in which requests end. The first three fields are what a recorded
// trace has, so that a log can be replayed: what was asked for, whether it was
// answered or not.
type Access struct {
	// At is when the request arrived, in seconds on the provider's clock since
	// the server was started.
	At float64 `json:"t"`
	// Prompt is the length of the prompt, Output that of the answer, had it been
	// answered; Delivered is how much of that the provider sent.
	Prompt    uint32 `json:"prompt_tokens"`
	Output    uint32 `json:"output_tokens"`
	Delivered uint32 `json:"delivered_tokens"`
	// Class is why it ended as it did, Status what it ended with, 0 if there was
	// no reply.
	Class  string `json:"class"`
	Status uint16 `json:"status"`
	// Wait is from its arrival to its end, in seconds on the provider's clock.
	Wait float64 `json:"wait"`
	// Attempt counts the attempts of one call from 1, as far as its client says.
	Attempt uint32 `json:"attempt"`
	Dialect string `json:"dialect"`
	Model   string `json:"model"`
	// Tenant stands for the API key, which is in no log.
	Tenant string `json:"tenant"`
	Stream bool   `json:"stream"`
	// Gone says that the client hung up before the end.
	Gone bool `json:"gone"`
	// Unread says that it was no request that a provider could have read, and so
	// reached none; it is no row of a trace.
	Unread bool   `json:"unread,omitempty"`
	ID     string `json:"id"`
}

// accessLog writes lines, whole ones, from any goroutine.
type accessLog struct {
	mu       sync.Mutex
	out      io.Writer
	errorLog *log.Logger // nil for the standard one
	err      error       // of the first line that could not be written; there are none after it
}

func (l *accessLog) write(a *Access) {
	if l.out == nil {
		return
	}
	line, err := json.Marshal(a)
	if err != nil {
		return // it has neither cycles nor infinities
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return
	}
	if _, err := l.out.Write(append(line, '\n')); err != nil {
		l.err = fmt.Errorf("the access log ends early: %w", err)
		cmp.Or(l.errorLog, log.Default()).Print(l.err)
	}
}

// failure is why lines are missing, nil if none are.
func (l *accessLog) writeError() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// log writes the line about a request that has ended; gone says that its client
// hung up before.
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

// logUnread writes the line about a request that never reached the provider.
func (a *responder) logRejected() {
	if a.s.accessLog.out == nil {
		return
	}
	a.s.accessLog.write(&Access{
		At: seconds(a.run.startedAt + a.x.arrived), Class: wire.BadRequest.String(), Status: uint16(a.message.Status), Attempt: 1,
		Dialect: a.x.from.dialect, Model: a.x.from.model, Tenant: a.x.from.tenant, Unread: true, ID: a.x.from.id,
	})
}

// seconds is d in seconds, to the microsecond.
func seconds(d time.Duration) float64 { return float64(d.Round(time.Microsecond).Microseconds()) / 1e6 }
