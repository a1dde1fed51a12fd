package strategytest

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// A script tells a strategy what happens, line by line, and says what it must
// answer:
//
//	# three clients share a breaker
//	a: begin -> send
//	a: 503 after=3s -> wait [3s,4s)
//	@2s b: begin -> queued until 2.5s
//	a: wake -> send
//	a: 200 -> stop succeeded
//
// A line is [@time] [call:] event [after=hint] [attempt=n] [tokens=n] [says=stop]
// [priority=n] -> decision; tokens are what came before an answer broke. The
// call is written [fleet/]client[.call] and is "a" if left out. A time sets the
// clock; a wake sets it to the end of that call's wait. Events are begin, sent,
// head, wake, admitted, joined, cancelled, lost, expired, settled, and replies: an HTTP
// status as wire.ByStatus reads it, or a class by name. Decisions are send, idle, answer,
// abandon n, follow, stop reason [class], wait d, wait [lo,hi), queued [until
// t]; the event admitted may also be refused [until t]. What a strategy asks for
// beside its decision follows in order, but for what it gives back to pools:
// + wake d, + hang up n, + leave, + land followers, + alarm reason, + note reason.
//
// The script plays the driver: it owns the memory, keeps the lines before
// pools, and fails with the whole trace.

// Play plays a script for one fleet.
func Play(t *testing.T, layers []strategies.Layer, script string) {
	t.Helper()
	PlayFleets(t, map[string][]strategies.Layer{"": layers}, script)
}

// PlayFleets plays a script for several fleets that share a commons; twice,
// since a driver may grant units of pools directly or not.
func PlayFleets(t *testing.T, stacks map[string][]strategies.Layer, script string) {
	t.Helper()
	for _, direct := range []bool{false, true} {
		w := NewWorld(t, stacks, 1)
		w.Direct = direct
		w.Script(script)
	}
}

// Script plays all lines of a script.
func (w *World) Script(text string) {
	w.t.Helper()
	for i, line := range strings.Split(text, "\n") {
		if line, _, _ = strings.Cut(line, "#"); strings.TrimSpace(line) != "" {
			w.line(i+1, strings.TrimSpace(line))
		}
	}
}

// line plays one line of a script.
func (w *World) line(number int, text string) {
	w.t.Helper()
	fail := func(format string, args ...any) {
		w.t.Helper()
		w.t.Fatalf("line %d: %s\ngrants: direct %v\ntrace:\n%s  > %s", number, fmt.Sprintf(format, args...), w.Direct, w.trace.String(), text)
	}
	left, want, expects := strings.Cut(text, "->")
	fields := strings.Fields(left)
	if at, ok := strings.CutPrefix(fields[0], "@"); ok {
		t := duration(fail, at)
		if t < w.Now {
			fail("time runs backwards, it is %v", w.Now)
		}
		w.Now, fields = t, fields[1:]
	}
	if len(fields) == 0 {
		return
	}
	name := "a"
	if n, ok := strings.CutSuffix(fields[0], ":"); ok {
		name, fields = n, fields[1:]
	}
	if !expects {
		fail("what is expected?")
	}
	c := w.Call(name)
	e := w.event(fail, c, fields)
	c.besides = c.besides[:0]
	var got string
	if e.Kind == strategies.Admitted {
		got = w.admit(fail, c)
	} else {
		got = w.describe(c, c.Next(e))
	}
	for _, b := range c.besides {
		got += " + " + b
	}
	fmt.Fprintf(&w.trace, "%12v  %s -> %s\n", w.Now, strings.TrimSpace(left), got)
	if want = strings.TrimSpace(want); !matches(fail, got, want) {
		fail("got %s, want %s", got, want)
	}
}

// event reads what happens to c.
func (w *World) event(fail func(string, ...any), c *Caller, fields []string) strategies.Event {
	o := &wire.Outcome{RetryAfter: wire.NoHint}
	e := strategies.Event{Attempt: c.Attempts, Outcome: o}
	hint := wire.NoHint
	for _, f := range fields[1:] {
		if v, ok := strings.CutPrefix(f, "after="); ok {
			hint = duration(fail, v)
		} else if v, ok := strings.CutPrefix(f, "attempt="); ok {
			n, err := strconv.ParseUint(v, 10, 32)
			if err != nil {
				fail("%v", err)
			}
			e.Attempt = uint32(n)
		} else if v, ok := strings.CutPrefix(f, "tokens="); ok {
			n, err := strconv.ParseUint(v, 10, 32)
			if err != nil {
				fail("%v", err)
			}
			defer func() { o.Begun, o.Tokens = true, uint32(n) }()
		} else if v, ok := strings.CutPrefix(f, "priority="); ok {
			n, err := strconv.ParseUint(v, 10, 8)
			if err != nil {
				fail("%v", err)
			}
			c.Demand.Priority = uint8(n)
		} else if v, ok := strings.CutPrefix(f, "says="); ok {
			defer func() { o.Marks = map[string]wire.Marks{"stop": wire.ShouldNotRetry, "retry": wire.ShouldRetry}[v] }()
		} else {
			fail("cannot read %q", f)
		}
	}
	kinds := map[string]strategies.EventKind{"begin": strategies.Begin, "sent": strategies.Sent, "wake": strategies.Wake, "admitted": strategies.Admitted, "joined": strategies.Joined, "cancelled": strategies.Cancelled}
	if kind, ok := kinds[fields[0]]; ok {
		switch kind {
		case strategies.Wake:
			if !c.Waits || c.WakesAt < w.Now {
				fail("nothing wakes it now: waits %v, until %v", c.Waits, c.WakesAt)
			}
			w.Now, c.Waits = c.WakesAt, false
		case strategies.Joined:
			if !c.Landed {
				fail("the call that it follows is under way")
			}
			c.Landed = false
			return strategies.Event{Kind: strategies.Joined, Outcome: &wire.Outcome{Class: c.Joined.Class, RetryAfter: hint}}
		case strategies.Cancelled:
			c.Waits = false
			if c.Line != nil {
				c.LeaveLine()
			}
		case strategies.Sent:
			return strategies.Event{Kind: kind, Attempt: e.Attempt}
		}
		return strategies.Event{Kind: kind}
	}
	switch fields[0] {
	case "head":
		e.Kind = strategies.Head
	case "lost":
		e.Kind, o.Class = strategies.Lost, wire.ConnectionLost
	case "expired":
		e.Kind, o.Class = strategies.Expired, wire.Timeout
	case "settled":
		e.Kind, o.Class = strategies.Settled, wire.Cancelled
	default:
		e.Kind = strategies.Reply
		if status, err := strconv.ParseUint(fields[0], 10, 16); err == nil {
			wire.ByStatus{}.Read(&wire.Reply{Status: uint16(status), Hint: wire.Hint{Value: hint}}, 0, o)
			return e
		}
		for o.Class = 0; o.Class.String() != fields[0]; o.Class++ {
			if o.Class == wire.NumClasses {
				fail("there is no event %q", fields[0])
			}
		}
		o.RetryAfter = hint
	}
	return e
}

// admit lets c in if it is first in its line and the units are there.
func (w *World) admit(fail func(string, ...any), c *Caller) string {
	if c.Line == nil {
		fail("it does not stand in line")
	}
	if w.Lines[c.Line][0] != c {
		return "refused"
	}
	p, m := c.Pool(c.Wants.Pool)
	ok, ready := p.TryTake(w.Now, m, c.Wants.N)
	switch {
	case ok:
		c.LeaveLine()
		return w.describe(c, c.Next(strategies.Event{Kind: strategies.Admitted}))
	case ready == strategies.Never:
		return "refused"
	default:
		return fmt.Sprintf("refused until %v", ready)
	}
}

// describe writes a decision as scripts do.
func (w *World) describe(c *Caller, d strategies.Decision) string {
	switch d.Kind {
	case strategies.Idle:
		return "idle"
	case strategies.Send:
		return "send"
	case strategies.Wait:
		return fmt.Sprintf("wait %v", d.After)
	case strategies.Acquire:
		if w.Lines[c.Line][0] == c {
			p, m := c.Pool(d.Take.Pool)
			if _, ready := p.TryTake(w.Now, m, d.Take.N); ready != strategies.Never {
				return fmt.Sprintf("queued until %v", ready)
			}
		}
		return "queued"
	case strategies.Join:
		return "follow"
	case strategies.Answer:
		return "answer"
	case strategies.Abandon:
		return fmt.Sprintf("abandon %d", d.Take.N)
	case strategies.Stop:
		return fmt.Sprintf("stop %v %v", d.End.Reason, d.End.Class)
	}
	return fmt.Sprintf("decision(%d)", d.Kind)
}

// matches compares what a strategy decided with what a script expects.
func matches(fail func(string, ...any), got, want string) bool {
	got, did, _ := strings.Cut(got, " + ")
	want, does, _ := strings.Cut(want, " + ")
	if did != does {
		return false
	}
	if bounds, ok := strings.CutPrefix(want, "wait ["); ok {
		lo, hi, ok1 := strings.Cut(strings.TrimSuffix(bounds, ")"), ",")
		wait, ok2 := strings.CutPrefix(got, "wait ")
		if !ok1 || !ok2 {
			return false
		}
		d := duration(fail, wait)
		return duration(fail, lo) <= d && d < duration(fail, hi)
	}
	for _, prefix := range []string{"wait ", "queued until ", "refused until "} {
		if w, ok := strings.CutPrefix(want, prefix); ok {
			g, ok := strings.CutPrefix(got, prefix)
			return ok && duration(fail, g) == duration(fail, w)
		}
	}
	if strings.HasPrefix(want, "stop ") && strings.Count(want, " ") == 1 { // any class
		return strings.HasPrefix(got, want+" ")
	}
	return got == want
}

func duration(fail func(string, ...any), s string) time.Duration {
	d, err := time.ParseDuration(strings.TrimSpace(s))
	if err != nil {
		fail("%v", err)
	}
	return d
}
