package strategies

import (
	"errors"
	"fmt"
)

// Mistakes of a strategy that stop its driver. A driver puts its own name and the
// strategy's before them: `sim: strategy "retry" acquires units …`.
var (
	ErrQueued      = errors.New("acquires units for a call that already waits in a queue")
	ErrInFlight    = errors.New("joins a flight for a call that is already in a flight")
	ErrNothingToDo = errors.New("is idle for a call that has no attempt, timer, queue or flight to wait for, so the call would hang for ever; it must send, wait, acquire, join, answer or stop")
)

// ErrTooManyInFlight returns the error of a Send while limit attempts of the call
// are in flight.
func ErrTooManyInFlight(limit int) error {
	return fmt.Errorf("sends an attempt while %d attempts of the call are in flight; limit its hedges", limit)
}

// ErrUnknownPool returns the error of an Acquire from a pool that the stack, which
// has the given number of pools, does not have.
func ErrUnknownPool(p PoolID, pools int) error {
	return fmt.Errorf("acquires from pool %d, but has %d pools", p, pools)
}

// ErrUnknownTable returns the error of a Join in a table of flights that the stack,
// which has the given number of tables, does not have.
func ErrUnknownTable(p PoolID, tables int) error {
	return fmt.Errorf("joins a flight of table %d, but has %d tables", p, tables)
}

// ErrNotInFlight returns the error of an Abandon of an attempt that is not in flight.
func ErrNotInFlight(attempt uint32) error {
	return fmt.Errorf("abandons attempt %d, which is not in flight", attempt)
}

// ErrUnknownDecision returns the error of a decision of a kind that does not exist.
func ErrUnknownDecision(d Decision) error {
	return fmt.Errorf("returns the unknown decision %d", d.Kind)
}
