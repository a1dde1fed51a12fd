package layers

import (
	"errors"
	"fmt"
	"math"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// Shrink reduces the request after a failure: if it failed for lack of capacity or
// because of its size, the call is sent again with its context trimmed, its output
// capped, or its document split into pieces that are sent one after the other. A
// trimmed or capped request shrinks further with each failure, and its answer is
// marked as degraded. The answer to a split request is not, because all of it is
// answered if every piece is.
//
// Use it with providers that count tokens, where a request of 50,000 is refused
// several times as often as one of 5,000, and for requests that are too large for
// any model. It costs quality or, with pieces, more requests, which may meet a
// limit on their number. A request that stays too large fails after Times.
type Shrink struct {
	// On sets after which failures the request is reduced; its empty set of classes
	// means overloaded, token_rate and too_large.
	On Rules `without:"overloaded, token_rate, too_large" about:"After which failures it asks for less."`
	// Context is the share of the input that remains when the context is trimmed,
	// at least 0 and below 1; 0 means that it is not trimmed.
	Context float64 `unit:"share" without:"the context is not trimmed" about:"The share of the input that remains when the context is trimmed, 0 to 1."`
	// Output is the share of the output that remains, by its cap, at least 0 and
	// below 1; 0 means that it is not capped.
	Output float64 `unit:"share" without:"the output is not capped" about:"The share of the output that remains, by its cap, 0 to 1."`
	// Pieces is the number of pieces into which the input is split at the first
	// failure, 2 to 1000; 0 means that it is not split.
	Pieces int `unit:"pieces" most:"1000" without:"the input is not split" about:"Into how many pieces the input is split at the first failure, at least 2."`
	// Times is how often a call is reduced; 0 means once.
	Times int `unit:"times" default:"1" about:"How often it asks for less for one call."`
	// Backoff sets how long to wait before the smaller request; nil means not at
	// all. A hint counts, except after too_large.
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
		return fmt.Errorf("context and output must be at least 0 and below 1, not %g and %g", s.Context, s.Output)
	case s.Pieces < 0 || s.Pieces == 1 || s.Pieces > 1000:
		return fmt.Errorf("pieces must be 2 to 1000, or 0 for no split, not %d", s.Pieces)
	case s.Context == 0 && s.Output == 0 && s.Pieces == 0:
		return errors.New("context, output or pieces must be set, for example context: 0.5 to halve the context")
	case s.Times < 0:
		return errors.New("times must not be negative; 0 means once")
	}
	if s.Backoff != nil {
		if err := strategies.ValidateBackoff(s.Backoff); err != nil {
			return err
		}
	}
	return s.On.Validate()
}

// shrink is the loop of a Shrink. The words of a call are how often it was reduced,
// how many pieces remain after this one, and its demand at the beginning: its
// tokens, its cap and its prompt.
type shrink struct {
	Shrink
	words   strategies.Slot
	note    strategies.Signal
	purpose strategies.Purpose
}

// Start implements Loop. A call that a loop outside begins again has its full
// demand again.
func (s *shrink) Start(_ time.Duration, c *strategies.Call) {
	times, prompt := c.Word(s.words, 0), c.Word(s.words, 4)
	if *times > 0 && s.Pieces > 0 {
		c.Demand.Prompt = uint32(*prompt)
	}
	*times, *c.Word(s.words, 1), *prompt = 0, 0, int64(c.Demand.Prompt)
	askAsAtFirst(c, c.Word(s.words, 2), c.Word(s.words, 3))
}

// piece returns the index of the piece that the call sends and the number of
// pieces, 0 and 0 if it is not split.
func (s *shrink) piece(c *strategies.Call) (piece, of int) {
	if *c.Word(s.words, 0) == 0 {
		return 0, 0
	}
	return s.Pieces - 1 - int(*c.Word(s.words, 1)), s.Pieces
}

// askAsAtFirst restores the demand that a call had at the beginning. Two words of
// the call store it: its tokens, and its cap plus one, 0 before they are stored.
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

// less reduces the demand of the call.
func (s *shrink) less(c *strategies.Call, first bool) {
	d := &c.Demand
	if s.Context > 0 {
		d.InputTokens = part(d.InputTokens, s.Context)
	}
	if s.Output > 0 {
		whole := d.Output()
		if whole == 0 { // a request to a real provider has only a cap
			whole = d.MaxTokens
		}
		d.MaxTokens = part(whole, s.Output)
	}
	if s.Pieces > 0 && first {
		n := uint32(s.Pieces)
		d.InputTokens, d.OutputTokens = (d.InputTokens+n-1)/n, (d.OutputTokens+n-1)/n
		d.Prompt = 0 // the answer to a piece is not the answer to the prompt
	}
}

// part returns a share of n, rounded up, so that at least 1 remains.
func part(n uint32, share float64) uint32 {
	return uint32(math.Ceil(float64(float64(n) * share)))
}
