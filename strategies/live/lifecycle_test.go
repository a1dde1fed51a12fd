package live

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
)

// An attempt may outlive its call while the same callRun makes another call.
func TestAttemptOutlivesCall(t *testing.T) {
	p := &provider{respond: func(n int, _ *http.Request) (*http.Response, error) {
		if n%2 == 1 {
			time.Sleep(10 * time.Second) // ignores the cancelled context
		}
		return jsonResponse(200, chatAnswer)
	}}
	var h recording
	cfg := configOf(hedge)
	cfg.Recorder = &h
	withTransport(t, p, cfg, func(tr *Transport) {
		for range 5 {
			_, body, err := post(context.Background(), tr, chatRequest)
			require.NoError(t, err)
			require.Equal(t, chatAnswer, body)
		}
		time.Sleep(20 * time.Second)
		h.mu.Lock()
		defer h.mu.Unlock()
		require.Len(t, h.attempts, 10)
		for _, a := range h.attempts {
			require.NotEqual(t, wire.ConnectionLost, a.Class) // no connection was lost
		}
	})
}

// Retries without a wait end when the context does.
func TestContextEndsNaiveRetries(t *testing.T) {
	p := &provider{}
	ctx, cancel := context.WithCancel(context.Background())
	p.respond = func(n int, _ *http.Request) (*http.Response, error) {
		if n == 100 {
			cancel()
		}
		return jsonResponse(429, `{}`)
	}
	naive := layers.Retry{Backoff: backoffs.Fixed{}, Hints: layers.Hints{Use: layers.HintIgnored}}
	withTransport(t, p, configOf(naive), func(tr *Transport) {
		_, _, err := post(ctx, tr, chatRequest)
		require.ErrorIs(t, err, context.Canceled)
		require.EqualValues(t, 100, p.requests.Load())
		_, _, err = post(ctx, tr, chatRequest)
		require.ErrorIs(t, err, context.Canceled)
		require.EqualValues(t, 100, p.requests.Load())
	})
}

// panickingRecorder panics in the selected methods.
type panickingRecorder struct{ attempt, call, signal bool }

func (u *panickingRecorder) Attempt(Attempt)              { panicIf(u.attempt) }
func (u *panickingRecorder) Call(Call)                    { panicIf(u.call) }
func (u *panickingRecorder) Signal(strategies.SignalSpec) { panicIf(u.signal) }

func panicIf(b bool) {
	if b {
		panic("boom")
	}
}

// A panic reaches the goroutine of the call and releases the lock, permits and
// queue places of the call.
func TestPanics(t *testing.T) {
	var base, script atomic.Bool
	u := &panickingRecorder{}
	p := &provider{respond: func(int, *http.Request) (*http.Response, error) {
		panicIf(base.Load())
		return jsonResponse(200, chatAnswer)
	}}
	code := strategies.Script(func(s *strategies.Session) error {
		r := s.Send()
		panicIf(script.Load())
		if !r.OK() {
			return strategies.ErrGaveUp
		}
		return nil
	})
	for name, layers := range map[string][]strategies.Layer{
		"one":    {layers.Concurrency{Permits: 1, Scope: strategies.PerFleet}, retryFour},
		"races":  {layers.Concurrency{Permits: 1, Scope: strategies.PerFleet}, hedge},
		"script": {layers.Concurrency{Permits: 1, Scope: strategies.PerFleet}, code},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := configOf(layers...)
			cfg.Recorder = u
			withTransport(t, p, cfg, func(tr *Transport) {
				panics := []func(bool){
					func(b bool) { base.Store(b) }, func(b bool) { u.attempt = b }, func(b bool) { u.call = b }, func(b bool) { script.Store(b && name == "script") },
				}
				for i, setPanic := range panics {
					setPanic(true)
					if i < 3 || name == "script" {
						require.PanicsWithValue(t, "boom", func() { _, _, _ = post(context.Background(), tr, chatRequest) }, i)
					}
					setPanic(false)
					_, body, err := post(context.Background(), tr, chatRequest)
					require.NoError(t, err)
					require.Equal(t, chatAnswer, body)
				}
			})
		})
	}
}

// Close does not interrupt calls in progress.
func TestClose(t *testing.T) {
	p := &provider{respond: func(int, *http.Request) (*http.Response, error) {
		time.Sleep(time.Second)
		return jsonResponse(200, chatAnswer)
	}}
	code := strategies.Script(func(s *strategies.Session) error {
		s.Send()
		s.Sleep(time.Second)
		if r := s.Send(); !r.OK() {
			return strategies.ErrGaveUp
		}
		return nil
	})
	withTransport(t, p, configOf(code), func(tr *Transport) {
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				_, _, err := post(context.Background(), tr, chatRequest)
				require.NoError(t, err)
			})
		}
		time.Sleep(500 * time.Millisecond)
		tr.Close()
		closed := &onlyReader{strings.NewReader(chatRequest)}
		_, err := tr.RoundTrip((&http.Request{Method: "POST", URL: mustURL("http://herd.test/"), Body: io.NopCloser(closed), ContentLength: 1 << 40}))
		require.ErrorIs(t, err, ErrClosed)
		wg.Wait()
		tr.Close()
	})
}

// An invalid decision ends the call with an error; nothing hangs.
func TestMistakes(t *testing.T) {
	for want, decide := range map[string]func(c *strategies.Call) strategies.Decision{
		"the strategy is idle":            func(*strategies.Call) strategies.Decision { return strategies.Decision{} },
		"returns the unknown decision 99": func(*strategies.Call) strategies.Decision { return strategies.Decision{Kind: 99} },
		"from pool 0, but has 0":          func(*strategies.Call) strategies.Decision { return strategies.Decision{Kind: strategies.Acquire} },
		"of table 0, but has 0":           func(*strategies.Call) strategies.Decision { return strategies.Decision{Kind: strategies.Join} },
		"abandons attempt 7": func(*strategies.Call) strategies.Decision {
			return strategies.Decision{Kind: strategies.Abandon, Take: strategies.Take{N: 7}}
		},
		"limit its hedges": func(*strategies.Call) strategies.Decision { return strategies.Decision{Kind: strategies.Send} },
		"selects model 1": func(c *strategies.Call) strategies.Decision {
			c.Target.Model = 1
			return strategies.Decision{Kind: strategies.Send}
		},
		"served_from_memory": func(*strategies.Call) strategies.Decision {
			return strategies.Decision{Kind: strategies.Answer, End: strategies.End{Reason: strategies.ServedFromMemory}}
		},
	} {
		t.Run(want, func(t *testing.T) {
			p := &provider{respond: func(_ int, r *http.Request) (*http.Response, error) {
				<-r.Context().Done()
				return nil, r.Context().Err()
			}}
			withTransport(t, p, configOf(sameDecision(decide)), func(tr *Transport) {
				_, _, err := post(context.Background(), tr, chatRequest)
				require.ErrorContains(t, err, want)
			})
		})
	}
}

// sameDecision is a layer that makes the same decision on every event.
type sameDecision func(c *strategies.Call) strategies.Decision

func (w sameDecision) Build(b *strategies.Build, _ strategies.Strategy) (strategies.Strategy, error) {
	b.WantSent()
	return w, nil
}

func (w sameDecision) Next(_ time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
	if e.Kind == strategies.Settled || e.Kind == strategies.Cancelled {
		return strategies.Decision{}
	}
	return w(c)
}

// The bodies of messages that are never handled, or too late, are closed.
func TestUnhandledMessagesAreClosed(t *testing.T) {
	p := &provider{respond: func(int, *http.Request) (*http.Response, error) { return jsonResponse(200, chatAnswer) }}
	tr := Must(Config{Base: p, Strategy: strategies.Definition{Name: "mine"}})
	defer tr.Close()
	c := newCallRun(tr)
	for _, kind := range []strategies.EventKind{strategies.Head, strategies.Reply} {
		resp, err := p.RoundTrip(&http.Request{})
		require.NoError(t, err)
		c.post(message{kind: kind, reply: reply{resp: resp, more: true}})
		resp, err = p.RoundTrip(&http.Request{})
		require.NoError(t, err)
		c.handleAttempt(&attempt{c: c, t: tr, number: 7}, message{kind: kind, reply: reply{resp: resp, more: true}})
		require.Nil(t, c.stream)
	}
	require.EqualValues(t, 2, p.openBodies.Load())
	c.release(false)
	require.Zero(t, p.openBodies.Load())
}
