package strategies_test

import (
	"errors"
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
	"herdlab/strategies"
)

// threeAttempts is a loop of a module of its own: up to three attempts, and between
// them a wait of one second and a random part of another.
type threeAttempts struct {
	count  strategies.Slot
	jitter strategies.Purpose
}

// Build reserves a word for each call and wraps the loop around inner.
func (l threeAttempts) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	var err error
	l.count, err = b.Reserve(strategies.PerCall, 1, "")
	l.jitter = b.Purpose()
	if err != nil {
		return nil, err
	}
	return b.Loop(l, inner)
}

func (l threeAttempts) Start(_ time.Duration, c *strategies.Call) { *c.Word(l.count, 0) = 1 }

func (l threeAttempts) After(_ time.Duration, c *strategies.Call, _ strategies.Event, d strategies.Decision) strategies.Decision {
	count := c.Word(l.count, 0)
	if d.End.Reason == strategies.Succeeded || *count == 3 {
		return d
	}
	*count++
	return strategies.Decision{Kind: strategies.Wait, After: time.Second + c.Uniform(l.jitter, 0, time.Second)}
}

// run is a driver for one call of a strategy that only sends and waits.
func run(program *strategies.Program, random draw.Rand, send func(wire.Target, time.Duration) (time.Duration, *wire.Outcome)) strategies.End {
	call := strategies.NewCall(random)
	for s := range program.Words {
		call.Driver().Memory[s] = make([]int64, program.Words[s])
	}
	call.Driver().Scripts = new(strategies.Scripts)
	defer call.Driver().Scripts.Close()
	now, event := time.Duration(0), strategies.Event{Kind: strategies.Begin}
	for {
		d := program.Root.Next(now, call, event)
		call.Driver().Turn++
		switch d.Kind {
		case strategies.Send:
			call.Attempts, call.Driver().Turn = call.Attempts+1, 0
			took, outcome := send(call.Target, d.After)
			event = strategies.Event{Kind: strategies.Reply, Attempt: call.Attempts, Outcome: outcome, SentAt: now}
			now += took
		case strategies.Wait:
			now += d.After
			event = strategies.Event{Kind: strategies.Wake}
			fmt.Println("attempt again at", now.Round(time.Millisecond))
		case strategies.Stop, strategies.Answer:
			return d.End
		}
	}
}

// A loop of one's own, and a driver that runs it.
func Example_driver() {
	program, err := strategies.Compile(strategies.Definition{
		Name: "three-attempts", Layers: []strategies.Layer{threeAttempts{}},
	}, nil)
	if err != nil {
		panic(err)
	}
	attempts := 0
	end := run(program, draw.New(1), func(wire.Target, time.Duration) (time.Duration, *wire.Outcome) {
		if attempts++; attempts < 3 {
			return time.Second, &wire.Outcome{Class: wire.Overloaded, RetryAfter: wire.NoHint}
		}
		return time.Second, &wire.Outcome{Class: wire.OK, RetryAfter: wire.NoHint}
	})
	fmt.Println(end.Reason)
	// Output:
	// attempt again at 2.397s
	// attempt again at 4.931s
	// succeeded
}

// The same idea as blocking code.
func ExampleScript() {
	script := strategies.Script(func(s *strategies.Session) error {
		for range 3 {
			if r := s.Send(); r.OK() {
				return nil
			}
			s.Sleep(time.Second)
		}
		return errors.New("three attempts failed")
	})
	program, err := strategies.Compile(strategies.Definition{Name: "script", Layers: []strategies.Layer{script}}, nil)
	if err != nil {
		panic(err)
	}
	end := run(program, draw.New(1), func(wire.Target, time.Duration) (time.Duration, *wire.Outcome) {
		return time.Second, &wire.Outcome{Class: wire.Overloaded, RetryAfter: wire.NoHint}
	})
	fmt.Println(end.Reason, end.Class)
	// Output:
	// attempt again at 2s
	// attempt again at 4s
	// attempt again at 6s
	// failed overloaded
}
