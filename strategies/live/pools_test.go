package live

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
)

// Cancelled waiters cost nothing: after 2,000 of them, the next call is admitted
// within the patience and 1/rate, and the number of admitted calls is the same as
// without the cancelled ones. With a token bucket, the next call waits for one
// token at most.
func TestCancelledWaitersCostNothing(t *testing.T) {
	const s, all, patience, gap = time.Second, strategies.PerFleet, time.Second, time.Second / 20
	retry := layers.Retry{Backoff: backoffs.Fixed{Every: s / 10}}
	fixed := layers.LimitRange{Initial: 20, Min: 20, Max: 20}
	for name, c := range map[string]struct {
		layers   []strategies.Layer
		service  time.Duration
		admitted [2]int32 // least and most within the patience
		most     time.Duration
	}{
		"token bucket":    {[]strategies.Layer{layers.TokenBucket{Rate: 20, Per: s, Burst: 5, Scope: all}}, 0, [2]int32{25, 25}, gap},
		"within a retry":  {[]strategies.Layer{retry, layers.TokenBucket{Rate: 20, Per: s, Burst: 5, Scope: all}}, 0, [2]int32{25, 25}, gap},
		"two of them":     {[]strategies.Layer{layers.Concurrency{Permits: 20, Scope: all}, layers.TokenBucket{Rate: 20, Per: s, Burst: 5, Scope: all}}, 0, [2]int32{25, 25}, gap},
		"gcra":            {[]strategies.Layer{layers.GCRA{Rate: 20, Per: s, Burst: 5, Scope: all}}, 0, [2]int32{25, 25}, gap},
		"min interval":    {[]strategies.Layer{layers.MinInterval{Every: gap, Scope: all}}, 0, [2]int32{21, 21}, gap},
		"and its jitter":  {[]strategies.Layer{layers.MinInterval{Every: gap / 2, Jitter: gap / 2, Scope: all}}, 0, [2]int32{21, 41}, gap},
		"worker queue":    {[]strategies.Layer{layers.WorkerQueue{Rate: 20, Per: s, Workers: 5, Scope: all}}, 0, [2]int32{21, 21}, gap},
		"sliding log":     {[]strategies.Layer{layers.SlidingLog{Limit: 20, Length: s, Scope: all}}, 0, [2]int32{40, 40}, patience + gap},
		"sliding counter": {[]strategies.Layer{layers.SlidingCounter{Limit: 20, Length: s, Scope: all}}, 0, [2]int32{20, 40}, patience + gap},
		"concurrency":     {[]strategies.Layer{layers.Concurrency{Permits: 20, Scope: all}}, 900 * time.Millisecond, [2]int32{20, 20}, 0},
		"bulkhead":        {[]strategies.Layer{layers.Bulkhead{Permits: 20, Line: 1000, Scope: all}}, 900 * time.Millisecond, [2]int32{20, 20}, 0},
		"aimd":            {[]strategies.Layer{layers.AIMD{LimitRange: fixed, Scope: all}}, 900 * time.Millisecond, [2]int32{20, 20}, 0},
		"everyone's":      {[]strategies.Layer{layers.TokenBucket{Rate: 20, Per: s, Burst: 5, Scope: strategies.PerEveryone, Name: "all"}}, 0, [2]int32{25, 25}, gap},
	} {
		t.Run(name, func(t *testing.T) {
			p := &provider{respond: func(_ int, r *http.Request) (*http.Response, error) {
				select {
				case <-time.After(c.service):
					return jsonResponse(200, chatAnswer)
				case <-r.Context().Done():
					return nil, r.Context().Err()
				}
			}}
			withTransport(t, p, configOf(c.layers...), func(tr *Transport) {
				ctx, cancel := context.WithTimeout(context.Background(), patience+time.Millisecond)
				defer cancel()
				var wg sync.WaitGroup
				var admitted atomic.Int32
				for range 2000 {
					wg.Go(func() {
						if _, _, err := post(ctx, tr, chatRequest); err == nil {
							admitted.Add(1)
						}
					})
				}
				wg.Wait()
				require.GreaterOrEqual(t, admitted.Load(), c.admitted[0])
				require.LessOrEqual(t, admitted.Load(), c.admitted[1])
				start := time.Now()
				_, _, err := post(context.Background(), tr, chatRequest)
				require.NoError(t, err)
				require.LessOrEqual(t, time.Since(start), c.most+c.service)
			})
		})
	}
}

// A permit is held by at most one call at a time.
func TestPermitsAreReturned(t *testing.T) {
	var inside, most atomic.Int32
	p := &provider{respond: func(n int, r *http.Request) (*http.Response, error) {
		most.Store(max(most.Load(), inside.Add(1)))
		defer inside.Add(-1)
		select {
		case <-time.After(time.Duration(n%7) * 100 * time.Millisecond):
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
		if n%3 == 0 {
			return jsonResponse(503, `{}`)
		}
		return jsonResponse(200, chatAnswer)
	}}
	withTransport(t, p, configOf(retryFour, layers.Concurrency{Permits: 3, Scope: strategies.PerFleet}), func(tr *Transport) {
		var wg sync.WaitGroup
		for i := range 200 {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i%20)*300*time.Millisecond)
				defer cancel()
				_, _, _ = post(ctx, tr, chatRequest)
			})
		}
		wg.Wait()
		require.EqualValues(t, 3, most.Load())
		_, _, err := post(context.Background(), tr, chatRequest) // all permits are free again
		require.NoError(t, err)
	})
}

// Transports with the same Shared share the memory of scope everyone.
func TestShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &provider{respond: func(int, *http.Request) (*http.Response, error) { return jsonResponse(200, chatAnswer) }}
		shared := NewShared()
		var both []*Transport
		for range 2 {
			cfg := configOf(layers.TokenBucket{Rate: 1, Per: time.Second, Burst: 1, Scope: strategies.PerEveryone, Name: "all"})
			cfg.Strategy.Name, cfg.Base, cfg.Shared = "mine", p, shared
			tr, err := New(cfg)
			require.NoError(t, err)
			defer tr.Close()
			both = append(both, tr)
		}
		start := time.Now()
		for i := range 10 {
			_, _, err := post(context.Background(), both[i%2], chatRequest)
			require.NoError(t, err)
		}
		require.Equal(t, 9*time.Second, time.Since(start))
	})
}

// Transports that were made at different times share one time.
func TestSharedClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &provider{respond: func(int, *http.Request) (*http.Response, error) { return jsonResponse(200, chatAnswer) }}
		shared := NewShared()
		cfg := configOf(layers.TokenBucket{Rate: 1, Per: time.Minute, Burst: 1, Scope: strategies.PerEveryone, Name: "all"})
		cfg.Strategy.Name, cfg.Base, cfg.Shared = "mine", p, shared
		first := Must(cfg)
		defer first.Close()
		time.Sleep(time.Hour)
		_, _, err := post(context.Background(), first, chatRequest)
		require.NoError(t, err)
		time.Sleep(time.Minute)
		second := Must(cfg)
		defer second.Close()
		start := time.Now()
		_, _, err = post(context.Background(), second, chatRequest)
		require.NoError(t, err)
		require.Zero(t, time.Since(start))
		_, _, err = post(context.Background(), first, chatRequest)
		require.NoError(t, err)
		require.Equal(t, time.Minute, time.Since(start))

		cfg.Clock = clockwork.NewFakeClock()
		_, err = New(cfg)
		require.ErrorContains(t, err, "the same clock")
	})
}

// A call that is cancelled at the moment of its admission gives the units back.
func TestCancelDuringAdmission(t *testing.T) {
	for range 5 {
		p := &provider{respond: func(int, *http.Request) (*http.Response, error) { return jsonResponse(200, chatAnswer) }}
		cfg := configOf(layers.Concurrency{Permits: 1, Scope: strategies.PerFleet})
		cfg.Strategy.Name, cfg.Base = "mine", p
		tr := Must(cfg)
		defer tr.Close()
		e, l := tr.shared, tr.queues[0]
		taken, _ := l.tryTake(0, 1)
		require.True(t, taken)
		ctx, cancel := context.WithCancel(context.Background())
		over := make(chan error)
		go func() {
			_, _, err := post(ctx, tr, chatRequest)
			over <- err
		}()
		require.Eventually(t, func() bool { e.mu.Lock(); defer e.mu.Unlock(); return l.waiting.Len() == 1 }, time.Second, time.Millisecond)
		e.mu.Lock()
		cancel()
		time.Sleep(10 * time.Millisecond) // until it waits for the lock
		l.put(tr.now(), 1)
		l.admit(tr.now())
		e.mu.Unlock()
		require.ErrorIs(t, <-over, context.Canceled)
		require.Zero(t, l.memory()[0])
	}
}
