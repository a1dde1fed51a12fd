package limits

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/providertest"
	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// perMinute is the articles' limit: 120 a minute.
func perMinute(anchored bool) mockprovider.Config {
	return mockprovider.Config{Limits: []mockprovider.Limit{Window{Limit: 120, Length: time.Minute, Anchored: anchored}}}
}

func TestWindow(t *testing.T) {
	two := func(w Window) mockprovider.Config {
		w.Limit, w.Length = 2, 10*time.Second
		return mockprovider.Config{Limits: []mockprovider.Limit{w}}
	}
	t.Run("aligned to the clock, half-open", func(t *testing.T) {
		play(t, two(Window{Terms: mockprovider.Terms{Refusal: mockprovider.As429.WithHint(mockprovider.Hint{Kind: mockprovider.Exact})}}), `
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
		play(t, two(Window{Anchored: true, Terms: mockprovider.Terms{Refusal: mockprovider.As429.WithHint(mockprovider.Hint{Kind: mockprovider.Exact})}}), `
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
		cfg := two(Window{Terms: mockprovider.Terms{Per: mockprovider.Account}})
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
		cfg = two(Window{Terms: mockprovider.Terms{Per: mockprovider.Account}})
		play(t, cfg, `
			arrive 1 account=4000000000 -> 1 started 0s
			arrive 2 account=1 -> 2 started 0s
			arrive 3 account=2 -> 3 429 rate limit=2 left=0`)
	})
	t.Run("as long as time", func(t *testing.T) {
		for _, anchored := range []bool{false, true} {
			p, err := mockprovider.New(mockprovider.Config{Limits: []mockprovider.Limit{Window{Limit: 1, Length: math.MaxInt64, Anchored: anchored}}}, draw.New(1))
			require.NoError(t, err)
			require.Equal(t, 1, providertest.Arrivals(t, p, time.Second, time.Hour, 2562047*time.Hour))
		}
	})
}

// The example of the reference articles: 30 requests in the first ten seconds leave 90
// for the rest of the minute.
func TestWindowOfTheArticle(t *testing.T) {
	for _, anchored := range []bool{false, true} {
		p, err := mockprovider.New(perMinute(anchored), draw.New(1))
		require.NoError(t, err)
		require.Equal(t, 30, providertest.Arrivals(t, p, providertest.Evenly(30, 0, 10*time.Second)...))
		require.Equal(t, 90, providertest.Arrivals(t, p, providertest.Evenly(90, 10*time.Second, 60*time.Second)...), "1.8 a second for the rest")
		require.Equal(t, 0, providertest.Arrivals(t, p, time.Minute-1), "the 121st")
		require.Equal(t, 1, providertest.Arrivals(t, p, time.Minute))
	}
}

// Which request is the first that is refused says how windows begin: 120 a
// minute and one request every 480 ms. Anchored windows refuse the same one on
// each day; those of the clock do so wherever the day happens to begin, between
// the 121st and the 241st, evenly but for those that all of a window is left to.
// So who finds the same number whenever he tries has met the former.
func TestWhereTheFirstRefusalComes(t *testing.T) {
	const every = 480 * time.Millisecond
	first := func(l mockprovider.Limit, begin time.Duration) (n int) {
		gate := l.Gate(mockprovider.Space{})
		for now := begin; gate.Take(now, &wire.Request{}); now += every {
			n++
		}
		return n + 1
	}
	var at []int
	for begin := time.Duration(0); begin < time.Minute; begin += 10 * time.Millisecond {
		require.Equal(t, 121, first(Window{Limit: 120, Length: time.Minute, Anchored: true}, begin))
		require.Equal(t, 211, first(Window{Limit: 210, Length: 5 * time.Minute, Anchored: true}, begin))
		at = append(at, first(Window{Limit: 120, Length: time.Minute}, begin))
	}
	slices.Sort(at)
	require.Equal(t, []int{121, 129, 179, 229, 241}, []int{at[0], at[len(at)/10], at[len(at)/2], at[len(at)*9/10], at[len(at)-1]})
}
