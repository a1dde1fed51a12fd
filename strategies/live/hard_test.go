package live

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

var hedge = strategies.Hedge{After: 250 * time.Millisecond, Scope: strategies.PerClient}

// Of two streams the one that begins first is the answer; the other is hung up
// on, also if it begins at the same moment.
func TestHedgedStreams(t *testing.T) {
	for _, slow := range []time.Duration{250 * time.Millisecond, 300 * time.Millisecond, time.Hour} {
		p := &provider{answer: func(n int, r *http.Request) (*http.Response, error) {
			if n == 1 {
				select {
				case <-time.After(slow):
				case <-r.Context().Done():
					time.Sleep(time.Millisecond) // who hangs up does not wait
				}
			}
			return pieces(200, nil, token, token, last, done)
		}}
		var h heard
		cfg := stack(hedge)
		cfg.Recorder = &h
		inBubble(t, p, cfg, func(tr *Transport) {
			_, body, err := ask(context.Background(), tr, question)
			require.NoError(t, err)
			require.Equal(t, token+token+last+done, body)
			require.Equal(t, wire.OK, h.calls[0].Class)
			require.EqualValues(t, 2, p.asked.Load())
		})
	}
}

// An attempt may outlive its call, and another call of the same caller.
func TestSlowLosers(t *testing.T) {
	p := &provider{answer: func(n int, _ *http.Request) (*http.Response, error) {
		if n%2 == 1 {
			time.Sleep(10 * time.Second) // does not hear that it is not wanted
		}
		return says(200, good)
	}}
	var h heard
	cfg := stack(hedge)
	cfg.Recorder = &h
	inBubble(t, p, cfg, func(tr *Transport) {
		for range 5 {
			_, body, err := ask(context.Background(), tr, question)
			require.NoError(t, err)
			require.Equal(t, good, body)
		}
		time.Sleep(20 * time.Second)
		h.mu.Lock()
		defer h.mu.Unlock()
		require.Len(t, h.tries, 10)
		for _, a := range h.tries {
			require.NotEqual(t, wire.Disconnected, a.Class) // nothing has broken
		}
	})
}

// Whoever retries at once hears of its caller all the same.
func TestNaiveHonoursTheContext(t *testing.T) {
	p := &provider{}
	ctx, cancel := context.WithCancel(context.Background())
	p.answer = func(n int, _ *http.Request) (*http.Response, error) {
		if n == 100 {
			cancel()
		}
		return says(429, `{}`)
	}
	naive := strategies.Retry{Backoff: strategies.Fixed{}, Hints: strategies.Hints{Use: strategies.HintIgnored}}
	inBubble(t, p, stack(naive), func(tr *Transport) {
		_, _, err := ask(ctx, tr, question)
		require.ErrorIs(t, err, context.Canceled)
		require.EqualValues(t, 100, p.asked.Load())
		_, _, err = ask(ctx, tr, question)
		require.ErrorIs(t, err, context.Canceled)
		require.EqualValues(t, 100, p.asked.Load())
	})
}

// Transports that came at different times share one time.
func TestEveryonesTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &provider{answer: func(int, *http.Request) (*http.Response, error) { return says(200, good) }}
		everyone := NewEveryone()
		cfg := stack(strategies.TokenBucket{Rate: 1, Per: time.Minute, Burst: 1, Scope: strategies.PerEveryone, Name: "all"})
		cfg.Strategy.Name, cfg.Base, cfg.Everyone = "mine", p, everyone
		first := Must(cfg)
		defer first.Close()
		time.Sleep(time.Hour)
		_, _, err := ask(context.Background(), first, question)
		require.NoError(t, err)
		time.Sleep(time.Minute)
		second := Must(cfg)
		defer second.Close()
		start := time.Now()
		_, _, err = ask(context.Background(), second, question)
		require.NoError(t, err)
		require.Zero(t, time.Since(start))
		_, _, err = ask(context.Background(), first, question)
		require.NoError(t, err)
		require.Equal(t, time.Minute, time.Since(start))

		cfg.Clock = clockwork.NewFakeClock()
		_, err = New(cfg)
		require.ErrorContains(t, err, "one clock")
	})
}

// A stream cannot be shared: who followed the one who reads it goes its own way.
func TestSingleFlightOfStreams(t *testing.T) {
	p := &provider{answer: func(int, *http.Request) (*http.Response, error) { return pieces(200, nil, token, last, done) }}
	flight := strategies.Script(func(s *strategies.Session) error {
		if r := s.Send(); !r.OK() {
			return strategies.ErrGaveUp
		}
		return nil
	})
	for _, q := range []string{question, strings.Replace(question, `{`, `{"stream":true,`, 1)} {
		inBubble(t, p, stack(strategies.SingleFlight{Scope: strategies.PerFleet}, flight), func(tr *Transport) {
			var wg sync.WaitGroup
			start := time.Now()
			for range 10 {
				wg.Go(func() {
					_, body, err := ask(context.Background(), tr, q)
					require.NoError(t, err)
					require.Equal(t, token+last+done, body)
				})
			}
			wg.Wait()
			require.LessOrEqual(t, time.Since(start), 400*time.Millisecond)
			require.Empty(t, tr.flights)
		})
	}
}

// A leader who leaves passes the lead on, and one who fails fails all.
func TestSingleFlightsEnds(t *testing.T) {
	broken := errors.New("broken")
	p := &provider{answer: func(n int, r *http.Request) (*http.Response, error) {
		select {
		case <-time.After(time.Second):
			return nil, broken
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}}
	inBubble(t, p, stack(strategies.SingleFlight{Scope: strategies.PerFleet}), func(tr *Transport) {
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				time.Sleep(time.Duration(i)) // one after the other
				if i%2 == 0 {
					time.AfterFunc(time.Duration(i+1)*10*time.Millisecond, cancel)
				}
				_, _, err := ask(ctx, tr, question)
				if i%2 == 0 {
					require.ErrorIs(t, err, context.Canceled)
				} else {
					require.ErrorIs(t, err, broken)
				}
			})
		}
		wg.Wait()
		require.Empty(t, tr.flights)
	})
}

// Nobody gets the answer to another question, or to another key.
func TestAnswersAreNotMixedUp(t *testing.T) {
	p := &provider{}
	p.answer = func(_ int, r *http.Request) (*http.Response, error) {
		time.Sleep(time.Second)
		return says(200, good, "X-For", r.Header.Get("Authorization")+p.bodies[len(p.bodies)-1])
	}
	cfg := stack(strategies.Cache{TTL: time.Hour, Entries: 64, Scope: strategies.PerFleet}, strategies.SingleFlight{Scope: strategies.PerFleet})
	inBubble(t, p, cfg, func(tr *Transport) {
		for range 3 {
			for _, key := range []string{"a", "b"} {
				for _, q := range []string{question, strings.Replace(question, "{", `{"temperature":2,`, 1)} {
					req, err := http.NewRequest(http.MethodPost, "http://herd.test/v1/chat/completions", strings.NewReader(q))
					require.NoError(t, err)
					req.Header.Set("Authorization", key)
					resp, err := tr.RoundTrip(req)
					require.NoError(t, err)
					require.Equal(t, key+q, resp.Header.Get("X-For"))
					require.Equal(t, key, resp.Request.Header.Get("Authorization"))
					require.NoError(t, resp.Body.Close())
				}
			}
		}
		require.EqualValues(t, 4, p.asked.Load())
	})
}

// alike has all calls ask what has the same number.
type alike struct {
	number uint32
	inner  strategies.Strategy
}

// Build implements strategies.Layer.
func (a alike) Build(_ *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	return alike{a.number, inner}, nil
}

// Next implements strategies.Strategy.
func (a alike) Next(now time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
	c.Demand.Prompt, c.Demand.MaxTokens = a.number, 0
	return a.inner.Next(now, c, e)
}

// Questions are known to a strategy by short numbers, which may be equal where they
// are not.
func TestAnswersOfTheSameNumberAreNotMixedUp(t *testing.T) {
	p := echo()
	inBubble(t, p, stack(alike{number: 7}, strategies.SingleFlight{Scope: strategies.PerFleet}), func(tr *Transport) {
		for i, r := range inTurn(asking(tr, "a", 0), asking(tr, "b", 0), asking(tr, "a", 0)) {
			require.NoError(t, r.err)
			require.Equal(t, saying([]string{"a", "b", "a"}[i]), r.body)
		}
		require.EqualValues(t, 2, p.asked.Load())
	})
}

// What the strategy knows and the transport has forgotten is asked for again, and
// no more is kept than may be.
func TestForgottenAnswers(t *testing.T) {
	p := &provider{answer: func(n int, _ *http.Request) (*http.Response, error) {
		return says(200, strings.Replace(good, "hi", strings.Repeat("h", 1000*(n%7)), 1))
	}}
	cfg := stack(strategies.Cache{TTL: time.Hour, Entries: 512, Scope: strategies.PerFleet})
	cfg.MaxMemory = 20_000
	var h heard
	cfg.Recorder = &h
	inBubble(t, p, cfg, func(tr *Transport) {
		for i := range 300 {
			_, _, err := ask(context.Background(), tr, strings.Replace(question, "hi", strings.Repeat("x", i%50), 1))
			require.NoError(t, err)
			m := &tr.everyone.answers
			sum := int64(0)
			for e := m.ages.Front(); e != nil; e = e.Next() {
				sum += e.Value.(*answer).bytes
			}
			require.Equal(t, sum, m.bytes)
			require.Len(t, m.by, m.ages.Len())
			require.LessOrEqual(t, sum, cfg.MaxMemory)
		}
		require.Len(t, h.calls, 300)
	})
}

// Who leaves a stream after its finish marker has had the answer; who leaves it
// before, or whose context ends, has withdrawn.
func TestLeavingStreams(t *testing.T) {
	for name, c := range map[string]struct {
		read   int
		cancel bool
		want   strategies.Reason
	}{
		"closed early":     {len(token), false, strategies.Withdrawn},
		"cancelled early":  {len(token), true, strategies.Withdrawn},
		"closed at end":    {len(token + last + done), false, strategies.Succeeded},
		"cancelled at end": {len(token + last + done), true, strategies.Succeeded},
	} {
		t.Run(name, func(t *testing.T) {
			p := &provider{answer: func(int, *http.Request) (*http.Response, error) {
				return pieces(200, nil, token, last, done, ": and on it goes\n\n")
			}}
			var h heard
			cfg := stack(patient, strategies.Concurrency{Permits: 1, Scope: strategies.PerFleet})
			cfg.Recorder = &h
			inBubble(t, p, cfg, func(tr *Transport) {
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://herd.test/", strings.NewReader(question))
				require.NoError(t, err)
				resp, err := tr.RoundTrip(req)
				require.NoError(t, err)
				_, err = io.ReadFull(resp.Body, make([]byte, c.read))
				require.NoError(t, err)
				if c.cancel {
					cancel()
					synctest.Wait()
					require.Equal(t, c.want, h.calls[0].Reason) // nobody has closed it yet
				}
				require.NoError(t, resp.Body.Close())
				require.NoError(t, resp.Body.Close())
				require.Equal(t, c.want, h.calls[0].Reason)
				require.Len(t, h.calls, 1)
				_, err = resp.Body.Read(make([]byte, 1))
				require.Error(t, err)
				_, _, err = ask(context.Background(), tr, question) // the permit is back
				require.NoError(t, err)
			})
		})
	}
}

// The timeout of an attempt holds for the whole of it, before and after the first
// token.
func TestTimeoutsOfStreams(t *testing.T) {
	for _, tokens := range []int{0, 1, 9} {
		p := &provider{answer: func(_ int, r *http.Request) (*http.Response, error) {
			resp, err := pieces(200, nil, strings.Split(strings.Repeat(token+"|", tokens)+": wait\n\n", "|")...)
			pipe := resp.Body.(*io.PipeReader)
			context.AfterFunc(r.Context(), func() { pipe.CloseWithError(context.Cause(r.Context())) })
			return resp, err
		}}
		p.answer = stalling(p.answer)
		var h heard
		cfg := stack(strategies.Retry{Backoff: strategies.Fixed{Every: time.Second}, MaxAttempts: 2}, strategies.AttemptTimeout{After: 5 * time.Second})
		cfg.Recorder = &h
		inBubble(t, p, cfg, func(tr *Transport) {
			start := time.Now()
			_, body, err := ask(context.Background(), tr, question)
			require.Error(t, err)
			require.Equal(t, wire.Timeout, h.calls[0].Class)
			if tokens == 0 {
				require.Equal(t, 11*time.Second, time.Since(start))
				require.EqualValues(t, 2, p.asked.Load())
				return
			}
			require.Contains(t, body, strings.Repeat(token, tokens))
			require.Equal(t, 5*time.Second, time.Since(start))
			require.EqualValues(t, 1, p.asked.Load())
		})
	}
}

// stalling makes streams that do not end by themselves.
func stalling(answer func(int, *http.Request) (*http.Response, error)) func(int, *http.Request) (*http.Response, error) {
	return func(n int, r *http.Request) (*http.Response, error) {
		resp, err := answer(n, r)
		resp.Body = &stalled{resp.Body, r.Context()}
		return resp, err
	}
}

type stalled struct {
	io.ReadCloser
	ctx context.Context
}

func (s *stalled) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	if err == io.EOF {
		<-s.ctx.Done()
		err = context.Cause(s.ctx)
	}
	return n, err
}

// A stream may be closed while it is read.
func TestCloseWhileReading(t *testing.T) {
	for range 50 {
		p := &provider{answer: func(int, *http.Request) (*http.Response, error) {
			r, w := io.Pipe()
			go func() {
				for {
					if _, err := io.WriteString(w, token); err != nil {
						return
					}
				}
			}()
			return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: r, ContentLength: -1}, nil
		}}
		tr := Must(Config{Base: p, Strategy: strategies.Definition{Name: "mine"}})
		ctx, cancel := context.WithCancel(context.Background())
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://herd.test/", nil)
		require.NoError(t, err)
		resp, err := tr.RoundTrip(req)
		require.NoError(t, err)
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = io.Copy(io.Discard, resp.Body) })
		runtime.Gosched()
		wg.Go(cancel)
		wg.Go(func() { resp.Body.Close() })
		wg.Go(func() { resp.Body.Close() })
		wg.Wait()
		require.Zero(t, p.open.Load())
		require.Eventually(t, func() bool {
			tr.everyone.mu.Lock()
			defer tr.everyone.mu.Unlock()
			return len(tr.freeRow) == 1
		}, time.Second, time.Millisecond)
		tr.Close()
	}
}

// unhappy panics where it is told to.
type unhappy struct{ attempt, call, signal bool }

func (u *unhappy) Attempt(Attempt)              { boom(u.attempt) }
func (u *unhappy) Call(Call)                    { boom(u.call) }
func (u *unhappy) Signal(strategies.SignalSpec) { boom(u.signal) }

func boom(b bool) {
	if b {
		panic("boom")
	}
}

// A panic goes to who made the call, and costs the others nothing: not the lock,
// not a permit, not a place.
func TestPanics(t *testing.T) {
	var base, script atomic.Bool
	u := &unhappy{}
	p := &provider{answer: func(int, *http.Request) (*http.Response, error) {
		boom(base.Load())
		return says(200, good)
	}}
	code := strategies.Script(func(s *strategies.Session) error {
		r := s.Send()
		boom(script.Load())
		if !r.OK() {
			return strategies.ErrGaveUp
		}
		return nil
	})
	for name, layers := range map[string][]strategies.Layer{
		"one":    {strategies.Concurrency{Permits: 1, Scope: strategies.PerFleet}, patient},
		"races":  {strategies.Concurrency{Permits: 1, Scope: strategies.PerFleet}, hedge},
		"script": {strategies.Concurrency{Permits: 1, Scope: strategies.PerFleet}, code},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := stack(layers...)
			cfg.Recorder = u
			inBubble(t, p, cfg, func(tr *Transport) {
				ill := []func(bool){
					func(b bool) { base.Store(b) }, func(b bool) { u.attempt = b }, func(b bool) { u.call = b }, func(b bool) { script.Store(b && name == "script") },
				}
				for i, fall := range ill {
					fall(true)
					if i < 3 || name == "script" {
						require.PanicsWithValue(t, "boom", func() { _, _, _ = ask(context.Background(), tr, question) }, i)
					}
					fall(false)
					_, body, err := ask(context.Background(), tr, question)
					require.NoError(t, err)
					require.Equal(t, good, body)
				}
			})
		})
	}
}

// Who closes a transport while calls are under way lets them end.
func TestClose(t *testing.T) {
	p := &provider{answer: func(int, *http.Request) (*http.Response, error) {
		time.Sleep(time.Second)
		return says(200, good)
	}}
	code := strategies.Script(func(s *strategies.Session) error {
		s.Send()
		s.Sleep(time.Second)
		if r := s.Send(); !r.OK() {
			return strategies.ErrGaveUp
		}
		return nil
	})
	inBubble(t, p, stack(code), func(tr *Transport) {
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				_, _, err := ask(context.Background(), tr, question)
				require.NoError(t, err)
			})
		}
		time.Sleep(500 * time.Millisecond)
		tr.Close()
		closed := &reading{strings.NewReader(question)}
		_, err := tr.RoundTrip((&http.Request{Method: "POST", URL: mustURL("http://herd.test/"), Body: io.NopCloser(closed), ContentLength: 1 << 40}))
		require.ErrorIs(t, err, ErrClosed)
		wg.Wait()
		tr.Close()
	})
}

// What a stack must not do ends its call with a reason, and nothing hangs.
func TestMistakes(t *testing.T) {
	for want, decide := range map[string]func(c *strategies.Call) strategies.Decision{
		"has nothing to do": func(*strategies.Call) strategies.Decision { return strategies.Decision{} },
		"which is no":       func(*strategies.Call) strategies.Decision { return strategies.Decision{Kind: 99} },
		"from pool 0":       func(*strategies.Call) strategies.Decision { return strategies.Decision{Kind: strategies.Acquire} },
		"of table 0":        func(*strategies.Call) strategies.Decision { return strategies.Decision{Kind: strategies.Join} },
		"abandons attempt 7": func(*strategies.Call) strategies.Decision {
			return strategies.Decision{Kind: strategies.Abandon, Take: strategies.Take{N: 7}}
		},
		"bound its hedges": func(*strategies.Call) strategies.Decision { return strategies.Decision{Kind: strategies.Send} },
		"asks for model 1": func(c *strategies.Call) strategies.Decision {
			c.Target.Model = 1
			return strategies.Decision{Kind: strategies.Send}
		},
		"served_from_memory": func(*strategies.Call) strategies.Decision {
			return strategies.Decision{Kind: strategies.Answer, End: strategies.End{Reason: strategies.ServedFromMemory}}
		},
	} {
		t.Run(want, func(t *testing.T) {
			p := &provider{answer: func(_ int, r *http.Request) (*http.Response, error) {
				<-r.Context().Done()
				return nil, r.Context().Err()
			}}
			inBubble(t, p, stack(whim(decide)), func(tr *Transport) {
				_, _, err := ask(context.Background(), tr, question)
				require.ErrorContains(t, err, want)
			})
		})
	}
}

// whim is a layer that decides the same whatever it is told.
type whim func(c *strategies.Call) strategies.Decision

func (w whim) Build(b *strategies.Build, _ strategies.Strategy) (strategies.Strategy, error) {
	b.WantSent()
	return w, nil
}

func (w whim) Next(_ time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
	if e.Kind == strategies.Settled || e.Kind == strategies.Cancelled {
		return strategies.Decision{}
	}
	return w(c)
}

func mustURL(s string) *url.URL {
	u, err := url.Parse(s)
	if err != nil {
		panic(err)
	}
	return u
}

// Whoever leaves a line at the moment of its admission gives the units back.
func TestUnheardAdmissions(t *testing.T) {
	for range 5 {
		p := &provider{answer: func(int, *http.Request) (*http.Response, error) { return says(200, good) }}
		cfg := stack(strategies.Concurrency{Permits: 1, Scope: strategies.PerFleet})
		cfg.Strategy.Name, cfg.Base = "mine", p
		tr := Must(cfg)
		defer tr.Close()
		e, l := tr.everyone, tr.lines[0]
		taken, _ := l.tryTake(0, 1)
		require.True(t, taken)
		ctx, cancel := context.WithCancel(context.Background())
		over := make(chan error)
		go func() {
			_, _, err := ask(ctx, tr, question)
			over <- err
		}()
		require.Eventually(t, func() bool { e.mu.Lock(); defer e.mu.Unlock(); return l.waiting.Len() == 1 }, time.Second, time.Millisecond)
		e.mu.Lock()
		cancel()
		time.Sleep(10 * time.Millisecond) // it is about to leave
		l.put(tr.now(), 1)
		l.admit(tr.now())
		e.mu.Unlock()
		require.ErrorIs(t, <-over, context.Canceled)
		require.Zero(t, l.memory()[0])
	}
}

// Letters that are never opened, or come too late, have bodies too.
func TestUnopenedLetters(t *testing.T) {
	p := &provider{answer: func(int, *http.Request) (*http.Response, error) { return says(200, good) }}
	tr := Must(Config{Base: p, Strategy: strategies.Definition{Name: "mine"}})
	defer tr.Close()
	c := newCaller(tr)
	for _, kind := range []strategies.EventKind{strategies.Head, strategies.Reply} {
		resp, err := p.RoundTrip(&http.Request{})
		require.NoError(t, err)
		c.post(letter{kind: kind, reply: reply{resp: resp, rest: true}})
		resp, err = p.RoundTrip(&http.Request{})
		require.NoError(t, err)
		c.hear(&attempt{c: c, t: tr, number: 7}, letter{kind: kind, reply: reply{resp: resp, rest: true}})
		require.Nil(t, c.stream)
	}
	require.EqualValues(t, 2, p.open.Load())
	c.free(false)
	require.Zero(t, p.open.Load())
}
