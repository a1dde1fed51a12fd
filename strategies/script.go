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
// It is a Layer: Send begins what is inside it and blocks until that has
// stopped, so breakers, limiters and other loops may stand within. The code
// runs on coroutines under the virtual clock, deterministically; it must not
// start goroutines, read clocks or share variables between calls, because
// experiments run on several cores. It is right for trying an idea out, and for
// what reads badly as a state machine. It costs a coroutine for each call under
// way, some kilobytes, and two switches for each step: a plain Next is twice as
// fast and takes some words.
//
// A call that its caller withdraws ends the script where it blocks: deferred
// functions run, nothing after the Send or Sleep does.
type Script func(s *Session) error

// ErrGaveUp is what a script may return to fail with the last outcome without
// a reason of its own. Any other error does the same: the driver knows how the
// last attempt ended, and a report counts that.
var ErrGaveUp = errors.New("the script gave up")

// Build implements Layer.
func (f Script) Build(b *Build, inner Strategy) (Strategy, error) {
	if f == nil {
		return nil, errors.New("script: it is nil; write a function")
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
	// What the driver gives on each resumption.
	now   time.Duration
	call  *Call
	leave bool   // the script is to unwind
	draws uint16 // in this step
	// How the last Send ended, for the script and for the driver.
	result Result
	end    Decision
}

// Result is how a Send ended.
type Result struct {
	// Outcome is the last attempt's; if there was none, because a layer inside
	// refused to try, only its class is filled in.
	wire.Outcome
	// Reason is why what is inside stopped.
	Reason Reason
}

// Err is what a script returns that can do no better: nil for an answer, else
// ErrGaveUp.
func (r Result) Err() error {
	if r.OK() {
		return nil
	}
	return ErrGaveUp
}

// Now returns the time since the run began.
func (s *Session) Now() time.Duration { return s.now }

// Call returns what is known of the call: its ID, client, demand, when it was
// born, and where the next attempt goes, which the script may change.
func (s *Session) Call() *Call { return s.call }

// Send sends an attempt, through whatever is inside the script, and blocks
// until it has ended.
func (s *Session) Send() Result {
	s.block(order{kind: Send})
	return s.result
}

// Sleep blocks for d; not at all if d ≤ 0.
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

// draw returns the purpose of the next draw: that of the layer for the first of
// a step, so that a script draws as its twin without coroutines does. The 257th
// draw of one step is the first again.
func (s *Session) draw() Purpose {
	p := s.purpose + Purpose(s.draws<<8)
	s.draws++
	return p
}

// unwinding is what a withdrawn script panics with.
type unwinding struct{}

// block hands an order to the driver and waits for its answer.
func (s *Session) block(o order) {
	if s.leave || !s.yield(o) {
		s.leave = true
	}
	if s.leave {
		panic(unwinding{})
	}
}

// order is what a script wants: Send, Wait, or, when it is over, Stop.
type order struct {
	kind  DecisionKind
	after time.Duration
	err   error
}

// ended notes that a Send has ended with d, because of e.
func (s *Session) ended(e Event, d Decision) {
	s.result.Outcome = wire.Outcome{RetryAfter: wire.NoHint}
	if e.Outcome != nil {
		s.result.Outcome = *e.Outcome
	}
	s.result.Class, s.result.Reason = d.End.Class, d.End.Reason
	s.end = d
}

// verdict is how a script that has returned err settles its call.
func (s *Session) verdict(err error) Decision {
	switch good := s.end.End.Class == wire.OK; {
	case err == nil && good:
		return s.end
	case err == nil:
		return StopWith(Succeeded, wire.OK) // it says so
	case good: // it has an answer and does not want it
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
			return // a panic of the script's own is for whoever runs the experiment
		}
		if p := recover(); p != nil && p != any(unwinding{}) {
			panic(p)
		}
	}()
	return s.script(s)
}
