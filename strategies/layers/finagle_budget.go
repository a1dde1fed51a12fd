package layers

import (
	"errors"
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// FinagleBudget is the retry budget of Finagle, which tower and Linkerd copy: in
// any interval of length TTL, the extra attempts are at most Percent of the calls
// plus MinPerSecond per second. In an outage with D new calls per second the
// amplification is 1 + Percent/100 + MinPerSecond/D.
//
// Use it for services with steady traffic: the budget follows the traffic and
// forgets it after TTL, so a quiet day saves nothing. With little traffic per
// client only the minimum counts, and many small clients together may still cause a
// storm. A TTL of two minutes and no minimum is the per-client ratio of Google's
// SRE book. (twitter/util RetryBudget.scala.)
type FinagleBudget struct {
	// Percent is the number of extra attempts as a share of the calls, 0 to 1000 %;
	// Finagle's default is 20.
	Percent int `unit:"%" most:"1000" default:"0%" about:"How many retries there may be, as a share of the calls; Finagle's own default is 20."`
	// MinPerSecond is the number of further retries per second, on average over
	// TTL, 0 to 1,000,000; Finagle's default is 10. Percent and MinPerSecond must
	// not both be 0.
	MinPerSecond int `unit:"retries per second" default:"0" about:"How many more retries are allowed, on average over the ttl; Finagle's own default is 10."`
	// TTL is how long a call counts, 10 ns to 1 h; 0 means Finagle's 10 s.
	TTL time.Duration `default:"10s" about:"How long a call counts."`
	// Scope sets which clients share the budget, PerClient or wider. Name
	// identifies a budget with the scope PerEveryone.
	Scope strategies.Scope `except:"call" about:"Which clients share the memory of the layer."`
	Name  string           `without:"it has none" about:"The name by which layers of several fleets share memory; required with the scope everyone."`
}

// budgetSlices is the number of parts into which the TTL is divided, as in Finagle:
// a call is forgotten between 0.9 and 1 TTL after it began.
const budgetSlices = 10

// Build implements Layer.
func (f FinagleBudget) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	if f.TTL == 0 {
		f.TTL = 10 * time.Second
	}
	switch {
	case f.Percent < 0 || f.Percent > 1000 || f.MinPerSecond < 0 || f.MinPerSecond > 1e6:
		return nil, fmt.Errorf("finagle budget: percent must be 0 to 1000 and min_per_second 0 to 1000000, not %d and %d", f.Percent, f.MinPerSecond)
	case f.Percent == 0 && f.MinPerSecond == 0:
		return nil, errors.New("finagle budget: percent or min_per_second must be positive; to allow no retry, leave out the retry loop")
	case f.TTL < budgetSlices || f.TTL > time.Hour:
		return nil, fmt.Errorf("finagle budget: ttl must be 10ns to 1h, not %v", f.TTL)
	}
	window, err := b.ReserveShared(f.Scope, slidingSum(budgetSlices).words(), "finagle budget", f.Name, fmt.Sprintf("%+v", f))
	if err != nil {
		return nil, fmt.Errorf("finagle budget: %w", err)
	}
	reserve := int64(f.MinPerSecond) * int64(f.TTL) / int64(time.Second)
	return withBudget(b, &finagleBudget{FinagleBudget: f, window: window, reserve: reserve * 100}, inner)
}

// finagleBudget counts in hundredths of an extra attempt: a call adds Percent, a
// retry costs 100.
type finagleBudget struct {
	unmoved
	FinagleBudget
	window  strategies.Slot
	reserve int64
}

func (f *finagleBudget) balance(now time.Duration, c *strategies.Call) []int64 {
	w := c.Words(f.window)
	slidingSum(budgetSlices).advance(w, int64(now/(f.TTL/budgetSlices)))
	return w
}

func (f *finagleBudget) began(now time.Duration, c *strategies.Call) {
	if c.Attempts == 0 {
		slidingSum(budgetSlices).add(f.balance(now, c), int64(f.Percent))
	}
}

func (f *finagleBudget) allow(now time.Duration, c *strategies.Call, _ wire.Class) (int64, bool) {
	w := f.balance(now, c)
	if slidingSum(budgetSlices).sum(w)+f.reserve < 100 {
		return 0, false
	}
	slidingSum(budgetSlices).add(w, -100)
	return 100, true
}
