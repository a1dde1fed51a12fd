package layers

import (
	"errors"
	"fmt"
	"time"

	"herdlab/sim/saturating"
	"herdlab/strategies"
)

// Hedge sends a second attempt when the first takes long, and uses the answer that
// comes first; the other attempt is abandoned. The second attempt goes after a
// fixed time, or at a quantile of the latency that the layer learns: at the 95 %
// quantile, one call in twenty has a second attempt.
//
// Use it against occasional slow answers of a provider that has free capacity: with
// exponential service, a second attempt at the quantile p costs 1 − p more
// attempts, and the p99 falls from 4.6 to (4.6 + d)/2 mean service times for a
// delay d. It is harmful under overload, where everything is slow and each hedge
// makes it slower; Percent bounds that. A call whose reply asked for a wait is not
// hedged before the wait ends, except in another region. Both answers are paid for,
// unless the provider notices that one attempt was abandoned. (Dean and Barroso,
// The Tail at Scale, CACM 2013.)
type Hedge struct {
	// After is how long to wait for the previous attempt; it must be positive. With
	// a Quantile it is the initial value of the learned delay.
	After time.Duration `required:"2s" about:"How long it waits for an attempt before it sends the next; with a quantile only until latencies are known."`
	// Quantile is the quantile of the latency after which the next attempt is sent,
	// at least 0 and below 1; 0 means After.
	Quantile float64 `unit:"share" without:"it waits as long as after says" about:"The quantile of the latency after which it sends the next attempt, 0 to 1."`
	// Attempts is the number of attempts of a call, the first included, 2 to
	// MaxRunners; 0 means 2.
	Attempts int `unit:"attempts" most:"8" default:"2" about:"How many attempts a call makes at most, the first one included, at least 2."`
	// Percent bounds the extra attempts as a share of the calls, 1 to 800 %, with
	// ten more at first; 0 means no bound.
	Percent int64 `unit:"%" most:"800" without:"there is no bound" about:"How many extra attempts there may be, as a share of the calls; ten more are allowed at first."`
	// Regions are the regions of the extra attempts, in order; none means the
	// region of the call.
	Regions []uint8 `names:"regions" without:"they go to the call's own region" about:"Where the extra attempts go, in this order."`
	// Scope sets which clients share the learned delay and the bound, PerClient or
	// wider. Name identifies them with the scope PerEveryone.
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
		return nil, errors.New("hedge: after must be positive")
	case !(h.Quantile >= 0 && h.Quantile < 1):
		return nil, fmt.Errorf("hedge: quantile must be at least 0 and below 1, not %g", h.Quantile)
	case h.Percent < 0 || h.Percent > 100*strategies.MaxRunners:
		return nil, fmt.Errorf("hedge: percent must be 1 to %d, or 0 for no bound", 100*strategies.MaxRunners)
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

// hedge is the race of a Hedge. Its shared words are the difference between the
// learned delay and After, in ns, and what is spent of the ten saved extra
// attempts, in hundredths of an attempt, so that zeroed memory is the initial
// state.
type hedge struct {
	config   Hedge
	permille int64
	shared   strategies.Slot
	own      strategies.Slot // when the first attempt of the call was sent, and until when it must wait
}

// inHand is the greatest number of extra attempts that may be saved.
const inHand = 10

// Runners implements Race.
func (h *hedge) Runners() int { return h.config.Attempts }

// Start implements Race: each call adds its share of an extra attempt to the
// savings.
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

// Launch implements Race. A call whose reply asked for a wait does not hedge before
// the wait ends.
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

// After implements Race. An attempt that failed with a transient class leaves the
// race to the others, unless the caller has received a part of its stream: two
// halves of different answers make no answer.
func (h *hedge) After(now time.Duration, c *strategies.Call, n uint32, e strategies.Event, d strategies.Decision) strategies.Decision {
	switch {
	case d.End.Reason == strategies.Succeeded:
		if h.permille > 0 {
			h.learn(now, c, n, e)
		}
	case d.Kind == strategies.Stop && d.End.Class.Transient() && !partlyDelivered(e.Outcome):
		until, hint := c.Word(h.own, 1), max(e.Hint(), 0)
		if mustNotRetry(e.Outcome) {
			hint = strategies.Never
		}
		*until = max(*until, int64(saturating.Add(now, hint)))
		return strategies.Decision{}
	}
	return d
}

// learn moves the delay towards the quantile q: a step up for an attempt that took
// longer and a step down for one that did not, with sizes that balance where the
// share 1 − q takes longer (Robbins and Monro, 1951). It uses only the first
// attempts of calls; a first attempt that another one has beaten counts as longer
// than the delay.
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
