package conformance

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sony/gobreaker/v2"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/strategies/live"
)

// breakerCall is a call to a provider behind a breaker: its arrival, its duration if it
// is admitted, and its result.
type breakerCall struct {
	at, lasts time.Duration
	status    int
}

// admitted runs calls, each in a goroutine of its own, and reports which were admitted.
func admitted(t *testing.T, visits []breakerCall, open func(http.RoundTripper) func(*http.Request) error) []bool {
	in := make([]bool, len(visits))
	synctest.Test(t, func(*testing.T) {
		send := open(roundTrip(func(r *http.Request) (*http.Response, error) {
			i, err := strconv.Atoi(r.Header.Get("visit"))
			if err != nil {
				return nil, err
			}
			in[i] = true
			time.Sleep(visits[i].lasts)
			return &http.Response{StatusCode: visits[i].status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}")), Request: r}, nil
		}))
		var all sync.WaitGroup
		for i, v := range visits {
			all.Go(func() {
				time.Sleep(v.at)
				r, err := http.NewRequest(http.MethodGet, "http://herd.test/", nil)
				if err != nil {
					panic(err)
				}
				r.Header.Set("visit", strconv.Itoa(i))
				_ = send(r)
			})
		}
		all.Wait()
	})
	return in
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func realBreaker(rt http.RoundTripper) func(*http.Request) error {
	b := gobreaker.NewCircuitBreaker[int](gobreaker.Settings{})
	return func(r *http.Request) error {
		_, err := b.Execute(func() (int, error) {
			resp, err := rt.RoundTrip(r)
			if err == nil && resp.StatusCode >= 400 {
				err = errors.New(http.StatusText(resp.StatusCode))
			}
			return 0, err
		})
		return err
	}
}

func presetBreaker(t require.TestingT) func(http.RoundTripper) func(*http.Request) error {
	def := definition(t, "gobreaker")
	return func(rt http.RoundTripper) func(*http.Request) error {
		transport := live.Must(live.Config{Strategy: def, Base: rt, Seed: 1, Dialect: "openai"})
		return func(r *http.Request) error {
			_, err := transport.RoundTrip(r)
			return err
		}
	}
}

// The preset of gobreaker admits the same calls as the real one, also if calls overlap:
// calls in flight when it opened, and probes that never end. None of these calls ends
// after the breaker has closed again; see TestBreakerStragglers.
func TestBreaker(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var visits []breakerCall
		at := time.Duration(0)
		for i := range rapid.IntRange(1, 60).Draw(r, "visits") {
			// Odd nanoseconds avoid simultaneous events.
			at += time.Duration(rapid.SampledFrom([]int{0, 1000, 5000, 20_000, 60_000, 61_000}).Draw(r, "gap ms"))*ms + 2
			v := breakerCall{at: at, lasts: time.Duration(rapid.SampledFrom([]int{1, 2000, 30_000, 1e9}).Draw(r, "ms"))*ms + time.Duration(1000*i+1)}
			v.status = rapid.SampledFrom([]int{200, 400, 429, 503, 503, 503}).Draw(r, "status")
			visits = append(visits, v)
		}
		require.Equal(r, admitted(t, visits, realBreaker), admitted(t, visits, presetBreaker(r)))
	})
}

// Two weaknesses of breakers: a probe that never ends keeps gobreaker half-open for ever,
// and requests that can never succeed open it for all calls. The preset has them too.
func TestBreakerFails(t *testing.T) {
	for name, open := range map[string]func(http.RoundTripper) func(*http.Request) error{"real": realBreaker, "preset": presetBreaker(t)} {
		t.Run(name, func(t *testing.T) {
			var visits []breakerCall
			for i := range 6 {
				visits = append(visits, breakerCall{time.Duration(i) * time.Second, 0, 400})
			}
			visits = append(visits, breakerCall{6 * time.Second, 0, 200}, breakerCall{66 * time.Second, 1e5 * time.Hour, 200})
			for i := range 100 { // the provider is healthy
				visits = append(visits, breakerCall{time.Duration(i+2) * time.Minute, 0, 200})
			}
			want := slices.Concat(slices.Repeat([]bool{true}, 6), []bool{false, true}, make([]bool, 100))
			require.Equal(t, want, admitted(t, visits, open))
		})
	}
}

// A difference: gobreaker numbers its states and ignores a call that ends in another
// state than it began in. The preset ignores it while it is open or half-open, but counts
// it after it has closed again, here as a sixth failure.
func TestBreakerStragglers(t *testing.T) {
	const s = time.Second
	visits := []breakerCall{{at: 4*s + s/2, lasts: 70 * s, status: 400}, {at: 66 * s, status: 200}}
	for _, began := range []time.Duration{0, 70 * s} {
		for i := range 6 - int(began/(70*s)) {
			visits = append(visits, breakerCall{at: began + time.Duration(i)*s, status: 400})
		}
	}
	visits = append(visits, breakerCall{at: 75 * s, status: 200})
	want := slices.Repeat([]bool{true}, len(visits))
	require.Equal(t, want, admitted(t, visits, realBreaker))
	want[len(visits)-1] = false
	require.Equal(t, want, admitted(t, visits, presetBreaker(t)))
}
