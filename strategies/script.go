package strategies

import (
	"errors"
	"time"

	"herdlab/mockprovider/wire"
)

// Script is a strategy written as ordinary blocking code, one call at a time:
//
//	strategies.Script(func(s *strategies.Session) error {
//		for retry := range 5 {
//			r := s.Send()
//			if r.OK() {
//				return nil
//			}
//			s.Sleep(s.Uniform(0, time.Second<<retry))
//		}
//		return errors.New("five tries failed")
//	})
//
// It is a Layer: Send begins the layers inside it and blocks until they have
// stopped, so breakers, limiters and other loops may be inside. The code runs on
// coroutines under the virtual clock, deterministically. It must not start
// goroutines, read clocks or share variables between calls, because experiments
// run on several cores. A script suits a first version of an idea, and logic that
// is hard to read as a state machine. It costs a coroutine of some kilobytes for
// each unsettled call, and two switches for each step: a plain Next is twice as
// fast and needs only some words.
//
// When the caller cancels the call, the script ends where it blocks: deferred
// functions run, but nothing after the Send or Sleep does.
type Script func(s *Session) error

// ErrGaveUp is an error that a script may return to fail with the last outcome. Any
// other error has the same effect: a report counts how the last attempt ended, not
// the error.
var ErrGaveUp = errors.New("the script gave up")

// Build implements Layer.
func (f Script) Build(b *Build, inner Strategy) (Strategy, error) {
	if f == nil {
		return nil, errors.New("script: the function is nil")
	}
	slot, err := b.Reserve(PerCall, 1, "")
	if err != nil {
		return nil, err
	}
	waiting, err := b.Waiting("script")
	if err != nil {
		return nil, err
	}
	b.program.Scripted = true
	return &scripted{run: f, inner: inner, slot: slot, waiting: waiting, purpose: b.Purpose()}, nil
}

// Session is a script's view of its call. It is valid until the script returns.
type Session struct {
	yield   func(order) bool
	script  Script
	purpose Purpose
	// Set each time the script resumes.
	now   time.Duration
	call  *Call
	leave bool   // the script must unwind
	draws uint16 // number of draws in this step
	// How the last Send ended: for the script and for the driver.
	result Result
	end    Decision
}

// Result is how a Send ended.
type Result struct {
	// Outcome is that of the last attempt. If a layer inside refused to send one,
	// only its class is set.
	wire.Outcome
	// Reason is why the layers inside stopped.
	Reason Reason
}

// Err returns nil for a successful answer, else ErrGaveUp. It is for a script that
// ends with this Send.
func (r Result) Err() error {
	if r.OK() {
		return nil
	}
	return ErrGaveUp
}

// Now returns the time since the run began.
func (s *Session) Now() time.Duration { return s.now }

// Call returns the call: its ID, client, demand, time of arrival, and the target of
// the next attempt, which the script may change.
func (s *Session) Call() *Call { return s.call }

// Send sends an attempt, through the layers inside the script, and blocks until
// they have stopped.
func (s *Session) Send() Result {
	s.block(order{kind: Send})
	return s.result
}

// Sleep blocks for d. It returns at once if d ≤ 0.
func (s *Session) Sleep(d time.Duration) {
	if d > 0 {
		s.block(order{kind: Wait, after: d})
	}
}

// Uniform draws a duration in [lo, hi). Draws belong to the call and to this
// point of its history.
func (s *Session) Uniform(lo, hi time.Duration) time.Duration {
	return s.call.Uniform(s.draw(), lo, hi)
}

// Exponential draws an exponentially distributed duration of the given mean.
func (s *Session) Exponential(mean time.Duration) time.Duration {
	return s.call.Exponential(s.draw(), mean)
}

// Float draws a uniform float in [0, 1).
func (s *Session) Float() float64 { return s.call.Float(s.draw()) }

// draw returns the purpose of the next draw. The first draw of a step has the
// purpose of the layer, so that a script draws the same values as a state machine
// with the same logic. The 257th draw of a step repeats the first.
func (s *Session) draw() Purpose {
	p := s.purpose + Purpose(s.draws<<8)
	s.draws++
	return p
}

// unwinding is the value that block panics with to end the script of a cancelled
// call.
type unwinding struct{}

// block passes an order to the driver and returns when the driver resumes the
// script.
func (s *Session) block(o order) {
	if s.leave || !s.yield(o) {
		s.leave = true
	}
	if s.leave {
		panic(unwinding{})
	}
}

// order is a request of a script: Send, Wait or, when the script is over, Stop.
type order struct {
	kind  DecisionKind
	after time.Duration
	err   error
}

// ended records that a Send has ended with d, caused by e.
func (s *Session) ended(e Event, d Decision) {
	s.result.Outcome = wire.Outcome{RetryAfter: wire.NoHint}
	if e.Outcome != nil {
		s.result.Outcome = *e.Outcome
	}
	s.result.Class, s.result.Reason = d.End.Class, d.End.Reason
	s.end = d
}

// verdict returns the decision that settles the call of a script that returned err.
func (s *Session) verdict(err error) Decision {
	switch good := s.end.End.Class == wire.OK; {
	case err == nil && good:
		return s.end
	case err == nil:
		return StopWith(Succeeded, wire.OK) // the script counts a failed Send as success
	case good: // the script rejects a successful answer
		return StopWith(Failed, wire.BadRequest)
	}
	return s.end
}

// serve runs scripts one after the other on one coroutine.
func (s *Session) serve(yield func(order) bool) {
	for s.yield = yield; ; {
		err := s.once()
		if !yield(order{kind: Stop, err: err}) {
			return
		}
	}
}

// once runs the script for one call.
func (s *Session) once() (err error) {
	defer func() {
		if !s.leave {
			return // a panic of the script itself reaches the caller of the experiment
		}
		if p := recover(); p != nil && p != any(unwinding{}) {
			panic(p)
		}
	}()
	return s.script(s)
}
