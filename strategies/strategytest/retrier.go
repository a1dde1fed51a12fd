package strategytest

import (
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
	"herdlab/strategies"
)

// Refusal returns an overloaded outcome with the given hint, after which a retry loop
// waits.
func Refusal(hint time.Duration) *wire.Outcome {
	return &wire.Outcome{Class: wire.Overloaded, RetryAfter: hint}
}

// Retrier plays calls of a lone retry loop.
type Retrier struct {
	program *strategies.Program
	Call    strategies.Call
}

func NewRetrier(t require.TestingT, loop strategies.Layer) *Retrier {
	p, err := strategies.Compile(strategies.Definition{Name: "retry", Layers: []strategies.Layer{loop}}, nil)
	require.NoError(t, err)
	x := &Retrier{program: p}
	x.Call.Driver().Rand = draw.New(7)
	x.Call.Driver().Memory[strategies.PerCall] = make([]int64, p.Words[strategies.PerCall])
	return x
}

// Begin begins call id and sends its first attempt.
func (x *Retrier) Begin(id uint64) {
	x.Call.ID, x.Call.Attempts, x.Call.Driver().Phase, x.Call.Driver().Turn = id, 0, 0, 0
	x.Step(0, strategies.Event{Kind: strategies.Begin})
}

func (x *Retrier) Step(now time.Duration, e strategies.Event) strategies.Decision {
	d := x.program.Root.Next(now, &x.Call, e)
	x.Call.Driver().Turn++
	if d.Kind == strategies.Send {
		x.Call.Attempts, x.Call.Driver().Turn = x.Call.Attempts+1, 0
	}
	return d
}

// Refuse ends the attempt in flight with a refusal, and begins the next
// attempt if the loop waits for it.
func (x *Retrier) Refuse(now, hint time.Duration) strategies.Decision {
	d := x.Step(now, strategies.Event{Kind: strategies.Reply, Attempt: x.Call.Attempts, Outcome: Refusal(hint)})
	if d.Kind == strategies.Wait {
		x.Step(now+d.After, strategies.Event{Kind: strategies.Wake})
	}
	return d
}

// Waits returns the first n waits of call id if all attempts are refused.
func (x *Retrier) Waits(id uint64, n int) []time.Duration {
	var all []time.Duration
	x.Begin(id)
	for range n {
		all = append(all, x.Refuse(0, wire.NoHint).After)
	}
	return all
}

// Seconds returns the given numbers of seconds as durations.
func Seconds(of ...float64) (all []time.Duration) {
	for _, s := range of {
		all = append(all, time.Duration(s*float64(time.Second)))
	}
	return all
}
