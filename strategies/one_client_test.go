package strategies

import (
	"testing"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
)

// onePer is a client that calls again and again, with so many attempts a call.
type OneClient struct {
	*world
	Caller *Caller
}

// outcomes plays one call whose attempts all end as class, and returns how many
// attempts it made.
func (o *OneClient) Calls(class wire.Class) int { return o.CallsEnding(class, 0) }

// ended is the same for replies of a status.
func (o *OneClient) CallsEnding(class wire.Class, status uint16) int {
	o.Caller.ID++ // every call has its own luck
	d := o.Caller.Next(Event{Kind: Begin})
	for d.Kind == Send {
		out := Refusal(wire.NoHint)
		out.Class, out.Status = class, status
		if d = o.Caller.Next(Event{Kind: Reply, Attempt: o.Caller.Attempts, Outcome: out}); d.Kind == Wait {
			o.Now += d.After
			d = o.Caller.Next(Event{Kind: Wake})
		}
	}
	require.Equal(o.t, Stop, d.Kind)
	return int(o.Caller.Attempts)
}

func NewOneClient(t *testing.T, layers ...Layer) *OneClient {
	w := NewWorld(t, map[string][]Layer{"": layers}, 1)
	return &OneClient{world: w, Caller: w.Call("a")}
}
