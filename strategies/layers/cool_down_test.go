package layers

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/strategytest"
)

// cooling is a cool-down of 5 min with a pace of 2 s.
func cooling() CoolDown {
	return CoolDown{For: 5 * time.Minute, Pace: 2 * time.Second, ProbeTimeout: time.Minute, Scope: strategies.PerFleet}
}

func TestCoolDown(t *testing.T) {
	for name, script := range map[string]string{
		"one is refused, all wait; one probes; then one by one": `
			a: begin -> send
			a: rate -> queued until 5m
			b: begin -> queued
			c: begin -> queued
			d: begin -> queued
			@4m59s a: admitted -> refused until 5m
			@5m a: admitted -> send                   # the probe
			b: admitted -> refused until 6m
			@5m1s a: 200 -> stop succeeded
			b: admitted -> send
			c: admitted -> refused until 5m3s
			e: begin -> queued
			@5m3s c: admitted -> send
			@5m5s d: admitted -> send
			@5m6s e: admitted -> refused until 5m7s
			@5m7s e: admitted -> send                 # the line is empty
			f: begin -> send
			g: begin -> send`,
		"a refused probe keeps them waiting": `
			a: begin -> send
			a: rate -> queued until 5m
			b: begin -> queued
			@5m a: admitted -> send
			@5m1s a: rate -> queued                   # behind b
			b: admitted -> refused until 10m1s
			@10m1s b: admitted -> send
			b: 200 -> stop succeeded
			a: admitted -> send`,
		"a refusal while they are let go": `
			a: begin -> send
			a: rate -> queued until 5m
			b: begin -> queued
			c: begin -> queued
			@5m a: admitted -> send
			a: 200 -> stop succeeded
			b: admitted -> send
			b: rate -> queued
			c: admitted -> refused until 10m`,
		"hints are kept": `
			a: begin -> send
			b: begin -> send
			a: rate after=10m -> queued until 10m
			b: rate after=12m -> queued               # under way, and knows more
			a: admitted -> refused until 12m`,
		"a straggler without a hint prolongs nothing": `
			a: begin -> send
			b: begin -> send
			a: rate -> queued until 5m
			@1m b: rate -> queued
			a: admitted -> refused until 5m
			@5m a: admitted -> send`,
		"a straggler with a hint knows more than the probe": `
			a: begin -> send
			b: begin -> send
			a: rate -> queued until 5m
			@5m a: admitted -> send
			@5m1s b: rate after=10m -> queued until 15m1s   # sent long ago, told just now
			a: 200 -> stop succeeded
			b: admitted -> refused until 15m1s
			@15m1s b: admitted -> send`,
		"what has been delivered in part is not asked for again": `
			a: begin -> send
			a: overloaded tokens=9 -> stop failed
			b: begin -> queued until 5m               # though it is a refusal as any
			@5m b: admitted -> send
			b: overloaded tokens=0 -> queued until 10m`,
		"a straggler's success proves nothing": `
			a: begin -> send
			b: begin -> send
			a: rate -> queued until 5m
			b: 200 -> stop succeeded
			a: admitted -> refused until 5m`,
		"a failure of another kind is an answer": `
			a: begin -> send
			a: rate -> queued until 5m
			b: begin -> queued
			@5m a: admitted -> send
			a: 400 -> stop failed bad_request
			b: admitted -> send`,
		"a lost probe gives its place": `
			a: begin -> send
			a: rate -> queued until 5m
			b: begin -> queued
			c: begin -> queued
			@5m a: admitted -> send
			@6m b: admitted -> send
			a: rate -> queued                         # of a probe given up: nothing new
			b: 200 -> stop succeeded
			c: admitted -> send`,
		"a withdrawn probe gives its place at once": `
			a: begin -> send
			a: rate -> queued until 5m
			b: begin -> queued
			@5m a: admitted -> send
			a: settled -> stop failed cancelled
			a: cancelled -> stop withdrawn
			b: admitted -> send
			c: begin -> queued until 6m`,
		"a call that gives up in the queue costs nothing": `
			a: begin -> send
			a: rate -> queued until 5m
			b: begin -> queued
			a: cancelled -> stop withdrawn
			@5m b: admitted -> send
			b: 200 -> stop succeeded
			c: begin -> send`,
	} {
		t.Run(name, func(t *testing.T) { strategytest.Play(t, []strategies.Layer{cooling()}, script) })
	}
	t.Run("charged", func(t *testing.T) {
		k := cooling()
		k.Charged = true
		strategytest.Play(t, []strategies.Layer{Retry{Backoff: backoffs.Fixed{Every: time.Second}, MaxAttempts: 2}, k}, `
			a: begin -> send
			a: rate -> wait 1s
			a: wake -> queued until 5m
			@5m a: admitted -> send
			a: rate -> stop tries_exhausted`)
	})
	t.Run("only refusals that all share", func(t *testing.T) {
		strategytest.Play(t, []strategies.Layer{cooling()}, `
			a: begin -> send
			a: 500 -> stop failed server_error
			a: begin -> send
			a: lost -> stop failed
			a: begin -> send
			a: quota -> stop failed
			a: begin -> send`)
	})
}

// Case 15: a limit blocks five tasks for five hours and is tried every 300 s.
// Each for itself, they meet it 60 times each; together, 60 times in all. With 50
// retries none of them finishes by itself; together all do, if nobody is charged
// for the probes, and if the probers are as well, because they take turns: twelve
// each. (One that probed alone would die at the fiftieth.)
func TestOneProberForAll(t *testing.T) {
	const tasks, blocked, every = 5, 5 * time.Hour, 300 * time.Second
	together := func(charged bool) strategies.Layer {
		return CoolDown{For: every, Pace: time.Second, Scope: strategies.PerFleet, Charged: charged}
	}
	each := func(tries int) strategies.Layer {
		return Retry{Backoff: backoffs.Fixed{Every: every}, MaxAttempts: tries}
	}
	again := func(tries int) strategies.Layer { return Retry{Backoff: backoffs.Fixed{}, MaxAttempts: tries} }
	for name, c := range map[string]struct {
		layers             []strategies.Layer
		refusals, finished int
	}{
		"each for itself":                                {[]strategies.Layer{each(0)}, 60 * tasks, tasks},
		"together":                                       {[]strategies.Layer{again(0), together(false)}, 60, tasks},
		"each for itself, 50 retries":                    {[]strategies.Layer{each(51)}, 51 * tasks, 0},
		"together, 50 retries, nobody charged":           {[]strategies.Layer{again(51), together(false)}, 60, tasks},
		"together, 50 attempts, probers charged in turn": {[]strategies.Layer{again(50), together(true)}, 60, tasks},
		"together, 12 attempts, probers charged in turn": {[]strategies.Layer{again(12), together(true)}, 60, 0},
	} {
		t.Run(name, func(t *testing.T) {
			l := strategytest.NewLab(t, c.layers...)
			refusals, finished := 0, 0
			l.Serve = func(*strategytest.Caller) (time.Duration, wire.Outcome) {
				if l.Now < blocked {
					refusals++
					return 0, strategytest.Refused(wire.Rate)
				}
				return time.Millisecond, strategytest.Answered
			}
			l.Settled = func(_ *strategytest.Caller, d strategies.Decision) {
				if d.End.Reason == strategies.Succeeded {
					finished++
				}
			}
			for i := range tasks {
				l.At(time.Duration(i)*time.Millisecond, func() { l.Begin(fmt.Sprint(i), 0) })
			}
			l.Run(blocked + time.Hour)
			require.Equal(t, c.refusals, refusals)
			require.Equal(t, c.finished, finished)
			var after []time.Duration
			for _, at := range l.Sent {
				if at >= blocked {
					after = append(after, at)
				}
			}
			if c.refusals == 60 {
				require.LessOrEqual(t, strategytest.MostWithin(after, 900*time.Millisecond), 2, "the release is paced")
			}
		})
	}
}

func TestCoolDownRejectsInvalidSettings(t *testing.T) {
	for want, k := range map[string]CoolDown{
		"for and pace must be positive, not 0s and 1ns":                                       {Pace: 1, Scope: strategies.PerFleet},
		"for and pace must be positive, not 1ns and 0s":                                       {For: 1, Scope: strategies.PerFleet},
		"jitter and probe_timeout must not be negative; probe_timeout 0 means as long as for": {For: 1, Pace: 1, Jitter: -1, Scope: strategies.PerFleet},
		"it cannot be shared per call; use client, fleet or everyone":                         {For: 1, Pace: 1},
	} {
		_, err := strategies.Compile(strategies.Definition{Name: "bad", Layers: []strategies.Layer{k}}, nil)
		require.EqualError(t, err, `strategy "bad": cool-down: `+want)
	}
}
