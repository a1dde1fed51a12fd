package mockprovider

import (
	"errors"
	"fmt"
	"math"

	"herdlab/mockprovider/wire"
)

// Charge is what a limit counts of a request, and when. The zero Charge counts
// each as 1 at admission, however it ends.
type Charge struct {
	Count Unit   `about:"What is counted."`
	When  Moment `about:"When tokens of the answer are charged, whose number is known at the end."`
	// Least is the least output that is charged as long as the true one is not
	// known, in tokens: some providers reserve no less, whatever is asked for.
	Least uint32 `unit:"tokens" default:"0" about:"The least number of output tokens that is charged before the true one is known."`
	// Failed and Cancelled are what requests that are not served cost in the
	// end: those that fail, and those whose client hangs up and is noticed.
	Failed    Settlement `about:"What a request that fails costs in the end."`
	Cancelled Settlement `about:"What a request costs in the end whose client hangs up, if that is noticed."`
}

// Unit is what is counted.
type Unit uint8

// The units.
const (
	Requests     Unit = iota // each request is 1
	InputTokens              // tokens of the prompt
	OutputTokens             // tokens of the answer
	AllTokens                // both
	numUnits     = iota
)

// Moment is when tokens of the answer are charged. Their number is not known before
// the answer is complete; the charge before that is the cap of the request
// (max_tokens) or, without one, the true number.
type Moment uint8

// The moments.
const (
	// AtAdmission charges the cap, and keeps it whatever is produced.
	AtAdmission Moment = iota
	// Reserved charges the cap, and what was produced in its place at the end.
	// The difference is given back to the time of the charge: where that is over,
	// it is lost.
	Reserved
	// AtCompletion lets in as long as anything is left, and charges what was
	// produced at the end: of a burst of requests all pass.
	AtCompletion
	numMoments = iota
)

// Settlement is what a request that was not served costs in the end.
type Settlement uint8

// The settlements.
const (
	AsServed       Settlement = iota // as if it had been served
	Refunded                         // nothing
	Produced                         // what was produced: the prompt, and the answer as far as it came; a whole request
	Whole                            // what was, or would have been, charged at admission
	numSettlements = iota
)

// validate reports an error if the charge is invalid.
func (c *Charge) validate() error {
	switch {
	case c.Count >= numUnits:
		return fmt.Errorf("charge: there is no unit %d", c.Count)
	case c.When >= numMoments:
		return fmt.Errorf("charge: there is no moment %d", c.When)
	case c.Failed >= numSettlements:
		return fmt.Errorf("charge: there is no settlement %d", c.Failed)
	case c.Cancelled >= numSettlements:
		return fmt.Errorf("charge: there is no settlement %d", c.Cancelled)
	case c.Least > 0 && c.Count < OutputTokens:
		return errors.New("charge: a least output needs a limit that counts output tokens")
	}
	return nil
}

// Settles reports whether the end of a request may change what it is charged.
func (c *Charge) Settles() bool {
	return c.When == AtCompletion || c.When == Reserved && c.Count >= OutputTokens || c.Failed != AsServed || c.Cancelled != AsServed
}

// tokens saturates a number of tokens, which as a rule is far below that.
func tokens(n uint64) int32 { return int32(min(n, math.MaxInt32)) }

// Upfront returns what r is charged while nothing is known of its answer.
func (c *Charge) Upfront(r *wire.Request) int32 {
	out := r.Demand.OutputTokens
	if r.Demand.MaxTokens > 0 {
		out = r.Demand.MaxTokens
	}
	return c.amount(r, max(out, c.Least))
}

// amount is what r is charged if its answer has that number of output tokens.
func (c *Charge) amount(r *wire.Request, output uint32) int32 {
	switch c.Count {
	case Requests:
		return 1
	case InputTokens:
		return tokens(uint64(r.Demand.InputTokens))
	case OutputTokens:
		return tokens(uint64(output))
	}
	return tokens(uint64(r.Demand.InputTokens) + uint64(output))
}

// Final returns what r costs in the end.
func (c *Charge) Final(r *wire.Request, e *Ended) int32 {
	s := AsServed
	switch e.Class {
	case wire.OK:
	case wire.Cancelled:
		s = c.Cancelled
	default:
		s = c.Failed
	}
	switch {
	case s == Refunded:
		return 0
	case s == Whole || s == AsServed && c.When == AtAdmission:
		return c.Upfront(r)
	}
	return c.amount(r, e.Tokens)
}

// Mean returns the mean of what a request of a load costs in the end, if it is
// served; 0 if that is not known.
func (c *Charge) Mean(load *Load) float64 {
	out := load.MeanOutput
	if c.When == AtAdmission {
		if load.MeanReserved > 0 {
			out = load.MeanReserved
		}
		out = max(out, float64(c.Least))
	}
	switch c.Count {
	case Requests:
		return 1
	case InputTokens:
		return load.MeanInput
	case OutputTokens:
		return out
	}
	return load.MeanInput + out
}
