package layers

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/strategytest"
)

func TestShedder(t *testing.T) {
	shed := Shedder{Above: []int{50, 25}, Window: 10 * time.Second, Min: 4, Scope: strategies.PerFleet}
	const pressed = `
		a: begin -> send
		a: 200 -> stop succeeded
		a: begin -> send
		a: 200 -> stop succeeded
		a: begin priority=2 -> send
		a: 429 -> stop failed
		a: begin priority=2 -> send
		a: 400 -> stop failed                     # an answer
		`
	strategytest.Play(t, []strategies.Layer{shed}, pressed+`
		c: begin priority=2 -> stop shed overloaded   # one of four
		d: begin priority=9 -> stop shed
		b: begin priority=1 -> send
		b: 429 -> stop failed
		b: begin priority=1 -> send
		b: 503 -> stop failed
		b: begin priority=1 -> stop shed          # three of six
		a: begin priority=0 -> send               # never
		@10s c: begin priority=2 -> send          # forgotten`)
	shed.Hold, shed.Jitter = 3*time.Second, time.Second
	strategytest.Play(t, []strategies.Layer{shed}, pressed+`
		c: begin priority=2 -> wait [3s,4s)
		c: wake -> wait [3s,4s)
		@5s c: cancelled -> stop withdrawn
		d: begin priority=2 -> wait [3s,4s)
		@11s a: begin priority=0 -> send
		@12s d: cancelled -> stop withdrawn
		e: begin priority=2 -> send`)
}

// A batch that asks for twice what the provider gives starves the interactive
// calls beside it, unless it is shed first.
func TestShedderKeepsBatchFromStarvingPeople(t *testing.T) {
	interactive := func(layers ...strategies.Layer) float64 {
		l := strategytest.NewLab(t, layers...)
		served, bin := 0, time.Duration(-1)
		l.Serve = func(*strategytest.Caller) (time.Duration, wire.Outcome) { // 10 per second
			if b := l.Now / time.Second; b != bin {
				bin, served = b, 0
			}
			if served++; served > 10 {
				return time.Millisecond, strategytest.Refused(wire.Rate)
			}
			return time.Millisecond, strategytest.Answered
		}
		good := 0
		l.Settled = func(c *strategytest.Caller, d strategies.Decision) {
			if c.Demand.Priority == 0 && d.End.Reason == strategies.Succeeded {
				good++
			}
		}
		luck := l.Call("x.0").Driver().Rand
		begin := func(i int, at time.Duration, priority uint8) {
			l.At(at, func() {
				c := l.Call(fmt.Sprintf("%d.%d", priority, i))
				c.Demand.Priority = priority
				l.Step(c, strategies.Event{Kind: strategies.Begin})
			})
		}
		const people = 500
		for i := range people { // 5 per second
			begin(i, luck.Uniform(uint64(i), 0, 100*time.Second), 0)
		}
		for i := range 2000 { // 20 per second
			begin(i, luck.Uniform(uint64(people+i), 0, 100*time.Second), 1)
		}
		l.Run(10 * time.Minute)
		return float64(good) / people
	}
	shed := Shedder{Above: []int{10}, Window: 10 * time.Second, Min: 10, Scope: strategies.PerFleet}
	require.Less(t, interactive(), 0.55)
	require.Greater(t, interactive(shed), 0.75)
}

func TestShedderRejectsInvalidSettings(t *testing.T) {
	for want, s := range map[string]Shedder{
		"above must have at least one entry: the share of refusals at which priority 1 is shed": {Window: time.Minute},
		"above: the share for priority 2 must be 1 to 20 %, not 30":                             {Above: []int{20, 30}, Window: time.Minute},
		"above: the share for priority 1 must be 1 to 100 %, not 0":                             {Above: []int{0}, Window: time.Minute},
		"window must be at least 10ns and min not negative, not 0s and 0":                       {Above: []int{50}},
		"hold and jitter must not be negative, and jitter needs a positive hold":                {Above: []int{50}, Window: time.Minute, Jitter: 1},
	} {
		s.Scope = strategies.PerFleet
		_, err := strategies.Compile(strategies.Definition{Name: "bad", Layers: []strategies.Layer{s}}, nil)
		require.EqualError(t, err, `strategy "bad": shedder: `+want)
	}
}
