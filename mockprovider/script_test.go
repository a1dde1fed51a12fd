package mockprovider

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// A script steps a provider, line by line, and says what it must do:
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

// play plays a script and returns the provider as it is then.
func play(t *testing.T, cfg Config, script string) *Provider {
	t.Helper()
	s := staged(t, cfg)
	s.run(script)
	return s.provider
}

// staged is a provider that plays one script after the other.
func staged(t *testing.T, cfg Config) *stage {
	t.Helper()
	p, err := New(cfg, draw.New(1))
	require.NoError(t, err)
	return &stage{t: t, provider: p, jobs: map[uint32]uint32{}}
}

// run plays a script.
func (s *stage) run(script string) {
	s.t.Helper()
	for i, line := range strings.Split(script, "\n") {
		line, _, _ = strings.Cut(line, "#")
		left, want, expects := strings.Cut(strings.TrimSpace(line), "->")
		if left == "" {
			continue
		}
		got, err := s.play(strings.Fields(left))
		fmt.Fprintf(&s.trace, "%12v  %s-> %s\n", s.now, left, got)
		if want = strings.TrimSpace(want); err != nil || expects && got != want {
			s.t.Fatalf("line %d: want %s, err %v\ntrace:\n%s", i+1, want, err, s.trace.String())
		}
	}
}

// stage is a provider and what its driver knows.
type stage struct {
	t        *testing.T
	provider *Provider
	now      time.Duration
	jobs     map[uint32]uint32 // of each ticket in service
	trace    strings.Builder
}

func (s *stage) play(words []string) (string, error) {
	if at, ok := strings.CutPrefix(words[0], "@"); ok {
		t, err := time.ParseDuration(at)
		if err != nil || t < s.now {
			return "", fmt.Errorf("time %s, %w", at, err)
		}
		s.now, words = t, words[1:]
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
	for _, e := range s.provider.Step(s.now, &in, nil) {
		if e.Kind == wire.Started {
			s.jobs[e.Ticket] = e.Job
		}
		done = append(done, describe(&e))
	}
	if len(done) == 0 {
		return none, nil
	}
	return strings.Join(done, "; "), nil
}

// describe writes an effect as scripts do.
func describe(e *wire.Effect) string {
	switch e.Kind {
	case wire.Started:
		return fmt.Sprintf("%d started %v", e.Ticket, e.After)
	case wire.Dropped:
		return fmt.Sprintf("%d dropped", e.Ticket) + timesOf(e)
	case wire.Broke:
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
		s += fmt.Sprintf(" %s tokens=%d", Spoil{Body: r.Body}.Name(), r.Tokens)
	}
	if r.Code != 0 {
		s += fmt.Sprintf(" code=%d", r.Code)
	}
	if r.RetryAfter != wire.NoHint {
		s += fmt.Sprintf(" after=%v", r.RetryAfter)
	}
	if r.Limit != 0 || r.Remaining != 0 {
		s += fmt.Sprintf(" limit=%d left=%d", r.Limit, r.Remaining)
	}
	return s + timesOf(e)
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

// takes is a service that always takes so long.
func takes(d time.Duration) Service { return Service{First: draw.Const(d)} }

// arrivals steps a provider with arrivals at the given times, whose work is
// over at once, and returns how many it accepted.
func arrivals(t *testing.T, p *Provider, at ...time.Duration) (accepted int) {
	t.Helper()
	for i, now := range at {
		effects := p.Step(now, &wire.Input{Kind: wire.Arrive, Request: wire.Request{Call: uint64(i)}}, nil)
		require.Len(t, effects, 1)
		if effects[0].Kind == wire.Started {
			accepted++
			p.Step(now, &wire.Input{Kind: wire.Done, Job: effects[0].Job}, nil)
		}
	}
	return accepted
}

// evenly returns n times, evenly spread over [from, to).
func evenly(n int, from, to time.Duration) (at []time.Duration) {
	for i := range n {
		at = append(at, from+(to-from)*time.Duration(i)/time.Duration(n))
	}
	return at
}
