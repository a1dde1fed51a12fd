package strategies

import (
	"container/heap"
	"fmt"
	"slices"
	"testing"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/saturating"
)

// lab is a simulator in small: many calls of one stack against a server that is
// one function. It is for laws about many calls that no script can spell out.
type lab struct {
	*world
	queue labQueue
	seq   int
	still int                      // events at this instant
	lined []*int64                 // the lines that calls have stood in
	look  map[*int64]time.Duration // when to look at a line again
	// serve answers an attempt: after how long, and how. It is told when the
	// answer leaves, by ended if that is not nil.
	serve func(c *caller) (after time.Duration, o wire.Outcome)
	ended func(c *caller, o *wire.Outcome)
	// settled is what becomes of a call; nil for nothing.
	settled func(c *caller, d Decision)
	hung    map[flying]bool  // given up, so that nobody hears of its end
	raised  map[string]int   // how often each note and alarm was
	gone    map[*caller]bool // withdrawn
	// sent is when attempts were sent, in order.
	sent []time.Duration
}

// flying is one attempt.
type flying struct {
	c       *caller
	attempt uint32
	born    time.Duration
}

type labEvent struct {
	at    time.Duration
	seq   int
	c     *caller
	event Event
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

func newLab(t *testing.T, layers ...Layer) *lab {
	t.Helper()
	l := &lab{world: newWorld(t, map[string][]Layer{"": layers}, 1), look: map[*int64]time.Duration{}, hung: map[flying]bool{}, raised: map[string]int{}, gone: map[*caller]bool{}}
	l.serve = func(*caller) (time.Duration, wire.Outcome) { return time.Millisecond, okay }
	return l
}

var okay = wire.Outcome{Class: wire.OK, RetryAfter: wire.NoHint}

// refusedAs is an outcome of a class that failed.
func refusedAs(c wire.Class) wire.Outcome { return wire.Outcome{Class: c, RetryAfter: wire.NoHint} }

// at plans something.
func (l *lab) at(t time.Duration, do func()) { l.push(labEvent{at: t, do: do}) }

func (l *lab) push(e labEvent) {
	l.seq++
	e.seq = l.seq
	heap.Push(&l.queue, e)
}

// begin begins a call of the given client now; number tells its calls apart.
func (l *lab) begin(client string, number int) *caller {
	c := l.call(fmt.Sprintf("%s.%d", client, number))
	l.step(c, Event{Kind: Begin})
	l.admitHeads()
	return c
}

// run goes on until nothing is left to do before the time until.
func (l *lab) run(until time.Duration) {
	for len(l.queue) > 0 && l.queue[0].at < until {
		e := heap.Pop(&l.queue).(labEvent)
		if l.still++; e.at > l.now {
			l.still = 0
		} else if e.at < l.now {
			l.t.Fatalf("at %v something is due at %v", l.now, e.at)
		} else if l.still > 100_000 {
			l.t.Fatalf("time stands still at %v", l.now)
		}
		l.now = e.at
		switch {
		case e.do != nil:
			e.do()
		case e.c == nil:
		case e.event.Kind != Wake:
			if l.ended != nil && e.event.Terminal() {
				l.ended(e.c, e.event.Outcome)
			}
			if f := (flying{e.c, e.event.Attempt, e.born}); l.hung[f] {
				delete(l.hung, f)
			} else {
				l.step(e.c, e.event)
			}
		case e.c.waits && e.c.wakeAt == e.wake:
			e.c.waits = false
			l.step(e.c, e.event)
		}
		l.admitHeads()
	}
	l.now = until
}

// step lets a call decide and does what it says.
func (l *lab) step(c *caller, e Event) {
	c.besides = c.besides[:0]
	followers := c.followers
	d := c.next(e)
	for _, b := range c.besides {
		var attempt uint32
		if n, _ := fmt.Sscanf(b, "hang up %d", &attempt); n == 1 {
			l.hung[flying{c, attempt, c.Born}] = true
		}
		l.raised[b]++
	}
	if l.gone[c] {
		c.waits = false // nobody cares what it decides
		d = Decision{}
	}
	l.do(c, d)
	for _, f := range followers {
		switch {
		case f.landed:
			f.landed = false
			l.push(labEvent{at: l.now, c: f, event: Event{Kind: Joined, Outcome: &wire.Outcome{Class: f.Joined.Class}}})
		case len(f.promoted) > 0:
			l.do(f, f.promoted[0])
			f.promoted = nil
		}
	}
	if c.waits {
		l.push(labEvent{at: c.wakeAt, c: c, event: Event{Kind: Wake}, wake: c.wakeAt})
	}
}

func (l *lab) do(c *caller, d Decision) {
	switch d.Kind {
	case Send:
		l.sent = append(l.sent, l.now)
		kind := Reply
		after, o := l.serve(c)
		if d.After > 0 && d.After < after {
			kind, after, o = Expired, d.After, refusedAs(wire.Timeout)
		}
		o.RetryAfter = max(o.RetryAfter, wire.NoHint)
		l.push(labEvent{at: saturating.Add(l.now, after), c: c, event: Event{Kind: kind, Attempt: c.Attempts, Outcome: &o, SentAt: l.now}, born: c.Born})
	case Acquire:
		known := false
		for _, line := range l.lined {
			known = known || line == c.line
		}
		if !known {
			l.lined = append(l.lined, c.line)
		}
		l.admitHeads()
	case Stop, Answer:
		if l.settled != nil {
			l.settled(c, d)
		}
	}
}

// withdraw withdraws a call: its attempts are settled, and nobody hears of them.
func (l *lab) withdraw(c *caller) {
	if c.line != nil {
		c.leave()
	}
	c.waits = false
	if leader := c.follows; leader != nil {
		leader.followers = slices.DeleteFunc(leader.followers, func(f *caller) bool { return f == c })
		c.follows = nil
	}
	l.gone[c] = true
	for _, e := range l.queue {
		if f := (flying{e.c, e.event.Attempt, e.born}); e.c == c && e.event.Terminal() && !l.hung[f] {
			l.hung[f] = true
			l.step(c, Event{Kind: Settled, Attempt: f.attempt, Outcome: &wire.Outcome{Class: wire.Cancelled}})
		}
	}
	l.step(c, Event{Kind: Cancelled})
}

// admitHeads lets in whoever stands at the head of a line, and comes back when
// the next may be let in.
func (l *lab) admitHeads() {
	for _, line := range l.lined {
		for len(l.lines[line]) > 0 {
			c := l.lines[line][0]
			p, m := c.pool(c.wants.Pool)
			ok, ready := p.TryTake(l.now, m, c.wants.N)
			if !ok && ready <= l.now {
				l.t.Fatalf("at %v a pool says that it was ready at %v", l.now, ready)
			}
			if !ok {
				if ready < l.look[line] || ready != Never && l.look[line] <= l.now {
					l.look[line] = ready
					l.push(labEvent{at: ready})
				}
				break
			}
			c.leave()
			l.step(c, Event{Kind: Admitted})
		}
	}
}

// perBin counts times in bins of the given width, aligned to 0.
func perBin(times []time.Duration, width time.Duration) map[int]int {
	bins := map[int]int{}
	for _, t := range times {
		bins[int(t/width)]++
	}
	return bins
}

// most is the largest number of times in any closed interval of that length.
func most(times []time.Duration, length time.Duration) (n int) {
	first := 0
	for i, t := range times {
		for t-times[first] > length {
			first++
		}
		n = max(n, i-first+1)
	}
	return n
}

// closedLoop lets so many clients call one after the other, without a pause;
// the first calls are spread evenly over the given time.
func (l *lab) closedLoop(clients int, within time.Duration) {
	l.repeat()
	for i := range clients {
		l.at(within*time.Duration(i)/time.Duration(clients), func() { l.begin(fmt.Sprint("client", i), 0) })
	}
}

// closedLoopOf lets one client call so many times at once, again and again.
func (l *lab) closedLoopOf(client string, calls int) {
	l.repeat()
	for i := range calls {
		l.at(0, func() { l.begin(client, i) })
	}
}

func (l *lab) repeat() {
	then := l.settled
	l.settled = func(c *caller, d Decision) {
		if then != nil {
			then(c, d)
		}
		c.ID += 1 << 32 // another call, with draws of its own
		l.at(l.now, func() { l.step(c, Event{Kind: Begin}) })
	}
}
