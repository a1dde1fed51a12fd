package backoffs

import (
	"fmt"
	"time"

	"herdlab/strategies"
)

// Memoryless waits an exponentially distributed time with the given mean before each
// retry: each waiting call retries at the rate 1/Mean, independent of its earlier
// attempts. It models the clients of retrial queues: use it to compare the simulator
// with their theory (G. Falin and J. Templeton, Retrial Queues, 1997). Its long tail
// makes it a poor choice in production.
type Memoryless struct {
	// Mean is the mean wait and must be positive.
	Mean time.Duration `required:"10s" about:"The mean wait."`
}

// Validate reports an error if Mean is not positive.
func (m Memoryless) Validate() error {
	if m.Mean <= 0 {
		return fmt.Errorf("memoryless: mean must be positive, not %v", m.Mean)
	}
	return nil
}

// Delay implements strategies.Backoff.
func (m Memoryless) Delay(c *strategies.Call, p strategies.Purpose, _ int64, _ time.Duration) (base, jitter time.Duration) {
	return 0, c.Exponential(p, m.Mean)
}
