package presets_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/sim"
	"herdlab/sim/draw"
	"herdlab/sim/metrics"
	"herdlab/sim/traffic"
	"herdlab/strategies"
	"herdlab/strategies/presets"
)

// attempt is one request that arrives at the provider of an exam.
type attempt struct {
	call   uint64
	number int // the number of the attempt within its call, from 1
	at     time.Duration
}

// ending is the time and the result of a settled call.
type ending struct {
	at  time.Duration
	why strategies.End
}

// exam is an experiment with one or more processes of a preset, and a provider that is
// one function.
type exam struct {
	processes int             // how many processes make calls one after the other; 0 means 1
	calls     int             // the calls of each process; 0 means 1
	arrivals  []time.Duration // if not nil, one process makes a call at each of these times
	patience  time.Duration
	horizon   time.Duration
	seed      uint64
	says      func(attempt) (after time.Duration, r wire.Reply) // a reply without a status is never sent

	seen  []attempt
	ends  map[uint64]ending
	inner strategies.Strategy
}

// Next implements strategies.Strategy: it records how calls end.
func (x *exam) Next(now time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
	d := x.inner.Next(now, c, e)
	if d.Kind == strategies.Stop || d.Kind == strategies.Answer {
		x.ends[c.ID] = ending{now, d.End}
	}
	return d
}

// NextTick implements sim.Provider.
func (*exam) NextTick() time.Duration { return strategies.Never }

// Step implements sim.Provider.
func (x *exam) Step(now time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
	if in.Kind != wire.Arrive {
		return out
	}
	a := attempt{in.Request.Call, int(in.Request.Attempt), now}
	x.seen = append(x.seen, a)
	after, r := x.says(a)
	if r.Status == 0 {
		return append(out, wire.Effect{Kind: wire.Dropped, Ticket: in.Ticket})
	}
	if r.Hint.Value != wire.NoHint && r.Hint.Spelling.Dated() {
		r.Hint.Value += now + after
	}
	return append(out, wire.Effect{Kind: wire.Replied, Ticket: in.Ticket, After: after, Reply: r})
}

// run runs the experiment.
func (x *exam) run(t *testing.T, preset string) *exam {
	t.Helper()
	program, err := strategies.Compile(lookup(t, preset), nil)
	require.NoError(t, err)
	x.seen, x.ends, x.inner = nil, map[uint64]ending{}, program.Root
	program.Root = x
	f := sim.Fleet{Name: "one", Program: program, Patience: x.patience, Traffic: traffic.Traffic{Clients: max(x.processes, 1), Calls: max(x.calls, 1)}}
	if x.arrivals != nil {
		f.Traffic = traffic.Traffic{Clients: 1, Arrivals: traffic.At(wire.Demand{}, x.arrivals...)}
	}
	if x.horizon == 0 {
		x.horizon = time.Hour
	}
	_, err = (&sim.Experiment{
		Fleets: []sim.Fleet{f}, Provider: x, Rand: draw.New(x.seed),
		Plan: metrics.Plan{Horizon: x.horizon, Bin: x.horizon},
	}).Run(context.Background())
	require.NoError(t, err, preset)
	return x
}

// steadily sends the same reply to all attempts, after 10 ms.
func steadily(r wire.Reply) func(attempt) (time.Duration, wire.Reply) {
	return func(attempt) (time.Duration, wire.Reply) { return 10 * ms, r }
}

// waits returns the times between a reply and the next attempt of the only call.
func (x *exam) waits() (all []time.Duration) {
	for i := 1; i < len(x.seen); i++ {
		all = append(all, x.seen[i].at-x.seen[i-1].at-10*ms)
	}
	return all
}

const ms = time.Millisecond

var well = wire.Reply{Status: 200, Hint: wire.Hint{Value: wire.NoHint}}

func refusal(status uint16, class wire.Class) wire.Reply {
	return wire.Reply{Status: status, Class: class, Shown: class, Body: wire.ErrorBody, Hint: wire.Hint{Value: wire.NoHint}}
}

// asking returns r with a hint, in a header or, for a 14003 with status 200, in the
// body.
func asking(r wire.Reply, after time.Duration, how wire.Spelling) wire.Reply {
	if r.Hint.Value, r.Hint.Spelling = after, how; r.Body == wire.CodeBody && how.InHeader() {
		r.Hint.Spelling = wire.BodySeconds
	}
	return r
}

// refused reports whether check holds for one of the refusals that a preset may
// receive.
func refused(preset string, check func(r wire.Reply) bool) bool {
	return slices.ContainsFunc(presets.Refusals(preset), check)
}

// caseChecks are the checks for the cases in clientCases, by number. A check reports
// whether a preset fails the case.
var caseChecks = map[int]func(t *testing.T, preset string) bool{
	// An application with four tries makes more than four attempts.
	1: func(t *testing.T, preset string) bool {
		return refused(preset, func(r wire.Reply) bool {
			return len((&exam{calls: 4, horizon: 10 * time.Minute, says: steadily(r)}).run(t, preset).seen) > 4
		})
	},
	// A hundred processes receive a hint to retry in a minute: some retry before, or
	// more than forty within one second.
	4: func(t *testing.T, preset string) bool {
		return refused(preset, func(r wire.Reply) bool {
			x := (&exam{processes: 100, horizon: 10 * time.Minute, says: func(a attempt) (time.Duration, wire.Reply) {
				if a.at >= time.Minute {
					return ms, well
				}
				return 100 * ms, asking(r, max(0, time.Minute-a.at-100*ms), r.Hint.Spelling)
			}}).run(t, preset)
			perSecond := map[time.Duration]int{}
			for _, a := range x.seen {
				if perSecond[a.at/time.Second]++; a.number > 1 && (a.at < time.Minute || perSecond[a.at/time.Second] > 40) {
					return true
				}
			}
			return false
		})
	},
	// After a hint, the wait is shorter than the hint, or more than twice as long as
	// both the hint and the wait without a hint.
	5: func(t *testing.T, preset string) bool {
		return refused(preset, func(r wire.Reply) bool {
			first := func(r wire.Reply) time.Duration {
				return append((&exam{horizon: 10 * time.Minute, says: steadily(r)}).run(t, preset).waits(), -1)[0]
			}
			own := first(r)
			for how, asked := range map[wire.Spelling]time.Duration{
				wire.HeaderSeconds: 3 * time.Second, wire.BothSeconds: 3 * time.Second, wire.HeaderMillis: 555 * ms,
				wire.HeaderDate: 30 * time.Second, wire.HeaderDuration: 6 * time.Minute, wire.BodySeconds: 2500 * ms,
				wire.BodyMillis: 555 * ms, wire.BodyDelay: 34070 * ms, wire.Sentence: 1898 * ms,
			} {
				if got := first(asking(r, asked, how)); got >= 0 && got != own && (got < asked || got > 2*max(asked, own)) {
					return true
				}
			}
			return false
		})
	},
	// In an outage of two days, the second day has a hot loop.
	6: func(t *testing.T, preset string) bool {
		return refused(preset, func(r wire.Reply) bool {
			x := (&exam{horizon: 48 * time.Hour, says: func(attempt) (time.Duration, wire.Reply) { return 10 * time.Second, r }}).run(t, preset)
			late := 0
			for _, a := range x.seen {
				if a.at > 83_295*time.Second {
					late++
				}
			}
			return late > 25
		})
	},
	// After a refusal and two thousand calls that were cancelled while waiting, the
	// next call is not admitted within three seconds, as half a token per second
	// would allow.
	7: func(t *testing.T, preset string) bool {
		arrivals := []time.Duration{0}
		for i := range time.Duration(2000) {
			arrivals = append(arrivals, 10*time.Second+i*time.Microsecond)
		}
		arrivals = append(arrivals, 11100*ms)
		return refused(preset, func(r wire.Reply) bool {
			last := time.Duration(-1)
			(&exam{arrivals: arrivals, patience: time.Second, says: func(a attempt) (time.Duration, wire.Reply) {
				if a.call == 2001 {
					last = a.at
				}
				if a.call == 0 && a.number == 1 {
					return 10 * ms, r
				}
				return 10 * ms, well
			}}).run(t, preset)
			return last < 0 || last > 14100*ms
		})
	},
	// Retries after a prompt that is too long, a used-up quota, or a request that is
	// larger than the whole limit.
	8: func(t *testing.T, preset string) bool {
		quota := refusal(429, wire.Quota)
		quota.Words = wire.MentionsQuota
		return slices.ContainsFunc([]wire.Reply{refusal(400, wire.TooLarge), quota, refusal(429, wire.TooLarge)}, func(r wire.Reply) bool {
			return len((&exam{horizon: time.Minute, says: steadily(r)}).run(t, preset).seen) > 1
		})
	},
	// Of twenty-five clients that were refused at the same instant, two retry at the
	// same instant.
	9: func(t *testing.T, preset string) bool {
		return refused(preset, func(r wire.Reply) bool {
			x := (&exam{processes: 25, horizon: 10 * time.Minute, says: steadily(r)}).run(t, preset)
			at := map[time.Duration]bool{}
			for _, a := range x.seen {
				if a.number == 2 {
					if at[a.at] {
						return true
					}
					at[a.at] = true
				}
			}
			return false
		})
	},
	// After an outage of two minutes the provider answers all attempts except the
	// first one, which never gets a reply: half an hour later no call is admitted.
	10: func(t *testing.T, preset string) bool {
		return refused(preset, func(r wire.Reply) bool {
			hung := false
			x := (&exam{arrivals: every(time.Second, 3600), says: func(a attempt) (time.Duration, wire.Reply) {
				if a.at < 2*time.Minute {
					return 100 * ms, r
				}
				if !hung {
					hung = true
					return 0, wire.Reply{}
				}
				return 10 * ms, well
			}}).run(t, preset)
			return x.seen[len(x.seen)-1].at < 30*time.Minute
		})
	},
	// A thousand calls fail at once: more than two hundred are retried.
	11: func(t *testing.T, preset string) bool {
		return refused(preset, func(r wire.Reply) bool {
			x := (&exam{arrivals: make([]time.Duration, 1000), says: func(a attempt) (time.Duration, wire.Reply) {
				if a.number > 1 {
					return 10 * ms, well
				}
				return 10 * ms, r
			}}).run(t, preset)
			return len(x.seen) > 1200
		})
	},
	// For some hint in a header, the client retries too early, retries at once
	// repeatedly, or waits for an hour or longer.
	12: func(t *testing.T, preset string) bool {
		const s = time.Second
		return refused(preset, func(r wire.Reply) bool {
			for _, row := range []struct {
				how   wire.Spelling
				asked time.Duration
			}{
				{wire.HeaderSeconds, 60 * s}, {wire.ExactSeconds, 1500 * ms}, {wire.HeaderDate, 30 * s}, {wire.HeaderDate, -60 * s},
				{wire.HeaderSeconds, 0}, {wire.HeaderSeconds, 75 * s}, {wire.HeaderSeconds, 451 * s}, {wire.HeaderSeconds, 3600 * s},
				{wire.HeaderSeconds, 198_300 * s}, {wire.HeaderSeconds, 1_743_441_608 * s}, {wire.HeaderDuration, 360 * s},
			} {
				w := (&exam{horizon: 1_800_000_000 * s, says: func(a attempt) (time.Duration, wire.Reply) {
					if a.number > 2 {
						return 10 * ms, well
					}
					return 10 * ms, asking(r, row.asked, row.how)
				}}).run(t, preset).waits()
				switch {
				case len(w) == 0:
				case w[0] < row.asked, w[0] >= time.Hour, row.asked <= 0 && len(w) > 1 && w[0] <= 0 && w[1] <= 0:
					return true
				}
			}
			return false
		})
	},
	// Counts a refusal with status 200 as an answer.
	13: func(t *testing.T, preset string) bool {
		for _, e := range (&exam{horizon: time.Minute, says: steadily(presets.SaysNo)}).run(t, preset).ends {
			return e.why.Reason == strategies.Succeeded
		}
		return false
	},
	// A stream that fails before its first token is not retried, or one that fails
	// after it is retried or reported as a success.
	14: func(t *testing.T, preset string) bool {
		broken := func(tokens uint32) *exam {
			return (&exam{horizon: 10 * time.Minute, says: steadily(wire.Reply{Status: 200, Shown: wire.Overloaded, Body: wire.StreamError, Tokens: tokens, Hint: wire.Hint{Value: wire.NoHint}})}).run(t, preset)
		}
		late := broken(30)
		return len(broken(0).seen) < 2 || len(late.seen) > 1 || late.ends[0].why.Reason == strategies.Succeeded
	},
	// Ten tasks at one limit that refuses for five hours have ten times the refusals of
	// one task.
	15: func(t *testing.T, preset string) bool {
		return refused(preset, func(r wire.Reply) bool {
			tasks := func(n int) int {
				return len((&exam{arrivals: every(10*time.Second, n), horizon: 5 * time.Hour, says: func(attempt) (time.Duration, wire.Reply) { return 5 * time.Second, r }}).run(t, preset).seen)
			}
			return 10*tasks(10) >= 9*10*tasks(1) // 10 % tolerance, as waits are drawn
		})
	},
	// Two hundred requests that can never succeed block one that would.
	17: func(t *testing.T, preset string) bool {
		return blocked(t, preset, every(time.Second, 200), func(uint64) wire.Reply { return refusal(400, wire.TooLarge) })
	},
	// It opens in an outage of 503, and not if every other refusal is a 429.
	18: func(t *testing.T, preset string) bool {
		busy, limited := refusal(503, wire.Overloaded), refusal(429, wire.Rate)
		opens := func(says func(uint64) wire.Reply) bool {
			return blocked(t, preset, every(time.Second, 300), says)
		}
		return opens(func(uint64) wire.Reply { return busy }) && !opens(func(call uint64) wire.Reply { return []wire.Reply{busy, limited}[call%2] })
	},
	// A background job whose calls are refused for a minute blocks an urgent call that
	// would be answered.
	19: func(t *testing.T, preset string) bool {
		return refused(preset, func(r wire.Reply) bool {
			return blocked(t, preset, every(time.Second, 60), func(uint64) wire.Reply { return r })
		})
	},
	// One 529 blocks the other calls.
	20: func(t *testing.T, preset string) bool {
		return blocked(t, preset, every(time.Second, 1), func(uint64) wire.Reply { return refusal(529, wire.Overloaded) })
	},
	// Waits with jitter lose their jitter at the longest wait that the client states,
	// or exceed that wait.
	21: func(t *testing.T, preset string) bool {
		bounds := map[string]time.Duration{
			"google-genai-retry": time.Minute, "aws-standard": 20 * time.Second, "aws-standard-2026": 20 * time.Second,
			"litellm-router": 8 * time.Second, "gemini-cli": 30 * time.Second, "gemini-cli-fallback": 30 * time.Second,
			"go-retryablehttp": 30 * time.Second, "cenkalti-backoff": time.Minute, "grpc": time.Second,
		}
		for _, name := range []string{"openai-python", "openai-node", "openai-go", "anthropic-python", "anthropic-ts", "anthropic-go"} {
			bounds[name] = 8 * time.Second
		}
		bound, ok := bounds[preset]
		if !ok {
			return false
		}
		var all [2][]time.Duration
		for seed := range all {
			all[seed] = (&exam{seed: uint64(seed), says: steadily(refusal(503, wire.Overloaded))}).run(t, preset).waits()
		}
		for i := range min(len(all[0]), len(all[1])) {
			if a, b := all[0][i], all[1][i]; a > bound || b > bound || i > 0 && all[0][0] != all[1][0] && a == b && a == bound {
				return true
			}
		}
		return false
	},
}

func every(gap time.Duration, n int) (times []time.Duration) {
	for i := range n {
		times = append(times, gap*time.Duration(i))
	}
	return times
}

// blocked reports whether a call that begins 100 ms after the other calls of its process
// is refused, or waits for more than half a second. The provider would answer it; says
// returns the replies to the others.
func blocked(t *testing.T, preset string, others []time.Duration, says func(call uint64) wire.Reply) bool {
	last := uint64(len(others))
	begins := others[last-1] + 100*ms
	x := (&exam{arrivals: append(slices.Clone(others), begins), horizon: begins + time.Second, says: func(a attempt) (time.Duration, wire.Reply) {
		if a.call == last {
			return ms, well
		}
		return 200 * ms, says(a.call)
	}}).run(t, preset)
	for _, a := range x.seen {
		if a.call == last {
			return a.at > begins+500*ms
		}
	}
	return true
}

// Each preset fails exactly the cases in the table.
func TestPresetsFailCases(t *testing.T) {
	var numbers []int
	for _, c := range presets.ClientCases {
		numbers = append(numbers, c.Number)
		require.NotNil(t, caseChecks[c.Number], c.Number)
	}
	require.Len(t, caseChecks, len(numbers))
	for _, p := range presets.Presets() {
		t.Run(p.Name, func(t *testing.T) {
			var all []string
			for _, n := range numbers {
				if caseChecks[n](t, p.Name) {
					all = append(all, fmt.Sprint(n))
				}
			}
			require.Equal(t, presets.CasesFailed(p.Name), strings.Join(all, " "))
		})
	}
}
