package backoffs

import (
	"fmt"
	"time"

	"herdlab/strategies"
)

// Memoryless waits an exponentially distributed time of the given mean before
// every retry: each waiting call retries at the rate 1/Mean, whatever it has
// been through. It is the client of retrial queues, and right for comparing the
// simulator with their theory (G. Falin and J. Templeton, Retrial Queues, 1997);
// its long tail makes it a poor choice for people.
type Memoryless struct {
	Mean time.Duration `required:"10s" about:"The mean wait."`
}

// Validate says what is wrong with the backoff.
func (m Memoryless) Validate() error {
	if m.Mean <= 0 {
		return fmt.Errorf("memoryless backoff: the mean must be positive, not %v", m.Mean)
	}
	return nil
}

// Delay implements Backoff.
func (m Memoryless) Delay(c *strategies.Call, p strategies.Purpose, _ int64, _ time.Duration) (base, jitter time.Duration) {
	return 0, c.Exponential(p, m.Mean)
}
