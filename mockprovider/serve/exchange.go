package serve

import (
	"time"

	"herdlab/mockprovider"
	"herdlab/mockprovider/wire"
)

// exchange is one request at the provider. The driver owns it from arrival to end.
type exchange struct {
	request wire.Request
	from    origin
	// updates has room for a head and an end, so that the driver never waits for
	// the handler.
	updates   chan update
	abandoned bool // the client has hung up
	ticket    uint32
	arrived   time.Duration
	ended     time.Duration
	// until is the time at which the job is done, 0 before it starts; tokens is the
	// number of tokens produced by then; the last withheld of them are not sent.
	until            time.Duration
	tokens, withheld uint32
	// headSeq is the event that sends the head; 0 if there is none.
	headSeq uint64
	head    wire.Reply
	end     wire.Effect
	// standings is the usage of the limits when they refused the request.
	standings standings
}

// origin describes the sender of a request in logs and on the page.
type origin struct{ id, tenant, dialect, model string }

// update is what the driver delivers to a handler: at most one head, and then an
// end: Replied, Dropped or LostConnection.
type update struct {
	kind  wire.EffectKind
	at    time.Duration // the provider's time
	clock time.Duration // the time on its clock, which may be wrong
	reply wire.Reply
	// Of a head: when the job is done, the number of tokens produced by then, and
	// how many of the last of them are not sent.
	until            time.Duration
	tokens, withheld uint32
}

// Standing is the usage of one limit by a caller, in the unit of the limit. Limits
// are numbered from 1 in the order of the configuration. Reset is the time until the
// limit is unused again, in seconds.
type Standing struct {
	Limit     int     `json:"limit"`
	Of        int32   `json:"of"`
	Used      int32   `json:"used"`
	Remaining int32   `json:"remaining"`
	Reset     float64 `json:"reset"`
}

// standings holds the usage of the first limits that report it.
type standings struct {
	list [4]Standing
	n    int
}

// limited reports whether a limit has refused the request.
func limited(e *wire.Effect) bool {
	switch e.Reply.Class {
	case wire.Rate, wire.TokenRate, wire.Concurrency, wire.Acceleration, wire.Quota:
		return e.Kind == wire.Replied
	}
	return false
}

// add records the usage at now by the caller of r. The values in the reply may
// differ.
func (s *standings) add(p *mockprovider.Provider, limits int, now time.Duration, r *wire.Request) {
	for i := 1; i <= limits && s.n < len(s.list); i++ {
		if st, ok := p.Standing(i, now, r); ok {
			s.list[s.n] = Standing{i, st.Limit, st.Used, st.Remaining, seconds(st.Reset)}
			s.n++
		}
	}
}
