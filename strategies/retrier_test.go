package strategies

import (
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// refusal is an outcome that a retry loop waits after.
func Refusal(hint time.Duration) *wire.Outcome {
	return &wire.Outcome{Class: wire.Overloaded, RetryAfter: hint}
}

// retrier plays calls of a lone retry loop.
type Retrier struct {
	program *Program
	Call    Call
}

func NewRetrier(t require.TestingT, loop Layer) *Retrier {
	p, err := Compile(Definition{Name: "retry", Layers: []Layer{loop}}, nil)
	require.NoError(t, err)
	x := &Retrier{program: p}
	x.Call.Rand = draw.New(7)
	x.Call.Memory[PerCall] = make([]int64, p.Words[PerCall])
	return x
}

// begin begins call id and sends its first attempt.
func (x *Retrier) Begin(id uint64) {
	x.Call.ID, x.Call.Attempts, x.Call.Phase, x.Call.Turn = id, 0, 0, 0
	x.Step(0, Event{Kind: Begin})
}

func (x *Retrier) Step(now time.Duration, e Event) Decision {
	d := x.program.Root.Next(now, &x.Call, e)
	x.Call.Turn++
	if d.Kind == Send {
		x.Call.Attempts, x.Call.Turn = x.Call.Attempts+1, 0
	}
	return d
}

// refuse ends the attempt under way with a refusal, and begins the next
// attempt if the loop waits for it.
func (x *Retrier) Refuse(now, hint time.Duration) Decision {
	d := x.Step(now, Event{Kind: Reply, Attempt: x.Call.Attempts, Outcome: Refusal(hint)})
	if d.Kind == Wait {
		x.Step(now+d.After, Event{Kind: Wake})
	}
	return d
}

// waits returns the first n waits of call id if all attempts are refused.
func (x *Retrier) Waits(id uint64, n int) []time.Duration {
	var all []time.Duration
	x.Begin(id)
	for range n {
		all = append(all, x.Refuse(0, wire.NoHint).After)
	}
	return all
}

// seconds returns durations of so many seconds each.
func Seconds(of ...float64) (all []time.Duration) {
	for _, s := range of {
		all = append(all, time.Duration(s*float64(time.Second)))
	}
	return all
}
