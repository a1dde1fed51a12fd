package conformance

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/dialect"
	"herdlab/mockprovider/wire"
)

// attempt is one request at the provider of a trial.
type attempt struct {
	call, number int // the number counts the call's attempts from 1
	at           time.Duration
}

// trial is some processes of a client and a provider whose reply is a function. The
// parent module's tests run the same trials for the presets, in the simulator.
type trial struct {
	arrivals  []time.Duration // of the calls; one at 0 if nil
	processes bool            // each call is in a process of its own
	stream    bool
	patience  time.Duration
	patiences []time.Duration                                   // of each call, if it is not nil
	horizon   time.Duration                                     // an hour if 0
	respond   func(attempt) (after time.Duration, r wire.Reply) // without a status it says nothing, ever

	requests []attempt
	ok       map[int]bool
	mu       sync.Mutex
	attempts map[int]int
	stage    scriptedServer
}

type callKey struct{}

// RoundTrip implements http.RoundTripper.
func (x *trial) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return nil, err
		}
		r.Body.Close()
	}
	call, _ := r.Context().Value(callKey{}).(int)
	x.mu.Lock()
	x.attempts[call]++
	a := attempt{call, x.attempts[call], time.Since(startTime)}
	x.requests = append(x.requests, a)
	after, reply := x.respond(a)
	x.mu.Unlock()
	wait := time.After(after)
	if reply.Status == 0 {
		wait = nil
	}
	select {
	case <-wait:
	case <-r.Context().Done():
		return nil, context.Cause(r.Context())
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return respond(x.stage.write(&scriptedReply{reply: reply}, time.Since(startTime)), r), nil
}

// run runs the trial with the real code of a client.
func (x *trial) run(t *testing.T, c *client) *trial {
	speak, _ := dialect.ByName(c.dialects[0])
	x.requests, x.ok, x.attempts = nil, map[int]bool{}, map[int]int{}
	x.stage = scriptedServer{script: &script{stream: x.stream}, dialect: speak, result: &runResult{}}
	if x.arrivals == nil {
		x.arrivals = []time.Duration{0}
	}
	if x.horizon == 0 {
		x.horizon = time.Hour
	}
	synctest.Test(t, func(*testing.T) {
		time.Sleep(time.Until(startTime))
		life, end := context.WithCancel(context.Background())
		defer end()
		process := c.open(x)
		var all sync.WaitGroup
		for i, at := range x.arrivals {
			call := process
			if x.processes {
				call = c.open(x)
			}
			all.Go(func() {
				time.Sleep(at)
				ctx, cancel := context.WithCancel(context.WithValue(life, callKey{}, i))
				defer cancel()
				patience := x.patience
				if x.patiences != nil {
					patience = x.patiences[i]
				}
				if patience > 0 {
					defer time.AfterFunc(patience, cancel).Stop() // not a deadline, because some clients read it in advance
				}
				err := call(ctx, x.stream)
				x.mu.Lock()
				defer x.mu.Unlock()
				x.ok[i] = err == nil
			})
		}
		time.AfterFunc(x.horizon, end)
		all.Wait()
	})
	return x
}

// steadyAfter10ms gives all requests the same reply after 10 ms.
func steadyAfter10ms(r scriptedReply) func(attempt) (time.Duration, wire.Reply) {
	return func(attempt) (time.Duration, wire.Reply) { return 10 * ms, r.reply }
}

// waits returns the times between a reply of steadyAfter10ms and the next attempt, for a
// single call.
func (x *trial) waits() (all []time.Duration) {
	for i := 1; i < len(x.requests); i++ {
		all = append(all, x.requests[i].at-x.requests[i-1].at-10*ms)
	}
	return all
}

func every(gap time.Duration, n int) (times []time.Duration) {
	for i := range n {
		times = append(times, gap*time.Duration(i))
	}
	return times
}

func turnedAway(check func(r scriptedReply) bool) bool { return slices.ContainsFunc(refusals, check) }

// caseChecks are the cases of the parent module's TestPresetsFailCases, which explains
// them. Cases that would not end are shorter here.
var caseChecks = []struct {
	number int
	fails  func(t *testing.T, c *client) bool
}{
	{1, func(t *testing.T, c *client) bool {
		return turnedAway(func(r scriptedReply) bool {
			return len((&trial{arrivals: every(20*time.Minute, 4), horizon: 2 * time.Hour, respond: steadyAfter10ms(r)}).run(t, c).requests) > 4
		})
	}},
	{4, func(t *testing.T, c *client) bool {
		return turnedAway(func(r scriptedReply) bool {
			x := (&trial{arrivals: make([]time.Duration, 100), processes: true, horizon: 10 * time.Minute, respond: func(a attempt) (time.Duration, wire.Reply) {
				if a.at >= time.Minute {
					return ms, well.reply
				}
				return ms, asks(r, max(0, time.Minute-a.at-ms), wire.ExactSeconds).reply
			}}).run(t, c)
			perSecond := map[time.Duration]int{}
			for _, a := range x.requests {
				if perSecond[a.at/time.Second]++; a.number > 1 && (a.at < time.Minute || perSecond[a.at/time.Second] > 40) {
					return true
				}
			}
			return false
		})
	}},
	{5, func(t *testing.T, c *client) bool {
		return turnedAway(func(r scriptedReply) bool {
			for how, asked := range map[wire.Spelling]time.Duration{
				wire.HeaderSeconds: 3 * time.Second, wire.HeaderMillis: 555 * ms, wire.HeaderDate: 30 * time.Second, wire.HeaderDuration: 6 * time.Minute,
				wire.BodySeconds: 2500 * ms, wire.BodyMillis: 555 * ms, wire.BodyDelay: 34070 * ms, wire.Sentence: 1898 * ms,
			} {
				w := (&trial{horizon: 10 * time.Minute, respond: steadyAfter10ms(asks(r, asked, how))}).run(t, c).waits()
				for _, unit := range []time.Duration{60, 1000, 3600, 1_000_000} {
					if len(w) > 0 && (w[0]*unit == asked || w[0] == asked*unit) {
						return true
					}
				}
			}
			return false
		})
	}},
	{6, func(t *testing.T, c *client) bool {
		return turnedAway(func(r scriptedReply) bool {
			x := (&trial{horizon: 48 * time.Hour, respond: func(attempt) (time.Duration, wire.Reply) { return time.Second, r.reply }}).run(t, c)
			late := 0
			for _, a := range x.requests {
				if a.at > 83_295*time.Second {
					late++
				}
			}
			return late > 25
		})
	}},
	{7, func(t *testing.T, c *client) bool {
		arrivals := []time.Duration{0}
		for i := range time.Duration(2000) {
			arrivals = append(arrivals, 10*time.Second+i*time.Microsecond)
		}
		arrivals = append(arrivals, 11100*ms)
		last := time.Duration(-1)
		(&trial{arrivals: arrivals, patience: time.Second, horizon: 5 * time.Minute, respond: func(a attempt) (time.Duration, wire.Reply) {
			if a.call == 2001 {
				last = a.at
			}
			return 10 * ms, well.reply
		}}).run(t, c)
		return last < 0 || last > 14100*ms
	}},
	{8, func(t *testing.T, c *client) bool {
		return slices.ContainsFunc([]scriptedReply{says(400, wire.TooLarge), outOf, says(429, wire.TooLarge)}, func(r scriptedReply) bool {
			return len((&trial{horizon: time.Minute, respond: steadyAfter10ms(r)}).run(t, c).requests) > 1
		})
	}},
	{9, func(t *testing.T, c *client) bool {
		return turnedAway(func(r scriptedReply) bool {
			x := (&trial{arrivals: make([]time.Duration, 25), processes: true, horizon: 10 * time.Minute, respond: steadyAfter10ms(r)}).run(t, c)
			at := map[time.Duration]bool{}
			for _, a := range x.requests {
				if a.number == 2 {
					if at[a.at] {
						return true
					}
					at[a.at] = true
				}
			}
			return false
		})
	}},
	{10, func(t *testing.T, c *client) bool {
		return turnedAway(func(r scriptedReply) bool {
			hung := false
			x := (&trial{arrivals: every(15*time.Second, 130), respond: func(a attempt) (time.Duration, wire.Reply) {
				if a.at < 2*time.Minute {
					return 100 * ms, r.reply
				}
				if !hung {
					hung = true
					return 0, wire.Reply{}
				}
				return 10 * ms, well.reply
			}}).run(t, c)
			return x.requests[len(x.requests)-1].at < 30*time.Minute
		})
	}},
	{11, func(t *testing.T, c *client) bool {
		return turnedAway(func(r scriptedReply) bool {
			x := (&trial{arrivals: make([]time.Duration, 1000), respond: func(a attempt) (time.Duration, wire.Reply) {
				if a.number > 1 {
					return 10 * ms, well.reply
				}
				return 10 * ms, r.reply
			}}).run(t, c)
			return len(x.requests) > 1200
		})
	}},
	{12, func(t *testing.T, c *client) bool {
		const s = time.Second
		return turnedAway(func(r scriptedReply) bool {
			for _, row := range []struct {
				how   wire.Spelling
				asked time.Duration
			}{
				{wire.HeaderSeconds, 60 * s}, {wire.ExactSeconds, 1500 * ms}, {wire.HeaderDate, 30 * s}, {wire.HeaderDate, -60 * s},
				{wire.HeaderSeconds, 0}, {wire.HeaderSeconds, 75 * s}, {wire.HeaderSeconds, 451 * s}, {wire.HeaderSeconds, 3600 * s},
				{wire.HeaderSeconds, 198_300 * s}, {wire.HeaderSeconds, 1_743_441_608 * s}, {wire.HeaderDuration, 360 * s},
			} {
				w := (&trial{horizon: 1_800_000_000 * s, respond: func(a attempt) (time.Duration, wire.Reply) {
					if a.number > 2 {
						return 10 * ms, well.reply
					}
					return 10 * ms, asks(r, row.asked, row.how).reply
				}}).run(t, c).waits()
				switch {
				case len(w) == 0:
				case w[0] < row.asked, w[0] >= time.Hour, row.asked <= 0 && len(w) > 1 && w[0] <= 0 && w[1] <= 0:
					return true
				}
			}
			return false
		})
	}},
	{13, func(t *testing.T, c *client) bool {
		return (&trial{horizon: time.Minute, respond: steadyAfter10ms(asks(saysNo, 3*time.Second, wire.BodySeconds))}).run(t, c).ok[0]
	}},
	{14, func(t *testing.T, c *client) bool {
		broken := func(tokens uint32) *trial {
			r := scriptedReply{reply: wire.Reply{Status: 200, Shown: wire.Overloaded, Body: wire.StreamError, Tokens: tokens, Hint: wire.Hint{Value: wire.NoHint}}}
			return (&trial{horizon: 10 * time.Minute, stream: true, respond: steadyAfter10ms(r)}).run(t, c)
		}
		late := broken(30)
		return len(broken(0).requests) < 2 || len(late.requests) > 1 || late.ok[0]
	}},
	{15, func(t *testing.T, c *client) bool {
		return turnedAway(func(r scriptedReply) bool {
			tasks := func(n int) int {
				return len((&trial{arrivals: every(10*time.Second, n), horizon: 5 * time.Hour, respond: func(attempt) (time.Duration, wire.Reply) { return 5 * time.Second, r.reply }}).run(t, c).requests)
			}
			return 10*tasks(10) >= 9*10*tasks(1)
		})
	}},
	{17, func(t *testing.T, c *client) bool {
		return shutOut(t, c, every(time.Second, 30), func(int) scriptedReply { return says(400, wire.TooLarge) })
	}},
	{18, func(t *testing.T, c *client) bool {
		opens := func(says func(int) scriptedReply) bool { return shutOut(t, c, every(time.Second, 30), says) }
		return opens(func(int) scriptedReply { return busy }) && !opens(func(call int) scriptedReply { return []scriptedReply{busy, limited}[call%2] })
	}},
	{19, func(t *testing.T, c *client) bool {
		return turnedAway(func(r scriptedReply) bool {
			return shutOut(t, c, every(time.Second, 20), func(int) scriptedReply { return r })
		})
	}},
	{20, func(t *testing.T, c *client) bool {
		return shutOut(t, c, every(time.Second, 1), func(int) scriptedReply { return says(529, wire.Overloaded) })
	}},
	{21, func(t *testing.T, c *client) bool {
		bound, ok := map[string]time.Duration{
			"openai-go": 8 * time.Second, "anthropic-go": 8 * time.Second, "google-genai-retry": time.Minute, "aws-standard-2026": 20 * time.Second,
			"go-retryablehttp": 30 * time.Second, "cenkalti-backoff": time.Minute,
		}[c.preset]
		if !ok {
			return false
		}
		var all [2][]time.Duration
		for i := range all {
			all[i] = (&trial{respond: steadyAfter10ms(busy)}).run(t, c).waits()
		}
		for i := range min(len(all[0]), len(all[1])) {
			if a, b := all[0][i], all[1][i]; a > bound || b > bound || i > 0 && all[0][0] != all[1][0] && a == b && a == bound {
				return true
			}
		}
		return false
	}},
}

// shutOut reports whether a call 100 ms after others of its process waits for more than
// half a second or is refused, although it would be answered. The others get the replies
// of says.
func shutOut(t *testing.T, c *client, others []time.Duration, says func(call int) scriptedReply) bool {
	last := len(others)
	comes := others[last-1] + 100*ms
	x := (&trial{arrivals: append(slices.Clone(others), comes), horizon: comes + time.Second, respond: func(a attempt) (time.Duration, wire.Reply) {
		if a.call == last {
			return ms, well.reply
		}
		return 200 * ms, says(a.call).reply
	}}).run(t, c)
	for _, a := range x.requests {
		if a.call == last {
			return a.at > comes+500*ms
		}
	}
	return true
}

// The real code fails exactly the cases that the table lists for its preset.
func TestFailedCasesOfRealCode(t *testing.T) {
	table := tableOfFailings(t)
	for i := range clients {
		c := &clients[i]
		t.Run(c.preset, func(t *testing.T) {
			var all []string
			for _, check := range caseChecks {
				if check.fails(t, c) {
					all = append(all, fmt.Sprint(check.number))
				}
			}
			require.Equal(t, table[c.preset].cases, strings.Join(all, " "))
		})
	}
}
