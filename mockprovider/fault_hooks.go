package mockprovider

import (
	"slices"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// Hooks are the places where a disturbance can intervene; most need one or two
// of them, and leave the others nil.
type Hooks struct {
	// Arrive acts on a request that arrives, before anything else does. It ends
	// the request by one of the methods of Arrival, or lets it pass.
	Arrive func(a *Arrival)
	// Refuses states that Arrive refuses every request, so that exact hints cover
	// the time until the fault is over.
	Refuses bool
	// Work changes what serving a request takes, when its work starts. Times are
	// rounded by rnd.
	Work func(w *Work, r *wire.Request, rnd draw.Rand)
	// End acts on the end of work that was struck when it started, by the methods
	// of End. The gates get the class of the reply, even if none is sent. Where
	// several faults would act on one end, the last in the list does.
	End func(e *End)
	// Strain acts on the provider as a whole, so that it concerns all requests;
	// with ByStation it concerns those to some models and regions, which where
	// names.
	Strain    func(s *Strain, where *Match)
	ByStation bool
	// Pick, if not nil, chooses one of Answers for each request that arrives, by
	// its index; anything else than an index lets the request pass. The hooks
	// chosen are those that act on it.
	Pick    func(r *wire.Request) int
	Answers []Hooks
	// Forget, if not nil, resets what Pick has counted for an account.
	Forget func(account uint32)
}

// takesRoom is Fault.TakesRoom.
func (h *Hooks) takesRoom() bool {
	if h.Arrive != nil || h.End != nil {
		return true
	}
	if h.Strain != nil {
		s := Strain{capacity: []int32{100}, limits: []int32{100}, regions: 1}
		if h.Strain(&s, &Match{}); s.capacity[0] < 100 || s.limits[0] < 100 {
			return true
		}
	}
	return slices.ContainsFunc(h.Answers, func(a Hooks) bool { return a.takesRoom() })
}

// MaxAnswers is the largest number of Hooks.Answers.
const MaxAnswers = 60_000

// Arrival is a request that meets a fault when it arrives. One of its methods,
// at most, ends the request.
type Arrival struct {
	Now     time.Duration
	Request *wire.Request

	provider *Provider
	fault    *fault
	in       *wire.Input
	out      []wire.Effect
	ended    bool
}

// Refuse refuses the request. An exact hint covers the time until neither this
// fault nor those that follow on it refuse the request.
func (a *Arrival) Refuse(class wire.Class, refusal *Refusal) {
	v := Verdict{Class: class}
	if refusal.Hint.Kind > Constant {
		v.Admission = a.provider.faults.until(a.Now, a.fault, a.Request)
	}
	out, e := a.provider.atOnce(a.in, a.out)
	a.provider.write(a.Now, a.Request, v, refusal, &e.Reply)
	a.out, a.ended = out, true
}

// Reply replies to the request at once, in place of the provider.
func (a *Arrival) Reply(reply *wire.Reply) {
	out, e := a.provider.atOnce(a.in, a.out)
	e.Reply = *reply
	a.out, a.ended = out, true
}

// Drop leaves the request without any answer.
func (a *Arrival) Drop() { a.end(wire.Dropped, 0) }

// Disconnect loses the connection; the client notices after that time.
func (a *Arrival) Disconnect(after time.Duration) { a.end(wire.LostConnection, after) }

func (a *Arrival) end(kind wire.EffectKind, after time.Duration) {
	out, e := add(a.out)
	e.Kind, e.Ticket, e.After = kind, a.in.Ticket, after
	a.out, a.ended = out, true
}

// End is the end of work that a fault has struck. Without a call of its methods
// the reply is sent as it is.
type End struct {
	Now     time.Duration
	Request *wire.Request
	Work    *Work
	// Reply is what is sent; it may be changed.
	Reply *wire.Reply

	provider *Provider
	kind     wire.EffectKind
}

// Refuse sends a refusal in place of the reply.
func (e *End) Refuse(class wire.Class, refusal *Refusal) {
	*e.Reply = wire.Reply{}
	e.provider.write(e.Now, e.Request, Verdict{Class: class}, refusal, e.Reply)
}

// Drop sends nothing more, after that number of tokens.
func (e *End) Drop(tokens uint32) { e.kind, e.Reply.Tokens = wire.Dropped, tokens }

// Disconnect loses the connection, after that number of tokens.
func (e *End) Disconnect(tokens uint32) {
	e.kind, e.Reply.Class, e.Reply.Tokens = wire.LostConnection, wire.ConnectionLost, tokens
}

// Form returns the provider's form of replies of a class to the request.
func (e *End) Form(class wire.Class) *wire.Form { return &e.provider.formsFor(e.Request)[class] }
