package strategytest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// OneClient is a client that makes one call after another.
type OneClient struct {
	*World
	Caller *Caller
}

// Calls plays one call whose attempts all end as class, and returns how many
// attempts it made.
func (o *OneClient) Calls(class wire.Class) int { return o.CallsEnding(class, 0) }

// CallsEnding is like Calls, for replies with the given status.
func (o *OneClient) CallsEnding(class wire.Class, status uint16) int {
	o.Caller.ID++ // every call has its own draws
	d := o.Caller.Next(strategies.Event{Kind: strategies.Begin})
	for d.Kind == strategies.Send {
		out := Refusal(wire.NoHint)
		out.Class, out.Status = class, status
		if d = o.Caller.Next(strategies.Event{Kind: strategies.Reply, Attempt: o.Caller.Attempts, Outcome: out}); d.Kind == strategies.Wait {
			o.Now += d.After
			d = o.Caller.Next(strategies.Event{Kind: strategies.Wake})
		}
	}
	require.Equal(o.t, strategies.Stop, d.Kind)
	return int(o.Caller.Attempts)
}

func NewOneClient(t *testing.T, layers ...strategies.Layer) *OneClient {
	w := NewWorld(t, map[string][]strategies.Layer{"": layers}, 1)
	return &OneClient{World: w, Caller: w.Call("a")}
}
