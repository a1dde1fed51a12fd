package live

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
	"herdlab/strategies/presets"
)

// randomProvider answers, refuses in every way, streams, breaks connections, and
// does not reply, at random.
func randomProvider(seed uint64) *provider {
	p := &provider{}
	p.respond = func(n int, r *http.Request) (*http.Response, error) {
		dice := rand.New(rand.NewPCG(seed, uint64(n)))
		select {
		case <-time.After(time.Duration(dice.IntN(3000)) * time.Millisecond):
		case <-r.Context().Done():
			if dice.IntN(2) == 0 {
				return nil, r.Context().Err()
			} // else it ignores the cancelled context
		}
		switch dice.IntN(13) {
		case 0:
			return jsonResponse(429, `{"error":{"message":"no","type":"requests","code":"rate_limit_exceeded"}}`, "Retry-After", fmt.Sprint(dice.IntN(4)))
		case 1:
			return jsonResponse(503, `{}`)
		case 2:
			return jsonResponse(200, body14003)
		case 3:
			return nil, io.ErrUnexpectedEOF
		case 4:
			<-r.Context().Done()
			return nil, r.Context().Err()
		case 5:
			return streamResponse(200, nil, overloadedEvent)
		case 6:
			return streamResponse(200, io.ErrUnexpectedEOF, tokenEvent, tokenEvent)
		case 7:
			return streamResponse(200, nil, tokenEvent, overloadedEvent)
		case 8:
			return streamResponse(200, nil, tokenEvent, tokenEvent, finishEvent, doneEvent)
		case 9:
			return jsonResponse(401, `{"error":{"message":"invalid key","type":"invalid_request_error","code":"invalid_api_key"}}`)
		}
		return jsonResponse(200, chatAnswer, "X-Ratelimit-Limit-Requests", "10", "X-Ratelimit-Remaining-Requests", fmt.Sprint(dice.IntN(10)), "X-Ratelimit-Reset-Requests", "2s")
	}
	return p
}

// runCallers makes calls with random patience that read all, some or nothing of
// the response.
func runCallers(tr *Transport, seed uint64, callers, calls int) {
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			dice := rand.New(rand.NewPCG(seed, uint64(i)<<32))
			for range calls {
				time.Sleep(time.Duration(dice.IntN(2000)) * time.Millisecond)
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(dice.IntN(60_000))*time.Millisecond)
				q := strings.Replace(chatRequest, "hi", strings.Repeat("x", dice.IntN(4)), 1)
				req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://herd.test/v1/chat/completions", strings.NewReader(q))
				if err != nil {
					panic(err)
				}
				if resp, err := tr.RoundTrip(req); err == nil {
					switch dice.IntN(4) {
					case 0:
						_, _ = resp.Body.Read(make([]byte, 10))
					case 1:
						time.AfterFunc(time.Duration(dice.IntN(300))*time.Millisecond, func() { resp.Body.Close() })
						fallthrough
					default:
						_, _ = io.Copy(io.Discard, resp.Body)
					}
					resp.Body.Close()
				}
				cancel()
			}
		})
	}
	wg.Wait()
}

// attemptsRecorder records the highest number of attempts of a call.
type attemptsRecorder struct{ maxAttempts, calls atomic.Uint32 }

func (m *attemptsRecorder) Attempt(Attempt) {}
func (m *attemptsRecorder) Call(c Call) {
	m.calls.Add(1)
	for {
		if was := m.maxAttempts.Load(); c.Attempts <= was || m.maxAttempts.CompareAndSwap(was, c.Attempts) {
			return
		}
	}
}
func (m *attemptsRecorder) Signal(strategies.SignalSpec) {}

// soak runs a strategy under load and checks that every call ends, with at most
// bound attempts; that every body is closed; that queues and flights are empty; and
// that every permit is returned, once.
func soak(t *testing.T, def strategies.Definition, seed uint64, bound uint32) {
	callers, calls := 25, 3
	if os.Getenv("HERDLAB_LONG") != "" {
		callers, calls = 100, 30
	}
	synctest.Test(t, func(t *testing.T) {
		p, m := randomProvider(seed), &attemptsRecorder{}
		tr, err := New(Config{
			Strategy: def, Base: p, Seed: seed + 1, Recorder: m, MaxCache: 5000,
			Models: []string{"m", "m1", "m2", "m3"}, Keys: []string{"k", "k1", "k2", "k3"}, Regions: []*url.URL{nil, otherRegion, otherRegion, otherRegion},
		})
		require.NoError(t, err)
		defer tr.Close()
		runCallers(tr, seed, callers, calls)
		time.Sleep(time.Hour) // for abandoned attempts
		synctest.Wait()
		tr.shared.mu.Lock()
		defer tr.shared.mu.Unlock()
		require.Zero(t, p.openBodies.Load(), "bodies left open")
		require.Len(t, tr.freeRows, int(tr.rows), "calls that never ended")
		require.EqualValues(t, callers*calls, m.calls.Load(), "calls that were not recorded")
		require.LessOrEqual(t, m.maxAttempts.Load(), bound)
		require.Empty(t, tr.flights)
		require.Empty(t, tr.shared.flights)
		for _, l := range tr.queues {
			require.Zero(t, l.waiting.Len())
			require.Nil(t, l.timer)
			switch kind := fmt.Sprintf("%T", l.spec.Pool); kind {
			case "strategies.permits", "strategies.elastic", "strategies.tuned":
				require.Zero(t, l.memory()[0], "permits out of %s", kind)
			}
		}
	})
}

// The checks of soak hold for every strategy.
func TestSoakAll(t *testing.T) {
	for i, b := range presets.All() {
		t.Run(b.Name, func(t *testing.T) {
			t.Parallel()
			def := b.Define(presets.Knowledge{Rate: 30, Per: time.Second, Concurrency: 6})
			def.Name = b.Name
			soak(t, def, uint64(i), 1<<20)
		})
	}
}

// They hold for random stacks.
func TestSoakStacks(t *testing.T) {
	stacks := 30
	if os.Getenv("HERDLAB_LONG") != "" {
		stacks = 300
	}
	for i := range stacks {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			dice := rand.New(rand.NewPCG(uint64(i), 7))
			def := strategies.Definition{Name: "any"}
			bound, flights, races := uint32(1), 0, 0
			for range 1 + dice.IntN(6) {
				scope := strategies.PerClient + strategies.Scope(dice.IntN(3))
				var l strategies.Layer
				switch dice.IntN(11) {
				case 0:
					l = layers.Retry{Backoff: backoffs.FullJitter{Base: 500 * time.Millisecond, Cap: 5 * time.Second}, MaxAttempts: 3}
					bound *= 3
				case 1:
					if races++; races > 1 {
						continue
					}
					l = layers.Hedge{After: time.Second, Scope: scope, Name: fmt.Sprint("h", len(def.Layers))}
					bound *= 2
				case 2:
					l = layers.Concurrency{Permits: 4, Scope: scope, Name: fmt.Sprint("c", len(def.Layers))}
				case 3:
					l = layers.TokenBucket{Rate: 5, Per: time.Second, Burst: 3, Scope: scope, Name: fmt.Sprint("b", len(def.Layers))}
				case 4:
					l = layers.Breaker{Failures: 4, OpenFor: 2 * time.Second, MinWait: 100 * time.Millisecond, Scope: scope, Name: fmt.Sprint("k", len(def.Layers))}
				case 5:
					if flights++; flights > 1 {
						continue
					}
					l = layers.SingleFlight{Scope: scope, Name: fmt.Sprint("f", len(def.Layers))}
				case 6:
					l = layers.Cache{TTL: 10 * time.Second, Entries: 64, Scope: scope, Name: fmt.Sprint("m", len(def.Layers))}
				case 7:
					l = layers.AttemptTimeout{After: 2 * time.Second}
				case 8:
					l = layers.AIMD{Decrease: 0.5, Scope: scope, Name: fmt.Sprint("a", len(def.Layers))}
				case 9:
					l = layers.Deadline{Within: 20 * time.Second}
				case 10:
					l = strategies.Script(func(s *strategies.Session) error {
						for range 2 {
							if r := s.Send(); r.OK() {
								return nil
							}
							s.Sleep(s.Uniform(0, time.Second))
						}
						return strategies.ErrGaveUp
					})
					bound *= 2
				}
				def.Layers = append(def.Layers, l)
			}
			if _, err := strategies.Compile(def, nil); err != nil {
				t.Log(err) // not all stacks are valid
				return
			}
			soak(t, def, uint64(i), bound)
		})
	}
}
