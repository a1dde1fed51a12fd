package layers

import (
	"errors"
	"fmt"
	"time"

	"herdlab/sim/saturating"
	"herdlab/strategies"
)

// TimeShift moves work away from the full hour: a call waits until the time At of
// its day or hour, plus a random part of Window. With Every 0 it waits for the
// random part only, from its arrival.
//
// Use it for jobs that are scheduled at round times and whose callers do not wait:
// load is highest at 10:00, and a start at 9:47 costs nothing. Jobs with the same
// period and phase form a herd in every period, so a job that runs every ten
// seconds needs Steady, which keeps the offset of a client and with it the period.
// It costs up to Every plus Window of delay.
type TimeShift struct {
	// Every is the period of the schedule, such as 24 h, counted from the beginning
	// of the run; 0 means none. At is the time within the period when calls may
	// begin, at least 0 and less than Every.
	Every time.Duration `without:"calls wait for the random part only" about:"The period, such as 24h, counted from the start of the run."`
	At    time.Duration `default:"0s" about:"When in the period calls may begin."`
	// Window is the width of the random delay that is added.
	Window time.Duration `default:"0s" about:"The width of the random delay that is added."`
	// Steady makes each client draw its delay once, and not for each call.
	Steady bool `about:"Whether each client draws its delay once, and not for each call."`
	// Priority lets calls pass whose priority number is lower, that is, which are
	// more urgent. 0 delays all calls.
	Priority uint8 `unit:"priority" default:"0" about:"Calls that are more urgent, with a lower number, pass; with 0 all calls wait."`
}

// Build implements Layer.
func (t TimeShift) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	switch {
	case t.Every < 0 || t.At < 0 || t.Window < 0:
		return nil, errors.New("time shift: every, at and window must not be negative")
	case t.At > 0 && t.At >= t.Every:
		return nil, fmt.Errorf("time shift: at must be less than every, but is %v with a period of %v", t.At, t.Every)
	case t.Every == 0 && t.Window == 0:
		return nil, errors.New("time shift: every or window must be positive; otherwise it delays no call")
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
	offset  strategies.Slot // the delay of a client plus one; 0 before it is drawn
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
