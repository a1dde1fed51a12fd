// Package strategies decides what a client does next.
//
// A Strategy is a pure decision: it is told what happened to a call and says
// what to do. It never sleeps, locks, reads a clock or keeps state of its own,
// so the same value runs a million clients in the simulator and goroutines in
// production. What it remembers lives in words that its driver owns and hands
// in, scoped to a call, a client, a fleet or everyone.
//
// A strategy is a stack of layers, outermost first, around the act of sending.
// A guard (breaker, limiter, budget) may only tighten what is inside it. A
// loop (retry, ladder) owns what is inside it and may begin it afresh. A race
// (hedging) may have it under way several times at once, each time with words of
// its own; in a flight, calls that ask the same share one. The order is the
// meaning: a guard outside a loop acts once a call, a guard inside it once an
// attempt.
//
//	[]Layer{Retry{…}, Breaker{…}, TokenBucket{…}} // every attempt asks the breaker
//	[]Layer{Breaker{…}, Retry{…}}                 // the breaker hears of calls only
//
// Glossary. A call is what the caller wants; an attempt is one request that
// reaches the wire; max attempts counts attempts, so waits are one fewer.
package strategies
