package strategytest

import (
	"container/heap"
	"fmt"
	"slices"
	"testing"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/saturating"
	"herdlab/strategies"
)

// Lab is a small simulator: many calls of one stack against a server that is one
// function. It is for tests of properties of many calls, which are too long for a
// script.
type Lab struct {
	*World
	Queue labQueue
	seq   int
	still int                      // events at this instant
	Lined []*int64                 // the queues that calls have waited in
	look  map[*int64]time.Duration // when to check a queue again
	// Serve returns the outcome of an attempt and the time until it. Ended, if not
	// nil, is called at that time.
	Serve func(c *Caller) (after time.Duration, o wire.Outcome)
	Ended func(c *Caller, o *wire.Outcome)
	// Settled, if not nil, is called when a call is settled.
	Settled func(c *Caller, d strategies.Decision)
	hung    map[flying]bool  // abandoned, so that no event reports its end
	Raised  map[string]int   // how often each note and alarm was raised
	Gone    map[*Caller]bool // cancelled calls
	// Sent is when attempts were sent, in order.
	Sent []time.Duration
}

// flying is one attempt.
type flying struct {
	c       *Caller
	attempt uint32
	born    time.Duration
}

type labEvent struct {
	at    time.Duration
	seq   int
	c     *Caller
	event strategies.Event
	wake  time.Duration // of a Wake: when that wait was to end
	born  time.Duration // of a Reply: when its call was
	do    func()
}

type labQueue []labEvent

func (q labQueue) Len() int { return len(q) }
func (q labQueue) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].seq < q[j].seq
}
func (q labQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *labQueue) Push(x any)   { *q = append(*q, x.(labEvent)) }
func (q *labQueue) Pop() any {
	old := *q
	x := old[len(old)-1]
	*q = old[:len(old)-1]
	return x
}

func NewLab(t *testing.T, layers ...strategies.Layer) *Lab {
	t.Helper()
	l := &Lab{World: NewWorld(t, map[string][]strategies.Layer{"": layers}, 1), look: map[*int64]time.Duration{}, hung: map[flying]bool{}, Raised: map[string]int{}, Gone: map[*Caller]bool{}}
	l.Serve = func(*Caller) (time.Duration, wire.Outcome) { return time.Millisecond, Answered }
	return l
}

var Answered = wire.Outcome{Class: wire.OK, RetryAfter: wire.NoHint}

// Refused returns an outcome of the given class, without a hint.
func Refused(c wire.Class) wire.Outcome { return wire.Outcome{Class: c, RetryAfter: wire.NoHint} }

// At calls do at time t.
func (l *Lab) At(t time.Duration, do func()) { l.push(labEvent{at: t, do: do}) }

func (l *Lab) push(e labEvent) {
	l.seq++
	e.seq = l.seq
	heap.Push(&l.Queue, e)
}

// Begin begins a call of the given client now; number tells its calls apart.
func (l *Lab) Begin(client string, number int) *Caller {
	c := l.Call(fmt.Sprintf("%s.%d", client, number))
	l.Step(c, strategies.Event{Kind: strategies.Begin})
	l.admitHeads()
	return c
}

// Run carries out all events before the time until.
func (l *Lab) Run(until time.Duration) {
	for len(l.Queue) > 0 && l.Queue[0].at < until {
		e := heap.Pop(&l.Queue).(labEvent)
		if l.still++; e.at > l.Now {
			l.still = 0
		} else if e.at < l.Now {
			l.t.Fatalf("at %v something is due at %v", l.Now, e.at)
		} else if l.still > 100_000 {
			l.t.Fatalf("time stands still at %v", l.Now)
		}
		l.Now = e.at
		switch {
		case e.do != nil:
			e.do()
		case e.c == nil:
		case e.event.Kind != strategies.Wake:
			if l.Ended != nil && e.event.Terminal() {
				l.Ended(e.c, e.event.Outcome)
			}
			if f := (flying{e.c, e.event.Attempt, e.born}); l.hung[f] {
				delete(l.hung, f)
			} else {
				l.Step(e.c, e.event)
			}
		case e.c.Waits && e.c.WakesAt == e.wake:
			e.c.Waits = false
			l.Step(e.c, e.event)
		}
		l.admitHeads()
	}
	l.Now = until
}

// Step delivers an event to a call and carries out its decision.
func (l *Lab) Step(c *Caller, e strategies.Event) {
	c.besides = c.besides[:0]
	followers := c.followers
	d := c.Next(e)
	for _, b := range c.besides {
		var attempt uint32
		if n, _ := fmt.Sscanf(b, "hang up %d", &attempt); n == 1 {
			l.hung[flying{c, attempt, c.Born}] = true
		}
		l.Raised[b]++
	}
	if l.Gone[c] {
		c.Waits = false // decisions of a cancelled call are ignored
		d = strategies.Decision{}
	}
	l.do(c, d)
	for _, f := range followers {
		switch {
		case f.Landed:
			f.Landed = false
			l.push(labEvent{at: l.Now, c: f, event: strategies.Event{Kind: strategies.Joined, Outcome: &wire.Outcome{Class: f.Joined.Class}}})
		case len(f.promoted) > 0:
			l.do(f, f.promoted[0])
			f.promoted = nil
		}
	}
	if c.Waits {
		l.push(labEvent{at: c.WakesAt, c: c, event: strategies.Event{Kind: strategies.Wake}, wake: c.WakesAt})
	}
}

func (l *Lab) do(c *Caller, d strategies.Decision) {
	switch d.Kind {
	case strategies.Send:
		l.Sent = append(l.Sent, l.Now)
		kind := strategies.Reply
		after, o := l.Serve(c)
		if d.After > 0 && d.After < after {
			kind, after, o = strategies.Expired, d.After, Refused(wire.Timeout)
		}
		o.RetryAfter = max(o.RetryAfter, wire.NoHint)
		l.push(labEvent{at: saturating.Add(l.Now, after), c: c, event: strategies.Event{Kind: kind, Attempt: c.Attempts, Outcome: &o, SentAt: l.Now}, born: c.Born})
	case strategies.Acquire:
		known := false
		for _, line := range l.Lined {
			known = known || line == c.Line
		}
		if !known {
			l.Lined = append(l.Lined, c.Line)
		}
		l.admitHeads()
	case strategies.Stop, strategies.Answer:
		if l.Settled != nil {
			l.Settled(c, d)
		}
	}
}

// Withdraw cancels a call: its attempts are settled, and their later ends are ignored.
func (l *Lab) Withdraw(c *Caller) {
	if c.Line != nil {
		c.LeaveLine()
	}
	c.Waits = false
	if leader := c.Follows; leader != nil {
		leader.followers = slices.DeleteFunc(leader.followers, func(f *Caller) bool { return f == c })
		c.Follows = nil
	}
	l.Gone[c] = true
	for _, e := range l.Queue {
		if f := (flying{e.c, e.event.Attempt, e.born}); e.c == c && e.event.Terminal() && !l.hung[f] {
			l.hung[f] = true
			l.Step(c, strategies.Event{Kind: strategies.Settled, Attempt: f.attempt, Outcome: &wire.Outcome{Class: wire.Cancelled}})
		}
	}
	l.Step(c, strategies.Event{Kind: strategies.Cancelled})
}

// admitHeads admits the calls at the heads of the queues, and plans to return when the
// next call may be admitted.
func (l *Lab) admitHeads() {
	for _, line := range l.Lined {
		for len(l.Lines[line]) > 0 {
			c := l.Lines[line][0]
			p, m := c.Pool(c.Wants.Pool)
			ok, ready := p.TryTake(l.Now, m, c.Wants.N)
			if !ok && ready <= l.Now {
				l.t.Fatalf("at %v a pool refused, with a readyAt that has passed: %v", l.Now, ready)
			}
			if !ok {
				if ready < l.look[line] || ready != strategies.Never && l.look[line] <= l.Now {
					l.look[line] = ready
					l.push(labEvent{at: ready})
				}
				break
			}
			c.LeaveLine()
			l.Step(c, strategies.Event{Kind: strategies.Admitted})
		}
	}
}

// PerBin counts times in bins of the given width, aligned to 0.
func PerBin(times []time.Duration, width time.Duration) map[int]int {
	bins := map[int]int{}
	for _, t := range times {
		bins[int(t/width)]++
	}
	return bins
}

// MostWithin returns the largest number of times in any closed interval of the given
// length.
func MostWithin(times []time.Duration, length time.Duration) (n int) {
	first := 0
	for i, t := range times {
		for t-times[first] > length {
			first++
		}
		n = max(n, i-first+1)
	}
	return n
}

// ClosedLoop starts the given number of clients, each of which makes one call after
// another without a pause; the first calls are spread evenly over the time within.
func (l *Lab) ClosedLoop(clients int, within time.Duration) {
	l.repeat()
	for i := range clients {
		l.At(within*time.Duration(i)/time.Duration(clients), func() { l.Begin(fmt.Sprint("client", i), 0) })
	}
}

// ClosedLoopOf starts one client that always has the given number of calls at a time.
func (l *Lab) ClosedLoopOf(client string, calls int) {
	l.repeat()
	for i := range calls {
		l.At(0, func() { l.Begin(client, i) })
	}
}

func (l *Lab) repeat() {
	then := l.Settled
	l.Settled = func(c *Caller, d strategies.Decision) {
		if then != nil {
			then(c, d)
		}
		c.ID += 1 << 32 // another call, with draws of its own
		l.At(l.Now, func() { l.Step(c, strategies.Event{Kind: strategies.Begin}) })
	}
}
