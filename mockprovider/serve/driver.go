package serve

import (
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	"herdlab/mockprovider"
	"herdlab/mockprovider/wire"
	"herdlab/sim/saturating"
)

// driver runs a provider, which is a pure state machine, on a clock. It has no
// goroutine of its own: arrivals, departures and one timer, which fires at the time
// of the next event, call the provider.
//
// Each of them first handles all events that are due, each at its own time and in
// the order of the queue. So the provider's decisions depend on the times of
// arrivals, and not on delays of the timer.
type driver struct {
	clock clock
	mu    sync.Mutex

	provider   *mockprovider.Provider
	limits     int           // number of the provider's limits
	now        time.Duration // the provider's time; it never decreases
	queue      eventQueue
	tickAt     time.Duration // time of the provider's next tick
	timer      clockwork.Timer
	timerAt    time.Duration // never if the timer is not set
	input      wire.Input
	effects    []wire.Effect
	exchanges  []*exchange // by ticket; nil if the ticket is free
	free       []uint32
	deliveries []delivery // updates to be sent by flush
	stats      stats
	metrics    *metrics
}

// delivery is an update for an exchange.
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

// arrive passes a request to the provider.
func (d *driver) arrive(x *exchange) {
	if x.updates == nil {
		x.updates = make(chan update, 2)
	}
	defer d.metrics.arrivals.Inc() // not under the lock
	now := d.clock.now()           // not after waiting for the lock
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
	d.catchUp(d.now) // a reply without delay needs no timer
	d.flush()
}

// clientGone reports to the provider that the client of an exchange has hung up. Not
// every provider notices this.
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
	} else { // the end was not delivered
		d.metrics.ended(x)
	}
	d.flush()
}

// do handles all events that are due and calls f. Changes by f are in force when do
// returns.
func (d *driver) do(f func(p *mockprovider.Provider, now time.Duration)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.catchUp(d.clock.now())
	f(d.provider, d.now)
	d.scheduleTick(d.now)
	d.catchUp(d.clock.now())
	d.flush()
}

// forget resets an account, which gets another owner.
func (d *driver) forget(account uint32) {
	d.do(func(p *mockprovider.Provider, _ time.Duration) { p.Forget(account) })
}

// rejected counts a request that did not reach the provider. It returns the
// provider's time.
func (d *driver) rejected(x *exchange, status uint16, why string) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.catchUp(d.clock.now())
	d.stats.rejected(d.now, x, status, why)
	d.metrics.rejected.Inc()
	d.flush()
	return d.now
}

// clockTime returns the time on the provider's clock, which may be wrong.
func (d *driver) clockTime() (t time.Duration) {
	d.do(func(p *mockprovider.Provider, now time.Duration) { t = p.Clock(now) })
	return t
}

// neverAnswered reports whether an exchange has no further updates.
func (d *driver) neverAnswered(x *exchange) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.exchanges[x.ticket] != x && len(x.updates) == 0
}

// onTimer is called by the timer.
func (d *driver) onTimer() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.timerAt = never
	d.catchUp(d.clock.now())
	d.flush()
}

// catchUp handles all events up to now and sets d.now to it, if it is not in the past.
func (d *driver) catchUp(now time.Duration) {
	now = max(d.now, now)
	for d.queue.next() <= now {
		e := d.queue.pop()
		d.now = e.at
		switch e.kind {
		case tick:
			if e.at != d.tickAt {
				continue // replaced by an earlier tick
			}
			d.tickAt = never
			d.input.Kind = wire.Tick
		case done:
			d.input.Kind, d.input.Job = wire.Done, e.ref
		case headSent:
			if x := d.exchanges[e.ref]; x != nil && x.headSeq == e.seq { // otherwise the exchange has ended
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

// step passes the input to the provider and applies the effects.
func (d *driver) step() {
	d.effects = d.provider.Step(d.now, &d.input, d.effects[:0])
	for i := range d.effects {
		d.apply(&d.effects[i])
	}
	d.stats.series.observe(d.now, d.stats.inFlight, d.provider.Queued())
	d.scheduleTick(d.now + 1) // so that a provider with endless ticks does not stop time
}

func (d *driver) apply(e *wire.Effect) {
	x := d.exchanges[e.Ticket]
	at := saturating.Add(d.now, e.After)
	switch e.Kind {
	case wire.Started:
		x.until, x.tokens, x.withheld = at, e.Reply.Tokens, e.Withheld
		d.queue.push(at, done, e.Job)
	case wire.Head:
		x.head = e.Reply
		if e.After > 0 {
			x.headSeq = d.queue.push(at, headSent, e.Ticket)
			return
		}
		d.deliverHead(x)
	default: // Replied, Dropped or LostConnection: the end of the exchange
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

// end frees the ticket of an exchange and delivers its end.
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

// deliverHead delivers the head of an exchange.
func (d *driver) deliverHead(x *exchange) {
	d.deliver(x, update{kind: wire.Head, reply: x.head, until: x.until, tokens: x.tokens, withheld: x.withheld})
}

// activeFaults returns the number of active faults.
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

// flush ends each operation: it sets the timer and then sends the deliveries. This
// order matters: the receiver may advance a fake clock, and a timer that is set
// later would be late.
func (d *driver) flush() {
	d.arm()
	for i := range d.deliveries {
		l := &d.deliveries[i]
		l.to.updates <- l.update // the channel has room for a head and an end
	}
	clear(d.deliveries)
	d.deliveries = d.deliveries[:0]
}

// scheduleTick adds the provider's next tick to the queue, not earlier than from.
func (d *driver) scheduleTick(from time.Duration) {
	if t := max(from, d.provider.NextTick()); t < d.tickAt {
		d.tickAt = t
		d.queue.push(t, tick, 0)
	}
}

// arm sets the timer to the time of the next event.
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
