package mockprovider

import (
	"errors"
	"time"
)

// Outage is a fault during which the provider refuses every arrival:
// From ≤ t < To. Work that is queued or in service is carried on.
type Outage struct {
	From, To time.Duration
	// Refusal is its reply; As503 by default. An exact hint counts until no
	// outage is in force any more, the ones that follow on this included.
	Refusal Refusal
}

// Validate says what is wrong with the outage, and what to do.
func (o Outage) Validate() error {
	switch {
	case o.From < 0:
		return errors.New("it must not begin before 0")
	case o.To <= o.From:
		return errors.New("it must end after it begins")
	}
	return o.Refusal.Validate()
}
