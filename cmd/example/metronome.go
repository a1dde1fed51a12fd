package main

import (
	"errors"
	"time"

	"herdlab/strategies"
)

// Metronome is a layer around a pool: calls wait in line for a beat, and each beat is
// for one attempt. Unused beats are lost, so there are no bursts.
type Metronome struct {
	Every time.Duration    `about:"The time between two beats." required:"500ms"`
	Scope strategies.Scope `about:"Which clients share the beats." except:"call"`
	Name  string           `about:"The name of a metronome that everyone shares."`
}

// Build implements strategies.Layer.
func (m Metronome) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	if m.Every <= 0 {
		return nil, errors.New("metronome: the time between two beats must be positive")
	}
	pool, err := b.Pool(beats{m.Every}, m.Scope, "metronome "+m.Name)
	if err != nil {
		return nil, err
	}
	return b.Spend("metronome", pool, inner)
}

// beats is the pool. Its word is the number of the first beat that is free.
type beats struct{ every time.Duration }

// Words implements strategies.Pool.
func (beats) Words() int { return 1 }

// TryTake implements strategies.Pool.
func (p beats) TryTake(now time.Duration, m []int64, n uint32) (ok bool, readyAt time.Duration) {
	beat := int64(now / p.every)
	if beat < m[0] {
		return false, time.Duration(m[0]) * p.every
	}
	m[0] = beat + int64(n)
	return true, now
}

// Put implements strategies.Pool. A beat that has passed cannot be given back.
func (beats) Put(time.Duration, []int64, uint32) {}
