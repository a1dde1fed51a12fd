package serve

import (
	"strconv"
	"time"

	"herdlab/mockprovider/wire"
)

// stats are the counters, the series of bins and the last decisions of a run of
// the provider. The driver updates them under its lock. Their memory is bounded.
type stats struct {
	counters  Counters
	series    series
	decisions decisions
	inFlight  int
}

// Counters count events since the start or the last reset.
type Counters struct {
	// Arrivals counts requests that reached the provider. Each ends as one of
	// Replies, Dropped and ConnectionLost, or is in flight.
	Arrivals uint64 `json:"arrivals"`
	// Replies counts replies by class.
	Replies ByClass `json:"replies"`
	// Dropped counts requests that were never answered, ConnectionLost those whose
	// connection was lost.
	Dropped        uint64 `json:"dropped"`
	ConnectionLost uint64 `json:"broken"`
	// Abandoned counts clients that hung up before the end. The provider may have
	// continued the work.
	Abandoned uint64 `json:"abandoned"`
	// Unread counts requests that did not reach the provider, because they were
	// malformed or had an unknown path. They are not arrivals.
	Unread uint64 `json:"unread"`
	// InputTokens and OutputTokens count the tokens of answered requests.
	InputTokens  uint64 `json:"input_tokens"`
	OutputTokens uint64 `json:"output_tokens"`
}

// ByClass is a number for each class. As JSON it is an object with the names of the
// classes whose number is not 0.
type ByClass [wire.NumClasses]uint64

// MarshalJSON implements json.Marshaler.
func (b ByClass) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for c, n := range b {
		if n == 0 {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = strconv.AppendQuote(out, wire.Class(c).String())
		out = append(out, ':')
		out = strconv.AppendUint(out, n, 10)
	}
	return append(out, '}'), nil
}

func (b *stats) arrived(now time.Duration) {
	b.inFlight++
	b.counters.Arrivals++
	b.series.at(now).Offered++
}

func (b *stats) abandoned() { b.counters.Abandoned++ }

// ended counts the end of an exchange; queued and faults are the numbers of queued
// requests and active faults at that time.
func (b *stats) ended(now time.Duration, x *exchange, queued, faults int) {
	b.inFlight--
	class := endClass(&x.end)
	bin := b.series.at(now)
	switch x.end.Kind {
	case wire.Dropped:
		b.counters.Dropped++
	case wire.LostConnection:
		b.counters.ConnectionLost++
	default:
		b.counters.Replies[class]++
	}
	if class == wire.OK {
		bin.Answered++
		b.counters.InputTokens += uint64(x.request.Demand.InputTokens)
		b.counters.OutputTokens += uint64(x.end.Reply.Tokens)
	} else {
		bin.Refused[class]++
	}
	b.decisions.add(&decision{
		request: x.request, from: x.from, end: x.end, class: class, arrived: x.arrived, at: now, inFlight: b.inFlight, queued: queued, faults: faults, standings: x.standings,
	})
}

// rejected counts a request that did not reach the provider.
func (b *stats) rejected(now time.Duration, x *exchange, status uint16, why string) {
	b.counters.Unread++
	d := decision{request: x.request, from: x.from, class: wire.BadRequest, arrived: now, at: now, inFlight: b.inFlight, reason: why}
	d.end.Reply = wire.Reply{Status: status, Class: wire.BadRequest, Shown: wire.BadRequest, Hint: wire.Hint{Value: wire.NoHint}}
	b.decisions.add(&d)
}

// endClass returns the class as which the end of a request is counted.
func endClass(e *wire.Effect) wire.Class {
	switch e.Kind {
	case wire.Dropped:
		return wire.Timeout
	case wire.LostConnection:
		return wire.ConnectionLost
	}
	return e.Reply.Class
}

// Of returns the number of a class by its name; 0 if the name is unknown.
func (b ByClass) Of(class string) uint64 {
	for c, n := range b {
		if wire.Class(c).String() == class {
			return n
		}
	}
	return 0
}
