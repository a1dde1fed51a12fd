// Package mockprovider decides what a limited provider answers.
//
// A Provider is a pure state machine: it is stepped with an input and the time
// and returns effects. It has no clock, no goroutines and no sockets, so the
// same code is the simulator's provider and the HTTP server's.
//
// An arrival passes the faults, then authentication, then the gates (limits)
// in their configured order, then capacity: a free slot, or room in the queue.
// Each may refuse it, with its own reply. A gate knows only its own memory;
// what one has taken when a later one refuses is given back or kept, because
// real providers differ. How work ends is decided when it starts, and faults
// have a say in that too.
//
// Capacity is a station for each model in each region: slots, and a queue with
// a discipline before them. Slots come and go, with what others hold, with the
// hour, an autoscaler and faults; that acts on who waits, and work in service is
// finished. A request that was let in ends in one of four ways: its work is done,
// it is dropped from the queue, a fault ends it, or its client hangs up and the
// provider notices.
package mockprovider
