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

// Transport carries requests as its strategy decides. It is safe for
// concurrent use.
type Transport struct {
	cfg      Config
	base     http.RoundTripper
	clock    clockwork.Clock
	dialect  *dialect.Dialect // nil if replies are looked at
	program  *strategies.Program
	rand     draw.Rand
	start    time.Time // everyone's, because memory that is shared has times in it
	epoch    int64     // the second in which it began, since 1970
	everyone *Everyone
	callers  sync.Pool
	merges   bool // several calls are one request
	splits   bool // a call is several

	// What follows is guarded by everyone.mu.
	client, fleet []int64
	lines         []*line // of the program's pools
	flights       map[flightKey]*flight
	next          uint64 // the next call's ID
	rows          uint32 // how many there are
	freeRow       []uint32
	closed        bool
	scripts       strategies.Scripts
}

// init lays out the memory of p.
func (t *Transport) init(p *strategies.Program) {
	t.program = p
	t.client = make([]int64, p.Words[strategies.PerClient])
	t.fleet = make([]int64, p.Words[strategies.PerFleet])
	t.flights = map[flightKey]*flight{}
	for _, spec := range p.Pools {
		l := &line{spec: spec, t: t}
		if spec.Scope == strategies.PerEveryone {
			if shared := t.everyone.lines[spec.At]; shared != nil {
				l = shared
			} else {
				t.everyone.lines[spec.At] = l
			}
		}
		t.lines = append(t.lines, l)
	}
	t.callers.New = func() any { return newCaller(t) }
}

// RoundTrip implements http.RoundTripper: it makes one call of the request. The
// reply is the provider's last, whether the strategy is content with it or not;
// the error is the request context's, that of its body, ErrClosed or an *Error.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	c := t.callers.Get().(*caller)
	well := false
	defer func() {
		if !well {
			c.abandon()
		}
	}()
	resp, held, err := c.run(req)
	if well = true; !held {
		c.free(true)
	}
	return resp, err
}

// CloseIdleConnections does what it says for http.Client, if the base can.
func (t *Transport) CloseIdleConnections() {
	if b, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		b.CloseIdleConnections()
	}
}

// Close ends the transport: there are no new calls, and what the strategy holds
// is released when those under way are over, for which it does not wait.
func (t *Transport) Close() {
	t.everyone.mu.Lock()
	defer t.everyone.mu.Unlock()
	t.closed = true
	if len(t.freeRow) == int(t.rows) {
		t.scripts.Close()
	}
}

// noRow is the row of a caller that makes no call.
const noRow = math.MaxUint32

// row takes a number that no other call under way has.
func (t *Transport) row() uint32 {
	if n := len(t.freeRow); n > 0 {
		r := t.freeRow[n-1]
		t.freeRow = t.freeRow[:n-1]
		return r
	}
	t.rows++
	return t.rows - 1
}

// words returns the memory of a scope that calls share.
func (t *Transport) words(s strategies.Scope) []int64 {
	switch s {
	case strategies.PerClient:
		return t.client
	case strategies.PerFleet:
		return t.fleet
	default:
		return t.everyone.memory()
	}
}

var cancelled = wire.Outcome{Class: wire.Cancelled, RetryAfter: wire.NoHint}
