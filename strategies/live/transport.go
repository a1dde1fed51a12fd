package live

import (
	"math"
	"net/http"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	"herdlab/mockprovider/dialect"
	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
	"herdlab/strategies"
)

// Transport is an http.RoundTripper that carries out the decisions of a
// strategy. It is safe for concurrent use.
type Transport struct {
	cfg     Config
	base    http.RoundTripper
	clock   clockwork.Clock
	dialect *dialect.Dialect // nil: recognised for each reply
	program *strategies.Program
	rand    draw.Rand
	start   time.Time // of Shared: shared memory contains times
	epoch   int64     // start, in seconds since 1970
	shared  *Shared
	runs    sync.Pool
	merges  bool // the strategy sends several calls as one request
	splits  bool // the strategy sends a call as several requests

	// The fields below are guarded by shared.mu.
	client, fleet []int64
	queues        []*poolQueue // one for each pool of the program
	flights       map[flightKey]*flight
	next          uint64 // ID of the next call
	rows          uint32 // rows in use or free
	freeRows      []uint32
	closed        bool
	scripts       strategies.Scripts
}

// init allocates the memory and the queues of p.
func (t *Transport) init(p *strategies.Program) {
	t.program = p
	t.client = make([]int64, p.Words[strategies.PerClient])
	t.fleet = make([]int64, p.Words[strategies.PerFleet])
	t.flights = map[flightKey]*flight{}
	for _, spec := range p.Pools {
		l := &poolQueue{spec: spec, t: t}
		if spec.Scope == strategies.PerEveryone {
			if shared := t.shared.queues[spec.At]; shared != nil {
				l = shared
			} else {
				t.shared.queues[spec.At] = l
			}
		}
		t.queues = append(t.queues, l)
	}
	t.runs.New = func() any { return newCallRun(t) }
}

// RoundTrip implements http.RoundTripper: one request is one call. The response
// is the last one of the provider, even if the strategy counts it as a failure.
// The error is the cause of the request's context, an error of reading the
// request's body, ErrClosed or an *Error.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	c := t.runs.Get().(*callRun)
	done := false
	defer func() {
		if !done {
			c.cleanUp()
		}
	}()
	resp, held, err := c.run(req)
	if done = true; !held {
		c.release(true)
	}
	return resp, err
}

// CloseIdleConnections implements the interface of http.Client, if the base does.
func (t *Transport) CloseIdleConnections() {
	if b, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		b.CloseIdleConnections()
	}
}

// Close refuses new calls. It does not wait for the calls in progress; the
// resources of the strategy are released when they have ended.
func (t *Transport) Close() {
	t.shared.mu.Lock()
	defer t.shared.mu.Unlock()
	t.closed = true
	if len(t.freeRows) == int(t.rows) {
		t.scripts.Close()
	}
}

// noRow is the row of a callRun without a call.
const noRow = math.MaxUint32

// row returns a number that no other call in progress has.
func (t *Transport) row() uint32 {
	if n := len(t.freeRows); n > 0 {
		r := t.freeRows[n-1]
		t.freeRows = t.freeRows[:n-1]
		return r
	}
	t.rows++
	return t.rows - 1
}

// scopeMemory returns the memory of scope s, for scopes wider than a call.
func (t *Transport) scopeMemory(s strategies.Scope) []int64 {
	switch s {
	case strategies.PerClient:
		return t.client
	case strategies.PerFleet:
		return t.fleet
	default:
		return t.shared.memory()
	}
}

// now returns the time since the start of t.shared.
func (t *Transport) now() time.Duration { return t.clock.Since(t.start) }

var cancelled = wire.Outcome{Class: wire.Cancelled, RetryAfter: wire.NoHint}
