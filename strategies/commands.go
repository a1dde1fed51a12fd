package strategies

import "time"

// Commands receives the commands that a strategy gives its driver besides its
// decision. They take effect at once and cause no event for the call. A driver takes
// them with Call.TakeCommands after each Next, before it carries out the decision.
type Commands interface {
	// Leave removes the call from the queue of the pool in which it waits.
	Leave()
	// Put returns n units to a pool. Calls that wait for them are admitted after
	// the decision is carried out.
	Put(p PoolID, n uint32)
	// HangUp abandons an attempt in flight; no Settled event follows.
	HangUp(attempt uint32)
	// Land ends the shared flight that the call leads. Its followers receive Joined
	// and end with end; but if the class of end is wire.Cancelled, the first
	// follower leads instead.
	Land(f FlightID, key uint32, end End)
	// WakeAt sets the call's timer to a time since the run began, as a Wait does.
	WakeAt(at time.Duration)
	// Raise counts a signal.
	Raise(s Signal)
}

// command is a set of kinds of commands, as bits.
type command uint8

const (
	leaveCommand command = 1 << iota
	putCommand
	hangUpCommand
	landCommand
	wakeCommand
	raiseCommand
)

// commands are the commands of one Next.
type commands struct {
	which   command
	puts    []put
	hangUps []uint32
	flights []landing
	wakeAt  time.Duration
	signals []Signal
}

type put struct {
	pool PoolID
	n    uint32
}

type landing struct {
	flight FlightID
	key    uint32
	end    End
}

// HasCommands reports whether there are commands that TakeCommands has not yet
// delivered.
func (c *Call) HasCommands() bool { return c.commands.which != 0 }

// TakeCommands delivers the commands given since the last TakeCommands to to, and
// removes them. It is for drivers.
func (c *Call) TakeCommands(to Commands) {
	a := &c.commands
	which := a.which
	a.which = 0
	if which&leaveCommand != 0 {
		to.Leave()
	}
	for _, p := range a.puts {
		to.Put(p.pool, p.n)
	}
	for _, n := range a.hangUps {
		to.HangUp(n)
	}
	for _, l := range a.flights {
		to.Land(l.flight, l.key, l.end)
	}
	if which&wakeCommand != 0 {
		to.WakeAt(a.wakeAt)
	}
	for _, s := range a.signals {
		to.Raise(s)
	}
	a.puts, a.hangUps, a.flights, a.signals = a.puts[:0], a.hangUps[:0], a.flights[:0], a.signals[:0]
}

// Put returns n units to a pool. The driver does so after Next, and admits the calls
// that wait for them.
func (c *Call) Put(p PoolID, n uint32) {
	c.commands.which |= putCommand
	c.commands.puts = append(c.commands.puts, put{p, n})
}

// HangUp abandons attempt number n, which must be in flight. Unlike after a decision
// Abandon, the driver sends no Settled event: the layer that hangs up delivers it to
// the layers inside.
func (c *Call) HangUp(n uint32) {
	c.commands.which |= hangUpCommand
	c.commands.hangUps = append(c.commands.hangUps, n)
}

// Leave removes the call from the queue of the pool in which it waits.
func (c *Call) Leave() { c.commands.which |= leaveCommand }

// Land ends the shared flight that the call leads with end. See Commands.
func (c *Call) Land(f FlightID, key uint32, end End) {
	c.commands.which |= landCommand
	c.commands.flights = append(c.commands.flights, landing{f, key, end})
}

// WakeAt sets the call's timer, besides a decision other than Wait. A call has one
// timer: the last WakeAt wins.
func (c *Call) WakeAt(at time.Duration) {
	c.commands.which |= wakeCommand
	c.commands.wakeAt = at
}

// WakesBy reports whether a command of this decision sets the call's timer to at or
// earlier.
func (c *Call) WakesBy(at time.Duration) bool {
	return c.commands.which&wakeCommand != 0 && c.commands.wakeAt <= at
}

// Raise counts an alarm or a note, which the layer has declared with Build.Alarm or
// Build.Note.
func (c *Call) Raise(s Signal) {
	c.commands.which |= raiseCommand
	c.commands.signals = append(c.commands.signals, s)
}
