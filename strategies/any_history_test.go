package strategies

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// threeRungs is two attempts at the flagship, one at each of the others.
var threeRungs = []Rung{{Model: 0, Tries: 2}, {Model: 1}, {Model: 2, Tries: 1}}

// variety is one of each layer that limits, routes, avoids or watches.
func variety() map[string]Layer {
	fleet := PerFleet
	return map[string]Layer{
		"token bucket":    TokenBucket{Rate: 20, Per: time.Second, Burst: 3, Scope: fleet},
		"gcra":            GCRA{Rate: 20, Per: time.Second, Burst: 3, Scope: fleet},
		"sliding log":     SlidingLog{Limit: 10, Length: time.Second, Scope: fleet},
		"sliding counter": SlidingCounter{Limit: 10, Length: time.Second, Scope: fleet},
		"min interval":    MinInterval{Every: 10 * time.Millisecond, Jitter: 10 * time.Millisecond, Scope: fleet},
		"concurrency":     Concurrency{Permits: 2, Scope: fleet},
		"worker queue":    WorkerQueue{Rate: 20, Per: time.Second, Workers: 2, MaxAttempts: 3, Scope: fleet},
		"daily budget":    DailyBudget{Quota: 10, Per: time.Second, Scope: fleet},
		"header limit":    HeaderLimit{Percent: 10, Spread: true, Scope: fleet},
		"aimd":            AIMD{LimitRange: LimitRange{Initial: 3}, Scope: fleet},
		"vegas":           Vegas{LimitRange: LimitRange{Initial: 3}, Scope: fleet},
		"gradient2":       Gradient2{LimitRange: LimitRange{Initial: 3}, Scope: fleet},
		"bbr":             BBR{LimitRange: LimitRange{Initial: 3}, Scope: fleet},
		"aws adaptive":    AWSAdaptive{Scope: fleet},
		"ladder":          Ladder{Rungs: threeRungs, On: Rules{Classes: Transient}},
		"failover":        Failover{Regions: []uint8{0, 1}, Rounds: 2, Backoff: Fixed{Every: time.Second}, Stay: time.Second, Scope: fleet},
		"key rotation":    KeyRotation{Keys: []uint8{0, 1, 2}, Rounds: 2, Backoff: Fixed{Every: 10 * time.Millisecond}, Scope: fleet},
		"deployments":     Deployments{Targets: Targets(3), Jitter: time.Second, Scope: fleet},
		"hedge":           Hedge{After: 20 * time.Millisecond, Quantile: 0.9, Percent: 50, Scope: fleet},
		"recursion":       RecursiveSemaphore{Permits: 100, Retry: Retry{Backoff: Fixed{Every: time.Second}, MaxAttempts: 3}, Scope: fleet},
		"cache":           Cache{TTL: time.Second, Scope: fleet},
		"single flight":   SingleFlight{Scope: fleet},
		"merge":           Merge{Size: 3, Window: 50 * time.Millisecond, Scope: fleet},
		"time shift":      TimeShift{Every: time.Second, At: time.Second / 2, Window: time.Second, Steady: true},
		"busy hours":      BusyHours{Day: 2 * time.Second, Least: 2, Scope: fleet},
		"shrink":          Shrink{Context: 0.5, Output: 0.5, Pieces: 3, Times: 2},
		"quality":         Quality{Percent: 50, Accept: []float64{0.5}, Reject: true, All: true},
		"capacity alarm":  CapacityAlarm{After: time.Second, GiveUp: true, Scope: fleet},
		"class alarm":     ClassAlarm{Scope: fleet},
		"latched class":   LatchedClass{Scope: fleet},
	}
}

// Whatever the provider replies and whenever callers withdraw, alone or inside a
// retry loop and around a semaphore: every call ends, nothing is left in a line,
// and every permit comes back.
func TestAnyHistory(t *testing.T) {
	retry := Retry{Backoff: Fixed{Every: 10 * time.Millisecond}, MaxAttempts: 3}
	for name, layer := range everyLayer() {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				seed := rapid.Uint64().Draw(rt, "seed")
				luck := draw.New(seed)
				n := uint64(0)
				below := func(bound uint64) uint64 { n++; return luck.Below(n, bound) }
				stack := []Layer{Asking{Demand: wire.Demand{Prompt: 7, InputTokens: 100, OutputTokens: 100}}}
				switch below(3) {
				case 0:
					stack = append(stack, layer)
				case 1:
					stack = append(stack, retry, layer, Concurrency{Permits: 2, Scope: PerFleet})
				default:
					stack = append(stack, Concurrency{Permits: 3, Scope: PerFleet}, layer, retry)
				}
				l := NewLab(t, stack...)
				classes := []wire.Class{
					wire.OK, wire.OK, wire.OK, wire.Overloaded, wire.Overloaded, wire.Rate, wire.ServerError,
					wire.Auth, wire.TooLarge, wire.TokenRate, wire.Timeout,
				}
				l.Serve = func(*Caller) (time.Duration, wire.Outcome) {
					o := Refused(classes[below(uint64(len(classes)))])
					if below(3) == 0 {
						o.RetryAfter = time.Duration(below(uint64(time.Second)))
					}
					if below(2) == 0 {
						o.Limit, o.Remaining, o.Reset = 10, int32(below(11)), time.Duration(below(uint64(time.Second)))
					}
					o.Tokens = uint32(below(100))
					return time.Duration(below(uint64(100 * time.Millisecond))), o
				}
				over := map[*Caller]bool{}
				l.Settled = func(c *Caller, _ Decision) {
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
					if word, ok := WordInUse(s.Pool); ok {
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
		p, err := Compile(Definition{Name: "x", Layers: []Layer{layer}}, nil)
		require.NoError(t, err)
		c := Call{Rand: draw.New(1), Demand: wire.Demand{Prompt: 7, InputTokens: 100, OutputTokens: 100}}
		for s := range c.Memory {
			c.Memory[s] = make([]int64, p.Words[s])
		}
		var now, sent time.Duration
		outcomes := []wire.Outcome{Answered, Refused(wire.Overloaded), Refused(wire.Rate), Answered}
		call := func() {
			clear(c.Memory[PerCall])
			c.ID++
			c.Attempts, c.Phase, c.Turn = 0, 0, 0
			e := Event{Kind: Begin}
			for range 100 {
				d := p.Root.Next(now, &c, e)
				c.TakeAsides(Discard{})
				switch c.Turn++; d.Kind {
				case Send:
					c.Attempts, c.Turn, sent = c.Attempts+1, 0, now
					now += 10 * time.Millisecond
					e = Event{Kind: Reply, Attempt: c.Attempts, Outcome: &outcomes[c.ID&3], SentAt: sent}
				case Wait:
					now += d.After
					e = Event{Kind: Wake}
				case Join:
					e = Event{Kind: Admitted}
				case Acquire:
					s := p.Pools[d.Take.Pool]
					for range 10 {
						ok, ready := s.Pool.TryTake(now, c.Memory[s.Scope][s.At:], d.Take.N)
						if ok {
							break
						}
						now = ready
					}
					e = Event{Kind: Admitted}
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
