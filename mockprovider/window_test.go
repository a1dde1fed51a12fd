package mockprovider

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// perMinute is the articles' limit: 120 a minute.
func perMinute(anchored bool) Config {
	return Config{Limits: []Limit{Window{Limit: 120, Length: time.Minute, Anchored: anchored}}}
}

func TestWindow(t *testing.T) {
	two := func(w Window) Config {
		w.Limit, w.Length = 2, 10*time.Second
		return Config{Limits: []Limit{w}}
	}
	t.Run("aligned to the clock, half-open", func(t *testing.T) {
		play(t, two(Window{Terms: Terms{Refusal: As429.WithHint(Hint{Kind: Exact})}}), `
			arrive 1 -> 1 started 0s
			@9.999999998s arrive 2 -> 2 started 0s
			@9.999999999s arrive 3 -> 3 429 rate after=1ns limit=2 left=0
			@10s arrive 4 -> 4 started 0s
			arrive 5 -> 5 started 0s
			arrive 6 -> 6 429 rate after=10s limit=2 left=0
			@34s arrive 7 -> 7 started 0s
			arrive 8 -> 8 started 0s
			@35s arrive 9 -> 9 429 rate after=5s limit=2 left=0
			@40s arrive 10 -> 10 started 0s`)
	})
	t.Run("anchored at the first request after the last is over", func(t *testing.T) {
		play(t, two(Window{Anchored: true, Terms: Terms{Refusal: As429.WithHint(Hint{Kind: Exact})}}), `
			@7s arrive 1 -> 1 started 0s
			@8s arrive 2 -> 2 started 0s
			@9s arrive 3 -> 3 429 rate after=8s limit=2 left=0
			@16.999999999s arrive 4 -> 4 429 rate after=1ns limit=2 left=0
			@17s arrive 5 -> 5 started 0s
			@40s arrive 6 -> 6 started 0s             # the next begins here, not at 37 s
			arrive 7 -> 7 started 0s
			@49s arrive 8 -> 8 429 rate after=1s limit=2 left=0`)
	})
	t.Run("each account by itself, or everyone together", func(t *testing.T) {
		cfg := two(Window{Terms: Terms{Per: Account}})
		cfg.Accounts = 2
		play(t, cfg, `
			arrive 1 account=0 -> 1 started 0s
			arrive 2 account=0 -> 2 started 0s
			arrive 3 account=0 -> 3 429 rate limit=2 left=0
			arrive 4 account=1 -> 4 started 0s
			arrive 5 account=1 -> 5 started 0s
			arrive 6 account=1 -> 6 429 rate limit=2 left=0`)
		cfg.Limits[0] = Window{Limit: 2, Length: time.Second}
		play(t, cfg, `
			arrive 1 account=0 -> 1 started 0s
			arrive 2 account=1 -> 2 started 0s
			arrive 3 account=1 -> 3 429 rate limit=2 left=0`)
		// Where accounts are not told apart, they are one.
		cfg = two(Window{Terms: Terms{Per: Account}})
		play(t, cfg, `
			arrive 1 account=4000000000 -> 1 started 0s
			arrive 2 account=1 -> 2 started 0s
			arrive 3 account=2 -> 3 429 rate limit=2 left=0`)
	})
	t.Run("as long as time", func(t *testing.T) {
		for _, anchored := range []bool{false, true} {
			p, err := New(Config{Limits: []Limit{Window{Limit: 1, Length: math.MaxInt64, Anchored: anchored}}}, draw.New(1))
			require.NoError(t, err)
			require.Equal(t, 1, arrivals(t, p, time.Second, time.Hour, 2562047*time.Hour))
		}
	})
}

// The founding articles' example: 30 requests in the first ten seconds leave 90
// for the rest of the minute.
func TestWindowOfTheArticle(t *testing.T) {
	for _, anchored := range []bool{false, true} {
		p, err := New(perMinute(anchored), draw.New(1))
		require.NoError(t, err)
		require.Equal(t, 30, arrivals(t, p, evenly(30, 0, 10*time.Second)...))
		require.Equal(t, 90, arrivals(t, p, evenly(90, 10*time.Second, 60*time.Second)...), "1.8 a second for the rest")
		require.Equal(t, 0, arrivals(t, p, time.Minute-1), "the 121st")
		require.Equal(t, 1, arrivals(t, p, time.Minute))
	}
}

// naiveWindow is the twin that is too simple to be wrong: it remembers every
// request that it has counted.
type naiveWindow struct {
	Window
	starts  []time.Duration // of windows, if anchored
	counted []time.Duration
}

// start returns when the window began that a request at now falls into; now if
// it would begin one.
func (w *naiveWindow) start(now time.Duration) time.Duration {
	n := len(w.starts)
	switch {
	case !w.Anchored:
		return now / w.Length * w.Length
	case n > 0 && now-w.starts[n-1] < w.Length:
		return w.starts[n-1]
	}
	return now
}

// used is how many were counted in the window that a request at now falls into.
func (w *naiveWindow) used(now time.Duration) (n int32) {
	for _, t := range w.counted {
		if t >= w.start(now) {
			n++
		}
	}
	return n
}

func (w *naiveWindow) room(now time.Duration) bool { return w.used(now) < w.Limit }

func (w *naiveWindow) count(now time.Duration) {
	if s := w.start(now); w.Anchored && (len(w.starts) == 0 || s != w.starts[len(w.starts)-1]) {
		w.starts = append(w.starts, s)
	}
	w.counted = append(w.counted, now)
}

func TestWindowAgainstNaiveTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := Window{
			Limit:    rapid.Int32Range(1, 6).Draw(t, "limit"),
			Length:   time.Duration(rapid.IntRange(1, 50).Draw(t, "length")),
			Anchored: rapid.Bool().Draw(t, "anchored"),
		}
		twin, gate := naiveWindow{Window: w}, w.Gate(Space{})
		now := time.Duration(0)
		for range rapid.IntRange(20, 80).Draw(t, "requests") {
			now += time.Duration(rapid.IntRange(0, 15).Draw(t, "dt"))
			want := twin.room(now)
			if want {
				twin.count(now)
			}
			require.Equal(t, want, gate.Take(now, &wire.Request{}), "at %d", now)
			if !want {
				var r wire.Reply
				gate.Refuse(now, &wire.Request{}, &r)
				require.Equal(t, w.Limit, r.Limit)
				require.Zero(t, r.Remaining)
			}
		}
		for _, from := range twin.counted { // at most twice the limit in any half-open interval
			n := int32(0)
			for _, t := range twin.counted {
				if t >= from && t < from+w.Length {
					n++
				}
			}
			require.LessOrEqual(t, n, 2*w.Limit)
		}
	})
}

// A request that is taken back might as well not have come.
func TestWindowUndo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := Window{
			Limit:    rapid.Int32Range(1, 4).Draw(t, "limit"),
			Length:   time.Duration(rapid.IntRange(1, 30).Draw(t, "length")),
			Anchored: rapid.Bool().Draw(t, "anchored"),
		}
		disturbed, quiet := w.Gate(Space{}), w.Gate(Space{})
		now := time.Duration(0)
		var r wire.Request
		for range rapid.IntRange(20, 60).Draw(t, "requests") {
			now += time.Duration(rapid.IntRange(0, 15).Draw(t, "dt"))
			if rapid.Bool().Draw(t, "undone") {
				if disturbed.Take(now, &r) {
					disturbed.Undo(now, &r, false)
				}
				continue
			}
			require.Equal(t, quiet.Take(now, &r), disturbed.Take(now, &r), "at %d", now)
		}
	})
}
