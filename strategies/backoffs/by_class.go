package backoffs

import (
	"errors"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// ByClass waits as Then says after failures of some classes, and as Else after
// all others. It is right where one failure is over at once and another is not:
// a second after a refusal by a limit, milliseconds after a lost connection.
// Neither may need the wait before.
type ByClass struct {
	Classes strategies.Classes `required:"limits" about:"The classes of failures after which then is used."`
	Then    strategies.Backoff `required:"{fixed: {every: 1s}}" about:"The backoff after failures of these classes."`
	Else    strategies.Backoff `required:"{full_jitter: {base: 1s}}" about:"The backoff after all other failures."`
}

// Validate says what is wrong with the backoff.
func (x ByClass) Validate() error {
	if x.Classes == 0 {
		return errors.New("backoff by class: it needs classes; without them Else alone will do")
	}
	if err := validateInner("backoff by class", x.Then); err != nil {
		return err
	}
	return validateInner("backoff by class", x.Else)
}

// For implements Discerning.
func (x ByClass) For(c wire.Class) strategies.Backoff {
	if x.Classes.Has(c) {
		return x.Then
	}
	return x.Else
}

// Delay implements Backoff, for failures of no known class.
func (x ByClass) Delay(c *strategies.Call, p strategies.Purpose, retry int64, prev time.Duration) (base, jitter time.Duration) {
	return x.Else.Delay(c, p, retry, prev)
}
