package serve

import (
	"time"

	"herdlab/mockprovider"
	"herdlab/mockprovider/wire"
)

// exchange is one request at the provider. The driver owns it from its arrival
// to its end.
type exchange struct {
	request wire.Request
	from    origin
	// news is what the provider says to it. It has room for a head and an end, so
	// the driver never waits for a handler.
	updates   chan update
	abandoned bool // nobody waits for it any more
	ticket    uint32
	arrived   time.Duration
	ended     time.Duration
	// until is when its job is done, 0 before it is started; tokens is how many
	// tokens it produces by then, withheld how many of the last never leave.
	until            time.Duration
	tokens, withheld uint32
	// headSeq is the entry of the agenda at which its head leaves, 0 if none.
	headSeq uint64
	head    wire.Reply
	end     wire.Effect
	// standings is how its caller stood with the limits when they refused it.
	standings standings
}

// origin is where a request comes from, in words for people.
type origin struct{ id, tenant, dialect, model string }

// news is what a handler hears of its exchange: at most one head, and then an
// end: Replied, Dropped or Broke.
type update struct {
	kind  wire.EffectKind
	at    time.Duration // of the provider
	clock time.Duration // its clock then, which may be wrong
	reply wire.Reply
	// Of a head: when the job is done, how many tokens it produces until then,
	// and how many of the last of them never leave.
	until            time.Duration
	tokens, withheld uint32
}

// Standing is how a caller stands with one limit, counted from 1 in the order of
// the configuration, in what it counts. Reset is in seconds until it is whole
// again.
type Standing struct {
	Limit     int     `json:"limit"`
	Of        int32   `json:"of"`
	Used      int32   `json:"used"`
	Remaining int32   `json:"remaining"`
	Reset     float64 `json:"reset"`
}

// standings is how a caller stands with the first limits that can say.
type standings struct {
	list [4]Standing
	n    int
}

// limited reports whether a limit has refused.
func limited(e *wire.Effect) bool {
	switch e.Reply.Class {
	case wire.Rate, wire.TokenRate, wire.Concurrency, wire.Acceleration, wire.Quota:
		return e.Kind == wire.Replied
	}
	return false
}

// note notes how r's caller stands at now. What a reply says of limits need not
// be true; this is.
func (s *standings) add(p *mockprovider.Provider, limits int, now time.Duration, r *wire.Request) {
	for i := 1; i <= limits && s.n < len(s.list); i++ {
		if st, ok := p.Standing(i, now, r); ok {
			s.list[s.n] = Standing{i, st.Limit, st.Used, st.Remaining, seconds(st.Reset)}
			s.n++
		}
	}
}
