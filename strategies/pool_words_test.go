package strategies_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// adaptive is a guard whose semaphore grows by one permit with every success: it
// returns one permit more than was taken.
type adaptive struct {
	id    strategies.PoolID
	words strategies.Slot
}

func (a adaptive) Admit(time.Duration, *strategies.Call) strategies.Decision {
	return strategies.Decision{Kind: strategies.Acquire, Take: strategies.Take{Pool: a.id, N: 1}}
}

func (a adaptive) Observe(_ time.Duration, c *strategies.Call, _ strategies.Event, d strategies.Decision) {
	if d.End.Reason == strategies.Succeeded {
		*c.Word(a.words, 0)--
	}
	c.Put(a.id, 0)
}

type adaptiveLayer struct{}

func (adaptiveLayer) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	if _, err := b.Reserve(strategies.PerFleet, 3, ""); err != nil { // other words before it
		return nil, err
	}
	id, err := b.Pool(twoPermits{}, strategies.PerFleet, "")
	if err != nil {
		return nil, err
	}
	return b.Guard(adaptive{id, b.PoolWords(id)}, inner)
}

// PoolWords returns the words of the guard's own pool.
func TestPoolWords(t *testing.T) {
	p, err := strategies.Compile(strategies.Definition{Name: "adaptive", Layers: []strategies.Layer{adaptiveLayer{}}}, nil)
	require.NoError(t, err)
	require.Equal(t, 4, p.Words[strategies.PerFleet])
	var c strategies.Call
	c.Driver().Memory[strategies.PerFleet] = make([]int64, 4)
	d := p.Root.Next(0, &c, strategies.Event{Kind: strategies.Begin})
	require.Equal(t, strategies.Acquire, d.Kind)
	spec := p.Pools[d.Take.Pool]
	ok, _ := spec.Pool.TryTake(0, c.Driver().Memory[spec.Scope][spec.At:], 1)
	require.True(t, ok)
	require.Equal(t, []int64{0, 0, 0, 1}, c.Driver().Memory[strategies.PerFleet])
	p.Root.Next(0, &c, strategies.Event{Kind: strategies.Admitted})
	p.Root.Next(0, &c, strategies.Event{Kind: strategies.Reply, Attempt: 1, Outcome: &wire.Outcome{Class: wire.OK}})
	require.Equal(t, []int64{0, 0, 0, 0}, c.Driver().Memory[strategies.PerFleet])
	require.True(t, c.HasCommands(), "the driver is not told to look at the line")
}

// twoPermits is a semaphore of two.
type twoPermits struct{}

func (twoPermits) Words() int { return 1 }

func (twoPermits) TryTake(now time.Duration, m []int64, n uint32) (bool, time.Duration) {
	if m[0]+int64(n) > 2 {
		return false, strategies.Never
	}
	m[0] += int64(n)
	return true, now
}

func (twoPermits) Put(_ time.Duration, m []int64, n uint32) { m[0] -= int64(n) }
