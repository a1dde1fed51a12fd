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
)

// lists joins questions by bars, and parts answers that are so joined.
func lists(cfg Config) Config {
	cfg.Join = func(_ *http.Request, bodies [][]byte) ([]byte, error) {
		var texts []string
		for _, b := range bodies {
			texts = append(texts, string(said(b)))
		}
		return []byte(asks(strings.Join(texts, "|"))), nil
	}
	cfg.Part = func(_ *http.Response, body []byte, _ int) ([][]byte, error) {
		var parts [][]byte
		for _, text := range bytes.Split(said(body), []byte("|")) {
			parts = append(parts, []byte(saying(string(text))))
		}
		return parts, nil
	}
	return cfg
}

// asks is a question of this text, saying an answer; said is the text of either.
func asks(text string) string { return strings.Replace(question, `"hi"`, `"`+text+`"`, 1) }

func saying(text string) string { return strings.Replace(good, `"hi"`, `"`+text+`"`, 1) }

func said(body []byte) []byte {
	_, rest, _ := bytes.Cut(body, []byte(`"content":"`))
	text, _, _ := bytes.Cut(rest, []byte(`"`))
	return text
}

// texts is all that a provider was asked.
func (p *provider) texts() (all []string) {
	for _, b := range p.bodies {
		all = append(all, string(said([]byte(b))))
	}
	return all
}

// echo answers what it is asked, after a second.
func echo() *provider {
	p := &provider{}
	p.answer = func(n int, r *http.Request) (*http.Response, error) {
		p.mu.Lock()
		text := string(said([]byte(p.bodies[n-1])))
		p.mu.Unlock()
		select {
		case <-time.After(time.Second):
			return says(200, saying(text), "X-Asked", text)
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	return p
}

var trios = strategies.Merge{Size: 3, Window: 10 * time.Second, Scope: strategies.PerFleet}

// result is what becomes of a call.
type result struct {
	resp *http.Response
	body string
	err  error
}

// inTurn makes calls that begin one millisecond after the other.
func inTurn(calls ...func() (*http.Response, string, error)) []result {
	all := make([]result, len(calls))
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

// asking is a call that asks text, and gives up after so long if that is not 0.
func asking(tr *Transport, text string, patience time.Duration) func() (*http.Response, string, error) {
	return func() (*http.Response, string, error) {
		ctx := context.Background()
		if patience > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, patience)
			defer cancel()
		}
		return ask(ctx, tr, asks(text))
	}
}

// Calls ride together, and each gets its own part, with headers of its own.
func TestMerge(t *testing.T) {
	p := echo()
	inBubble(t, p, lists(stack(trios)), func(tr *Transport) {
		all := inTurn(asking(tr, "a", 0), asking(tr, "b", 0), asking(tr, "c", 0), asking(tr, "d", 0))
		for i, want := range []string{"a", "b", "c", "d"} {
			require.NoError(t, all[i].err)
			require.Equal(t, saying(want), all[i].body)
			require.EqualValues(t, len(saying(want)), all[i].resp.ContentLength)
			require.Equal(t, "Bearer secret", all[i].resp.Request.Header.Get("Authorization"))
			all[i].resp.Header.Set("X-Asked", "mine")
			if i < 2 {
				require.Equal(t, "a|b|c", all[i+1].resp.Header.Get("X-Asked"))
			}
		}
		require.Equal(t, []string{"a|b|c", "d"}, p.texts())
	})
}

// All or nothing: what fails fails for all, by the same reply or the same error.
func TestMergeFails(t *testing.T) {
	boom := errors.New("boom")
	for name, c := range map[string]struct {
		layers []strategies.Layer
		cfg    func(*Config)
		base   func(int, *http.Request) (*http.Response, error)
		asked  int
		check  func(r result)
	}{
		"refused": {
			layers: []strategies.Layer{trios}, asked: 1,
			base: func(int, *http.Request) (*http.Response, error) { return says(400, `{"error":{"message":"no"}}`) },
			check: func(r result) {
				require.NoError(t, r.err)
				require.Equal(t, 400, r.resp.StatusCode)
				require.Equal(t, `{"error":{"message":"no"}}`, r.body)
			},
		},
		"broken": {
			layers: []strategies.Layer{trios, patient}, asked: 4,
			base:  func(int, *http.Request) (*http.Response, error) { return nil, boom },
			check: func(r result) { require.ErrorIs(t, r.err, boom) },
		},
		"not joined": { // which nobody tries again
			layers: []strategies.Layer{patient, trios, patient}, asked: 0,
			cfg: func(cfg *Config) { cfg.Join = func(*http.Request, [][]byte) ([]byte, error) { return nil, boom } },
			check: func(r result) {
				var e *Error
				require.ErrorAs(t, r.err, &e)
				require.ErrorIs(t, e, boom)
				require.Equal(t, wire.BadRequest, e.Class)
			},
		},
		"joined to nothing": {
			layers: []strategies.Layer{trios}, asked: 0,
			cfg:   func(cfg *Config) { cfg.Join = func(*http.Request, [][]byte) ([]byte, error) { return nil, nil } },
			check: func(r result) { require.ErrorContains(t, r.err, "without a body") },
		},
		"not parted": {
			layers: []strategies.Layer{trios, patient}, asked: 4,
			cfg: func(cfg *Config) {
				cfg.Part = func(*http.Response, []byte, int) ([][]byte, error) { return nil, boom }
			},
			check: func(r result) { require.ErrorIs(t, r.err, boom) },
		},
		"parted into too few": {
			layers: []strategies.Layer{trios}, asked: 1,
			cfg: func(cfg *Config) {
				cfg.Part = func(*http.Response, []byte, int) ([][]byte, error) { return make([][]byte, 2), nil }
			},
			check: func(r result) { require.ErrorContains(t, r.err, "2 answers for 3 calls") },
		},
		"too long to part": {
			layers: []strategies.Layer{trios}, asked: 1,
			base:  func(int, *http.Request) (*http.Response, error) { return says(200, saying(strings.Repeat("x", 5000))) },
			cfg:   func(cfg *Config) { cfg.MaxBody = 4000 },
			check: func(r result) { require.ErrorIs(t, r.err, errNotWhole) },
		},
		"parted at the second try": {
			layers: []strategies.Layer{trios, patient}, asked: 2,
			cfg: func(cfg *Config) {
				n, part := 0, cfg.Part
				cfg.Part = func(resp *http.Response, body []byte, calls int) ([][]byte, error) {
					if n++; n == 1 {
						return nil, boom
					}
					return part(resp, body, calls)
				}
			},
			check: func(r result) { require.NoError(t, r.err) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := echo()
			if c.base != nil {
				p.answer = c.base
			}
			cfg := lists(stack(c.layers...))
			if c.cfg != nil {
				c.cfg(&cfg)
			}
			inBubble(t, p, cfg, func(tr *Transport) {
				for _, r := range inTurn(asking(tr, "a", 0), asking(tr, "b", 0), asking(tr, "c", 0)) {
					c.check(r)
				}
				require.EqualValues(t, c.asked, p.asked.Load())
				require.Empty(t, tr.flights)
			})
		})
	}
}

// Who leaves does so without harm: before the batch goes nobody asks for it any
// more, later nobody waits for its part; if it leads, the next asks for those who
// are left.
func TestMergeWithoutThoseWhoLeft(t *testing.T) {
	early, late := 5*time.Second, 10500*time.Millisecond
	for name, c := range map[string]struct {
		patience [3]time.Duration
		want     []string
	}{
		"a follower before it goes": {[3]time.Duration{0, early, 0}, []string{"a|c"}},
		"a follower under way":      {[3]time.Duration{0, late, 0}, []string{"a|b|c"}},
		"the leader before it goes": {[3]time.Duration{early, 0, 0}, []string{"b|c"}},
		"the leader under way":      {[3]time.Duration{late, 0, 0}, []string{"a|b|c", "b|c"}},
		"two leaders under way":     {[3]time.Duration{late, late + 500*time.Millisecond, 0}, []string{"a|b|c", "b|c", "c"}},
		"all":                       {[3]time.Duration{early, early, early}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			p := echo()
			four := trios
			four.Size = 4
			inBubble(t, p, lists(stack(four, patient)), func(tr *Transport) {
				names := []string{"a", "b", "c"}
				var calls []func() (*http.Response, string, error)
				for i, text := range names {
					calls = append(calls, asking(tr, text, c.patience[i]))
				}
				for i, r := range inTurn(calls...) {
					if c.patience[i] > 0 {
						require.ErrorIs(t, r.err, context.DeadlineExceeded)
						continue
					}
					require.NoError(t, r.err)
					require.Equal(t, saying(names[i]), r.body)
				}
				require.Equal(t, c.want, p.texts())
				require.Empty(t, tr.flights)
			})
		})
	}
}

// Requests that go elsewhere, or as somebody else, or have nothing to be joined,
// go by themselves, as they came; nobody gets another's answer.
func TestMergeOnlyWhatGoesTogether(t *testing.T) {
	p := echo()
	inBubble(t, p, lists(stack(strategies.Merge{Size: 6, Window: 10 * time.Second, Scope: strategies.PerFleet})), func(tr *Transport) {
		with := func(method, url, key, text string) func() (*http.Response, string, error) {
			return func() (*http.Response, string, error) {
				req, err := http.NewRequest(method, url, nil)
				require.NoError(t, err)
				if text != "" {
					req.Body = io.NopCloser(strings.NewReader(asks(text)))
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
		all := inTurn(with("POST", url, "k", "a"), with("POST", url, "k2", "b"), with("POST", url+"?x", "k", "c"),
			with("POST", url, "k", ""), with("POST", url, "k", "e"), with("PUT", url, "k", "f"))
		for i, want := range []string{"a", "b", "c", "", "e", "f"} {
			require.NoError(t, all[i].err)
			require.Equal(t, saying(want), all[i].body, "%d", i)
		}
		require.ElementsMatch(t, []string{"a|e", "b", "c", "", "f"}, p.texts())
	})
}

// Streams are read whole where several ride, and handed over as they come to who
// rides alone; gzip is undone.
func TestMergeReadsTheWholeAnswer(t *testing.T) {
	frame := `data: {"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":null}]}` + "\n\n"
	last := `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write([]byte(saying("a|b|c")))
	z.Close()
	for name, c := range map[string]struct {
		base  func(int, *http.Request) (*http.Response, error)
		whole string
	}{
		"stream": {func(int, *http.Request) (*http.Response, error) { return pieces(200, io.EOF, frame, frame, last) }, frame + frame + last},
		"gzip": {func(int, *http.Request) (*http.Response, error) {
			return says(200, zipped.String(), "Content-Encoding", "gzip")
		}, saying("a|b|c")},
		"audio": {func(int, *http.Request) (*http.Response, error) { return says(200, "la", "Content-Type", "audio/mpeg") }, "la"},
		"long": {func(int, *http.Request) (*http.Response, error) {
			return says(200, saying(strings.Repeat("x", 200_000)))
		}, saying(strings.Repeat("x", 200_000))},
	} {
		t.Run(name, func(t *testing.T) {
			p := &provider{answer: c.base}
			cfg := lists(stack(trios))
			var whole string
			cfg.Part = func(resp *http.Response, body []byte, n int) ([][]byte, error) {
				whole = string(body)
				require.Empty(t, resp.Header.Get("Content-Encoding"))
				return [][]byte{[]byte("1"), []byte("2"), []byte("3")}, nil
			}
			inBubble(t, p, cfg, func(tr *Transport) {
				for i, r := range inTurn(asking(tr, "a", 0), asking(tr, "b", 0), asking(tr, "c", 0)) {
					require.NoError(t, r.err)
					require.Equal(t, fmt.Sprint(i+1), r.body)
					require.Empty(t, r.resp.Header.Get("Content-Encoding"))
				}
				require.Equal(t, c.whole, whole)
				_, body, err := ask(context.Background(), tr, "alone")
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

// Nobody gets a reply that its leader had before they rode together.
func TestMergeSharesNoOldReplies(t *testing.T) {
	p := &provider{answer: func(int, *http.Request) (*http.Response, error) { return says(503, `{"secret":1}`) }}
	cfg := lists(stack(patient, trios, strategies.Breaker{Failures: 1, OpenFor: time.Hour, FailFast: true, Scope: strategies.PerFleet}))
	inBubble(t, p, cfg, func(tr *Transport) {
		late := func() (*http.Response, string, error) {
			time.Sleep(11500 * time.Millisecond) // the first leads again
			return ask(context.Background(), tr, asks("b"))
		}
		all := inTurn(asking(tr, "a", 0), late)
		require.Equal(t, 503, all[0].resp.StatusCode)
		var e *Error
		require.ErrorAs(t, all[1].err, &e)
		require.Equal(t, strategies.BreakerOpen, e.Reason)
		require.EqualValues(t, 1, p.asked.Load())
	})
}

// Whoever else comes to follow a batch that is under way gets nothing of it.
func TestMergeIsOnlyForThoseAboard(t *testing.T) {
	p, everyone := echo(), NewEveryone()
	merge := trios
	merge.Scope, merge.Name = strategies.PerEveryone, "x"
	cfg := lists(stack(merge))
	cfg.Everyone = everyone
	inBubble(t, p, cfg, func(tr *Transport) {
		other := stack(alike{number: 1}, strategies.SingleFlight{Scope: strategies.PerEveryone, Name: "x"}) // as batch 1
		other.Everyone, other.Base, other.Strategy.Name = everyone, p, "other"
		late := func() (*http.Response, string, error) {
			time.Sleep(10500 * time.Millisecond)
			return ask(context.Background(), Must(other), asks("c"))
		}
		for i, r := range inTurn(asking(tr, "a", 0), asking(tr, "b", 0), late) {
			require.NoError(t, r.err)
			require.Equal(t, saying([]string{"a", "b", "c"}[i]), r.body)
		}
		require.Equal(t, []string{"a|b", "c"}, p.texts())
	})
}

// A panic of a hook goes to who leads; the next leads then.
func TestMergePanics(t *testing.T) {
	for _, hook := range []string{"join", "part"} {
		for name, inner := range map[string]strategies.Layer{"own": patient, "async": strategies.Hedge{After: time.Hour, Scope: strategies.PerFleet}} {
			t.Run(hook+" "+name, func(t *testing.T) {
				p := echo()
				cfg := lists(stack(trios, inner))
				join, part := cfg.Join, cfg.Part
				first := sync.Once{}
				fall := func(here string) {
					if hook == here {
						first.Do(func() { panic("oops") })
					}
				}
				cfg.Join = func(r *http.Request, bodies [][]byte) ([]byte, error) { fall("join"); return join(r, bodies) }
				cfg.Part = func(r *http.Response, body []byte, n int) ([][]byte, error) { fall("part"); return part(r, body, n) }
				inBubble(t, p, cfg, func(tr *Transport) {
					falling := func() (_ *http.Response, _ string, err error) {
						defer func() { err = fmt.Errorf("panic: %v", recover()) }()
						return ask(context.Background(), tr, asks("a"))
					}
					all := inTurn(falling, asking(tr, "b", 0), asking(tr, "c", 0))
					require.EqualError(t, all[0].err, "panic: oops")
					require.Equal(t, saying("b"), all[1].body)
					require.Equal(t, saying("c"), all[2].body)
				})
			})
		}
	}
}

// A demand that is n times one call's is not taken for a wish to shrink it.
func TestMergeShrinksWhatWasJoined(t *testing.T) {
	p := echo()
	base := p.answer
	p.answer = func(n int, r *http.Request) (*http.Response, error) {
		if n == 1 {
			return says(503, `{}`)
		}
		return base(n, r)
	}
	cfg := lists(stack(trios, strategies.Shrink{Output: 0.5}))
	cfg.Shrink = func(body []byte, from, to wire.Demand) ([]byte, error) {
		return fmt.Appendf(nil, "%s %d/%d", body, to.MaxTokens, from.MaxTokens), nil
	}
	cfg.Part = func(_ *http.Response, _ []byte, n int) ([][]byte, error) { return make([][]byte, n), nil }
	inBubble(t, p, cfg, func(tr *Transport) {
		inTurn(asking(tr, "a", 0), asking(tr, "b", 0), asking(tr, "c", 0))
		whole := asks("a|b|c")
		require.Equal(t, []string{whole, whole + " 150/300"}, p.bodies)
	})
}

// Whoever rides with whom, comes back, gives up or is hedged: an answer is always
// one's own.
func TestMergeSoak(t *testing.T) {
	for name, layers := range map[string][]strategies.Layer{
		"in retry": {patient, trios}, "around retry": {trios, patient},
		"around hedge": {patient, trios, strategies.Hedge{After: time.Second / 2, Scope: strategies.PerFleet}},
		"with cache":   {trios, strategies.Cache{TTL: 3 * time.Second, Entries: 64, Scope: strategies.PerFleet}, patient},
		"by everyone":  {patient, strategies.Merge{Size: 5, Window: time.Second, Scope: strategies.PerEveryone, Name: "all"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := echo()
			base := p.answer
			p.answer = func(n int, r *http.Request) (*http.Response, error) {
				switch n % 5 {
				case 0:
					return says(503, `{}`)
				case 1:
					return nil, io.ErrUnexpectedEOF
				}
				return base(n, r)
			}
			var answered, asked int
			inBubble(t, p, lists(stack(layers...)), func(tr *Transport) {
				var mu sync.Mutex
				var wg sync.WaitGroup
				for i := range 40 {
					wg.Go(func() {
						dice := rand.New(rand.NewPCG(uint64(i), 7))
						for k := range 10 {
							time.Sleep(time.Duration(dice.IntN(3000)) * time.Millisecond)
							text := fmt.Sprintf("%d.%d", i, k%4)
							resp, body, err := asking(tr, text, time.Duration(dice.IntN(3)*dice.IntN(15_000))*time.Millisecond)()
							mu.Lock()
							asked++
							if err == nil && resp.StatusCode == 200 {
								answered++
								require.Equal(t, saying(text), body)
							}
							mu.Unlock()
						}
					})
				}
				wg.Wait()
				synctest.Wait()
				require.Empty(t, tr.flights)
				require.Empty(t, tr.everyone.flights)
			})
			require.Greater(t, answered, asked/4)
			require.Less(t, int(p.asked.Load()), asked, "they ride together")
		})
	}
}
