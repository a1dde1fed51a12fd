package layers

import (
	"errors"
	"fmt"
	"time"

	"herdlab/sim/saturating"
	"herdlab/strategies"
)

// TimeShift moves work off the full hour: a call waits until the time At of its
// day or hour has come, and for a random part of Window on top. With Every 0 it
// waits for the random part alone, from when it was asked.
//
// It is right for jobs whose schedule is round and whose callers do not wait: ten
// o'clock is when everybody comes, and 9:47 costs nothing. Identical periods with
// identical phases are a herd for ever, so a job that runs every ten seconds
// wants Steady, which keeps a client's offset and with it the period. It costs
// up to Every plus Window of delay.
type TimeShift struct {
	// Every is the period of the schedule, such as 24 h, counted from the
	// beginning of the run; At is where in it work may begin, 0 ≤ At < Every.
	Every time.Duration `without:"calls wait for the random part only" about:"The period, such as 24h, counted from the start of the run."`
	At    time.Duration `default:"0s" about:"When in the period calls may begin."`
	// Window is the width of the random offset.
	Window time.Duration `default:"0s" about:"The width of the random delay that is added."`
	// Steady has each client draw its offset once, and not for each call.
	Steady bool `about:"Whether each client draws its delay once, and not for each call."`
	// Priority lets calls that are more urgent pass: those below it. 0 moves
	// all calls.
	Priority uint8 `unit:"priority" default:"0" about:"Calls that are more urgent, with a lower number, pass; with 0 all calls wait."`
}

// Build implements Layer.
func (t TimeShift) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	switch {
	case t.Every < 0 || t.At < 0 || t.Window < 0:
		return nil, errors.New("time shift: period, time and window must not be negative")
	case t.At > 0 && t.At >= t.Every:
		return nil, fmt.Errorf("time shift: the time %v lies outside its period of %v", t.At, t.Every)
	case t.Every == 0 && t.Window == 0:
		return nil, errors.New("time shift: it needs a period or a window; without them it moves nothing")
	}
	if t.Priority > 0 {
		b.AsksDemand()
	}
	g := &timeShift{TimeShift: t, purpose: b.Purpose()}
	var err error
	if g.moved, err = b.Reserve(strategies.PerCall, 1, ""); err != nil {
		return nil, err
	}
	if t.Steady {
		if g.offset, err = b.Reserve(strategies.PerClient, 1, ""); err != nil {
			return nil, err
		}
	}
	return b.Guard(g, inner)
}

type timeShift struct {
	TimeShift
	moved   strategies.Slot // 1 once the call has waited
	offset  strategies.Slot // a client's offset plus one; 0 before it is drawn
	purpose strategies.Purpose
}

// Admit implements Guard.
func (t *timeShift) Admit(now time.Duration, c *strategies.Call) strategies.Decision {
	moved := c.Word(t.moved, 0)
	if *moved != 0 || c.Demand.Priority < t.Priority {
		return strategies.Decision{}
	}
	*moved = 1
	wait := t.draw(c)
	if t.Every > 0 {
		until := (t.At - now) % t.Every
		if until < 0 {
			until += t.Every
		}
		wait = saturating.Add(wait, until)
	}
	return strategies.Decision{Kind: strategies.Wait, After: wait}
}

func (t *timeShift) draw(c *strategies.Call) time.Duration {
	if !t.Steady {
		return c.Uniform(t.purpose, 0, t.Window)
	}
	offset := c.Word(t.offset, 0)
	if *offset == 0 {
		*offset = int64(c.Uniform(t.purpose, 0, t.Window)) + 1
	}
	return time.Duration(*offset - 1)
}

// Observe implements Guard.
func (*timeShift) Observe(time.Duration, *strategies.Call, strategies.Event, strategies.Decision) {}
