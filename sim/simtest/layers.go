package simtest

import (
	"fmt"
	"time"

	"herdlab/strategies"
)

// Layer is a layer as a function of the strategy inside it.
type Layer func(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error)

// Build implements strategies.Layer.
func (l Layer) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	return l(b, inner)
}

// Deciding is a strategy as a function.
type Deciding func(now time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision

// Next implements strategies.Strategy.
func (f Deciding) Next(now time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
	return f(now, c, e)
}

// Script is a layer that ignores the strategy inside it.
func Script(f Deciding) strategies.Layer {
	return Layer(func(*strategies.Build, strategies.Strategy) (strategies.Strategy, error) { return f, nil })
}

// Timeout is a layer that gives each attempt a timeout.
func Timeout(d time.Duration) strategies.Layer { return GrowingTimeout(d, 0) }

// GrowingTimeout is a layer that gives attempt n of a call the timeout d + n·more,
// so that no two timeouts of a call end at the same time.
func GrowingTimeout(d, more time.Duration) strategies.Layer {
	return Layer(func(_ *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
		return Deciding(func(now time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
			got := inner.Next(now, c, e)
			if got.Kind == strategies.Send {
				got.After = d + time.Duration(c.Attempts)*more
			}
			return got
		}), nil
	})
}

// EventLog records events that strategies receive, one line for each.
type EventLog struct{ Lines []string }

// Record is a layer that appends the events for the strategy inside it to the log.
func (l *EventLog) Record(name string) strategies.Layer {
	return Layer(func(_ *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
		return Deciding(func(now time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
			l.write(name, now, c, e)
			return inner.Next(now, c, e)
		}), nil
	})
}

func (l *EventLog) write(name string, now time.Duration, c *strategies.Call, e strategies.Event) {
	line := fmt.Sprintf("%v %s%d %s", now, name, c.ID, EventNames[e.Kind])
	if e.Attempt > 0 {
		line += fmt.Sprintf(" %d", e.Attempt)
	}
	if e.Outcome != nil {
		line += " " + e.Outcome.Class.String()
	}
	l.Lines = append(l.Lines, line)
}

// EventNames are the names of event kinds in a log.
var EventNames = map[strategies.EventKind]string{
	strategies.Begin: "begin", strategies.Sent: "sent", strategies.Head: "head", strategies.Reply: "reply",
	strategies.Lost: "lost", strategies.Expired: "expired", strategies.Wake: "wake",
	strategies.Admitted: "admitted", strategies.Cancelled: "cancelled", strategies.Settled: "settled",
}

// Stop is the decision that settles a call.
func Stop(r strategies.Reason) strategies.Decision {
	return strategies.Decision{Kind: strategies.Stop, End: strategies.End{Reason: r}}
}

// Send is the decision to send an attempt.
func Send() strategies.Decision { return strategies.Decision{Kind: strategies.Send} }

// Wait is the decision to wait.
func Wait(d time.Duration) strategies.Decision {
	return strategies.Decision{Kind: strategies.Wait, After: d}
}
