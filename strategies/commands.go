package strategies

import "time"

// Commands are what a strategy asks of its driver besides its decision: things
// that happen at once and of which no event tells. A driver has them after
// each Next, by Call.TakeCommands, and before it carries out the decision.
type Commands interface {
	// Leave takes the call out of the line in which it stands.
	Leave()
	// Put gives n units back to a pool; whoever waits for them is admitted
	// once the decision is carried out.
	Put(p PoolID, n uint32)
	// HangUp gives up an attempt in flight; no event tells of it.
	HangUp(attempt uint32)
	// Land ends the flight that the call leads: those who follow it come back
	// with Joined and end, or the first of them leads if end's class is
	// wire.Cancelled.
	Land(f FlightID, key uint32, end End)
	// WakeAt sets the call's timer as a Wait does.
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

// commands are those of one Next.
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

// HasCommands reports whether Next has given commands that TakeCommands has not
// delivered.
func (c *Call) HasCommands() bool { return c.commands.which != 0 }

// TakeCommands tells to what Next has asked for since the last TakeCommands, and
// forgets it. It is for drivers.
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

// Put gives n units back to a pool. The driver does so when Next returns, and
// admits whoever waits for them.
func (c *Call) Put(p PoolID, n uint32) {
	c.commands.which |= putCommand
	c.commands.puts = append(c.commands.puts, put{p, n})
}

// HangUp gives up attempt number n, which must be in flight. Unlike after an
// Abandon no event tells of it: who hangs up tells those inside by itself.
func (c *Call) HangUp(n uint32) {
	c.commands.which |= hangUpCommand
	c.commands.hangUps = append(c.commands.hangUps, n)
}

// Leave takes the call out of the line in which it stands.
func (c *Call) Leave() { c.commands.which |= leaveCommand }

// Land ends the flight that the call leads: end is how. See Commands.
func (c *Call) Land(f FlightID, key uint32, end End) {
	c.commands.which |= landCommand
	c.commands.flights = append(c.commands.flights, landing{f, key, end})
}

// WakeAt sets the call's timer beside a decision that is no Wait. A call has
// one timer: the last that sets it wins.
func (c *Call) WakeAt(at time.Duration) {
	c.commands.which |= wakeCommand
	c.commands.wakeAt = at
}

// WakesBy reports whether a layer has set the call's timer, beside this decision, to
// at or earlier.
func (c *Call) WakesBy(at time.Duration) bool {
	return c.commands.which&wakeCommand != 0 && c.commands.wakeAt <= at
}

// Raise counts an alarm or a note that the layer has named when its stack was
// built.
func (c *Call) Raise(s Signal) {
	c.commands.which |= raiseCommand
	c.commands.signals = append(c.commands.signals, s)
}
