package layers

import (
	"errors"
	"fmt"
	"time"

	"herdlab/sim/saturating"
	"herdlab/strategies"
)

// Hints sets how a retry loop treats the wait that a reply asks for. The zero value
// is the default: a hint replaces a shorter base and the jitter is added, so a
// retry never comes earlier than the reply asked, and calls with the same hint do
// not come back at the same time.
type Hints struct {
	// Use sets the effect of an accepted hint.
	Use HintUse `about:"What a hint does to the wait."`
	// Hints from Least to Most are accepted; Most 0 means no bound. A shorter hint
	// counts as none.
	Least time.Duration `default:"0s" about:"Shorter hints count as none."`
	Most  time.Duration `without:"all are accepted" about:"The longest hint that is accepted; for longer ones see beyond."`
	// Beyond sets the effect of a hint longer than Most.
	Beyond Beyond `about:"What happens with a longer hint."`
	// Spread is the width of a jitter that is added to the hint, 0 to 1000 % of the
	// hint, for HintAsWait and HintAsFloor.
	Spread int `unit:"%" most:"1000" default:"0%" about:"The width of what is drawn evenly and added to a hint, as a share of it, for as_wait and as_floor."`
	// Slack is the most that a hint may add to the wait of the backoff, for
	// HintClamped.
	Slack time.Duration `default:"0s" about:"How much a hint may add to the own wait, for clamped."`
	// Restart makes the backoff begin again after a wait that a reply asked for.
	Restart bool `about:"Whether the backoff begins again after a wait that a reply asked for."`
}

// HintUse is the effect of an accepted hint.
type HintUse uint8

// The effects of a hint.
const (
	HintAsBase  HintUse = iota // it replaces a shorter base; the jitter is added
	HintForBase                // it replaces the base, also a longer one; the jitter is added
	HintAsWait                 // it is the wait in place of the backoff: the whole herd comes back at that instant
	HintAsFloor                // the longer of hint and backoff counts: the same herd, unless the backoff is longer
	HintClamped                // the wait t of the backoff moves towards it, within [t, t+Slack]
	HintDrawn                  // the wait is U(0, hint): a mistake that makes every retry too early
	HintIgnored                // it has no effect
	NumHintUses = iota         // the number of effects
)

// String returns the name of the effect as scenario files spell it.
func (u HintUse) String() string {
	return nameOf(u, uint8(u))
}

// Names returns the name of each effect, as scenario files spell it, and its
// meaning.
func (HintUse) Names() [][2]string {
	return [][2]string{
		HintAsBase:  {"as_base", "it replaces a shorter base of the backoff; the jitter is added"},
		HintForBase: {"for_base", "it replaces the base of the backoff, a longer one too; the jitter is added"},
		HintAsWait:  {"as_wait", "it is the wait, so all clients come back at that instant"},
		HintAsFloor: {"as_floor", "the longer of hint and own wait counts"},
		HintClamped: {"clamped", "the own wait moves towards it, by at most the slack"},
		HintDrawn:   {"drawn", "the wait is drawn evenly between 0 and the hint: a mistake, each retry is too early"},
		HintIgnored: {"ignored", "hints have no effect"},
	}
}

// Beyond is the effect of a hint that is longer than a loop accepts.
type Beyond uint8

// The effects of a hint that is too long. Only GiveUp respects the wait that the
// provider asked for.
const (
	BackOff    Beyond = iota // it counts as none, and the retry comes too early
	GiveUp                   // the call stops with HintTooLong
	Clip                     // the longest accepted one takes its place, and the retry comes too early
	NumBeyonds = iota        // the number of values
)

// String returns the name of the value as scenario files spell it.
func (b Beyond) String() string { return nameOf(b, uint8(b)) }

// Names returns the name of each value, as scenario files spell it, and its
// meaning.
func (Beyond) Names() [][2]string {
	return [][2]string{
		BackOff: {"back_off", "it counts as none, and the retry comes too early"},
		GiveUp:  {"give_up", "the call fails"},
		Clip:    {"clip", "the longest accepted one replaces it, and the retry comes too early"},
	}
}

func (h *Hints) validate() error {
	switch {
	case h.Use >= NumHintUses || h.Beyond >= NumBeyonds:
		return fmt.Errorf("there is no use %d of hints or no value %d of beyond", uint8(h.Use), uint8(h.Beyond))
	case h.Least < 0 || h.Most < 0 || h.Most > 0 && h.Most < h.Least:
		return fmt.Errorf("least and most must not be negative and most at least least, or 0 for no bound, not %v and %v", h.Least, h.Most)
	case h.Spread < 0 || h.Spread > 1000:
		return fmt.Errorf("spread must be 0 to 1000, not %d", h.Spread)
	case h.Slack < 0:
		return errors.New("slack must not be negative")
	}
	return nil
}

// accepts reports whether the hint has an effect on the wait.
func (h *Hints) accepts(hint time.Duration) bool {
	return hint >= h.Least && h.Use != HintIgnored && (h.Most == 0 || hint <= h.Most || h.Beyond == Clip)
}

// tooLong reports whether the call fails because of a hint.
func (h *Hints) tooLong(hint time.Duration) bool {
	return h.Beyond == GiveUp && h.Most > 0 && hint > h.Most && h.Use != HintIgnored
}

// wait returns how long the loop waits after an accepted hint, if the wait of the
// backoff is base + jitter.
func (h *Hints) wait(c *strategies.Call, p strategies.Purpose, base, jitter, hint time.Duration) time.Duration {
	if h.Most > 0 {
		hint = min(hint, h.Most)
	}
	switch h.Use {
	case HintAsBase:
		return saturating.Add(max(base, hint), jitter)
	case HintForBase:
		return saturating.Add(hint, jitter)
	case HintAsWait:
		return h.spread(c, p, hint)
	case HintAsFloor:
		return max(saturating.Add(base, jitter), h.spread(c, p, hint))
	case HintDrawn:
		return c.Uniform(p.Second(), 0, hint)
	default: // HintClamped
		own := saturating.Add(base, jitter)
		return min(max(own, hint), saturating.Add(own, h.Slack))
	}
}

func (h *Hints) spread(c *strategies.Call, p strategies.Purpose, hint time.Duration) time.Duration {
	if h.Spread == 0 {
		return hint
	}
	return saturating.Add(hint, c.Uniform(p.Second(), 0, saturating.Percent(hint, h.Spread)))
}
