package layers_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
	"herdlab/strategies/strategytest"
)

// threeRungs is two attempts at the flagship, one at each of the others.
var threeRungs = []layers.Rung{{Model: 0, Tries: 2}, {Model: 1}, {Model: 2, Tries: 1}}

// variety is one of each layer that limits, routes, avoids or watches.
func variety() map[string]strategies.Layer {
	fleet := strategies.PerFleet
	return map[string]strategies.Layer{
		"token bucket":    layers.TokenBucket{Rate: 20, Per: time.Second, Burst: 3, Scope: fleet},
		"gcra":            layers.GCRA{Rate: 20, Per: time.Second, Burst: 3, Scope: fleet},
		"sliding log":     layers.SlidingLog{Limit: 10, Length: time.Second, Scope: fleet},
		"sliding counter": layers.SlidingCounter{Limit: 10, Length: time.Second, Scope: fleet},
		"min interval":    layers.MinInterval{Every: 10 * time.Millisecond, Jitter: 10 * time.Millisecond, Scope: fleet},
		"concurrency":     layers.Concurrency{Permits: 2, Scope: fleet},
		"worker queue":    layers.WorkerQueue{Rate: 20, Per: time.Second, Workers: 2, MaxAttempts: 3, Scope: fleet},
		"daily budget":    layers.DailyBudget{Quota: 10, Per: time.Second, Scope: fleet},
		"header limit":    layers.HeaderLimit{Percent: 10, Spread: true, Scope: fleet},
		"aimd":            layers.AIMD{LimitRange: layers.LimitRange{Initial: 3}, Scope: fleet},
		"vegas":           layers.Vegas{LimitRange: layers.LimitRange{Initial: 3}, Scope: fleet},
		"gradient2":       layers.Gradient2{LimitRange: layers.LimitRange{Initial: 3}, Scope: fleet},
		"bbr":             layers.BBR{LimitRange: layers.LimitRange{Initial: 3}, Scope: fleet},
		"aws adaptive":    layers.AWSAdaptive{Scope: fleet},
		"ladder":          layers.Ladder{Rungs: threeRungs, On: layers.Rules{Classes: strategies.Transient}},
		"failover":        layers.Failover{Regions: []uint8{0, 1}, Rounds: 2, Backoff: backoffs.Fixed{Every: time.Second}, Stay: time.Second, Scope: fleet},
		"key rotation":    layers.KeyRotation{Keys: []uint8{0, 1, 2}, Rounds: 2, Backoff: backoffs.Fixed{Every: 10 * time.Millisecond}, Scope: fleet},
		"deployments":     layers.Deployments{Targets: strategytest.Targets(3), Jitter: time.Second, Scope: fleet},
		"hedge":           layers.Hedge{After: 20 * time.Millisecond, Quantile: 0.9, Percent: 50, Scope: fleet},
		"recursion":       layers.RecursiveSemaphore{Permits: 100, Retry: layers.Retry{Backoff: backoffs.Fixed{Every: time.Second}, MaxAttempts: 3}, Scope: fleet},
		"cache":           layers.Cache{TTL: time.Second, Scope: fleet},
		"single flight":   layers.SingleFlight{Scope: fleet},
		"merge":           layers.Merge{Size: 3, Window: 50 * time.Millisecond, Scope: fleet},
		"time shift":      layers.TimeShift{Every: time.Second, At: time.Second / 2, Window: time.Second, Steady: true},
		"busy hours":      layers.BusyHours{Day: 2 * time.Second, Least: 2, Scope: fleet},
		"shrink":          layers.Shrink{Context: 0.5, Output: 0.5, Pieces: 3, Times: 2},
		"quality":         layers.Quality{Percent: 50, Accept: []float64{0.5}, Reject: true, All: true},
		"capacity alarm":  layers.CapacityAlarm{After: time.Second, GiveUp: true, Scope: fleet},
		"class alarm":     layers.ClassAlarm{Scope: fleet},
		"latched class":   layers.LatchedClass{Scope: fleet},
	}
}

// Whatever the provider replies and whenever callers withdraw, alone or inside a
// retry loop and around a semaphore: every call ends, nothing is left in a line,
// and every permit comes back.
func TestAnyHistory(t *testing.T) {
	retry := layers.Retry{Backoff: backoffs.Fixed{Every: 10 * time.Millisecond}, MaxAttempts: 3}
	for name, layer := range everyLayer() {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				seed := rapid.Uint64().Draw(rt, "seed")
				luck := draw.New(seed)
				n := uint64(0)
				below := func(bound uint64) uint64 { n++; return luck.Below(n, bound) }
				stack := []strategies.Layer{strategytest.Asking{Demand: wire.Demand{Prompt: 7, InputTokens: 100, OutputTokens: 100}}}
				switch below(3) {
				case 0:
					stack = append(stack, layer)
				case 1:
					stack = append(stack, retry, layer, layers.Concurrency{Permits: 2, Scope: strategies.PerFleet})
				default:
					stack = append(stack, layers.Concurrency{Permits: 3, Scope: strategies.PerFleet}, layer, retry)
				}
				l := strategytest.NewLab(t, stack...)
				classes := []wire.Class{
					wire.OK, wire.OK, wire.OK, wire.Overloaded, wire.Overloaded, wire.Rate, wire.ServerError,
					wire.Auth, wire.TooLarge, wire.TokenRate, wire.Timeout,
				}
				l.Serve = func(*strategytest.Caller) (time.Duration, wire.Outcome) {
					o := strategytest.Refused(classes[below(uint64(len(classes)))])
					if below(3) == 0 {
						o.RetryAfter = time.Duration(below(uint64(time.Second)))
					}
					if below(2) == 0 {
						o.Limit, o.Remaining, o.Reset = 10, int32(below(11)), time.Duration(below(uint64(time.Second)))
					}
					o.Tokens = uint32(below(100))
					return time.Duration(below(uint64(100 * time.Millisecond))), o
				}
				over := map[*strategytest.Caller]bool{}
				l.Settled = func(c *strategytest.Caller, _ strategies.Decision) {
					require.False(rt, over[c], "a call ends twice")
					over[c] = true
				}
				calls := 5 + int(below(15))
				for i := range calls {
					born := time.Duration(below(uint64(time.Second)))
					l.At(born, func() {
						c := l.Begin(fmt.Sprint("c", i%4), i)
						if below(3) == 0 {
							l.At(l.Now+time.Duration(below(uint64(300*time.Millisecond))), func() {
								if !over[c] {
									over[c] = true
									l.Withdraw(c)
								}
							})
						}
					})
				}
				l.Run(time.Hour)
				require.Len(rt, over, calls, "calls that have ended")
				for _, line := range l.Lined {
					require.Empty(rt, l.Lines[line])
				}
				for _, s := range l.Fleets[""].Program.Pools {
					if word, ok := layers.WordInUse(s.Pool); ok {
						require.Zero(rt, l.Fleets[""].Words[s.At+word], "units in use, or calls in line")
					}
				}
			})
		})
	}
}

// No layer allocates for an event.
func TestLayersAllocateNothing(t *testing.T) {
	for name, layer := range everyLayer() {
		p, err := strategies.Compile(strategies.Definition{Name: "x", Layers: []strategies.Layer{layer}}, nil)
		require.NoError(t, err)
		c := *strategies.NewCall(draw.New(1))
		c.Demand = wire.Demand{Prompt: 7, InputTokens: 100, OutputTokens: 100}
		for s := range c.Driver().Memory {
			c.Driver().Memory[s] = make([]int64, p.Words[s])
		}
		var now, sent time.Duration
		outcomes := []wire.Outcome{strategytest.Answered, strategytest.Refused(wire.Overloaded), strategytest.Refused(wire.Rate), strategytest.Answered}
		call := func() {
			clear(c.Driver().Memory[strategies.PerCall])
			c.ID++
			c.Attempts, c.Driver().Phase, c.Driver().Turn = 0, 0, 0
			e := strategies.Event{Kind: strategies.Begin}
			for range 100 {
				d := p.Root.Next(now, &c, e)
				c.TakeCommands(strategytest.Discard{})
				switch c.Driver().Turn++; d.Kind {
				case strategies.Send:
					c.Attempts, c.Driver().Turn, sent = c.Attempts+1, 0, now
					now += 10 * time.Millisecond
					e = strategies.Event{Kind: strategies.Reply, Attempt: c.Attempts, Outcome: &outcomes[c.ID&3], SentAt: sent}
				case strategies.Wait:
					now += d.After
					e = strategies.Event{Kind: strategies.Wake}
				case strategies.Join:
					e = strategies.Event{Kind: strategies.Admitted}
				case strategies.Acquire:
					s := p.Pools[d.Take.Pool]
					for range 10 {
						ok, ready := s.Pool.TryTake(now, c.Driver().Memory[s.Scope][s.At:], d.Take.N)
						if ok {
							break
						}
						now = ready
					}
					e = strategies.Event{Kind: strategies.Admitted}
				default:
					return
				}
			}
		}
		for range 100 {
			call()
		}
		require.Zero(t, testing.AllocsPerRun(200, call), name)
	}
}
