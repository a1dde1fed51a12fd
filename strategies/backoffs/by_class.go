package backoffs

import (
	"errors"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// ByClass uses the backoff Then after failures of the given classes and Else
// after all others. Use it where some failures last longer than others: wait a
// second after a refusal by a limit, milliseconds after a lost connection. Both
// count the same retries. Neither may be a backoff that needs the previous wait or
// the class of the failure, such as DecorrelatedJitter or ByClass.
type ByClass struct {
	Classes strategies.Classes `required:"limits" about:"The classes of failures after which then is used."`
	Then    strategies.Backoff `required:"{fixed: {every: 1s}}" about:"The backoff after failures of these classes."`
	Else    strategies.Backoff `required:"{full_jitter: {base: 1s}}" about:"The backoff after all other failures."`
}

// Validate reports an error if Classes is empty, or if Then or Else is missing or
// invalid.
func (x ByClass) Validate() error {
	if x.Classes == 0 {
		return errors.New("by_class: classes is empty; give classes, or use the backoff else alone")
	}
	if err := validateInner("by_class: then", x.Then); err != nil {
		return err
	}
	return validateInner("by_class: else", x.Else)
}

// For implements strategies.Discerning.
func (x ByClass) For(c wire.Class) strategies.Backoff {
	if x.Classes.Has(c) {
		return x.Then
	}
	return x.Else
}

// Delay implements strategies.Backoff. It is used if the class of the failure is not
// known.
func (x ByClass) Delay(c *strategies.Call, p strategies.Purpose, retry int64, prev time.Duration) (base, jitter time.Duration) {
	return x.Else.Delay(c, p, retry, prev)
}
