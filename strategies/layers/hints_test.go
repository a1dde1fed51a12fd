package layers

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/mockprovider/wire"
	"herdlab/sim/saturating"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/strategytest"
)

func TestHints(t *testing.T) {
	for name, c := range map[string]struct {
		hints  Hints
		script string
	}{
		"as the wait, whatever its own would be": {Hints{Use: HintAsWait}, `
			begin -> send
			503 after=3s -> wait 3s
			wake -> send
			503 after=1s -> wait 1s               # a shorter one as well
			wake -> send
			503 after=0s -> wait 0s
			wake -> send
			503 -> wait [8s,9s)`},
		"for the base, whether shorter or longer": {Hints{Use: HintForBase}, `
			begin -> send
			503 after=3s -> wait [3s,4s)
			wake -> send
			503 after=1s -> wait [1s,2s)
			wake -> send
			503 -> wait [4s,5s)`},
		"within a range, or else its own": {Hints{Use: HintAsWait, Least: 1, Most: time.Minute}, `
			begin -> send
			503 after=60s -> wait 60s
			wake -> send
			503 after=60.001s -> wait [2s,3s)     # too early by 58 s
			wake -> send
			503 after=0s -> wait [4s,5s)`},
		"within a range, or else never": {Hints{Use: HintAsWait, Most: 2 * time.Minute, Beyond: GiveUp}, `
			begin -> send
			503 after=2m -> wait 2m
			wake -> send
			503 after=2m1s -> stop hint_too_long overloaded`},
		"clipped": {Hints{Use: HintAsWait, Most: time.Minute, Beyond: Clip}, `
			begin -> send
			503 after=1h -> wait 1m`},
		"clipped as base": {Hints{Most: time.Minute, Beyond: Clip}, `
			begin -> send
			503 after=1h -> wait [1m,1m1s)`},
		"as a floor": {Hints{Use: HintAsFloor}, `
			begin -> send
			503 after=3s -> wait 3s               # the jitter is gone
			wake -> send
			503 after=1s -> wait [2s,3s)`},
		"as a floor, spread": {Hints{Use: HintAsFloor, Spread: 20}, `
			begin -> send
			503 after=100s -> wait [100s,120s)`},
		"as the wait, spread": {Hints{Use: HintAsWait, Spread: 25}, `
			begin -> send
			503 after=60s -> wait [60s,75s)`},
		"clamped": {Hints{Use: HintClamped, Slack: 5 * time.Second}, `
			begin -> send
			503 after=30s -> wait [6s,7s)
			wake -> send
			503 after=4s -> wait 4s
			wake -> send
			503 after=1s -> wait [4s,5s)`},
		"drawn": {Hints{Use: HintDrawn}, `
			begin -> send
			503 after=1h -> wait [0s,1h)`},
		"restarting": {Hints{Use: HintAsWait, Restart: true}, `
			begin -> send
			503 -> wait [1s,2s)
			wake -> send
			503 -> wait [2s,3s)
			wake -> send
			503 after=9s -> wait 9s
			wake -> send
			503 -> wait [1s,2s)
			wake -> send
			503 -> wait [2s,3s)
			cancelled -> stop withdrawn
			begin -> send
			503 -> wait [1s,2s)`},
	} {
		t.Run(name, func(t *testing.T) {
			strategytest.Play(t, []strategies.Layer{Retry{Backoff: backoffs.Exponential{Base: time.Second, Jitter: time.Second}, Hints: c.hints}}, c.script)
		})
	}
}

// The spreads are drawn, and not from the same draw as the jitter.
func TestSpreadIsDrawn(t *testing.T) {
	x := strategytest.NewRetrier(t, Retry{Backoff: backoffs.Exponential{Base: time.Second, Jitter: time.Second}, Hints: Hints{Use: HintAsFloor, Spread: 100}})
	waits, agree := map[time.Duration]bool{}, 0
	for id := range uint64(1000) {
		x.Begin(id)
		own := x.Refuse(0, wire.NoHint).After - time.Second
		x.Begin(id)
		asked := x.Refuse(0, time.Minute).After - time.Minute
		waits[asked] = true
		if (own < time.Second/2) == (asked < time.Minute/2) {
			agree++
		}
	}
	require.Greater(t, len(waits), 990)
	require.InDelta(t, 500, agree, 4.5*math.Sqrt(250))
}

// Case 12, the zoo: a reader has turned the header into a wait, or into none;
// client cap 120 s, backoff 1 s. For every header the wait is at least the
// hint, or the call does not wait; it is never between the two.
func TestHintZoo(t *testing.T) {
	retry := Retry{Backoff: backoffs.Fixed{Every: time.Second}, MinWait: 100 * time.Millisecond,
		Hints: Hints{Most: 120 * time.Second, Beyond: GiveUp}}
	strategytest.Play(t, []strategies.Layer{retry}, `
		begin -> send
		429 after=60s -> wait 60s
		wake -> send
		429 after=1.5s -> wait 1.5s
		wake -> send
		429 -> wait 1s                        # malformed, in the year 10000, −5, NaN, inf
		wake -> send
		429 after=0s -> wait 1s               # 0, or a date in the past
		wake -> send
		429 after=75s -> wait 75s
		wake -> send
		429 after=451s -> stop hint_too_long rate
		begin -> send
		429 after=198300s -> stop hint_too_long
		begin -> send
		429 after=484289h20m8s -> stop hint_too_long  # an epoch read as seconds`)

	// A hot loop on "0" is cut off by the least wait.
	retry.Backoff = backoffs.Fixed{}
	strategytest.Play(t, []strategies.Layer{retry}, `
		begin -> send
		429 after=0s -> wait 100ms
		wake -> send
		429 after=1ns -> wait 100ms`)
	retry.Hints.Use = HintAsWait
	strategytest.Play(t, []strategies.Layer{retry}, `
		begin -> send
		429 after=0s -> wait 100ms`)

	// 1,800 s asked of a client that has 900 s: an explicit end.
	retry = Retry{Backoff: backoffs.Fixed{Every: time.Second}, MaxElapsed: 900 * time.Second}
	strategytest.Play(t, []strategies.Layer{retry}, `
		begin -> send
		429 after=1800s -> stop deadline_passed rate`)
}

// No use of hints but the two that say so comes back too early.
func TestNeverBetweenZeroAndAsked(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		hints := Hints{
			Use:    HintUse(rapid.IntRange(0, int(HintAsFloor)).Draw(rt, "use")),
			Spread: rapid.IntRange(0, 50).Draw(rt, "spread"),
			Most:   time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(rt, "most")),
			Beyond: GiveUp,
		}
		x := strategytest.NewRetrier(t, Retry{Backoff: backoffs.FullJitter{Base: time.Second}, Hints: hints})
		hint := time.Duration(rapid.Int64Range(0, math.MaxInt64).Draw(rt, "hint") >> rapid.IntRange(0, 62).Draw(rt, "shift"))
		x.Begin(rapid.Uint64().Draw(rt, "call"))
		if d := x.Refuse(0, hint); d.Kind == strategies.Wait {
			require.GreaterOrEqual(rt, d.After, hint)
		} else {
			require.Equal(rt, strategies.StopWith(strategies.HintTooLong, wire.Overloaded), d)
			require.Greater(rt, hint, hints.Most)
		}
	})
}

// Case 4: a window is closed until 60 s and everybody is told so. Drawing the
// wait from what is left never reaches the end; as a base it does at once.
func TestJitterBelowADeadlineNeverReachesIt(t *testing.T) {
	const reset = time.Minute
	drawn := strategytest.NewRetrier(t, Retry{Backoff: backoffs.Fixed{}, Hints: Hints{Use: HintDrawn}, MaxAttempts: 10})
	base := strategytest.NewRetrier(t, Retry{Backoff: backoffs.Fixed{Jitter: 5 * time.Second}})
	seconds := map[time.Duration]int{}
	for id := range uint64(10_000) {
		drawn.Begin(id)
		for now := time.Duration(0); ; {
			d := drawn.Refuse(now, reset-now)
			if d.Kind == strategies.Stop {
				require.EqualValues(t, 10, drawn.Call.Attempts)
				break
			}
			now += d.After
			require.Less(t, now, reset)
		}
		if id < 100 {
			base.Begin(id)
			back := base.Refuse(0, reset).After
			require.GreaterOrEqual(t, back, reset)
			require.Less(t, back, reset+5*time.Second)
			seconds[back/time.Second]++
		}
	}
	require.Len(t, seconds, 5)
	for s, n := range seconds {
		require.LessOrEqual(t, n, 40, "in second %d", s)
	}
}

func TestHintsRejectsInvalidSettings(t *testing.T) {
	for want, h := range map[string]Hints{
		"there is no use 9 of hints or no value 0 of beyond":                                              {Use: 9},
		"there is no use 0 of hints or no value 3 of beyond":                                              {Beyond: 3},
		"least and most must not be negative and most at least least, or 0 for no bound, not 2s and 1s":   {Least: 2 * time.Second, Most: time.Second},
		"least and most must not be negative and most at least least, or 0 for no bound, not -1ns and 0s": {Least: -1},
		"spread must be 0 to 1000, not -1":                                                                {Spread: -1},
		"slack must not be negative":                                                                      {Slack: -1},
	} {
		_, err := strategies.Compile(strategies.Definition{Name: "bad", Layers: []strategies.Layer{Retry{Backoff: backoffs.Fixed{}, Hints: h}}}, nil)
		require.EqualError(t, err, `strategy "bad": retry: `+want)
	}
}

func TestPercent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.Int64Range(0, math.MaxInt64).Draw(t, "d") >> rapid.IntRange(0, 62).Draw(t, "shift")
		n := rapid.IntRange(0, 1000).Draw(t, "n")
		got := saturating.Percent(time.Duration(d), n)
		want := float64(d) * float64(n) / 100
		if want > float64(strategies.Never)*0.99 {
			require.GreaterOrEqual(t, float64(got), float64(strategies.Never)*0.98)
			return
		}
		require.InDelta(t, want, float64(got), 1+want*1e-15)
	})
}
