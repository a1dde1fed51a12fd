package main

import (
	"errors"
	"fmt"
	"time"

	"herdlab/strategies"
)

// Truce is a guard that lets nothing pass for a time after failures in a row. Its
// memory has a scope: it counts the failures of one call, of one client, of a fleet,
// or of all fleets that use the same name.
type Truce struct {
	Failures int64            `about:"The number of failures in a row that begin a truce." unit:"failures" least:"1" required:"3"`
	For      time.Duration    `about:"The length of a truce; calls go on at a random time in the same length after it." required:"10s"`
	Scope    strategies.Scope `about:"Which calls share the truce."`
	Name     string           `about:"The name of a truce that everyone shares."`
}

// Build implements strategies.Layer.
func (t Truce) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	switch {
	case t.Failures < 1 || t.For <= 0:
		return nil, errors.New("truce: the number of failures and the length must be positive")
	case t.Scope == strategies.PerEveryone && t.Name == "":
		return nil, errors.New("truce: give the truce that everyone shares a name")
	}
	words, err := b.Reserve(t.Scope, truceWords, "truce "+t.Name)
	if err != nil {
		return nil, fmt.Errorf("truce: %w", err)
	}
	return b.Guard(&truce{t, words, b.Purpose()}, inner)
}

// The words of a truce.
const (
	inARow = iota // failures since the last success
	until         // the time at which the truce ends
	truceWords
)

type truce struct {
	Truce
	words   strategies.Slot
	purpose strategies.Purpose
}

// Admit implements strategies.Guard. It makes calls wait during a truce.
func (t *truce) Admit(now time.Duration, c *strategies.Call) strategies.Decision {
	if end := time.Duration(*c.Word(t.words, until)); now < end {
		return strategies.Decision{Kind: strategies.Wait, After: end - now + c.Uniform(t.purpose, 0, t.For)}
	}
	return strategies.Decision{}
}

// Observe implements strategies.Guard. It counts failures and begins a truce.
func (t *truce) Observe(now time.Duration, c *strategies.Call, e strategies.Event, d strategies.Decision) {
	m := c.Words(t.words)
	switch {
	case e.Outcome == nil: // the call ended without an attempt, so nothing is known
	case !d.End.Class.Transient():
		m[inARow] = 0
	default:
		if m[inARow]++; m[inARow] >= t.Failures {
			m[inARow], m[until] = 0, int64(now+t.For)
		}
	}
}
