package strategytest

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
	"herdlab/strategies"
)

// world is a driver in small.
type World struct {
	t        *testing.T
	Now      time.Duration
	everyone []int64
	Fleets   map[string]*Fleet
	Calls    map[string]*Caller
	Lines    map[*int64][]*Caller // by the first word of the pool's memory
	Flights  map[flightKey]*Caller
	Direct   bool // calls have Pools
	trace    strings.Builder
}

type Fleet struct {
	Program *strategies.Program
	Rand    draw.Rand
	Words   []int64
	Clients map[string][]int64
}

// Caller is one call and what its driver knows of it.
type Caller struct {
	strategies.Call
	world     *World
	Fleet     *Fleet
	Waits     bool
	WakesAt   time.Duration
	Wants     strategies.Take // what it stands in line for
	Line      *int64          // nil if it does not
	sent      []time.Duration // when each attempt was
	Follows   *Caller
	followers []*Caller
	Landed    bool                  // the call that it followed is over: Joined is due
	promoted  []strategies.Decision // what it did when it came to lead those it had followed
	besides   []string              // the commands of the last Next, but for Put
}

// flightKey says which calls are equal: of one program or of everyone.
type flightKey struct {
	fleet  *Fleet
	client string
	at     uint32
	key    uint32
}

func NewWorld(t *testing.T, stacks map[string][]strategies.Layer, seed uint64) *World {
	t.Helper()
	w := &World{t: t, Fleets: map[string]*Fleet{}, Calls: map[string]*Caller{}, Lines: map[*int64][]*Caller{}, Flights: map[flightKey]*Caller{}}
	commons := strategies.NewSharedMemory()
	var names []string
	for name := range stacks {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, name := range names {
		p, err := strategies.Compile(strategies.Definition{Name: "script", Layers: stacks[name]}, commons)
		require.NoError(t, err)
		w.Fleets[name] = &Fleet{
			Program: p, Rand: draw.New(seed).For(uint64(i)),
			Words: make([]int64, p.Words[strategies.PerFleet]), Clients: map[string][]int64{},
		}
	}
	w.everyone = make([]int64, commons.Words())
	return w
}

// Call returns the call of that name, [fleet/]client[.call].
func (w *World) Call(name string) *Caller {
	if c := w.Calls[name]; c != nil {
		return c
	}
	fleetName, rest := "", name
	if f, r, ok := strings.Cut(name, "/"); ok {
		fleetName, rest = f, r
	}
	client, _, _ := strings.Cut(rest, ".")
	f := w.Fleets[fleetName]
	if f == nil {
		w.t.Fatalf("there is no fleet %q", fleetName)
	}
	if f.Clients[client] == nil {
		f.Clients[client] = make([]int64, f.Program.Words[strategies.PerClient])
	}
	c := &Caller{world: w, Fleet: f}
	c.ID, c.Driver().Rand = uint64(len(w.Calls)), f.Rand
	c.Driver().Memory = [strategies.NumScopes][]int64{
		strategies.PerCall:     make([]int64, f.Program.Words[strategies.PerCall]),
		strategies.PerClient:   f.Clients[client],
		strategies.PerFleet:    f.Words,
		strategies.PerEveryone: w.everyone,
	}
	if w.Direct {
		c.Driver().Pools = w
	}
	w.Calls[name] = c
	return c
}

// Pool returns a pool of c's program and its memory.
func (c *Caller) Pool(id strategies.PoolID) (strategies.Pool, []int64) {
	s := c.Fleet.Program.Pools[id]
	return s.Pool, c.Driver().Memory[s.Scope][s.At:]
}

// TryTake implements Pools.
func (w *World) TryTake(call *strategies.Call, t strategies.Take) bool {
	for _, c := range w.Calls {
		if &c.Call == call {
			p, m := c.Pool(t.Pool)
			if len(w.Lines[&m[0]]) > 0 {
				return false
			}
			ok, _ := p.TryTake(w.Now, m, t.N)
			return ok
		}
	}
	panic("a call that nobody knows asks for units")
}

// Next asks the strategy and does what a driver does around it.
func (c *Caller) Next(e strategies.Event) strategies.Decision {
	w := c.world
	if e.Kind == strategies.Begin {
		clear(c.Driver().Memory[strategies.PerCall])
		c.Born, c.Attempts, c.InFlight, c.Driver().Phase, c.Driver().Turn = w.Now, 0, 0, 0, 0
		c.sent = c.sent[:0]
	}
	if e.Terminal() {
		c.InFlight--
	}
	if n := int(e.Attempt); e.Terminal() && n > 0 && n <= len(c.sent) {
		e.SentAt = c.sent[n-1]
	}
	d := c.Fleet.Program.Root.Next(w.Now, &c.Call, e)
	c.Driver().Turn++
	if c.HasCommands() {
		c.TakeCommands(c)
	}
	if d.After < 0 {
		w.t.Fatalf("at %v call %d is to wait for %v", w.Now, c.ID, d.After)
	}
	switch d.Kind {
	case strategies.Send:
		c.Driver().Turn = 0
		c.Attempts++
		c.InFlight++
		c.sent = append(c.sent, w.Now)
	case strategies.Wait:
		c.Waits, c.WakesAt = true, saturating.Add(w.Now, d.After)
	case strategies.Acquire:
		p, m := c.Pool(d.Take.Pool)
		if c.Line != nil {
			w.t.Fatal("a call that stands in a line stands in another")
		}
		if line := &m[0]; len(w.Lines[line]) > 0 {
			c.stand(line, d.Take)
		} else if ok, _ := p.TryTake(w.Now, m, d.Take.N); ok {
			c.Driver().Turn--
			return c.Next(strategies.Event{Kind: strategies.Admitted})
		} else {
			c.stand(line, d.Take)
		}
	case strategies.Join:
		leader := w.Flights[c.flight(strategies.FlightID(d.Take.Pool), d.Take.N)]
		if leader == nil {
			w.Flights[c.flight(strategies.FlightID(d.Take.Pool), d.Take.N)] = c
			c.Driver().Turn--
			return c.Next(strategies.Event{Kind: strategies.Admitted})
		}
		leader.followers = append(leader.followers, c)
		c.Follows = leader
	}
	return d
}

// flight is which calls are equal to c in a table.
func (c *Caller) flight(id strategies.FlightID, key uint32) flightKey {
	s := c.Fleet.Program.Flights[id]
	k := flightKey{key: key, at: s.At}
	switch s.Scope {
	case strategies.PerClient:
		k.client = fmt.Sprint(c.Client)
		fallthrough
	case strategies.PerFleet:
		k.fleet = c.Fleet
	}
	return k
}

// Put implements strategies.Commands, as do the following.
func (c *Caller) Put(id strategies.PoolID, n uint32) {
	p, m := c.Pool(id)
	p.Put(c.world.Now, m, n)
}

func (c *Caller) Leave() {
	if c.Line == nil {
		return // it has been withdrawn
	}
	c.LeaveLine()
	c.besides = append(c.besides, "leave")
}

func (c *Caller) HangUp(attempt uint32) {
	c.InFlight--
	c.besides = append(c.besides, fmt.Sprint("hang up ", attempt))
}

func (c *Caller) Land(f strategies.FlightID, key uint32, end strategies.End) {
	k := c.flight(f, key)
	if c.world.Flights[k] != c {
		c.world.t.Fatal("a call lands a flight that it does not lead")
	}
	delete(c.world.Flights, k)
	followers := c.followers
	c.followers = nil
	for i, f := range followers {
		f.Follows = nil
		if end.Class != wire.Cancelled {
			f.Landed, f.Joined = true, end
			continue
		}
		c.world.Flights[k] = f
		f.followers = followers[i+1:]
		for _, other := range f.followers {
			other.Follows = f
		}
		f.promoted = append(f.promoted, f.Next(strategies.Event{Kind: strategies.Admitted}))
		break
	}
	c.besides = append(c.besides, fmt.Sprint("land ", len(followers)))
}

func (c *Caller) WakeAt(at time.Duration) {
	if at < c.world.Now {
		c.world.t.Fatalf("at %v call %d is to wake at %v", c.world.Now, c.ID, at)
	}
	c.Waits, c.WakesAt = true, at
	c.besides = append(c.besides, fmt.Sprint("wake ", at-c.world.Now))
}

func (c *Caller) Raise(s strategies.Signal) {
	spec := c.Fleet.Program.Signals[s]
	what := "note "
	if spec.Alarm {
		what = "alarm "
	}
	c.besides = append(c.besides, what+spec.Reason)
}

func (c *Caller) stand(line *int64, t strategies.Take) {
	c.Line, c.Wants = line, t
	c.world.Lines[line] = append(c.world.Lines[line], c)
}

func (c *Caller) LeaveLine() {
	l := c.world.Lines[c.Line]
	i := slices.Index(l, c)
	c.world.Lines[c.Line] = slices.Delete(l, i, i+1)
	c.Line = nil
}

// Withdraw does what a driver does when a caller withdraws its call.
func (w *World) Withdraw(c *Caller) {
	if c.Line != nil {
		c.LeaveLine()
	}
	c.Waits = false
	if l := c.Follows; l != nil {
		l.followers = slices.DeleteFunc(l.followers, func(f *Caller) bool { return f == c })
		c.Follows = nil
	}
	for c.InFlight > 0 {
		c.Next(strategies.Event{Kind: strategies.Settled, Attempt: c.Attempts, Outcome: &wire.Outcome{Class: wire.Cancelled}})
	}
	c.Next(strategies.Event{Kind: strategies.Cancelled})
	w.AdmitAll()
}

// AdmitAll lets in whoever stands at the head of a line, as far as units go.
func (w *World) AdmitAll() {
	for again := true; again; {
		again = false
		for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
			c := w.Calls[name]
			if c == nil || c.Line == nil || w.Lines[c.Line][0] != c {
				continue
			}
			p, m := c.Pool(c.Wants.Pool)
			if ok, _ := p.TryTake(w.Now, m, c.Wants.N); ok {
				c.LeaveLine()
				c.Next(strategies.Event{Kind: strategies.Admitted})
				again = true
			}
		}
	}
}
