package strategies

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
	"herdlab/sim/saturating"
)

// world is a driver in small.
type world struct {
	t        *testing.T
	now      time.Duration
	everyone []int64
	fleets   map[string]*fleet
	calls    map[string]*caller
	lines    map[*int64][]*caller // by the first word of the pool's memory
	flights  map[flightKey]*caller
	direct   bool // calls have Pools
	trace    strings.Builder
}

type fleet struct {
	program *Program
	rand    draw.Rand
	words   []int64
	clients map[string][]int64
}

// caller is one call and what its driver knows of it.
type caller struct {
	Call
	world     *world
	fleet     *fleet
	waits     bool
	wakeAt    time.Duration
	wants     Take            // what it stands in line for
	line      *int64          // nil if it does not
	sent      []time.Duration // when each attempt was
	follows   *caller
	followers []*caller
	landed    bool       // the call that it followed is over: Joined is due
	promoted  []Decision // what it did when it came to lead those it had followed
	besides   []string   // the asides of the last Next, but for what it put
}

// flightKey says which calls are equal: of one program or of everyone.
type flightKey struct {
	fleet  *fleet
	client string
	at     uint32
	key    uint32
}

func newWorld(t *testing.T, stacks map[string][]Layer, seed uint64) *world {
	t.Helper()
	w := &world{t: t, fleets: map[string]*fleet{}, calls: map[string]*caller{}, lines: map[*int64][]*caller{}, flights: map[flightKey]*caller{}}
	commons := NewCommons()
	var names []string
	for name := range stacks {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, name := range names {
		p, err := Compile(Definition{Name: "script", Layers: stacks[name]}, commons)
		require.NoError(t, err)
		w.fleets[name] = &fleet{
			program: p, rand: draw.New(seed).For(uint64(i)),
			words: make([]int64, p.Words[PerFleet]), clients: map[string][]int64{},
		}
	}
	w.everyone = make([]int64, commons.Words())
	return w
}

// call returns the call of that name, [fleet/]client[.call].
func (w *world) call(name string) *caller {
	if c := w.calls[name]; c != nil {
		return c
	}
	fleetName, rest := "", name
	if f, r, ok := strings.Cut(name, "/"); ok {
		fleetName, rest = f, r
	}
	client, _, _ := strings.Cut(rest, ".")
	f := w.fleets[fleetName]
	if f == nil {
		w.t.Fatalf("there is no fleet %q", fleetName)
	}
	if f.clients[client] == nil {
		f.clients[client] = make([]int64, f.program.Words[PerClient])
	}
	c := &caller{world: w, fleet: f}
	c.ID, c.Rand = uint64(len(w.calls)), f.rand
	c.Memory = [NumScopes][]int64{
		PerCall:     make([]int64, f.program.Words[PerCall]),
		PerClient:   f.clients[client],
		PerFleet:    f.words,
		PerEveryone: w.everyone,
	}
	if w.direct {
		c.Pools = w
	}
	w.calls[name] = c
	return c
}

// pool returns a pool of c's program and its memory.
func (c *caller) pool(id PoolID) (Pool, []int64) {
	s := c.fleet.program.Pools[id]
	return s.Pool, c.Memory[s.Scope][s.At:]
}

// TryTake implements Pools.
func (w *world) TryTake(call *Call, t Take) bool {
	for _, c := range w.calls {
		if &c.Call == call {
			p, m := c.pool(t.Pool)
			if len(w.lines[&m[0]]) > 0 {
				return false
			}
			ok, _ := p.TryTake(w.now, m, t.N)
			return ok
		}
	}
	panic("a call that nobody knows asks for units")
}

// next asks the strategy and does what a driver does around it.
func (c *caller) next(e Event) Decision {
	w := c.world
	if e.Kind == Begin {
		clear(c.Memory[PerCall])
		c.Born, c.Attempts, c.InFlight, c.Phase, c.Turn = w.now, 0, 0, 0, 0
		c.sent = c.sent[:0]
	}
	if e.Terminal() {
		c.InFlight--
	}
	if n := int(e.Attempt); e.Terminal() && n > 0 && n <= len(c.sent) {
		e.SentAt = c.sent[n-1]
	}
	d := c.fleet.program.Root.Next(w.now, &c.Call, e)
	c.Turn++
	if c.HasAsides() {
		c.TakeAsides(c)
	}
	if d.After < 0 {
		w.t.Fatalf("at %v call %d is to wait for %v", w.now, c.ID, d.After)
	}
	switch d.Kind {
	case Send:
		c.Turn = 0
		c.Attempts++
		c.InFlight++
		c.sent = append(c.sent, w.now)
	case Wait:
		c.waits, c.wakeAt = true, saturating.Add(w.now, d.After)
	case Acquire:
		p, m := c.pool(d.Take.Pool)
		if c.line != nil {
			w.t.Fatal("a call that stands in a line stands in another")
		}
		if line := &m[0]; len(w.lines[line]) > 0 {
			c.stand(line, d.Take)
		} else if ok, _ := p.TryTake(w.now, m, d.Take.N); ok {
			c.Turn--
			return c.next(Event{Kind: Admitted})
		} else {
			c.stand(line, d.Take)
		}
	case Join:
		leader := w.flights[c.flight(FlightID(d.Take.Pool), d.Take.N)]
		if leader == nil {
			w.flights[c.flight(FlightID(d.Take.Pool), d.Take.N)] = c
			c.Turn--
			return c.next(Event{Kind: Admitted})
		}
		leader.followers = append(leader.followers, c)
		c.follows = leader
	}
	return d
}

// flight is which calls are equal to c in a table.
func (c *caller) flight(id FlightID, key uint32) flightKey {
	s := c.fleet.program.Flights[id]
	k := flightKey{key: key, at: s.At}
	switch s.Scope {
	case PerClient:
		k.client = fmt.Sprint(c.Client)
		fallthrough
	case PerFleet:
		k.fleet = c.fleet
	}
	return k
}

// Put implements Asides, as do the following.
func (c *caller) Put(id PoolID, n uint32) {
	p, m := c.pool(id)
	p.Put(c.world.now, m, n)
}

func (c *caller) Leave() {
	if c.line == nil {
		return // it has been withdrawn
	}
	c.leave()
	c.besides = append(c.besides, "leave")
}

func (c *caller) HangUp(attempt uint32) {
	c.InFlight--
	c.besides = append(c.besides, fmt.Sprint("hang up ", attempt))
}

func (c *caller) Land(f FlightID, key uint32, end End) {
	k := c.flight(f, key)
	if c.world.flights[k] != c {
		c.world.t.Fatal("a call lands a flight that it does not lead")
	}
	delete(c.world.flights, k)
	followers := c.followers
	c.followers = nil
	for i, f := range followers {
		f.follows = nil
		if end.Class != wire.Cancelled {
			f.landed, f.Joined = true, end
			continue
		}
		c.world.flights[k] = f
		f.followers = followers[i+1:]
		for _, other := range f.followers {
			other.follows = f
		}
		f.promoted = append(f.promoted, f.next(Event{Kind: Admitted}))
		break
	}
	c.besides = append(c.besides, fmt.Sprint("land ", len(followers)))
}

func (c *caller) WakeAt(at time.Duration) {
	if at < c.world.now {
		c.world.t.Fatalf("at %v call %d is to wake at %v", c.world.now, c.ID, at)
	}
	c.waits, c.wakeAt = true, at
	c.besides = append(c.besides, fmt.Sprint("wake ", at-c.world.now))
}

func (c *caller) Raise(s Signal) {
	spec := c.fleet.program.Signals[s]
	what := "note "
	if spec.Alarm {
		what = "alarm "
	}
	c.besides = append(c.besides, what+spec.Reason)
}

func (c *caller) stand(line *int64, t Take) {
	c.line, c.wants = line, t
	c.world.lines[line] = append(c.world.lines[line], c)
}

func (c *caller) leave() {
	l := c.world.lines[c.line]
	i := slices.Index(l, c)
	c.world.lines[c.line] = slices.Delete(l, i, i+1)
	c.line = nil
}

// withdraw does what a driver does when a caller withdraws its call.
func (w *world) withdraw(c *caller) {
	if c.line != nil {
		c.leave()
	}
	c.waits = false
	if l := c.follows; l != nil {
		l.followers = slices.DeleteFunc(l.followers, func(f *caller) bool { return f == c })
		c.follows = nil
	}
	for c.InFlight > 0 {
		c.next(Event{Kind: Settled, Attempt: c.Attempts, Outcome: &wire.Outcome{Class: wire.Cancelled}})
	}
	c.next(Event{Kind: Cancelled})
	w.admitAll()
}

// admitAll lets in whoever stands at the head of a line, as far as units go.
func (w *world) admitAll() {
	for again := true; again; {
		again = false
		for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
			c := w.calls[name]
			if c == nil || c.line == nil || w.lines[c.line][0] != c {
				continue
			}
			p, m := c.pool(c.wants.Pool)
			if ok, _ := p.TryTake(w.now, m, c.wants.N); ok {
				c.leave()
				c.next(Event{Kind: Admitted})
				again = true
			}
		}
	}
}
