package layers

import (
	"errors"
	"fmt"
	"time"

	"herdlab/strategies"
)

// WorkerQueue hands calls to workers that take the next one from a queue at a
// fixed rate, evenly and without bursts. Work that fails for a passing reason
// goes back to the end of the queue, after the time that the provider asked for.
//
// It is right for batches whose size is known and whose callers do not wait: a
// burst of a thousand calls reaches the provider as ten a second, for a hundred
// seconds, and is never refused. What it costs is latency: a call waits for all
// that came before it.
type WorkerQueue struct {
	// Rate calls are taken from the queue in each Per.
	Rate int64 `rate:"Per" required:"120/min" about:"The rate at which calls are taken from the queue."`
	Per  time.Duration
	// Workers is how many calls may be under way; 0 means any number.
	Workers int64 `unit:"calls" without:"there is no bound" about:"How many calls may be under way."`
	// MaxAttempts bounds how often a call is tried; 0 means no bound.
	MaxAttempts int `unit:"attempts" without:"there is no bound" about:"How many attempts a call makes, the first one included."`
	// IgnoreHint puts failed work back into the queue at once.
	IgnoreHint bool `about:"Whether failed calls go back to the queue at once, whatever wait the reply asks for."`
	// Scope is who shares the queue, PerClient or wider; Name tells queues
	// apart that everyone shares.
	Scope strategies.Scope `except:"call" about:"Which clients share the memory of the layer."`
	Name  string           `without:"it has none" about:"The name by which layers of several fleets share memory; required with the scope everyone."`
}

// Build implements Layer. A worker queue is three layers: the loop that puts
// failed work back, the workers, and their pace.
func (q WorkerQueue) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	retry := Retry{Backoff: noWait{}, MaxAttempts: q.MaxAttempts}
	if q.IgnoreHint {
		retry.Hints.Use = HintIgnored
	}
	layers := []strategies.Layer{retry}
	switch {
	case q.Workers < 0:
		return nil, errors.New("worker queue: the number of workers must not be negative; 0 means any number")
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

// noWait is a backoff that lets the pace of the workers alone decide.
type noWait struct{}

// Delay implements Backoff.
func (noWait) Delay(*strategies.Call, strategies.Purpose, int64, time.Duration) (base, jitter time.Duration) {
	return 0, 0
}
