// Package mockprovider decides what a limited provider answers.
//
// A [Provider] is a pure state machine: each step takes an input and the time, and
// returns effects. It has no clock, no goroutines and no sockets, so the same code
// is the provider of the simulator and of the HTTP server. Most readers need three
// names: [Config] describes a provider, [New] makes one, and [Provider.Step]
// advances it.
//
// An arrival passes the faults, then authentication, then the gates of the limits in
// their configured order, then capacity: a free slot, or room in the queue. Each may
// refuse it, with its own reply. A gate has its own memory only; whether what one has
// counted is given back when a later one refuses is configured, because real
// providers differ. The end of work is decided when the work starts.
//
// Capacity is a station for each model in each region: slots, and a queue with a
// discipline. The number of slots follows what others hold, the hour, an autoscaler
// and faults. A change acts on requests that wait; work in service is finished. A
// request that was admitted ends in one of four ways: its work is done, it is dropped
// from the queue, a fault ends it, or its client hangs up and the provider notices.
//
// # Limits and faults
//
// Packages limits and faults have every kind of limit and of fault. They use the
// exported parts of this package alone, so a package outside can do the same:
//
//   - A limit is a [Limit], which makes a [Gate]. [Terms] has what limits share, with
//     a [CounterIndex] that finds the counter of a request and a [Charge] that states
//     what a request costs. A gate that refuses returns a [Verdict].
//   - A fault is a [Fault] with a [Disturbance], which returns [Hooks]: functions that
//     act when a request arrives, when its work starts, when it ends, or on the
//     provider as a whole.
//
// # From the limit to Retry-After
//
// The way of a wait has three steps, each with a type of its own. A gate knows an
// [Admission], the time until it would admit the request. The [Hint] of the
// configuration turns that into a wire.Hint, which is what the reply states, in its
// spelling. A reader of package wire turns that into wire.Outcome.RetryAfter, the
// wait of the client.
package mockprovider
