package serve

import (
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	"herdlab/mockprovider"
	"herdlab/mockprovider/wire"
	"herdlab/sim/saturating"
)

// driver brings a provider, which is a pure state machine, together with a
// clock. It has no goroutine of its own: who arrives or leaves steps the
// provider, and one timer rings when the next thing on the agenda is due.
//
// Whoever comes first does what has become due meanwhile, each thing at its own
// time and in the agenda's order. So what the provider decides depends on when
// requests arrive, and not on how late a timer rings.
type driver struct {
	clock clock
	mu    sync.Mutex

	provider *mockprovider.Provider
	limits   int           // how many it has
	now      time.Duration // of the provider; it never runs backwards
	agenda   agenda
	tickAt   time.Duration // when the provider wants its tick
	alarm    clockwork.Timer
	armed    time.Duration // what the alarm is set to; never if it is not
	input    wire.Input
	effects  []wire.Effect
	waiting  []*exchange // by ticket; nil where free
	free     []uint32
	letters  []letter // news that leave when all is done
	book     book
	metrics  *metrics
}

// letter is news for an exchange.
type letter struct {
	to   *exchange
	news news
}

func newDriver(p *mockprovider.Provider, limits int, c clock, m *metrics) *driver {
	d := &driver{clock: c, provider: p, limits: limits, tickAt: never, armed: never, metrics: m}
	d.book.series.width = c.scaled(time.Second)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.scheduleTick(0)
	d.settle()
	return d
}

// arrive hands a request to the provider.
func (d *driver) arrive(x *exchange) {
	if x.news == nil {
		x.news = make(chan news, 2)
	}
	defer d.metrics.arrivals.Inc() // when it is known to all, and not under the lock
	now := d.clock.now()           // and not when it is its turn at the lock
	d.mu.Lock()
	defer d.mu.Unlock()
	d.catchUp(now)
	if n := len(d.free); n > 0 {
		x.ticket, d.free = d.free[n-1], d.free[:n-1]
	} else {
		x.ticket = uint32(len(d.waiting))
		d.waiting = append(d.waiting, nil)
	}
	d.waiting[x.ticket] = x
	x.arrived = d.now
	d.book.arrived(d.now)
	d.input.Kind, d.input.Ticket, d.input.Request = wire.Arrive, x.ticket, x.request
	d.step()
	d.catchUp(d.now) // an answer that takes no time needs no alarm
	d.settle()
}

// leave tells the provider that the client of an exchange has hung up. The
// provider may or may not care.
func (d *driver) leave(x *exchange) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.catchUp(d.clock.now())
	if d.waiting[x.ticket] == x {
		x.gone = true
		d.book.left()
		d.metrics.gone.Inc()
		d.input.Kind, d.input.Ticket = wire.Abandon, x.ticket
		d.step()
	} else { // it has ended, and nobody has read of it
		d.metrics.ended(x)
	}
	d.settle()
}

// with calls f with the provider at the present time, when everything that was
// due is done. What f changes is in force when with returns.
func (d *driver) with(f func(p *mockprovider.Provider, now time.Duration)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.catchUp(d.clock.now())
	f(d.provider, d.now)
	d.scheduleTick(d.now)
	d.catchUp(d.clock.now())
	d.settle()
}

// forget makes the provider forget an account, which gets another owner.
func (d *driver) forget(account uint32) {
	d.with(func(p *mockprovider.Provider, _ time.Duration) { p.Forget(account) })
}

// refused notes a request that never reached the provider, and why. It returns
// the present time.
func (d *driver) refused(x *exchange, status uint16, why string) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.catchUp(d.clock.now())
	d.book.refused(d.now, x, status, why)
	d.metrics.unread.Inc()
	d.settle()
	return d.now
}

// shows is what the provider's clock shows, right or wrong.
func (d *driver) shows() (t time.Duration) {
	d.with(func(p *mockprovider.Provider, now time.Duration) { t = p.Clock(now) })
	return t
}

// doomed reports whether nothing will ever come of an exchange.
func (d *driver) doomed(x *exchange) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.waiting[x.ticket] != x && len(x.news) == 0
}

// ring is what the alarm calls.
func (d *driver) ring() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.armed = never
	d.catchUp(d.clock.now())
	d.settle()
}

// catchUp does what has become due, and moves the present to now, if that is not
// past.
func (d *driver) catchUp(now time.Duration) {
	now = max(d.now, now)
	for d.agenda.next() <= now {
		e := d.agenda.pop()
		d.now = e.at
		switch e.kind {
		case tick:
			if e.at != d.tickAt {
				continue // it has asked for an earlier one since
			}
			d.tickAt = never
			d.input.Kind = wire.Tick
		case done:
			d.input.Kind, d.input.Job = wire.Done, e.ref
		case headLeaves:
			if x := d.waiting[e.ref]; x != nil && x.headSeq == e.seq { // else it has ended, and the ticket may be another's
				d.head(x)
			}
			continue
		case replyLeaves:
			d.end(d.waiting[e.ref])
			continue
		}
		d.step()
	}
	d.now = now
}

// step steps the provider with the input and carries out what it does.
func (d *driver) step() {
	d.effects = d.provider.Step(d.now, &d.input, d.effects[:0])
	for i := range d.effects {
		d.carryOut(&d.effects[i])
	}
	d.book.series.note(d.now, d.book.inFlight, d.provider.Queued())
	d.scheduleTick(d.now + 1) // a provider that ticks for ever must not stop the world
}

func (d *driver) carryOut(e *wire.Effect) {
	x := d.waiting[e.Ticket]
	at := saturating.Add(d.now, e.After)
	switch e.Kind {
	case wire.Started:
		x.until, x.tokens, x.withheld = at, e.Reply.Tokens, uint32(e.Reply.Remaining)
		d.agenda.push(at, done, e.Job)
	case wire.Head:
		x.head = e.Reply
		if e.After > 0 {
			x.headSeq = d.agenda.push(at, headLeaves, e.Ticket)
			return
		}
		d.head(x)
	default: // Replied, Dropped or Broke: the end of its ticket
		x.end = *e
		if limited(e) {
			x.standings.note(d.provider, d.limits, d.now, &x.request)
		}
		if e.After > 0 {
			d.agenda.push(at, replyLeaves, e.Ticket)
			return
		}
		d.end(x)
	}
}

// end frees the ticket of an exchange and tells its handler.
func (d *driver) end(x *exchange) {
	d.waiting[x.ticket] = nil
	d.free = append(d.free, x.ticket)
	faults := 0
	if endClass(&x.end) != wire.OK {
		faults = inForce(d.provider, d.now)
	}
	x.ended = d.now
	d.book.ended(d.now, x, d.provider.Queued(), faults)
	if x.gone {
		d.metrics.ended(x)
	}
	d.tell(x, news{kind: x.end.Kind, reply: x.end.Reply})
}

// head tells the handler of an exchange that its head leaves.
func (d *driver) head(x *exchange) {
	d.tell(x, news{kind: wire.Head, reply: x.head, until: x.until, tokens: x.tokens, withheld: x.withheld})
}

// inForce is how many faults are in force.
func inForce(p *mockprovider.Provider, now time.Duration) (n int) {
	for _, f := range p.Faults(now) {
		if f.From <= now {
			n++
		}
	}
	return n
}

func (d *driver) tell(x *exchange, n news) {
	if !x.gone {
		n.at, n.shows = d.now, d.provider.Clock(d.now)
		d.letters = append(d.letters, letter{x, n})
	}
}

// settle ends whatever was done: it sets the alarm, and then tells those whom it
// concerns. For who has heard of a reply may advance a fake clock, and an alarm
// that is set meanwhile would be late.
func (d *driver) settle() {
	d.arm()
	for i := range d.letters {
		l := &d.letters[i]
		l.to.news <- l.news // there is room for a head and an end
	}
	clear(d.letters)
	d.letters = d.letters[:0]
}

// scheduleTick puts the tick that the provider asks for on the agenda, not
// before a time.
func (d *driver) scheduleTick(from time.Duration) {
	if t := max(from, d.provider.NextTick()); t < d.tickAt {
		d.tickAt = t
		d.agenda.push(t, tick, 0)
	}
}

// arm sets the alarm to the next thing on the agenda.
func (d *driver) arm() {
	next := d.agenda.next()
	if next >= d.armed {
		return
	}
	d.armed = next
	wait := d.clock.until(next)
	if d.alarm == nil {
		d.alarm = d.clock.AfterFunc(wait, d.ring)
		return
	}
	d.alarm.Reset(wait)
}
