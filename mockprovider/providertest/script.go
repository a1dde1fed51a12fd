// Package providertest has what tests of providers, limits and faults share:
// scripts that step a provider, and choices made from the bytes of a fuzzer.
package providertest

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"herdlab/mockprovider/wire"
)

// Stepper is what is tested: a mockprovider.Provider.
type Stepper interface {
	Step(now time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect
}

// Stage steps a provider by scripts, one after the other. A script has a line for
// each step, with the effects that are expected:
//
//	arrive 1 -> 1 started 2s
//	@1s arrive 2 account=1 -> 2 429 rate after=59s limit=1 left=0 in 50ms
//	arrive 3 -> queued
//	@2s done 1 -> 1 200 ok slot=2s; 3 started 2s
//
// A line is [@time] event [name=n]… -> effects. Events are arrive, abandon and
// done with a ticket, and tick. Names are key, account, address, model, region,
// tokens (of the output), input (tokens), max (tokens), prio, stream (1), call
// (the ticket if left out) and attempt (1). An effect is written with its ticket;
// queued and nothing mean that there is none.
type Stage[P Stepper] struct {
	Provider P
	Now      time.Duration

	t     testing.TB
	jobs  map[uint32]uint32 // of each ticket in service
	trace strings.Builder
}

// NewStage returns a stage for a provider at time 0.
func NewStage[P Stepper](t testing.TB, p P) *Stage[P] {
	return &Stage[P]{t: t, Provider: p, jobs: map[uint32]uint32{}}
}

// Run plays a script. It fails the test where an effect differs.
func (s *Stage[P]) Run(script string) {
	s.t.Helper()
	for i, line := range strings.Split(script, "\n") {
		line, _, _ = strings.Cut(line, "#")
		left, want, expects := strings.Cut(strings.TrimSpace(line), "->")
		if left == "" {
			continue
		}
		got, err := s.play(strings.Fields(left))
		fmt.Fprintf(&s.trace, "%12v  %s-> %s\n", s.Now, left, got)
		if want = strings.TrimSpace(want); err != nil || expects && got != want {
			s.t.Fatalf("line %d: want %s, err %v\ntrace:\n%s", i+1, want, err, s.trace.String())
		}
	}
}

// play plays one line and returns its effects.
func (s *Stage[P]) play(words []string) (string, error) {
	if at, ok := strings.CutPrefix(words[0], "@"); ok {
		t, err := time.ParseDuration(at)
		if err != nil || t < s.Now {
			return "", fmt.Errorf("time %s, %w", at, err)
		}
		s.Now, words = t, words[1:]
	}
	var in wire.Input
	numbers := map[string]uint64{}
	for i, w := range words[1:] {
		name, number, ok := strings.Cut(w, "=")
		if i == 0 {
			name, number, ok = "ticket", w, true
		}
		n, err := strconv.ParseUint(number, 10, 32)
		if err != nil || !ok {
			return "", fmt.Errorf("cannot read %q", w)
		}
		numbers[name] = n
	}
	in.Ticket = uint32(numbers["ticket"])
	in.Request = wire.Request{
		Call: numbers["ticket"], Attempt: max(1, uint32(numbers["attempt"])),
		Account: uint32(numbers["account"]), Address: uint32(numbers["address"]),
		Target: wire.Target{Key: uint8(numbers["key"]), Model: uint8(numbers["model"]), Region: uint8(numbers["region"])},
		Demand: wire.Demand{
			InputTokens: uint32(numbers["input"]), OutputTokens: uint32(numbers["tokens"]), MaxTokens: uint32(numbers["max"]), Priority: uint8(numbers["prio"]),
		},
		Stream: numbers["stream"] == 1,
	}
	if call, ok := numbers["call"]; ok {
		in.Request.Call = call
	}
	none := "nothing"
	switch words[0] {
	case "arrive":
		in.Kind, none = wire.Arrive, "queued"
	case "abandon":
		in.Kind = wire.Abandon
	case "tick":
		in.Kind = wire.Tick
	case "done":
		job, ok := s.jobs[in.Ticket]
		if !ok {
			return "", fmt.Errorf("ticket %d is not in service", in.Ticket)
		}
		in.Kind, in.Job = wire.Done, job
		delete(s.jobs, in.Ticket)
	default:
		return "", fmt.Errorf("there is no event %q", words[0])
	}
	var done []string
	for _, e := range s.Provider.Step(s.Now, &in, nil) {
		if e.Kind == wire.Started {
			s.jobs[e.Ticket] = e.Job
		}
		done = append(done, Describe(&e))
	}
	if len(done) == 0 {
		return none, nil
	}
	return strings.Join(done, "; "), nil
}

// Describe returns an effect as scripts write it.
func Describe(e *wire.Effect) string {
	switch e.Kind {
	case wire.Started:
		return fmt.Sprintf("%d started %v", e.Ticket, e.After)
	case wire.Dropped:
		return fmt.Sprintf("%d dropped", e.Ticket) + timesOf(e)
	case wire.LostConnection:
		return fmt.Sprintf("%d broke", e.Ticket) + timesOf(e)
	case wire.Head:
		return fmt.Sprintf("%d head", e.Ticket) + timesOf(e)
	}
	r := &e.Reply
	s := fmt.Sprintf("%d %d %v", e.Ticket, r.Status, r.Class)
	if r.Shown != r.Class && r.Code == 0 {
		s += fmt.Sprintf(" as %v", r.Shown)
	}
	if r.Body > wire.CodeBody {
		s += fmt.Sprintf(" %s tokens=%d", bodies[r.Body], r.Tokens)
	}
	if r.Code != 0 {
		s += fmt.Sprintf(" code=%d", r.Code)
	}
	if r.Hint.Value != wire.NoHint {
		s += fmt.Sprintf(" after=%v", r.Hint.Value)
	}
	if r.Limit != 0 || r.Remaining != 0 {
		s += fmt.Sprintf(" limit=%d left=%d", r.Limit, r.Remaining)
	}
	return s + timesOf(e)
}

// bodies are the names of what faults make of an answer.
var bodies = [wire.NumBodies]string{
	wire.StreamError: "stream error", wire.SilentEnd: "silent end", wire.TruncatedBody: "cut body",
	wire.Garbage: "garbage", wire.WrongType: "wrong type", wire.Doubled: "doubled",
}

func timesOf(e *wire.Effect) (s string) {
	if e.After != 0 {
		s += fmt.Sprintf(" in %v", e.After)
	}
	if e.Slot != 0 {
		s += fmt.Sprintf(" slot=%v", e.Slot)
	}
	if e.Cost != 0 {
		s += fmt.Sprintf(" cost=%d", e.Cost)
	}
	return s
}

// Arrivals steps a provider with arrivals at the given times, whose work is
// over at once, and returns how many it accepted.
func Arrivals(t testing.TB, p Stepper, at ...time.Duration) (accepted int) {
	t.Helper()
	for i, now := range at {
		effects := p.Step(now, &wire.Input{Kind: wire.Arrive, Request: wire.Request{Call: uint64(i)}}, nil)
		if len(effects) != 1 {
			t.Fatalf("arrival at %v: %d effects, not 1", now, len(effects))
		}
		if effects[0].Kind == wire.Started {
			accepted++
			p.Step(now, &wire.Input{Kind: wire.Done, Job: effects[0].Job}, nil)
		}
	}
	return accepted
}

// Evenly returns n times, evenly spread over [from, to).
func Evenly(n int, from, to time.Duration) (at []time.Duration) {
	for i := range n {
		at = append(at, from+(to-from)*time.Duration(i)/time.Duration(n))
	}
	return at
}
