package strategies_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/strategies"
	"herdlab/strategies/strategytest"
)

// did is a driver that records its commands.
type did struct{ lines []string }

func (d *did) add(format string, args ...any) {
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

func (d *did) Leave()                            { d.add("leave") }
func (d *did) Put(p strategies.PoolID, n uint32) { d.add("put %d of %d", n, p) }
func (d *did) HangUp(n uint32)                   { d.add("hang up %d", n) }
func (d *did) Land(f strategies.FlightID, key uint32, e strategies.End) {
	d.add("land %d of %d: %v", key, f, e.Reason)
}
func (d *did) WakeAt(at time.Duration)   { d.add("wake at %v", at) }
func (d *did) Raise(s strategies.Signal) { d.add("raise %d", s) }

// A driver receives each command once, in a fixed order: first commands that free
// something, then those that start something.
func TestCommands(t *testing.T) {
	var c strategies.Call
	var d did
	require.False(t, c.HasCommands())
	for range 2 {
		c.Raise(3)
		c.WakeAt(7)
		c.Land(1, 9, strategies.End{Reason: strategies.TriesExhausted})
		c.HangUp(5)
		c.Put(2, 4)
		c.Put(0, 1)
		c.Leave()
		c.WakeAt(8)
		require.True(t, c.HasCommands())
		d.lines = nil
		c.TakeCommands(&d)
		require.Equal(t, []string{"leave", "put 4 of 2", "put 1 of 0", "hang up 5", "land 9 of 1: tries_exhausted", "wake at 8ns", "raise 3"}, d.lines)
		require.False(t, c.HasCommands())
		c.TakeCommands(&d)
		require.Len(t, d.lines, 7)
	}
	require.Zero(t, testing.AllocsPerRun(100, func() {
		c.Put(1, 1)
		c.HangUp(1)
		c.Land(0, 1, strategies.End{})
		c.Raise(1)
		c.TakeCommands(strategytest.Discard{})
	}), "commands are given in every run's hot path")
}

// alarming is a layer that declares signals.
type alarming []strategies.SignalSpec

func (a alarming) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	for _, s := range a {
		name := b.Note
		if s.Alarm {
			name = b.Alarm
		}
		if _, err := name(s.Reason); err != nil {
			return nil, err
		}
	}
	return inner, nil
}

func TestSignals(t *testing.T) {
	full, note := strategies.SignalSpec{"full", true}, strategies.SignalSpec{"full", false}
	p, err := strategies.Compile(strategies.Definition{Name: "test", Layers: []strategies.Layer{alarming{full, note}, alarming{note, {"other", true}, full}}}, nil)
	require.NoError(t, err)
	require.Equal(t, []strategies.SignalSpec{note, {"other", true}, full}, p.Signals, "the same reason is the same signal")
	_, err = strategies.Compile(strategies.Definition{Name: "test", Layers: []strategies.Layer{alarming{{}}}}, nil)
	require.ErrorContains(t, err, "a signal needs a reason")
	var many alarming
	for i := range 65 {
		many = append(many, strategies.SignalSpec{Reason: fmt.Sprint(i)})
	}
	_, err = strategies.Compile(strategies.Definition{Name: "test", Layers: []strategies.Layer{many}}, nil)
	require.ErrorContains(t, err, "at most 64")
}
