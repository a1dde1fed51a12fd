package sim_test

import (
	"fmt"
	"time"

	"herdlab/sim/simtest"
	"herdlab/strategies"
)

// Layers as a user would write them, for the tests of features of the driver
// that the built-in strategies do not use yet.

// listening is a script that wants Sent events.
func listening(f simtest.Deciding) strategies.Layer {
	return simtest.Layer(func(b *strategies.Build, _ strategies.Strategy) (strategies.Strategy, error) {
		b.WantSent()
		return f, nil
	})
}

// hedge sends another attempt whenever the last was sent so long ago and no
// answer has come, up to so many in flight; the first success settles the call
// and the driver withdraws the others. What is inside must send at once or
// stop.
type hedge struct {
	after time.Duration
	most  uint32
}

func (h hedge) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	b.WantSent()
	return simtest.Deciding(func(now time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
		if e.Kind == strategies.Sent {
			if c.InFlight < h.most {
				return simtest.Wait(h.after)
			}
			return strategies.Decision{}
		}
		if e.Kind == strategies.Wake {
			e = strategies.Event{Kind: strategies.Begin}
		}
		d := inner.Next(now, c, e)
		if d.Kind == strategies.Stop && d.End.Reason != strategies.Succeeded && c.InFlight > 0 {
			return strategies.Decision{} // another attempt may still bring it
		}
		return d
	}), nil
}

// ear is a guard that counts how what it let in ended, by attempt.
type ear struct{ heard map[string]int }

func (k *ear) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	return b.Guard(k, inner)
}

func (*ear) Admit(time.Duration, *strategies.Call) strategies.Decision { return strategies.Decision{} }

func (k *ear) Observe(_ time.Duration, c *strategies.Call, e strategies.Event, d strategies.Decision) {
	k.heard[fmt.Sprintf("call %d attempt %d: %v", c.ID, e.Attempt, d.End.Class)]++
}

// shelf is a pool of so many units that are given back.
type shelf struct{ size int64 }

func (shelf) Words() int { return 1 }

func (s shelf) TryTake(now time.Duration, m []int64, n uint32) (bool, time.Duration) {
	if m[0]+int64(n) > s.size {
		return false, strategies.Never
	}
	m[0] += int64(n)
	return true, now
}

func (shelf) Put(_ time.Duration, m []int64, n uint32) { m[0] -= int64(n) }

// race is a layer that sends another attempt whenever the last was sent so long
// ago, up to so many; the first success wins.
type race struct {
	after   time.Duration
	runners int
	models  bool // runner n goes to model n
	// spread is drawn on top of after, so that no two calls have a runner begin
	// at the same instant.
	spread  time.Duration
	purpose strategies.Purpose
}

func (r race) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	r.purpose = b.Purpose()
	return b.Race(r, inner)
}

func (r race) Runners() int { return r.runners }

func (race) Start(time.Duration, *strategies.Call) {}

func (r race) Delay(_ time.Duration, c *strategies.Call, _ uint32) time.Duration {
	return r.after + c.Uniform(r.purpose, 0, r.spread)
}

func (r race) Launch(_ time.Duration, c *strategies.Call, n uint32) strategies.Decision {
	if r.models {
		c.Target.Model = uint8(n)
	}
	return strategies.Decision{}
}

func (race) After(_ time.Duration, _ *strategies.Call, _ uint32, _ strategies.Event, d strategies.Decision) strategies.Decision {
	if d.End.Reason == strategies.Succeeded {
		return d
	}
	return strategies.Decision{}
}

// flight is a single flight of calls with the same prompt.
type flight struct {
	scope strategies.Scope
	name  string
}

func (f flight) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	return b.Flight(strategies.Flight{Scope: f.scope, Name: f.name}, inner)
}

// asking gives calls one of so many prompts, and some of them none.
type asking uint64

func (a asking) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	b.ChangesDemand()
	return simtest.Deciding(func(now time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
		if e.Kind == strategies.Begin {
			c.Demand.Prompt = uint32(c.ID % uint64(a+1))
		}
		return inner.Next(now, c, e)
	}), nil
}

// shrink is a loop that asks for half after a failure, twice, and raises a note
// about it.
type shrink struct{ after time.Duration }

func (s shrink) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	b.ChangesDemand()
	tries, err := b.Reserve(strategies.PerCall, 1, "")
	if err != nil {
		return nil, err
	}
	note, err := b.Note("shrunk")
	if err != nil {
		return nil, err
	}
	return b.Loop(shrinking{s.after, tries, note}, inner)
}

type shrinking struct {
	after time.Duration
	tries strategies.Slot
	note  strategies.Signal
}

func (s shrinking) Start(_ time.Duration, c *strategies.Call) { *c.Word(s.tries, 0) = 0 }

func (s shrinking) After(_ time.Duration, c *strategies.Call, _ strategies.Event, d strategies.Decision) strategies.Decision {
	if tries := c.Word(s.tries, 0); d.End.Class.Transient() && *tries < 2 {
		*tries++
		c.Demand.InputTokens /= 2
		c.Demand.OutputTokens /= 2
		c.Raise(s.note)
		return simtest.Wait(s.after)
	}
	return d
}
