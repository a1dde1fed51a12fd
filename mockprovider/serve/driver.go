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

	provider   *mockprovider.Provider
	limits     int           // how many it has
	now        time.Duration // of the provider; it never runs backwards
	queue      eventQueue
	tickAt     time.Duration // when the provider wants its tick
	timer      clockwork.Timer
	timerAt    time.Duration // what the alarm is set to; never if it is not
	input      wire.Input
	effects    []wire.Effect
	exchanges  []*exchange // by ticket; nil where free
	free       []uint32
	deliveries []delivery // news that leave when all is done
	stats      stats
	metrics    *metrics
}

// letter is news for an exchange.
type delivery struct {
	to     *exchange
	update update
}

func newDriver(p *mockprovider.Provider, limits int, c clock, m *metrics) *driver {
	d := &driver{clock: c, provider: p, limits: limits, tickAt: never, timerAt: never, metrics: m}
	d.stats.series.width = c.scaled(time.Second)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.scheduleTick(0)
	d.flush()
	return d
}

// arrive hands a request to the provider.
func (d *driver) arrive(x *exchange) {
	if x.updates == nil {
		x.updates = make(chan update, 2)
	}
	defer d.metrics.arrivals.Inc() // when it is known to all, and not under the lock
	now := d.clock.now()           // and not when it is its turn at the lock
	d.mu.Lock()
	defer d.mu.Unlock()
	d.catchUp(now)
	if n := len(d.free); n > 0 {
		x.ticket, d.free = d.free[n-1], d.free[:n-1]
	} else {
		x.ticket = uint32(len(d.exchanges))
		d.exchanges = append(d.exchanges, nil)
	}
	d.exchanges[x.ticket] = x
	x.arrived = d.now
	d.stats.arrived(d.now)
	d.input.Kind, d.input.Ticket, d.input.Request = wire.Arrive, x.ticket, x.request
	d.step()
	d.catchUp(d.now) // an answer that takes no time needs no alarm
	d.flush()
}

// leave tells the provider that the client of an exchange has hung up. The
// provider may or may not care.
func (d *driver) clientGone(x *exchange) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.catchUp(d.clock.now())
	if d.exchanges[x.ticket] == x {
		x.abandoned = true
		d.stats.abandoned()
		d.metrics.abandoned.Inc()
		d.input.Kind, d.input.Ticket = wire.Abandon, x.ticket
		d.step()
	} else { // it has ended, and nobody has read of it
		d.metrics.ended(x)
	}
	d.flush()
}

// with calls f with the provider at the present time, when everything that was
// due is done. What f changes is in force when with returns.
func (d *driver) do(f func(p *mockprovider.Provider, now time.Duration)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.catchUp(d.clock.now())
	f(d.provider, d.now)
	d.scheduleTick(d.now)
	d.catchUp(d.clock.now())
	d.flush()
}

// forget makes the provider forget an account, which gets another owner.
func (d *driver) forget(account uint32) {
	d.do(func(p *mockprovider.Provider, _ time.Duration) { p.Forget(account) })
}

// refused notes a request that never reached the provider, and why. It returns
// the present time.
func (d *driver) rejected(x *exchange, status uint16, why string) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.catchUp(d.clock.now())
	d.stats.rejected(d.now, x, status, why)
	d.metrics.rejected.Inc()
	d.flush()
	return d.now
}

// shows is what the provider's clock shows, right or wrong.
func (d *driver) clockTime() (t time.Duration) {
	d.do(func(p *mockprovider.Provider, now time.Duration) { t = p.Clock(now) })
	return t
}

// doomed reports whether nothing will ever come of an exchange.
func (d *driver) neverAnswered(x *exchange) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.exchanges[x.ticket] != x && len(x.updates) == 0
}

// ring is what the alarm calls.
func (d *driver) onTimer() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.timerAt = never
	d.catchUp(d.clock.now())
	d.flush()
}

// catchUp does what has become due, and moves the present to now, if that is not
// past.
func (d *driver) catchUp(now time.Duration) {
	now = max(d.now, now)
	for d.queue.next() <= now {
		e := d.queue.pop()
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
		case headSent:
			if x := d.exchanges[e.ref]; x != nil && x.headSeq == e.seq { // else it has ended, and the ticket may be another's
				d.deliverHead(x)
			}
			continue
		case replySent:
			d.end(d.exchanges[e.ref])
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
		d.apply(&d.effects[i])
	}
	d.stats.series.observe(d.now, d.stats.inFlight, d.provider.Queued())
	d.scheduleTick(d.now + 1) // a provider that ticks for ever must not stop the world
}

func (d *driver) apply(e *wire.Effect) {
	x := d.exchanges[e.Ticket]
	at := saturating.Add(d.now, e.After)
	switch e.Kind {
	case wire.Started:
		x.until, x.tokens, x.withheld = at, e.Reply.Tokens, uint32(e.Reply.Remaining)
		d.queue.push(at, done, e.Job)
	case wire.Head:
		x.head = e.Reply
		if e.After > 0 {
			x.headSeq = d.queue.push(at, headSent, e.Ticket)
			return
		}
		d.deliverHead(x)
	default: // Replied, Dropped or Broke: the end of its ticket
		x.end = *e
		if limited(e) {
			x.standings.add(d.provider, d.limits, d.now, &x.request)
		}
		if e.After > 0 {
			d.queue.push(at, replySent, e.Ticket)
			return
		}
		d.end(x)
	}
}

// end frees the ticket of an exchange and tells its handler.
func (d *driver) end(x *exchange) {
	d.exchanges[x.ticket] = nil
	d.free = append(d.free, x.ticket)
	faults := 0
	if endClass(&x.end) != wire.OK {
		faults = activeFaults(d.provider, d.now)
	}
	x.ended = d.now
	d.stats.ended(d.now, x, d.provider.Queued(), faults)
	if x.abandoned {
		d.metrics.ended(x)
	}
	d.deliver(x, update{kind: x.end.Kind, reply: x.end.Reply})
}

// head tells the handler of an exchange that its head leaves.
func (d *driver) deliverHead(x *exchange) {
	d.deliver(x, update{kind: wire.Head, reply: x.head, until: x.until, tokens: x.tokens, withheld: x.withheld})
}

// inForce is how many faults are in force.
func activeFaults(p *mockprovider.Provider, now time.Duration) (n int) {
	for _, f := range p.Faults(now) {
		if f.From <= now {
			n++
		}
	}
	return n
}

func (d *driver) deliver(x *exchange, n update) {
	if !x.abandoned {
		n.at, n.clock = d.now, d.provider.Clock(d.now)
		d.deliveries = append(d.deliveries, delivery{x, n})
	}
}

// settle ends whatever was done: it sets the alarm, and then tells those whom it
// concerns. For who has heard of a reply may advance a fake clock, and an alarm
// that is set meanwhile would be late.
func (d *driver) flush() {
	d.arm()
	for i := range d.deliveries {
		l := &d.deliveries[i]
		l.to.updates <- l.update // there is room for a head and an end
	}
	clear(d.deliveries)
	d.deliveries = d.deliveries[:0]
}

// scheduleTick puts the tick that the provider asks for on the agenda, not
// before a time.
func (d *driver) scheduleTick(from time.Duration) {
	if t := max(from, d.provider.NextTick()); t < d.tickAt {
		d.tickAt = t
		d.queue.push(t, tick, 0)
	}
}

// arm sets the alarm to the next thing on the agenda.
func (d *driver) arm() {
	next := d.queue.next()
	if next >= d.timerAt {
		return
	}
	d.timerAt = next
	wait := d.clock.until(next)
	if d.timer == nil {
		d.timer = d.clock.AfterFunc(wait, d.onTimer)
		return
	}
	d.timer.Reset(wait)
}
