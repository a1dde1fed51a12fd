package layers

import (
	"errors"
	"fmt"
	"time"

	"herdlab/sim/saturating"
	"herdlab/strategies"
)

// Hedge sends a second attempt when the first takes long, and takes the answer
// that comes first; the other is given up. It begins after a fixed time, or at a
// quantile of the latency that it learns from what it sees: at the 95 % quantile
// one call in twenty has a second attempt.
//
// It is right against the occasional slow answer of a provider that has room:
// with exponential service a second attempt at the quantile p costs 1 − p more
// attempts, and the p99 falls from 4.6 to (4.6 + d)/2 mean services for a delay d.
// It is wrong against overload, where everything is slow and each hedge makes it
// slower: that is what Percent is for. A call that is asked to wait is not hedged
// before, unless elsewhere. And two answers are paid for, unless the provider notices
// that one was given up. (Dean and Barroso, The Tail at Scale, CACM 2013.)
type Hedge struct {
	// After is how long to wait for the attempt before; with a Quantile it is
	// where the learning begins. > 0.
	After time.Duration `required:"2s" about:"How long it waits for an attempt before it sends the next; with a quantile only until latencies are known."`
	// Quantile of the latency at which to hedge, between 0 and 1; 0 keeps to
	// After.
	Quantile float64 `unit:"share" without:"it waits as long as after says" about:"The quantile of the latency after which it sends the next attempt, 0 to 1."`
	// Attempts is how many there may be, the first included, 2 to MaxRunners; 0
	// means 2.
	Attempts int `unit:"attempts" most:"8" default:"2" about:"How many attempts a call makes at most, the first one included, at least 2."`
	// Percent bounds the extra attempts, in per cent of the calls, with ten in
	// hand at first; 0 means no bound.
	Percent int64 `unit:"%" most:"800" without:"there is no bound" about:"How many extra attempts there may be, as a share of the calls; ten more are allowed at first."`
	// Regions are where the extra attempts go, in order; none for the call's
	// own.
	Regions []uint8 `names:"regions" without:"they go to the call's own region" about:"Where the extra attempts go, in this order."`
	// Scope is who shares what is learned and the bound, PerClient or wider;
	// Name tells those apart that everyone shares.
	Scope strategies.Scope `except:"call" about:"Which clients share the memory of the layer."`
	Name  string           `without:"it has none" about:"The name by which layers of several fleets share memory; required with the scope everyone."`
}

// Build implements Layer.
func (h Hedge) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	if h.Attempts == 0 {
		h.Attempts = 2
	}
	switch {
	case h.After <= 0:
		return nil, errors.New("hedge: the time after which to hedge must be positive")
	case !(h.Quantile >= 0 && h.Quantile < 1):
		return nil, fmt.Errorf("hedge: the quantile must lie between 0 and 1, not %g; 0 means none", h.Quantile)
	case h.Percent < 0 || h.Percent > 100*strategies.MaxRunners:
		return nil, fmt.Errorf("hedge: the bound on extra attempts must be 1 to %d %%, or 0 for none", 100*strategies.MaxRunners)
	}
	if err := h.Scope.CheckShared(h.Name); err != nil {
		return nil, fmt.Errorf("hedge: %w", err)
	}
	g := &hedge{config: h, permille: int64(float64(1000*h.Quantile) + 0.5)}
	agreed := fmt.Sprintf("{after %v, quantile %g, %d %%}", h.After, h.Quantile, h.Percent)
	var err error
	if g.shared, err = b.ReserveShared(h.Scope, 2, "hedge", h.Name, agreed); err != nil {
		return nil, err
	}
	if g.own, err = b.Reserve(strategies.PerCall, 2, ""); err != nil {
		return nil, err
	}
	s, err := b.Race(g, inner)
	if err != nil {
		return nil, fmt.Errorf("hedge: %w", err)
	}
	return s, nil
}

// hedge is the race of a Hedge. Its shared words are how far the learned delay is
// from After, in ns, and what is spent of the ten extra attempts in hand, in per
// cent of an attempt, so that zeroed memory is the beginning.
type hedge struct {
	config   Hedge
	permille int64
	shared   strategies.Slot
	own      strategies.Slot // when the call's first attempt was sent, and until when it is to wait
}

// inHand is how many extra attempts may be saved up.
const inHand = 10

// Runners implements Race.
func (h *hedge) Runners() int { return h.config.Attempts }

// Start implements Race: each call pays for its share of an extra attempt.
func (h *hedge) Start(_ time.Duration, c *strategies.Call) {
	*c.Word(h.own, 0), *c.Word(h.own, 1) = 0, 0
	spent := c.Word(h.shared, 1)
	*spent = max(0, *spent-h.config.Percent)
}

// Delay implements Race.
func (h *hedge) Delay(now time.Duration, c *strategies.Call, n uint32) time.Duration {
	if n == 1 {
		*c.Word(h.own, 0) = int64(now) + 1
	}
	return h.config.After + time.Duration(*c.Word(h.shared, 0))
}

// Launch implements Race. Who has been asked to wait does not hedge before.
func (h *hedge) Launch(now time.Duration, c *strategies.Call, n uint32) strategies.Decision {
	if until := time.Duration(*c.Word(h.own, 1)); until > now && len(h.config.Regions) == 0 {
		return strategies.Decision{Kind: strategies.Wait, After: until - now}
	}
	if h.config.Percent > 0 {
		spent := c.Word(h.shared, 1)
		if *spent > 100*(inHand-1) {
			return strategies.Decision{Kind: strategies.Stop}
		}
		*spent += 100
	}
	if len(h.config.Regions) > 0 {
		c.Target.Region = h.config.Regions[(int(n)-1)%len(h.config.Regions)]
	}
	return strategies.Decision{}
}

// After implements Race. Who fails for a passing reason leaves the race to the
// others, but for a stream of which the caller has had a part: two halves of
// different answers are none.
func (h *hedge) After(now time.Duration, c *strategies.Call, n uint32, e strategies.Event, d strategies.Decision) strategies.Decision {
	switch {
	case d.End.Reason == strategies.Succeeded:
		if h.permille > 0 {
			h.learn(now, c, n, e)
		}
	case d.Kind == strategies.Stop && d.End.Class.Transient() && !halfGiven(e.Outcome):
		until, hint := c.Word(h.own, 1), max(e.Hint(), 0)
		if forbidden(e.Outcome) {
			hint = strategies.Never
		}
		*until = max(*until, int64(saturating.Add(now, hint)))
		return strategies.Decision{}
	}
	return d
}

// learn moves the delay towards the quantile: a step up for an attempt that took
// longer and down for one that did not, in such a proportion that they balance
// where the share 1 − q takes longer (Robbins and Monro, 1951). It goes by the
// first attempts of calls alone: that one which was beaten took longer than the
// delay is all that counts.
func (h *hedge) learn(now time.Duration, c *strategies.Call, n uint32, e strategies.Event) {
	sent := c.Word(h.own, 0)
	if *sent == 0 || !e.Terminal() {
		return // nothing was sent
	}
	off := c.Word(h.shared, 0)
	delay := int64(h.config.After) + *off
	step := max(1, delay/(50*1000))
	if n > 0 || int64(now)+1-*sent > delay {
		*off = int64(saturating.Add(time.Duration(delay), time.Duration(step*h.permille))) - int64(h.config.After)
	} else {
		*off -= min(step*(1000-h.permille), delay-1)
	}
	*sent = 0
}
