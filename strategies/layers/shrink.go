package layers

import (
	"errors"
	"fmt"
	"math"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// Shrink asks for less when what was asked for is too much: after a failure for
// lack of capacity or for size it sends the call again with its context trimmed,
// its output capped, or its document split into pieces that are sent one after
// the other. What is trimmed or capped shrinks further with each failure; the
// answer is marked as degraded. What is split is not: all of it is answered, if
// every piece is.
//
// It is right before providers that count tokens, where a request of 50,000 is
// refused several times as often as one of 5,000, and for requests that are too
// large for any model. It costs quality or, split, requests: pieces that each
// meet a limit on their number. A permanent TooLarge that no factor cures ends
// after Times.
type Shrink struct {
	// On says after which failures to ask for less; its empty set of classes
	// means overloaded, token_rate and too_large.
	On Rules `without:"overloaded, token_rate, too_large" about:"After which failures it asks for less."`
	// Context is what is left of the input when its context is trimmed, between
	// 0 and 1; 0 trims nothing.
	Context float64 `unit:"share" without:"the context is not trimmed" about:"The share of the input that remains when the context is trimmed, 0 to 1."`
	// Output is what is left of the output, by its cap; 0 caps nothing.
	Output float64 `unit:"share" without:"the output is not capped" about:"The share of the output that remains, by its cap, 0 to 1."`
	// Pieces is into how many the input is split at the first failure, 2 to 1000;
	// 0 splits nothing.
	Pieces int `unit:"pieces" most:"1000" without:"the input is not split" about:"Into how many pieces the input is split at the first failure, at least 2."`
	// Times is how often a call is shrunk, 0 for once.
	Times int `unit:"times" default:"1" about:"How often it asks for less for one call."`
	// Backoff says how long to wait before a smaller request; nil sends it at
	// once. A hint counts, but for too_large.
	Backoff strategies.Backoff `without:"it sends at once" about:"How long it waits before the smaller request."`
}

// Build implements Layer.
func (s Shrink) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	if err := s.validate(); err != nil {
		return nil, fmt.Errorf("shrink: %w", err)
	}
	s.Times = max(1, s.Times)
	s.On.Classes = s.On.Classes.Or(strategies.ClassesOf(wire.Overloaded, wire.TokenRate, wire.TooLarge))
	b.ChangesDemand()
	if s.Context > 0 {
		b.Trims()
	}
	g := &shrink{Shrink: s, purpose: b.Purpose()}
	var err error
	if g.words, err = b.Reserve(strategies.PerCall, 5, ""); err != nil {
		return nil, err
	}
	if s.Pieces > 0 {
		b.SendsPieces(g.piece)
	}
	if g.note, err = b.Note("shrunk"); err != nil {
		return nil, err
	}
	return b.Loop(g, inner)
}

func (s *Shrink) validate() error {
	switch {
	case !(s.Context >= 0 && s.Context < 1) || !(s.Output >= 0 && s.Output < 1):
		return fmt.Errorf("what is left must lie between 0 and 1, not %g of the context and %g of the output", s.Context, s.Output)
	case s.Pieces < 0 || s.Pieces == 1 || s.Pieces > 1000:
		return fmt.Errorf("a document is split into 2 to 1000 pieces, not %d", s.Pieces)
	case s.Context == 0 && s.Output == 0 && s.Pieces == 0:
		return errors.New("it must trim the context, cap the output or split the input; 0.5 halves what it is given for")
	case s.Times < 0:
		return errors.New("how often to shrink must not be negative; 0 means once")
	}
	if s.Backoff != nil {
		if err := strategies.ValidateBackoff(s.Backoff); err != nil {
			return err
		}
	}
	return s.On.Validate()
}

// shrink is the loop of a Shrink. The call's words are how often it has shrunk,
// how many pieces are still to be answered after this one, and what it asked for
// at first: its tokens, its cap and its prompt.
type shrink struct {
	Shrink
	words   strategies.Slot
	note    strategies.Signal
	purpose strategies.Purpose
}

// Start implements Loop. A call that a loop outside begins afresh asks for all
// again.
func (s *shrink) Start(_ time.Duration, c *strategies.Call) {
	times, prompt := c.Word(s.words, 0), c.Word(s.words, 4)
	if *times > 0 && s.Pieces > 0 {
		c.Demand.Prompt = uint32(*prompt)
	}
	*times, *c.Word(s.words, 1), *prompt = 0, 0, int64(c.Demand.Prompt)
	askAsAtFirst(c, c.Word(s.words, 2), c.Word(s.words, 3))
}

// piece is what the program's Pieces tell of the call.
func (s *shrink) piece(c *strategies.Call) (piece, of int) {
	if *c.Word(s.words, 0) == 0 {
		return 0, 0
	}
	return s.Pieces - 1 - int(*c.Word(s.words, 1)), s.Pieces
}

// askAsAtFirst gives back to a call the demand that it had the first time, which
// it keeps in two of its words: its tokens, and its cap plus one, 0 before they
// are known.
func askAsAtFirst(c *strategies.Call, tokens, limit *int64) {
	d := &c.Demand
	if *limit == 0 {
		*tokens, *limit = int64(d.InputTokens)<<upperHalf|int64(d.OutputTokens), int64(d.MaxTokens)+1
	}
	d.InputTokens, d.OutputTokens, d.MaxTokens = uint32(*tokens>>upperHalf), uint32(*tokens), uint32(*limit-1)
}

// After implements Loop.
func (s *shrink) After(_ time.Duration, c *strategies.Call, e strategies.Event, d strategies.Decision) strategies.Decision {
	times, pieces := c.Word(s.words, 0), c.Word(s.words, 1)
	switch {
	case d.End.Reason == strategies.Succeeded && *pieces > 0:
		*pieces--
		return strategies.Decision{Kind: strategies.Wait} // the next piece
	case d.End.Reason == strategies.Succeeded:
		d.End.Degraded = d.End.Degraded || *times > 0 && (s.Context > 0 || s.Output > 0)
		return d
	case *times >= int64(s.Times) || !s.On.Retries(e.Outcome, d.End):
		return d
	}
	*times++
	s.less(c, *times == 1)
	if s.Pieces > 0 && *times == 1 {
		*pieces = int64(s.Pieces) - 1
	}
	c.Raise(s.note)
	hint := e.Hint()
	if d.End.Class == wire.TooLarge {
		hint = wire.NoHint
	}
	return strategies.Decision{Kind: strategies.Wait, After: pause(c, s.Backoff, s.purpose, *times+1, d.End.Class, hint)}
}

// less asks for less.
func (s *shrink) less(c *strategies.Call, first bool) {
	d := &c.Demand
	if s.Context > 0 {
		d.InputTokens = part(d.InputTokens, s.Context)
	}
	if s.Output > 0 {
		whole := d.Output()
		if whole == 0 { // who asks a real provider knows only of a cap
			whole = d.MaxTokens
		}
		d.MaxTokens = part(whole, s.Output)
	}
	if s.Pieces > 0 && first {
		n := uint32(s.Pieces)
		d.InputTokens, d.OutputTokens = (d.InputTokens+n-1)/n, (d.OutputTokens+n-1)/n
		d.Prompt = 0 // the answer to a piece is none to the question
	}
}

// part is a share of n, rounded up, so that something is left.
func part(n uint32, share float64) uint32 {
	return uint32(math.Ceil(float64(float64(n) * share)))
}
