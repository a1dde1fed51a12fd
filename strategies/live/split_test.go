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
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
)

// splitLetters splits a request into its letters, and joins the answers to them.
func splitLetters(cfg Config) Config {
	cfg.SplitRequest = func(_ *http.Request, body []byte, n int) (pieces [][]byte, err error) {
		for _, letter := range string(contentOf(body)) {
			pieces = append(pieces, []byte(requestFor(string(letter))))
		}
		return pieces, nil
	}
	cfg.JoinReplies = func(_ *http.Response, answers [][]byte) ([]byte, error) {
		var all []byte
		for _, a := range answers {
			all = append(all, contentOf(a)...)
		}
		return []byte(answerFor(string(all))), nil
	}
	return cfg
}

// oneLetterProvider returns an echo that refuses requests longer than a letter. It
// replies with the result of fails, if that is not nil.
func oneLetterProvider(fails func(n int, text string) (*http.Response, error)) *provider {
	p := echo()
	base := p.respond
	p.respond = func(n int, r *http.Request) (*http.Response, error) {
		text := p.contents()[n-1]
		if fails != nil {
			if resp, err := fails(n, text); resp != nil || err != nil {
				return resp, err
			}
		}
		if len(text) > 1 {
			return jsonResponse(413, `{"error":{"message":"too large"}}`)
		}
		return base(n, r)
	}
	return p
}

var splitInThree = layers.Shrink{Pieces: 3}

func TestPieces(t *testing.T) {
	boom := errors.New("boom")
	once := func(at int) func(int, string) (*http.Response, error) {
		return func(n int, _ string) (*http.Response, error) {
			if n == at {
				return jsonResponse(503, `{"n":1}`)
			}
			return nil, nil
		}
	}
	for name, c := range map[string]struct {
		layers []strategies.Layer
		fails  func(int, string) (*http.Response, error)
		cfg    func(*Config)
		want   string // the contents of all requests
		check  func(t *testing.T, r callResult)
	}{
		"all answered": {
			layers: []strategies.Layer{splitInThree}, want: "abc a b c",
			check: func(t *testing.T, r callResult) {
				require.Equal(t, answerFor("abc"), r.body)
				require.EqualValues(t, len(r.body), r.resp.ContentLength)
				require.Equal(t, "c", r.resp.Header.Get("X-Asked"), "headers of the last answer")
			},
		},
		"a piece fails": {
			layers: []strategies.Layer{splitInThree}, fails: once(3), want: "abc a b",
			check: func(t *testing.T, r callResult) { require.Equal(t, `{"n":1}`, r.body) },
		},
		"a piece is retried": {
			layers: []strategies.Layer{splitInThree, retryFour}, fails: once(3), want: "abc a b b c",
			check: func(t *testing.T, r callResult) { require.Equal(t, answerFor("abc"), r.body) },
		},
		"the last piece is retried": {
			layers: []strategies.Layer{splitInThree, retryFour}, fails: once(4), want: "abc a b c c",
			check: func(t *testing.T, r callResult) { require.Equal(t, answerFor("abc"), r.body) },
		},
		"all retried": {
			layers: []strategies.Layer{retryFour, splitInThree}, fails: once(4), want: "abc a b c abc a b c",
			check: func(t *testing.T, r callResult) { require.Equal(t, answerFor("abc"), r.body) },
		},
		"all retried, beginning with the pieces": { // because the breaker refuses the whole
			layers: []strategies.Layer{
				retryFour, layers.Shrink{Pieces: 3, On: layers.Rules{Refusals: true}, Backoff: backoffs.Fixed{Every: 10 * time.Second}},
				layers.Breaker{Failures: 1, OpenFor: 5 * time.Second, FailFast: true, Scope: strategies.PerFleet},
			},
			fails: func(n int, text string) (*http.Response, error) {
				if n == 4 {
					return jsonResponse(200, answerFor("A"))
				}
				return once(3)(n, text)
			},
			want:  "abc a b a b c",
			check: func(t *testing.T, r callResult) { require.Equal(t, answerFor("Abc"), r.body) },
		},
		"connection lost": {
			layers: []strategies.Layer{splitInThree, retryFour}, want: "abc a b b c",
			fails: func(n int, _ string) (*http.Response, error) {
				if n == 3 {
					return nil, boom
				}
				return nil, nil
			},
			check: func(t *testing.T, r callResult) { require.Equal(t, answerFor("abc"), r.body) },
		},
		"not split": {
			layers: []strategies.Layer{retryFour, splitInThree, retryFour}, want: "abc",
			cfg: func(cfg *Config) {
				cfg.SplitRequest = func(*http.Request, []byte, int) ([][]byte, error) { return nil, boom }
			},
			check: func(t *testing.T, r callResult) {
				var e *Error
				require.ErrorAs(t, r.err, &e)
				require.ErrorIs(t, e, boom)
				require.Equal(t, wire.BadRequest, e.Class)
			},
		},
		"split into too few": {
			layers: []strategies.Layer{splitInThree}, want: "abc",
			cfg: func(cfg *Config) {
				cfg.SplitRequest = func(*http.Request, []byte, int) ([][]byte, error) { return make([][]byte, 2), nil }
			},
			check: func(t *testing.T, r callResult) { require.ErrorContains(t, r.err, "2 pieces instead of 3") },
		},
		"split into nothing": {
			layers: []strategies.Layer{splitInThree}, want: "abc",
			cfg: func(cfg *Config) {
				cfg.SplitRequest = func(*http.Request, []byte, int) ([][]byte, error) { return make([][]byte, 3), nil }
			},
			check: func(t *testing.T, r callResult) { require.ErrorContains(t, r.err, "piece 1") },
		},
		"not joined": {
			layers: []strategies.Layer{splitInThree, retryFour}, want: "abc a b c c c c",
			cfg: func(cfg *Config) {
				cfg.JoinReplies = func(*http.Response, [][]byte) ([]byte, error) { return nil, boom }
			},
			check: func(t *testing.T, r callResult) { require.ErrorIs(t, r.err, boom) },
		},
		"a piece too long": {
			layers: []strategies.Layer{splitInThree}, want: "abc a",
			cfg: func(cfg *Config) { cfg.MaxBody = 1000 },
			fails: func(n int, _ string) (*http.Response, error) {
				if n == 2 {
					return jsonResponse(200, answerFor(strings.Repeat("x", 2000)))
				}
				return nil, nil
			},
			check: func(t *testing.T, r callResult) { require.ErrorIs(t, r.err, errIncomplete) },
		},
		"hedged": {
			layers: []strategies.Layer{splitInThree, layers.Hedge{After: time.Second / 2, Scope: strategies.PerFleet}}, want: "abc a a b b c c",
			check: func(t *testing.T, r callResult) { require.Equal(t, answerFor("abc"), r.body) },
		},
		"equal pieces are not equal requests": {
			layers: []strategies.Layer{splitInThree, layers.Cache{TTL: time.Hour, Entries: 64, Scope: strategies.PerFleet}, layers.SingleFlight{Scope: strategies.PerFleet}},
			want:   "abc a b c",
			check:  func(t *testing.T, r callResult) { require.Equal(t, answerFor("abc"), r.body) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := oneLetterProvider(c.fails)
			cfg := splitLetters(configOf(c.layers...))
			cfg.Shrink = func([]byte, wire.Demand, wire.Demand) ([]byte, error) {
				return nil, errors.New("a piece is as small as it should be")
			}
			if c.cfg != nil {
				c.cfg(&cfg)
			}
			withTransport(t, p, cfg, func(tr *Transport) {
				r := runStaggered(callFor(tr, "abc", 0))[0]
				if r.err == nil {
					require.NotNil(t, r.resp)
				}
				c.check(t, r)
				require.Equal(t, c.want, strings.Join(p.contents(), " "))
			})
		})
	}
}

// The followers of a call that is split, and later equal calls, get the joined
// answer.
func TestPiecesAreShared(t *testing.T) {
	p := oneLetterProvider(nil)
	cfg := splitLetters(configOf(layers.Cache{TTL: time.Hour, Entries: 64, Scope: strategies.PerFleet}, layers.SingleFlight{Scope: strategies.PerFleet}, splitInThree))
	withTransport(t, p, cfg, func(tr *Transport) {
		for range 2 {
			for _, r := range runStaggered(callFor(tr, "abc", 0), callFor(tr, "abc", 0)) {
				require.NoError(t, r.err)
				require.Equal(t, answerFor("abc"), r.body)
			}
		}
		require.Equal(t, "abc a b c", strings.Join(p.contents(), " "))
	})
}

// A call cancelled between pieces leaves nothing behind. A call whose body cannot
// be kept fails if it would have to be split.
func TestPiecesCancelledOrImpossible(t *testing.T) {
	p := oneLetterProvider(nil)
	cfg := splitLetters(configOf(splitInThree))
	cfg.MaxBody = 1000
	withTransport(t, p, cfg, func(tr *Transport) {
		r := runStaggered(callFor(tr, "abc", 1500*time.Millisecond))[0]
		require.ErrorIs(t, r.err, context.DeadlineExceeded)
		require.Equal(t, "abc a b", strings.Join(p.contents(), " "))

		req, err := http.NewRequest(http.MethodPost, "http://herd.test/", io.NopCloser(strings.NewReader(requestFor(strings.Repeat("x", 1000)))))
		require.NoError(t, err)
		_, err = tr.RoundTrip(req)
		require.ErrorIs(t, err, errBody)

		req, err = http.NewRequest(http.MethodPost, "http://herd.test/", bytes.NewReader([]byte(requestFor(strings.Repeat("x", 1000)))))
		require.NoError(t, err)
		_, err = tr.RoundTrip(req)
		require.ErrorIs(t, err, errNotSplit)
	})
}

// Streams of pieces are read completely; that of an unsplit call is returned.
func TestPiecesOfStreams(t *testing.T) {
	stream := func(text string) (*http.Response, error) {
		return streamResponse(200, io.EOF, fmt.Sprintf(`data: {"choices":[{"index":0,"delta":{"content":"%s"},"finish_reason":null}]}`+"\n\n", text),
			`data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	}
	p := oneLetterProvider(func(n int, text string) (*http.Response, error) {
		if n == 1 {
			return nil, nil
		}
		return stream(text)
	})
	withTransport(t, p, splitLetters(configOf(splitInThree)), func(tr *Transport) {
		r := runStaggered(callFor(tr, "abc", 0))[0]
		require.NoError(t, r.err)
		require.Equal(t, answerFor("abc"), r.body)
		r = runStaggered(callFor(tr, "abc", 0))[0]
		require.NoError(t, r.err)
		require.Contains(t, r.body, `"abc"`)
		require.Contains(t, r.body, "[DONE]")
	})
}

// Shrink gets the demand of the piece, not that of the whole request.
func TestPiecesAreShrunk(t *testing.T) {
	p := oneLetterProvider(func(n int, _ string) (*http.Response, error) {
		if n == 2 {
			return jsonResponse(503, `{}`)
		}
		return nil, nil
	})
	cfg := splitLetters(configOf(layers.Shrink{Pieces: 3, Times: 2, Context: 0.5}))
	var seen []string
	cfg.Shrink = func(body []byte, from, to wire.Demand) ([]byte, error) {
		require.Greater(t, from.InputTokens, uint32(2))
		require.Less(t, int(from.InputTokens), len(body)/6, "at most a third of the whole")
		seen = append(seen, fmt.Sprintf("%s %v", contentOf(body), to.InputTokens < from.InputTokens))
		return body, nil
	}
	withTransport(t, p, cfg, func(tr *Transport) {
		r := runStaggered(callFor(tr, "abc", 0))[0]
		require.Equal(t, answerFor("abc"), r.body)
		require.Equal(t, "abc a a b c", strings.Join(p.contents(), " "))
		require.NotEmpty(t, seen)
		for _, s := range seen {
			require.Contains(t, s, "true")
		}
	})
}
