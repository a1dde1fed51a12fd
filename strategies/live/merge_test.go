package live

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/layers"
)

// joinWithBars joins the contents of requests by bars, and splits answers at bars.
func joinWithBars(cfg Config) Config {
	cfg.JoinRequests = func(_ *http.Request, bodies [][]byte) ([]byte, error) {
		var texts []string
		for _, b := range bodies {
			texts = append(texts, string(contentOf(b)))
		}
		return []byte(requestFor(strings.Join(texts, "|"))), nil
	}
	cfg.SplitReply = func(_ *http.Response, body []byte, _ int) ([][]byte, error) {
		var parts [][]byte
		for _, text := range bytes.Split(contentOf(body), []byte("|")) {
			parts = append(parts, []byte(answerFor(string(text))))
		}
		return parts, nil
	}
	return cfg
}

// requestFor returns a request with this content, and answerFor an answer;
// contentOf returns the content of either.
func requestFor(text string) string { return strings.Replace(chatRequest, `"hi"`, `"`+text+`"`, 1) }

func answerFor(text string) string { return strings.Replace(chatAnswer, `"hi"`, `"`+text+`"`, 1) }

func contentOf(body []byte) []byte {
	_, rest, _ := bytes.Cut(body, []byte(`"content":"`))
	text, _, _ := bytes.Cut(rest, []byte(`"`))
	return text
}

// contents returns the contents of all requests.
func (p *provider) contents() (all []string) {
	for _, b := range p.bodies {
		all = append(all, string(contentOf([]byte(b))))
	}
	return all
}

// echo returns a provider whose answer is the content of the request, after 1 s.
func echo() *provider {
	p := &provider{}
	p.respond = func(n int, r *http.Request) (*http.Response, error) {
		p.mu.Lock()
		text := string(contentOf([]byte(p.bodies[n-1])))
		p.mu.Unlock()
		select {
		case <-time.After(time.Second):
			return jsonResponse(200, answerFor(text), "X-Asked", text)
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	return p
}

var mergeThree = layers.Merge{Size: 3, Window: 10 * time.Second, Scope: strategies.PerFleet}

// callResult is the result of a call.
type callResult struct {
	resp *http.Response
	body string
	err  error
}

// runStaggered runs calls that begin one millisecond after the other.
func runStaggered(calls ...func() (*http.Response, string, error)) []callResult {
	all := make([]callResult, len(calls))
	var wg sync.WaitGroup
	for i, call := range calls {
		wg.Go(func() {
			time.Sleep(time.Duration(i) * time.Millisecond)
			r := &all[i]
			r.resp, r.body, r.err = call()
		})
	}
	wg.Wait()
	return all
}

// callFor returns a call with this content and a patience; 0 is no limit.
func callFor(tr *Transport, text string, patience time.Duration) func() (*http.Response, string, error) {
	return func() (*http.Response, string, error) {
		ctx := context.Background()
		if patience > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, patience)
			defer cancel()
		}
		return post(ctx, tr, requestFor(text))
	}
}

// Calls are sent as a batch, and each gets its part, with its own copy of headers.
func TestMerge(t *testing.T) {
	p := echo()
	withTransport(t, p, joinWithBars(configOf(mergeThree)), func(tr *Transport) {
		all := runStaggered(callFor(tr, "a", 0), callFor(tr, "b", 0), callFor(tr, "c", 0), callFor(tr, "d", 0))
		for i, want := range []string{"a", "b", "c", "d"} {
			require.NoError(t, all[i].err)
			require.Equal(t, answerFor(want), all[i].body)
			require.EqualValues(t, len(answerFor(want)), all[i].resp.ContentLength)
			require.Equal(t, "Bearer secret", all[i].resp.Request.Header.Get("Authorization"))
			all[i].resp.Header.Set("X-Asked", "mine")
			if i < 2 {
				require.Equal(t, "a|b|c", all[i+1].resp.Header.Get("X-Asked"))
			}
		}
		require.Equal(t, []string{"a|b|c", "d"}, p.contents())
	})
}

// A failure of the batch is the same reply, or the same error, for all its calls.
func TestMergeFails(t *testing.T) {
	boom := errors.New("boom")
	for name, c := range map[string]struct {
		layers   []strategies.Layer
		cfg      func(*Config)
		base     func(int, *http.Request) (*http.Response, error)
		requests int
		check    func(r callResult)
	}{
		"refused": {
			layers: []strategies.Layer{mergeThree}, requests: 1,
			base: func(int, *http.Request) (*http.Response, error) {
				return jsonResponse(400, `{"error":{"message":"no"}}`)
			},
			check: func(r callResult) {
				require.NoError(t, r.err)
				require.Equal(t, 400, r.resp.StatusCode)
				require.Equal(t, `{"error":{"message":"no"}}`, r.body)
			},
		},
		"connection lost": {
			layers: []strategies.Layer{mergeThree, retryFour}, requests: 4,
			base:  func(int, *http.Request) (*http.Response, error) { return nil, boom },
			check: func(r callResult) { require.ErrorIs(t, r.err, boom) },
		},
		"not joined": { // which is not retried
			layers: []strategies.Layer{retryFour, mergeThree, retryFour}, requests: 0,
			cfg: func(cfg *Config) {
				cfg.JoinRequests = func(*http.Request, [][]byte) ([]byte, error) { return nil, boom }
			},
			check: func(r callResult) {
				var e *Error
				require.ErrorAs(t, r.err, &e)
				require.ErrorIs(t, e, boom)
				require.Equal(t, wire.BadRequest, e.Class)
			},
		},
		"joined to nothing": {
			layers: []strategies.Layer{mergeThree}, requests: 0,
			cfg: func(cfg *Config) {
				cfg.JoinRequests = func(*http.Request, [][]byte) ([]byte, error) { return nil, nil }
			},
			check: func(r callResult) { require.ErrorContains(t, r.err, "an empty body") },
		},
		"not split": {
			layers: []strategies.Layer{mergeThree, retryFour}, requests: 4,
			cfg: func(cfg *Config) {
				cfg.SplitReply = func(*http.Response, []byte, int) ([][]byte, error) { return nil, boom }
			},
			check: func(r callResult) { require.ErrorIs(t, r.err, boom) },
		},
		"split into too few": {
			layers: []strategies.Layer{mergeThree}, requests: 1,
			cfg: func(cfg *Config) {
				cfg.SplitReply = func(*http.Response, []byte, int) ([][]byte, error) { return make([][]byte, 2), nil }
			},
			check: func(r callResult) { require.ErrorContains(t, r.err, "2 answers for 3 calls") },
		},
		"too long to split": {
			layers: []strategies.Layer{mergeThree}, requests: 1,
			base: func(int, *http.Request) (*http.Response, error) {
				return jsonResponse(200, answerFor(strings.Repeat("x", 5000)))
			},
			cfg:   func(cfg *Config) { cfg.MaxBody = 4000 },
			check: func(r callResult) { require.ErrorIs(t, r.err, errIncomplete) },
		},
		"split at the second attempt": {
			layers: []strategies.Layer{mergeThree, retryFour}, requests: 2,
			cfg: func(cfg *Config) {
				n, part := 0, cfg.SplitReply
				cfg.SplitReply = func(resp *http.Response, body []byte, calls int) ([][]byte, error) {
					if n++; n == 1 {
						return nil, boom
					}
					return part(resp, body, calls)
				}
			},
			check: func(r callResult) { require.NoError(t, r.err) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := echo()
			if c.base != nil {
				p.respond = c.base
			}
			cfg := joinWithBars(configOf(c.layers...))
			if c.cfg != nil {
				c.cfg(&cfg)
			}
			withTransport(t, p, cfg, func(tr *Transport) {
				for _, r := range runStaggered(callFor(tr, "a", 0), callFor(tr, "b", 0), callFor(tr, "c", 0)) {
					c.check(r)
				}
				require.EqualValues(t, c.requests, p.requests.Load())
				require.Empty(t, tr.flights)
			})
		})
	}
}

// A call cancelled before its batch is sent is not in the batch; later, its part
// is not used. If it leads, the next call leads the rest.
func TestMergeWithCancelledCalls(t *testing.T) {
	early, late := 5*time.Second, 10500*time.Millisecond
	for name, c := range map[string]struct {
		patience [3]time.Duration
		want     []string
	}{
		"a follower before sending": {[3]time.Duration{0, early, 0}, []string{"a|c"}},
		"a follower in flight":      {[3]time.Duration{0, late, 0}, []string{"a|b|c"}},
		"the leader before sending": {[3]time.Duration{early, 0, 0}, []string{"b|c"}},
		"the leader in flight":      {[3]time.Duration{late, 0, 0}, []string{"a|b|c", "b|c"}},
		"two leaders in flight":     {[3]time.Duration{late, late + 500*time.Millisecond, 0}, []string{"a|b|c", "b|c", "c"}},
		"all":                       {[3]time.Duration{early, early, early}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			p := echo()
			four := mergeThree
			four.Size = 4
			withTransport(t, p, joinWithBars(configOf(four, retryFour)), func(tr *Transport) {
				names := []string{"a", "b", "c"}
				var calls []func() (*http.Response, string, error)
				for i, text := range names {
					calls = append(calls, callFor(tr, text, c.patience[i]))
				}
				for i, r := range runStaggered(calls...) {
					if c.patience[i] > 0 {
						require.ErrorIs(t, r.err, context.DeadlineExceeded)
						continue
					}
					require.NoError(t, r.err)
					require.Equal(t, answerFor(names[i]), r.body)
				}
				require.Equal(t, c.want, p.contents())
				require.Empty(t, tr.flights)
			})
		})
	}
}

// Requests with another URL or key, or without a body, are sent unchanged and not
// in the batch; no call gets another's answer.
func TestMergeOnlyMatchingRequests(t *testing.T) {
	p := echo()
	withTransport(t, p, joinWithBars(configOf(layers.Merge{Size: 6, Window: 10 * time.Second, Scope: strategies.PerFleet})), func(tr *Transport) {
		with := func(method, url, key, text string) func() (*http.Response, string, error) {
			return func() (*http.Response, string, error) {
				req, err := http.NewRequest(method, url, nil)
				require.NoError(t, err)
				if text != "" {
					req.Body = io.NopCloser(strings.NewReader(requestFor(text)))
				}
				req.Header.Set("Authorization", key)
				resp, err := tr.RoundTrip(req)
				if err != nil {
					return nil, "", err
				}
				defer resp.Body.Close()
				b, err := io.ReadAll(resp.Body)
				return resp, string(b), err
			}
		}
		const url = "http://herd.test/v1/chat/completions"
		all := runStaggered(with("POST", url, "k", "a"), with("POST", url, "k2", "b"), with("POST", url+"?x", "k", "c"),
			with("POST", url, "k", ""), with("POST", url, "k", "e"), with("PUT", url, "k", "f"))
		for i, want := range []string{"a", "b", "c", "", "e", "f"} {
			require.NoError(t, all[i].err)
			require.Equal(t, answerFor(want), all[i].body, "%d", i)
		}
		require.ElementsMatch(t, []string{"a|e", "b", "c", "", "f"}, p.contents())
	})
}

// A stream for several calls is read completely, and one for a single call is
// returned as a stream; gzip is decompressed.
func TestMergeReadsTheWholeAnswer(t *testing.T) {
	frame := `data: {"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":null}]}` + "\n\n"
	last := `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write([]byte(answerFor("a|b|c")))
	z.Close()
	for name, c := range map[string]struct {
		base  func(int, *http.Request) (*http.Response, error)
		whole string
	}{
		"stream": {func(int, *http.Request) (*http.Response, error) {
			return streamResponse(200, io.EOF, frame, frame, last)
		}, frame + frame + last},
		"gzip": {func(int, *http.Request) (*http.Response, error) {
			return jsonResponse(200, zipped.String(), "Content-Encoding", "gzip")
		}, answerFor("a|b|c")},
		"audio": {func(int, *http.Request) (*http.Response, error) {
			return jsonResponse(200, "la", "Content-Type", "audio/mpeg")
		}, "la"},
		"long": {func(int, *http.Request) (*http.Response, error) {
			return jsonResponse(200, answerFor(strings.Repeat("x", 200_000)))
		}, answerFor(strings.Repeat("x", 200_000))},
	} {
		t.Run(name, func(t *testing.T) {
			p := &provider{respond: c.base}
			cfg := joinWithBars(configOf(mergeThree))
			var whole string
			cfg.SplitReply = func(resp *http.Response, body []byte, n int) ([][]byte, error) {
				whole = string(body)
				require.Empty(t, resp.Header.Get("Content-Encoding"))
				return [][]byte{[]byte("1"), []byte("2"), []byte("3")}, nil
			}
			withTransport(t, p, cfg, func(tr *Transport) {
				for i, r := range runStaggered(callFor(tr, "a", 0), callFor(tr, "b", 0), callFor(tr, "c", 0)) {
					require.NoError(t, r.err)
					require.Equal(t, fmt.Sprint(i+1), r.body)
					require.Empty(t, r.resp.Header.Get("Content-Encoding"))
				}
				require.Equal(t, c.whole, whole)
				_, body, err := post(context.Background(), tr, "alone")
				require.NoError(t, err)
				if name == "gzip" {
					require.Equal(t, zipped.String(), body)
				} else {
					require.Equal(t, c.whole, body)
				}
			})
		})
	}
}

// No call gets a reply that its leader received before they formed a batch.
func TestMergeSharesNoOldReplies(t *testing.T) {
	p := &provider{respond: func(int, *http.Request) (*http.Response, error) { return jsonResponse(503, `{"secret":1}`) }}
	cfg := joinWithBars(configOf(retryFour, mergeThree, layers.Breaker{Failures: 1, OpenFor: time.Hour, FailFast: true, Scope: strategies.PerFleet}))
	withTransport(t, p, cfg, func(tr *Transport) {
		late := func() (*http.Response, string, error) {
			time.Sleep(11500 * time.Millisecond) // the first call leads again
			return post(context.Background(), tr, requestFor("b"))
		}
		all := runStaggered(callFor(tr, "a", 0), late)
		require.Equal(t, 503, all[0].resp.StatusCode)
		var e *Error
		require.ErrorAs(t, all[1].err, &e)
		require.Equal(t, strategies.BreakerOpen, e.Reason)
		require.EqualValues(t, 1, p.requests.Load())
	})
}

// A call that follows a batch in flight for another reason gets no part of it.
func TestMergeExcludesLateCalls(t *testing.T) {
	p, shared := echo(), NewShared()
	merge := mergeThree
	merge.Scope, merge.Name = strategies.PerEveryone, "x"
	cfg := joinWithBars(configOf(merge))
	cfg.Shared = shared
	withTransport(t, p, cfg, func(tr *Transport) {
		other := configOf(samePrompt{prompt: 1}, layers.SingleFlight{Scope: strategies.PerEveryone, Name: "x"}) // as batch 1
		other.Shared, other.Base, other.Strategy.Name = shared, p, "other"
		late := func() (*http.Response, string, error) {
			time.Sleep(10500 * time.Millisecond)
			return post(context.Background(), Must(other), requestFor("c"))
		}
		for i, r := range runStaggered(callFor(tr, "a", 0), callFor(tr, "b", 0), late) {
			require.NoError(t, r.err)
			require.Equal(t, answerFor([]string{"a", "b", "c"}[i]), r.body)
		}
		require.Equal(t, []string{"a|b", "c"}, p.contents())
	})
}

// A panic of a function of the Config reaches the leader; then the next call leads.
func TestMergePanics(t *testing.T) {
	for _, hook := range []string{"join", "split"} {
		for name, inner := range map[string]strategies.Layer{"own": retryFour, "async": layers.Hedge{After: time.Hour, Scope: strategies.PerFleet}} {
			t.Run(hook+" "+name, func(t *testing.T) {
				p := echo()
				cfg := joinWithBars(configOf(mergeThree, inner))
				join, part := cfg.JoinRequests, cfg.SplitReply
				first := sync.Once{}
				panicAt := func(here string) {
					if hook == here {
						first.Do(func() { panic("oops") })
					}
				}
				cfg.JoinRequests = func(r *http.Request, bodies [][]byte) ([]byte, error) { panicAt("join"); return join(r, bodies) }
				cfg.SplitReply = func(r *http.Response, body []byte, n int) ([][]byte, error) {
					panicAt("split")
					return part(r, body, n)
				}
				withTransport(t, p, cfg, func(tr *Transport) {
					falling := func() (_ *http.Response, _ string, err error) {
						defer func() { err = fmt.Errorf("panic: %v", recover()) }()
						return post(context.Background(), tr, requestFor("a"))
					}
					all := runStaggered(falling, callFor(tr, "b", 0), callFor(tr, "c", 0))
					require.EqualError(t, all[0].err, "panic: oops")
					require.Equal(t, answerFor("b"), all[1].body)
					require.Equal(t, answerFor("c"), all[2].body)
				})
			})
		}
	}
}

// The demand of n calls is not mistaken for a wish to shrink the joined request.
func TestMergeShrinksWhatWasJoined(t *testing.T) {
	p := echo()
	base := p.respond
	p.respond = func(n int, r *http.Request) (*http.Response, error) {
		if n == 1 {
			return jsonResponse(503, `{}`)
		}
		return base(n, r)
	}
	cfg := joinWithBars(configOf(mergeThree, layers.Shrink{Output: 0.5}))
	cfg.Shrink = func(body []byte, from, to wire.Demand) ([]byte, error) {
		return fmt.Appendf(nil, "%s %d/%d", body, to.MaxTokens, from.MaxTokens), nil
	}
	cfg.SplitReply = func(_ *http.Response, _ []byte, n int) ([][]byte, error) { return make([][]byte, n), nil }
	withTransport(t, p, cfg, func(tr *Transport) {
		runStaggered(callFor(tr, "a", 0), callFor(tr, "b", 0), callFor(tr, "c", 0))
		whole := requestFor("a|b|c")
		require.Equal(t, []string{whole, whole + " 150/300"}, p.bodies)
	})
}

// In all combinations with retries, hedges and cancellations, each call gets its
// own answer.
func TestMergeSoak(t *testing.T) {
	for name, layers := range map[string][]strategies.Layer{
		"in retry": {retryFour, mergeThree}, "around retry": {mergeThree, retryFour},
		"around hedge": {retryFour, mergeThree, layers.Hedge{After: time.Second / 2, Scope: strategies.PerFleet}},
		"with cache":   {mergeThree, layers.Cache{TTL: 3 * time.Second, Entries: 64, Scope: strategies.PerFleet}, retryFour},
		"by everyone":  {retryFour, layers.Merge{Size: 5, Window: time.Second, Scope: strategies.PerEveryone, Name: "all"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := echo()
			base := p.respond
			p.respond = func(n int, r *http.Request) (*http.Response, error) {
				switch n % 5 {
				case 0:
					return jsonResponse(503, `{}`)
				case 1:
					return nil, io.ErrUnexpectedEOF
				}
				return base(n, r)
			}
			var answered, calls int
			withTransport(t, p, joinWithBars(configOf(layers...)), func(tr *Transport) {
				var mu sync.Mutex
				var wg sync.WaitGroup
				for i := range 40 {
					wg.Go(func() {
						dice := rand.New(rand.NewPCG(uint64(i), 7))
						for k := range 10 {
							time.Sleep(time.Duration(dice.IntN(3000)) * time.Millisecond)
							text := fmt.Sprintf("%d.%d", i, k%4)
							resp, body, err := callFor(tr, text, time.Duration(dice.IntN(3)*dice.IntN(15_000))*time.Millisecond)()
							mu.Lock()
							calls++
							if err == nil && resp.StatusCode == 200 {
								answered++
								require.Equal(t, answerFor(text), body)
							}
							mu.Unlock()
						}
					})
				}
				wg.Wait()
				synctest.Wait()
				require.Empty(t, tr.flights)
				require.Empty(t, tr.shared.flights)
			})
			require.Greater(t, answered, calls/4)
			require.Less(t, int(p.requests.Load()), calls, "calls were merged")
		})
	}
}
