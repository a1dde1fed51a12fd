// Package strategies is the kernel of client strategies: it decides what a client
// does next. The layers stand in [herdlab/strategies/layers], the schedules of waits
// in [herdlab/strategies/backoffs], and models of real clients in
// [herdlab/strategies/presets]; they use nothing but what this package exports.
//
// # Where to start
//
// Most strategies are a loop or a script. Write a [Script] to try an idea: it is
// ordinary blocking code. Write a [Loop] to begin what is inside it again (a retry, a
// change of model), a [Guard] to delay or refuse it (a limit, a breaker), and a
// [Race] to have it under way several times at once (a hedge). A new schedule of
// waits is a [Backoff], and a new thing to wait for is a [Pool]. Implement
// [Strategy] itself only for what none of these can do.
//
// The configuration of a layer is a struct with a Build method ([Layer]). Build
// reserves memory ([Build.Reserve], [Build.ReserveShared]) and wraps the strategy
// inside ([Build.Loop], [Build.Guard], [Build.Race], [Build.Flight], [Build.Hold]).
//
// # The order of layers
//
// A strategy is a stack of layers, outermost first, around the act of sending. A
// guard outside a loop acts once for each call, a guard inside it once for each
// attempt:
//
//	[]Layer{layers.Retry{…}, layers.Breaker{…}} // the breaker sees every attempt
//	[]Layer{layers.Breaker{…}, layers.Retry{…}} // the breaker sees calls only
//
// Nested loops multiply their attempts.
//
// # Drivers
//
// A [Strategy] does not sleep, lock, read a clock or keep state. Its driver does: the
// simulator, or a transport in production. A driver delivers events, carries out
// decisions and owns the memory. For one call at a time, and a strategy that only
// sends and waits, this is a whole driver (see the example Driver):
//
//	call := strategies.NewCall(random)
//	for s := range program.Words {
//		call.Driver().Memory[s] = make([]int64, program.Words[s])
//	}
//	now, event := time.Duration(0), strategies.Event{Kind: strategies.Begin}
//	for {
//		d := program.Root.Next(now, call, event)
//		call.Driver().Turn++
//		switch d.Kind {
//		case strategies.Send:
//			call.Attempts, call.Driver().Turn = call.Attempts+1, 0
//			took, outcome := send(call.Target, d.After)
//			event = strategies.Event{Kind: strategies.Reply, Attempt: call.Attempts, Outcome: outcome, SentAt: now}
//			now += took
//		case strategies.Wait:
//			now += d.After
//			event = strategies.Event{Kind: strategies.Wake}
//		case strategies.Stop, strategies.Answer:
//			return d.End
//		}
//	}
//
// A complete driver also keeps a queue for each pool (Acquire), tables of flights
// (Join), and carries out the [Commands] that layers give beside a decision.
//
// # Glossary
//
// A call is what the caller wants. An attempt is one request on the wire; limits on
// attempts count attempts, so there is one wait fewer. A client is one caller with
// its own memory; a fleet is clients with one configuration. An outcome is what the
// client makes of a reply or of its absence; a hint is the wait that a reply asks
// for. A layer is one part of a strategy. A scope says which calls share a word of
// memory: those of one call, client or fleet, or of everyone. A word is an int64 that
// a layer has reserved. A command is what a layer asks of its driver beside its
// decision. A flight is one request that several calls share. A signal is an alarm or
// a note that a layer raises.
package strategies
