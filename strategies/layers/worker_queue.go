package layers

import (
	"errors"
	"fmt"
	"time"

	"herdlab/strategies"
)

// WorkerQueue puts calls into a queue from which workers take them at a fixed rate,
// evenly and without bursts. A call that failed with a transient class goes back to
// the end of the queue, after the wait that the reply asked for.
//
// Use it for batches whose size is known and whose callers do not wait: a burst of
// a thousand calls reaches the provider as ten per second, for a hundred seconds,
// and is never refused. It costs latency: a call waits for all calls before it.
type WorkerQueue struct {
	// Rate is the number of calls taken from the queue in each Per; both must be
	// positive.
	Rate int64 `rate:"Per" required:"120/min" about:"The rate at which calls are taken from the queue."`
	Per  time.Duration
	// Workers is the number of calls that may be under way; 0 means no bound.
	Workers int64 `unit:"calls" without:"there is no bound" about:"How many calls may be under way."`
	// MaxAttempts bounds the attempts of a call, the first one included; 0 means no
	// bound.
	MaxAttempts int `unit:"attempts" without:"there is no bound" about:"How many attempts a call makes, the first one included."`
	// IgnoreHint puts failed calls back into the queue at once, whatever wait the
	// reply asks for.
	IgnoreHint bool `about:"Whether failed calls go back to the queue at once, whatever wait the reply asks for."`
	// Scope sets which clients share the queue, PerClient or wider. Name identifies
	// a queue with the scope PerEveryone.
	Scope strategies.Scope `except:"call" about:"Which clients share the memory of the layer."`
	Name  string           `without:"it has none" about:"The name by which layers of several fleets share memory; required with the scope everyone."`
}

// Build implements Layer. A worker queue is three layers: the loop that puts failed
// calls back, the workers, and their rate.
func (q WorkerQueue) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	retry := Retry{Backoff: noWait{}, MaxAttempts: q.MaxAttempts}
	if q.IgnoreHint {
		retry.Hints.Use = HintIgnored
	}
	layers := []strategies.Layer{retry}
	switch {
	case q.Workers < 0:
		return nil, errors.New("worker queue: workers must not be negative; 0 means no bound")
	case q.Workers > 0:
		layers = append(layers, Concurrency{Permits: q.Workers, Scope: q.Scope, Name: q.Name})
	}
	layers = append(layers, TokenBucket{Rate: q.Rate, Per: q.Per, Burst: 1, Scope: q.Scope, Name: q.Name})
	for i := len(layers) - 1; i >= 0; i-- {
		var err error
		if inner, err = layers[i].Build(b, inner); err != nil {
			return nil, fmt.Errorf("worker queue: %w", err)
		}
	}
	return inner, nil
}

// noWait is a backoff without a wait; the rate of the workers alone delays retries.
type noWait struct{}

// Delay implements Backoff.
func (noWait) Delay(*strategies.Call, strategies.Purpose, int64, time.Duration) (base, jitter time.Duration) {
	return 0, 0
}
