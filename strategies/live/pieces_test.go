package live

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// letters splits a question of so many letters into those, and combines answers by
// writing one behind the other.
func letters(cfg Config) Config {
	cfg.Split = func(_ *http.Request, body []byte, n int) (pieces [][]byte, err error) {
		for _, letter := range string(said(body)) {
			pieces = append(pieces, []byte(asks(string(letter))))
		}
		return pieces, nil
	}
	cfg.Combine = func(_ *http.Response, answers [][]byte) ([]byte, error) {
		var all []byte
		for _, a := range answers {
			all = append(all, said(a)...)
		}
		return []byte(saying(string(all))), nil
	}
	return cfg
}

// narrow is an echo that refuses what is longer than a letter, and what fails says
// first.
func narrow(fails func(n int, text string) (*http.Response, error)) *provider {
	p := echo()
	base := p.answer
	p.answer = func(n int, r *http.Request) (*http.Response, error) {
		text := p.texts()[n-1]
		if fails != nil {
			if resp, err := fails(n, text); resp != nil || err != nil {
				return resp, err
			}
		}
		if len(text) > 1 {
			return says(413, `{"error":{"message":"too large"}}`)
		}
		return base(n, r)
	}
	return p
}

var thirds = strategies.Shrink{Pieces: 3}

func TestPieces(t *testing.T) {
	boom := errors.New("boom")
	once := func(at int) func(int, string) (*http.Response, error) {
		return func(n int, _ string) (*http.Response, error) {
			if n == at {
				return says(503, `{"n":1}`)
			}
			return nil, nil
		}
	}
	for name, c := range map[string]struct {
		layers []strategies.Layer
		fails  func(int, string) (*http.Response, error)
		cfg    func(*Config)
		want   string // what was asked
		check  func(t *testing.T, r result)
	}{
		"all answered": {
			layers: []strategies.Layer{thirds}, want: "abc a b c",
			check: func(t *testing.T, r result) {
				require.Equal(t, saying("abc"), r.body)
				require.EqualValues(t, len(r.body), r.resp.ContentLength)
				require.Equal(t, "c", r.resp.Header.Get("X-Asked"), "the last one's")
			},
		},
		"a piece fails": {
			layers: []strategies.Layer{thirds}, fails: once(3), want: "abc a b",
			check: func(t *testing.T, r result) { require.Equal(t, `{"n":1}`, r.body) },
		},
		"a piece again": {
			layers: []strategies.Layer{thirds, patient}, fails: once(3), want: "abc a b b c",
			check: func(t *testing.T, r result) { require.Equal(t, saying("abc"), r.body) },
		},
		"the last piece again": {
			layers: []strategies.Layer{thirds, patient}, fails: once(4), want: "abc a b c c",
			check: func(t *testing.T, r result) { require.Equal(t, saying("abc"), r.body) },
		},
		"afresh": {
			layers: []strategies.Layer{patient, thirds}, fails: once(4), want: "abc a b c abc a b c",
			check: func(t *testing.T, r result) { require.Equal(t, saying("abc"), r.body) },
		},
		"afresh, without all of it": { // the breaker refuses it, so that pieces are asked for at once
			layers: []strategies.Layer{
				patient, strategies.Shrink{Pieces: 3, On: strategies.Rules{Refusals: true}, Backoff: strategies.Fixed{Every: 10 * time.Second}},
				strategies.Breaker{Failures: 1, OpenFor: 5 * time.Second, FailFast: true, Scope: strategies.PerFleet},
			},
			fails: func(n int, text string) (*http.Response, error) {
				if n == 4 {
					return says(200, saying("A"))
				}
				return once(3)(n, text)
			},
			want:  "abc a b a b c",
			check: func(t *testing.T, r result) { require.Equal(t, saying("Abc"), r.body) },
		},
		"lost on the way": {
			layers: []strategies.Layer{thirds, patient}, want: "abc a b b c",
			fails: func(n int, _ string) (*http.Response, error) {
				if n == 3 {
					return nil, boom
				}
				return nil, nil
			},
			check: func(t *testing.T, r result) { require.Equal(t, saying("abc"), r.body) },
		},
		"not split": {
			layers: []strategies.Layer{patient, thirds, patient}, want: "abc",
			cfg: func(cfg *Config) { cfg.Split = func(*http.Request, []byte, int) ([][]byte, error) { return nil, boom } },
			check: func(t *testing.T, r result) {
				var e *Error
				require.ErrorAs(t, r.err, &e)
				require.ErrorIs(t, e, boom)
				require.Equal(t, wire.BadRequest, e.Class)
			},
		},
		"split into too few": {
			layers: []strategies.Layer{thirds}, want: "abc",
			cfg: func(cfg *Config) {
				cfg.Split = func(*http.Request, []byte, int) ([][]byte, error) { return make([][]byte, 2), nil }
			},
			check: func(t *testing.T, r result) { require.ErrorContains(t, r.err, "2 pieces instead of 3") },
		},
		"split into nothing": {
			layers: []strategies.Layer{thirds}, want: "abc",
			cfg: func(cfg *Config) {
				cfg.Split = func(*http.Request, []byte, int) ([][]byte, error) { return make([][]byte, 3), nil }
			},
			check: func(t *testing.T, r result) { require.ErrorContains(t, r.err, "piece 1") },
		},
		"not combined": {
			layers: []strategies.Layer{thirds, patient}, want: "abc a b c c c c",
			cfg: func(cfg *Config) {
				cfg.Combine = func(*http.Response, [][]byte) ([]byte, error) { return nil, boom }
			},
			check: func(t *testing.T, r result) { require.ErrorIs(t, r.err, boom) },
		},
		"a piece too long": {
			layers: []strategies.Layer{thirds}, want: "abc a",
			cfg: func(cfg *Config) { cfg.MaxBody = 1000 },
			fails: func(n int, _ string) (*http.Response, error) {
				if n == 2 {
					return says(200, saying(strings.Repeat("x", 2000)))
				}
				return nil, nil
			},
			check: func(t *testing.T, r result) { require.ErrorIs(t, r.err, errNotWhole) },
		},
		"hedged": {
			layers: []strategies.Layer{thirds, strategies.Hedge{After: time.Second / 2, Scope: strategies.PerFleet}}, want: "abc a a b b c c",
			check: func(t *testing.T, r result) { require.Equal(t, saying("abc"), r.body) },
		},
		"equal pieces are no equal questions": {
			layers: []strategies.Layer{thirds, strategies.Cache{TTL: time.Hour, Entries: 64, Scope: strategies.PerFleet}, strategies.SingleFlight{Scope: strategies.PerFleet}},
			want:   "abc a b c",
			check:  func(t *testing.T, r result) { require.Equal(t, saying("abc"), r.body) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := narrow(c.fails)
			cfg := letters(stack(c.layers...))
			cfg.Shrink = func([]byte, wire.Demand, wire.Demand) ([]byte, error) {
				return nil, errors.New("a piece is as small as it should be")
			}
			if c.cfg != nil {
				c.cfg(&cfg)
			}
			inBubble(t, p, cfg, func(tr *Transport) {
				r := inTurn(asking(tr, "abc", 0))[0]
				if r.err == nil {
					require.NotNil(t, r.resp)
				}
				c.check(t, r)
				require.Equal(t, c.want, strings.Join(p.texts(), " "))
			})
		})
	}
}

// Who follows a call that is split gets what its pieces make together, and so does
// who asks the same later.
func TestPiecesAreShared(t *testing.T) {
	p := narrow(nil)
	cfg := letters(stack(strategies.Cache{TTL: time.Hour, Entries: 64, Scope: strategies.PerFleet}, strategies.SingleFlight{Scope: strategies.PerFleet}, thirds))
	inBubble(t, p, cfg, func(tr *Transport) {
		for range 2 {
			for _, r := range inTurn(asking(tr, "abc", 0), asking(tr, "abc", 0)) {
				require.NoError(t, r.err)
				require.Equal(t, saying("abc"), r.body)
			}
		}
		require.Equal(t, "abc a b c", strings.Join(p.texts(), " "))
	})
}

// Who gives up between pieces leaves nothing behind; what has no body to split, or
// none that is kept, fails as what cannot be.
func TestPiecesOfOthers(t *testing.T) {
	p := narrow(nil)
	cfg := letters(stack(thirds))
	cfg.MaxBody = 1000
	inBubble(t, p, cfg, func(tr *Transport) {
		r := inTurn(asking(tr, "abc", 1500*time.Millisecond))[0]
		require.ErrorIs(t, r.err, context.DeadlineExceeded)
		require.Equal(t, "abc a b", strings.Join(p.texts(), " "))

		req, err := http.NewRequest(http.MethodPost, "http://herd.test/", io.NopCloser(strings.NewReader(asks(strings.Repeat("x", 1000)))))
		require.NoError(t, err)
		_, err = tr.RoundTrip(req)
		require.ErrorIs(t, err, errBody)

		req, err = http.NewRequest(http.MethodPost, "http://herd.test/", bytes.NewReader([]byte(asks(strings.Repeat("x", 1000)))))
		require.NoError(t, err)
		_, err = tr.RoundTrip(req)
		require.ErrorIs(t, err, errNotSplit)
	})
}

// Streams of pieces are read to their end; that of a whole call is handed over.
func TestPiecesOfStreams(t *testing.T) {
	stream := func(text string) (*http.Response, error) {
		return pieces(200, io.EOF, fmt.Sprintf(`data: {"choices":[{"index":0,"delta":{"content":"%s"},"finish_reason":null}]}`+"\n\n", text),
			`data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	}
	p := narrow(func(n int, text string) (*http.Response, error) {
		if n == 1 {
			return nil, nil
		}
		return stream(text)
	})
	inBubble(t, p, letters(stack(thirds)), func(tr *Transport) {
		r := inTurn(asking(tr, "abc", 0))[0]
		require.NoError(t, r.err)
		require.Equal(t, saying("abc"), r.body)
		r = inTurn(asking(tr, "abc", 0))[0]
		require.NoError(t, r.err)
		require.Contains(t, r.body, `"abc"`)
		require.Contains(t, r.body, "[DONE]")
	})
}

// A piece that is trimmed besides is smaller than the piece, not than the whole.
func TestPiecesAreShrunk(t *testing.T) {
	p := narrow(func(n int, _ string) (*http.Response, error) {
		if n == 2 {
			return says(503, `{}`)
		}
		return nil, nil
	})
	cfg := letters(stack(strategies.Shrink{Pieces: 3, Times: 2, Context: 0.5}))
	var seen []string
	cfg.Shrink = func(body []byte, from, to wire.Demand) ([]byte, error) {
		require.Greater(t, from.InputTokens, uint32(2))
		require.Less(t, int(from.InputTokens), len(body)/6, "no more than a third of it")
		seen = append(seen, fmt.Sprintf("%s %v", said(body), to.InputTokens < from.InputTokens))
		return body, nil
	}
	inBubble(t, p, cfg, func(tr *Transport) {
		r := inTurn(asking(tr, "abc", 0))[0]
		require.Equal(t, saying("abc"), r.body)
		require.Equal(t, "abc a a b c", strings.Join(p.texts(), " "))
		require.NotEmpty(t, seen)
		for _, s := range seen {
			require.Contains(t, s, "true")
		}
	})
}
