package mockprovider

import "fmt"

// Price is what tokens cost, in nano-dollars each: 1 $ per million tokens is
// 1000.
type Price struct {
	Input, Output int64
}

// The most that a token may cost, $ 0.1, and that a region may charge on top:
// so the cost of a request fits into an int64.
const (
	mostPrice     = 100_000_000
	mostSurcharge = 900
)

// validate reports an error if the price is invalid.
func (p Price) validate() error {
	if p.Input < 0 || p.Output < 0 || p.Input > mostPrice || p.Output > mostPrice {
		return fmt.Errorf("a token must cost 0 to %d nano-dollars; 1 $ per million tokens is 1000", mostPrice)
	}
	return nil
}

// with returns the price with that surcharge, in per cent.
func (p Price) with(surcharge int) Price {
	p.Input += p.Input * int64(surcharge) / 100
	p.Output += p.Output * int64(surcharge) / 100
	return p
}

// of returns what a request with those numbers of tokens costs.
func (p Price) of(input, output uint32) int64 {
	return p.Input*int64(input) + p.Output*int64(output)
}
