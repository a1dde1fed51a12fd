// Package mockprovider decides what a limited provider answers.
//
// A Provider is a pure state machine: it is stepped with an input and the time
// and returns effects. It has no clock, no goroutines and no sockets, so the
// same code is the simulator's provider and the HTTP server's.
//
// An arrival passes the outage, then authentication, then the gates (limits)
// in their configured order, then capacity: a free slot, or room in the queue.
// Each may refuse it, with its own reply. A gate knows only its own memory;
// what one has taken when a later one refuses is given back or kept, because
// real providers differ.
package mockprovider
