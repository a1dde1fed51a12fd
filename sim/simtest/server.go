package simtest

import (
	"math"
	"time"

	"herdlab/mockprovider/wire"
)

// Server is a provider of a test: Arrive handles arrivals, Other any other input.
// The zero value answers each arrival at once.
type Server struct {
	Arrive func(now time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect
	Other  func(now time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect
	Tick   time.Duration // the time of the next tick; 0 means never
}

// Step implements sim.Provider.
func (s *Server) Step(now time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
	switch {
	case in.Kind == wire.Arrive && s.Arrive != nil:
		return s.Arrive(now, in, out)
	case in.Kind == wire.Arrive:
		return append(out, Reply(in.Ticket, 0, wire.OK))
	case s.Other != nil:
		return s.Other(now, in, out)
	}
	return out
}

// NextTick implements sim.Provider.
func (s *Server) NextTick() time.Duration {
	if s.Tick == 0 {
		return math.MaxInt64
	}
	return s.Tick
}

// Reply is the effect that answers a ticket after the given delay.
func Reply(ticket uint32, after time.Duration, c wire.Class) wire.Effect {
	return wire.Effect{Kind: wire.Replied, Ticket: ticket, After: after,
		Reply: wire.Reply{Class: c, Shown: c, Status: statusOf(c), Hint: wire.Hint{Value: wire.NoHint}}}
}

func statusOf(c wire.Class) uint16 {
	if c == wire.OK {
		return 200
	}
	return 503
}

// Answering is a server that answers attempt k of any call after delays[k-1]. The
// last delay holds for all further attempts, and a negative one drops the attempt.
func Answering(delays ...time.Duration) *Server {
	return &Server{Arrive: func(_ time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
		d := delays[min(int(in.Request.Attempt), len(delays))-1]
		if d < 0 {
			return append(out, wire.Effect{Kind: wire.Dropped, Ticket: in.Ticket})
		}
		return append(out, Reply(in.Ticket, d, wire.OK))
	}}
}

// Refusing is a server that refuses the first n arrivals and answers the others,
// all at once.
func Refusing(n int) *Server {
	return &Server{Arrive: func(_ time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
		if n--; n >= 0 {
			return append(out, Reply(in.Ticket, 0, wire.Overloaded))
		}
		return append(out, Reply(in.Ticket, 0, wire.OK))
	}}
}
