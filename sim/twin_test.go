package sim_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/mockprovider"
	"herdlab/mockprovider/faults"
	"herdlab/mockprovider/wire"
	"herdlab/sim"
	"herdlab/sim/draw"
	"herdlab/sim/metrics"
	"herdlab/sim/simtest"
	"herdlab/strategies"
	"herdlab/strategies/presets"
)

// The naive twin of the driver: the same strategies and the same provider, with
// a list of things to do that is searched from end to end for the next, an
// object for each call and each attempt, and nothing ever reused. It knows
// what a run means and nothing of how package sim goes about it.
type twin struct {
	x       sim.Experiment
	fleets  []*twinFleet
	now     time.Duration
	todo    []deed
	order   int
	effects []wire.Effect
	revisit []func() // what to look at when there are no more effects
	tickets []*twinAttempt
	tickAt  time.Duration
	belief  metrics.Belief
	tries   metrics.Tries
	joined  map[string]*twinFlight
	free    []*twinTimer // of open fleets' calls that are over, where somebody races
	closed  map[string]*twinTimer
	alarms  map[string]int
}

// deed is something to do, and rank its place among those of one instant.
type deed struct {
	at          time.Duration
	rank, order int
	do          func()
}

// The ranks.
const (
	aTick = iota
	aDone
	anArrival
	aReply
	aTimeout
	aWake
	aPool
	aNextCall
	aCall
)

type twinFleet struct {
	*sim.Fleet
	index    int
	rand     draw.Rand
	clients  [][]int64
	fleet    []int64
	everyone []int64
	lines    map[string]*twinLine
}

type twinLine struct {
	spec    strategies.PoolSpec
	memory  []int64
	waiting []*twinCall
	timer   int
}

type twinCall struct {
	fleet       *twinFleet
	client      int
	seq         uint64
	id          uint64
	born        time.Duration
	attempts    uint32
	flying      []*twinAttempt
	phase, turn uint32
	words       []int64
	target      wire.Target
	over        bool
	useful      bool
	waits       int // generation of its Wait
	timer       *twinTimer
	line        *twinLine
	wants       uint32
	asks        wire.Demand
	flight      *twinFlight // that it leads or follows
	end         strategies.End
	shared      bool // its answer is another call's
}

// twinTimer is one caller's timer after the other. Where somebody races it is not
// set anew if it fires early enough: then it is moved when it does.
type twinTimer struct {
	call       *twinCall
	due, fires time.Duration // −1 for not at all
}

// twinFlight is a call that leads and those that follow it.
type twinFlight struct {
	key       string
	leader    *twinCall
	following []*twinCall
	told      bool // that the leader leads
}

type twinAttempt struct {
	call   *twinCall
	number uint32
	ticket uint32
	target wire.Target
	asks   wire.Demand
	sent   time.Duration
	ended  bool // for the client
	there  bool // at the provider, which owes an answer
}

func runTwin(x sim.Experiment) *twin {
	w := &twin{x: x, tickAt: never, joined: map[string]*twinFlight{}, closed: map[string]*twinTimer{}, alarms: map[string]int{}}
	var everyone []int64
	if x.Commons != nil {
		everyone = make([]int64, x.Commons.Words())
	}
	for i := range x.Fleets {
		spec := &x.Fleets[i]
		f := &twinFleet{Fleet: spec, index: i, rand: x.Rand.For(uint64(i)), everyone: everyone, lines: map[string]*twinLine{}}
		f.fleet = make([]int64, spec.Program.Words[strategies.PerFleet])
		for range spec.Traffic.Clients {
			f.clients = append(f.clients, make([]int64, spec.Program.Words[strategies.PerClient]))
		}
		w.fleets = append(w.fleets, f)
	}
	w.askForTick()
	for _, f := range w.fleets {
		if f.Traffic.Arrivals != nil {
			w.arrival(f, 0, 0)
			continue
		}
		for client := range f.Traffic.Clients {
			w.at(f.Traffic.Start.Mean, aNextCall, func() { w.begin(f, client, 0) })
		}
	}
	for len(w.todo) > 0 {
		next := 0
		for i, d := range w.todo {
			n := w.todo[next]
			if d.at < n.at || d.at == n.at && (d.rank < n.rank || d.rank == n.rank && d.order < n.order) {
				next = i
			}
		}
		d := w.todo[next]
		if d.at >= x.Plan.Horizon {
			break
		}
		w.todo = slices.Delete(w.todo, next, next+1)
		w.now = d.at
		d.do()
		w.drain()
	}
	return w
}

func (w *twin) at(t time.Duration, rank int, do func()) {
	w.order++
	w.todo = append(w.todo, deed{t, rank, w.order, do})
}

// drain carries out effects, and then whatever was given back to pools, until
// nothing is left.
func (w *twin) drain() {
	for len(w.effects)+len(w.revisit) > 0 {
		if len(w.effects) > 0 {
			e := w.effects[0]
			w.effects = w.effects[1:]
			w.effect(e)
			continue
		}
		look := w.revisit[0]
		w.revisit = w.revisit[1:]
		look()
	}
}

func (w *twin) arrival(f *twinFleet, seq uint64, prev time.Duration) {
	if t, ok := f.Traffic.Arrivals.Next(f.rand, seq, prev); ok {
		w.at(t, aCall, func() {
			w.arrival(f, seq+1, t)
			w.begin(f, int(seq)%f.Traffic.Clients, seq)
		})
	}
}

func (w *twin) begin(f *twinFleet, client int, seq uint64) {
	c := &twinCall{fleet: f, client: client, seq: seq, id: seq, born: w.now, target: f.Target,
		words: make([]int64, f.Program.Words[strategies.PerCall])}
	c.asks = f.Traffic.Size
	if f.Traffic.Arrivals == nil {
		c.id = uint64(client)<<32 | seq
	} else {
		c.asks = f.Traffic.Arrivals.Demand(f.rand, seq)
	}
	w.timerFor(c)
	w.belief.Calls++
	if f.Patience > 0 {
		w.at(w.now+f.Patience, aTimeout, func() {
			if c.over {
				return
			}
			w.leave(c)
			w.unfollow(c)
			w.over(c)
			w.withdraw(c)
			w.decide(c, strategies.Event{Kind: strategies.Cancelled})
			w.belief.Failed++
			w.belief.Cancelled++
			w.another(c)
		})
	}
	w.decide(c, strategies.Event{Kind: strategies.Begin})
}

func (w *twin) over(c *twinCall) {
	c.over = true
	if c.timer != nil {
		c.timer.due = -1
	}
}

// another lets a closed client call again.
func (w *twin) another(c *twinCall) {
	if c.timer != nil && c.fleet.Traffic.Arrivals != nil {
		w.free = append(w.free, c.timer)
	}
	t := &c.fleet.Traffic
	if t.Arrivals == nil && (t.Calls == 0 || int(c.seq)+1 < t.Calls) {
		w.at(w.now+t.Think.Mean, aNextCall, func() { w.begin(c.fleet, c.client, c.seq+1) })
	}
}

func (w *twin) decide(c *twinCall, e strategies.Event) {
	f := c.fleet
	v := &strategies.Call{
		ID: c.id, Client: uint32(c.client), Attempts: c.attempts, InFlight: uint32(len(c.flying)), Born: c.born,
		Demand: c.asks, Target: c.target, Joined: c.end,
	}
	*v.Driver() = strategies.DriverState{
		Phase: c.phase, Turn: c.turn, Rand: f.rand,
		Memory: [...][]int64{c.words, f.clients[c.client], f.fleet, f.everyone},
	}
	d := f.Program.Root.Next(w.now, v, e)
	c.phase, c.target, c.asks = v.Driver().Phase, v.Target, v.Demand
	c.turn++
	v.TakeCommands(twinCommands{w, c, e})
	if c.over {
		return
	}
	switch d.Kind {
	case strategies.Send:
		c.turn = 0
		w.send(c, d.After)
		if f.Program.WantsSent {
			w.decide(c, strategies.Event{Kind: strategies.Sent, Attempt: c.attempts})
		}
	case strategies.Wait:
		w.wake(c, w.now+max(d.After, 0))
	case strategies.Acquire:
		l := w.line(c, d.Take.Pool)
		if len(l.waiting) == 0 {
			ok, ready := l.spec.Pool.TryTake(w.now, l.memory, d.Take.N)
			if ok {
				c.turn--
				w.decide(c, strategies.Event{Kind: strategies.Admitted})
				return
			}
			w.timer(l, ready)
		}
		l.waiting = append(l.waiting, c)
		c.line, c.wants = l, d.Take.N
	case strategies.Join:
		w.join(c, d.Take.N)
	case strategies.Stop:
		w.leave(c)
		w.unfollow(c)
		w.over(c)
		switch {
		case d.End.Reason != strategies.Succeeded:
			w.belief.Failed++
		case c.useful:
			w.belief.Succeeded++
			w.belief.Useful++
			if d.End.Degraded {
				w.belief.Degraded++
			}
			if c.shared {
				w.belief.Shared++
			}
		default:
			w.belief.Succeeded++
			w.belief.Lost++
		}
		w.withdraw(c)
		w.another(c)
	}
}

func (w *twin) wake(c *twinCall, at time.Duration) {
	if c.timer != nil {
		c.timer.due = at
		w.fireBy(c.timer, at)
		return
	}
	c.waits++
	gen := c.waits
	w.at(at, aWake, func() {
		if !c.over && c.waits == gen {
			w.decide(c, strategies.Event{Kind: strategies.Wake})
		}
	})
}

func (w *twin) fireBy(t *twinTimer, at time.Duration) {
	if t.fires >= 0 && t.fires <= at {
		return
	}
	t.fires = at
	w.at(at, aWake, func() {
		if t.fires != w.now {
			return
		}
		t.fires = -1
		if t.due > w.now {
			w.fireBy(t, t.due)
		} else if t.due == w.now {
			w.decide(t.call, strategies.Event{Kind: strategies.Wake})
		}
	})
}

// timerFor gives a new call its timer, if somebody races.
func (w *twin) timerFor(c *twinCall) {
	if !slices.ContainsFunc(w.x.Fleets, func(f sim.Fleet) bool { return f.Program.Races }) {
		return
	}
	key := fmt.Sprint(c.fleet.index, c.client)
	switch n := len(w.free); {
	case c.fleet.Traffic.Arrivals == nil && w.closed[key] != nil:
		c.timer = w.closed[key]
	case c.fleet.Traffic.Arrivals != nil && n > 0:
		c.timer, w.free = w.free[n-1], w.free[:n-1]
	default:
		c.timer = &twinTimer{fires: -1}
		w.closed[key] = c.timer
	}
	c.timer.call, c.timer.due = c, -1
}

func (w *twin) line(c *twinCall, p strategies.PoolID) *twinLine {
	spec := c.fleet.Program.Pools[p]
	fleet, key, memory := c.fleet, fmt.Sprint(p), c.fleet.fleet
	switch spec.Scope {
	case strategies.PerClient:
		key, memory = fmt.Sprint(p, " of ", c.client), c.fleet.clients[c.client]
	case strategies.PerEveryone:
		fleet, key, memory = w.fleets[0], fmt.Sprint("everyone's ", spec.At), c.fleet.everyone
	}
	if fleet.lines[key] == nil {
		fleet.lines[key] = &twinLine{spec: spec, memory: memory[spec.At:]}
	}
	return fleet.lines[key]
}

func (w *twin) timer(l *twinLine, ready time.Duration) {
	l.timer++
	gen := l.timer
	if ready != strategies.Never {
		w.at(max(ready, w.now+1), aPool, func() {
			if l.timer == gen {
				w.admit(l)
			}
		})
	}
}

func (w *twin) admit(l *twinLine) {
	for len(l.waiting) > 0 {
		c := l.waiting[0]
		ok, ready := l.spec.Pool.TryTake(w.now, l.memory, c.wants)
		if !ok {
			w.timer(l, ready)
			return
		}
		l.waiting, c.line = l.waiting[1:], nil
		w.decide(c, strategies.Event{Kind: strategies.Admitted})
	}
}

func (w *twin) leave(c *twinCall) {
	l := c.line
	if l == nil {
		return
	}
	c.line = nil
	i := slices.Index(l.waiting, c)
	l.waiting = slices.Delete(l.waiting, i, i+1)
	if i == 0 {
		l.timer++
		w.revisit = append(w.revisit, func() { w.admit(l) })
	}
}

func (w *twin) send(c *twinCall, limit time.Duration) {
	c.attempts++
	w.belief.Attempts++
	switch {
	case c.attempts == 1:
		w.tries.FirstTries++
	case len(c.flying) > 0:
		w.tries.Hedges++
	default:
		w.tries.Retries++
	}
	ticket := uint32(len(w.tickets))
	a := &twinAttempt{call: c, number: c.attempts, ticket: ticket, target: c.target, asks: c.asks, sent: w.now}
	c.flying = append(c.flying, a)
	w.tickets = append(w.tickets, a)
	if limit > 0 {
		w.at(w.now+limit, aTimeout, func() {
			if !a.ended {
				w.giveUp(a, metrics.TimedOut)
				w.decide(c, strategies.Event{Kind: strategies.Expired, Attempt: a.number, SentAt: a.sent,
					Outcome: &wire.Outcome{Class: wire.Timeout, RetryAfter: wire.NoHint}})
			}
		})
	}
	arrive := func() {
		f := c.fleet
		a.there = true
		in := wire.Input{Kind: wire.Arrive, Ticket: ticket, Request: wire.Request{
			Call: uint64(f.index)<<56 | c.id, Attempt: a.number, Account: f.Account, Target: a.target, Demand: a.asks, Stream: f.Stream,
		}}
		if f.AccountPerClient {
			in.Request.Account += uint32(c.client)
		}
		before := len(w.effects)
		w.step(in)
		over := slices.ContainsFunc(w.effects[before:], func(e wire.Effect) bool {
			return e.Ticket == ticket && (e.Kind == wire.Replied || e.Kind == wire.LostConnection || e.Kind == wire.Dropped)
		})
		if a.ended && !over { // its client has hung up meanwhile
			w.step(wire.Input{Kind: wire.Abandon, Ticket: ticket})
		}
	}
	if c.fleet.Up.Mean == 0 {
		arrive()
	} else {
		w.at(w.now+c.fleet.Up.Mean, anArrival, arrive)
	}
}

func (w *twin) step(in wire.Input) {
	w.effects = w.x.Provider.Step(w.now, &in, w.effects)
	w.askForTick()
}

func (w *twin) askForTick() {
	if t := w.x.Provider.NextTick(); t < w.tickAt {
		w.tickAt = t
		w.at(t, aTick, func() {
			if w.tickAt == t {
				w.tickAt = never
				w.step(wire.Input{Kind: wire.Tick})
			}
		})
	}
}

func (w *twin) effect(e wire.Effect) {
	switch e.Kind {
	case wire.Started:
		w.at(w.now+e.After, aDone, func() { w.step(wire.Input{Kind: wire.Done, Job: e.Job}) })
	case wire.Replied:
		a := w.tickets[e.Ticket]
		a.there = false
		deliver := func() {
			if a.ended {
				return
			}
			how := metrics.Refused
			if e.Reply.Class == wire.OK {
				how, a.call.useful, a.call.shared = metrics.Answered, true, false
			}
			w.end(a, how)
			var o wire.Outcome
			a.call.fleet.Program.Reader.Read(&e.Reply, w.now, &o)
			w.decide(a.call, strategies.Event{Kind: strategies.Reply, Attempt: a.number, Outcome: &o, SentAt: a.sent})
		}
		switch delay := e.After + a.call.fleet.Down.Mean; {
		case a.ended:
		case delay == 0:
			deliver()
		default:
			w.at(w.now+delay, aReply, deliver)
		}
	case wire.LostConnection:
		a := w.tickets[e.Ticket]
		a.there = false
		lose := func() {
			if a.ended {
				return
			}
			w.end(a, metrics.ConnectionLost)
			o := wire.Outcome{Class: wire.ConnectionLost, RetryAfter: wire.NoHint}
			w.decide(a.call, strategies.Event{Kind: strategies.Lost, Attempt: a.number, Outcome: &o, SentAt: a.sent})
		}
		switch delay := e.After + a.call.fleet.Down.Mean; {
		case a.ended:
		case delay == 0:
			lose()
		default:
			w.at(w.now+delay, aReply, lose)
		}
	case wire.Dropped:
		w.tickets[e.Ticket].there = false
	}
}

func (w *twin) end(a *twinAttempt, how metrics.Ending) {
	a.ended = true
	i := slices.Index(a.call.flying, a)
	a.call.flying = slices.Delete(a.call.flying, i, i+1)
	w.belief.Endings[how]++
}

func (w *twin) giveUp(a *twinAttempt, how metrics.Ending) {
	w.end(a, how)
	if a.there {
		w.step(wire.Input{Kind: wire.Abandon, Ticket: a.ticket})
	}
}

// withdraw ends the attempts of a call that is over, the latest first.
func (w *twin) withdraw(c *twinCall) {
	for len(c.flying) > 0 {
		a := c.flying[len(c.flying)-1]
		w.giveUp(a, metrics.Cancelled)
		w.decide(c, strategies.Event{Kind: strategies.Settled, Attempt: a.number, SentAt: a.sent,
			Outcome: &wire.Outcome{Class: wire.Cancelled, RetryAfter: wire.NoHint}})
	}
}

// join has c follow whoever leads its flight, or lead it.
func (w *twin) join(c *twinCall, asks uint32) {
	f := c.fleet
	key := ""
	switch s := f.Program.Flights[0]; s.Scope {
	case strategies.PerClient:
		key = fmt.Sprint("client ", c.client, " of fleet ", f.index, " asks ", asks)
	case strategies.PerFleet:
		key = fmt.Sprint("fleet ", f.index, " asks ", asks)
	default:
		key = fmt.Sprint("somebody asks ", asks)
	}
	l := w.joined[key]
	if l != nil {
		l.following = append(l.following, c)
		c.flight = l
		return
	}
	c.flight = &twinFlight{key: key, leader: c, told: true}
	w.joined[key] = c.flight
	c.turn--
	w.decide(c, strategies.Event{Kind: strategies.Admitted})
}

func (w *twin) unfollow(c *twinCall) {
	if l := c.flight; l != nil && l.leader != c {
		l.following = slices.DeleteFunc(l.following, func(o *twinCall) bool { return o == c })
		c.flight = nil
	}
}

// twinCommands does at once what a strategy asks for beside its decision.
type twinCommands struct {
	*twin
	c *twinCall
	e strategies.Event
}

func (a twinCommands) Leave() { a.leave(a.c) }

func (a twinCommands) Put(p strategies.PoolID, n uint32) {
	l := a.line(a.c, p)
	l.spec.Pool.Put(a.now, l.memory, n)
	if len(l.waiting) > 0 {
		a.revisit = append(a.revisit, func() { a.admit(l) })
	}
}

func (a twinCommands) HangUp(attempt uint32) {
	i := slices.IndexFunc(a.c.flying, func(f *twinAttempt) bool { return f.number == attempt })
	a.giveUp(a.c.flying[i], metrics.Cancelled)
}

func (a twinCommands) WakeAt(at time.Duration) {
	if !a.c.over {
		a.wake(a.c, at)
	}
}

func (a twinCommands) Raise(s strategies.Signal) { a.alarms[a.c.fleet.Program.Signals[s].Reason]++ }

func (a twinCommands) Land(_ strategies.FlightID, _ uint32, end strategies.End) {
	l := a.c.flight
	a.c.flight = nil
	if end.Class == wire.Cancelled && len(l.following) > 0 { // the next one leads
		l.leader, l.following, l.told = l.following[0], l.following[1:], false
		a.revisit = append(a.revisit, func() {
			if !l.told {
				l.told = true
				a.decide(l.leader, strategies.Event{Kind: strategies.Admitted})
			}
		})
		return
	}
	delete(a.joined, l.key)
	var o wire.Outcome
	if a.e.Outcome != nil {
		o = *a.e.Outcome
	} else {
		o = wire.Outcome{Class: end.Class, RetryAfter: wire.NoHint}
	}
	useful := a.c.useful
	if len(l.following) == 0 {
		return
	}
	a.revisit = append(a.revisit, func() {
		for len(l.following) > 0 {
			c := l.following[0]
			l.following, c.flight = l.following[1:], nil
			if useful {
				c.useful, c.shared = true, true
			}
			c.end = end
			a.decide(c, strategies.Event{Kind: strategies.Joined, Outcome: &o})
		}
	})
}

// traced is a provider that writes down what happens to it.
type traced struct {
	sim.Provider
	whose map[uint32]string // by ticket
	lines []string
}

func trace(p sim.Provider) *traced { return &traced{Provider: p, whose: map[uint32]string{}} }

func (p *traced) Step(now time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
	line := fmt.Sprintf("%d ", now)
	switch in.Kind {
	case wire.Arrive:
		r := &in.Request
		p.whose[in.Ticket] = fmt.Sprintf("%#x/%d", r.Call, r.Attempt)
		line += fmt.Sprintf("arrive %s account %d target %v demand %v", p.whose[in.Ticket], r.Account, r.Target, r.Demand)
	case wire.Done:
		line += fmt.Sprintf("done %d", in.Job)
	case wire.Abandon:
		line += "abandon " + p.whose[in.Ticket]
	case wire.Tick:
		line += "tick"
	}
	n := len(out)
	out = p.Provider.Step(now, in, out)
	for _, e := range out[n:] {
		line += fmt.Sprintf(" → %d %s", e.Kind, p.whose[e.Ticket])
	}
	p.lines = append(p.lines, line)
	return out
}

// agree runs an experiment by the driver and by its twin, and compares what the
// provider saw and what the clients believe. make returns a fresh copy of it.
func agree(t require.TestingT, make func() sim.Experiment) *metrics.Report {
	one, two := make(), make()
	a, b := trace(one.Provider), trace(two.Provider)
	one.Provider, two.Provider = a, b
	rep, err := one.Run(ctx)
	require.NoError(t, err)
	naive := runTwin(two)
	require.Equal(t, b.lines, a.lines)
	require.Equal(t, naive.belief, rep.Belief)
	require.Equal(t, naive.tries, rep.Tries)
	for _, s := range rep.Signals {
		require.EqualValues(t, naive.alarms[s.Reason], s.Count)
	}
	return rep
}

func TestTwin(t *testing.T) {
	t.Parallel()
	var met metrics.Belief
	var tries metrics.Tries
	notes := uint64(0)
	for range 5 {
		rapid.Check(t, func(r *rapid.T) {
			plan := anyRecipe(r, true)
			rep := agree(r, func() sim.Experiment { return plan.experiment(r, 1) })
			met.Useful += rep.Belief.Useful
			met.Shared += rep.Belief.Shared
			met.Cancelled += rep.Belief.Cancelled
			met.Failed += rep.Belief.Failed
			tries.Retries += rep.Retries
			tries.Hedges += rep.Hedges
			for _, s := range rep.Signals {
				notes += s.Count
			}
		})
	}
	for what, n := range map[string]uint64{
		"useful": met.Useful, "shared": met.Shared, "withdrawn": met.Cancelled, "failed": met.Failed,
		"retries": tries.Retries, "hedges": tries.Hedges, "notes": notes,
	} {
		require.Greater(t, n, uint64(100), "the recipes are to have some %s", what)
	}
}

// A small reference experiment, run by the twin too: a herd, an outage and six
// slots.
func TestTwinOfTheReferenceExperiment(t *testing.T) {
	t.Parallel()
	for _, b := range presets.Builtins() {
		if b.Name == "naive" {
			continue // 360,000 refusals are too many to search a list for
		}
		d, err := presets.Lookup(b.Name, presets.Knowledge{Rate: 6, Per: 2 * time.Second, Concurrency: 6})
		require.NoError(t, err)
		rep := agree(t, func() sim.Experiment {
			prog, err := strategies.Compile(d, nil)
			require.NoError(t, err)
			cfg := simtest.Serves(6, 0, draw.Const(2*time.Second))
			cfg.RefusalTime = 50 * ms
			cfg.Faults = []mockprovider.Fault{faults.Outage(0, 300*time.Second, mockprovider.As503)}
			mock, err := mockprovider.New(cfg, draw.New(1))
			require.NoError(t, err)
			return sim.Experiment{Fleets: []sim.Fleet{simtest.OneShot(60, prog)}, Provider: mock, Rand: draw.New(2),
				Plan: metrics.Plan{Horizon: time.Hour, FaultEnd: 300 * time.Second, OneShot: true}}
		})
		require.Greater(t, rep.Belief.Attempts, uint64(40), b.Name)
	}
}
