package layers

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/sim/draw"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/strategytest"
)

func TestCountWindow(t *testing.T) {
	strategytest.Play(t, []strategies.Layer{trip(CountWindow{Last: 4, Min: 2, Percent: 50})}, `
		a: begin -> send
		a: 503 -> stop failed                     # one is not two
		a: begin -> send
		a: 200 -> stop succeeded                  # half of two
		a: begin -> stop breaker_open
		@30s a: begin -> send
		a: 200 -> stop succeeded                  # the probe closes it, and all is forgotten
		a: begin -> send
		a: 503 -> stop failed
		a: begin -> send
		a: 400 -> stop failed                     # not counted
		a: begin -> send
		a: 200 -> stop succeeded                  # half of two
		a: begin -> stop breaker_open
		@60s a: begin -> send
		a: 200 -> stop succeeded
		a: begin -> send
		a: 200 -> stop succeeded
		a: begin -> send
		a: 200 -> stop succeeded
		a: begin -> send
		a: 200 -> stop succeeded
		a: begin -> send
		a: 503 -> stop failed
		a: begin -> send
		a: 400 -> stop failed                     # not counted
		a: begin -> send
		a: 503 -> stop failed                     # two of the last four
		a: begin -> stop breaker_open`)
}

// Slow attempts count, those that succeed too.
func TestSlowAttempts(t *testing.T) {
	strategytest.Play(t, []strategies.Layer{trip(CountWindow{Last: 2, SlowPercent: 100})}, `
		a: begin -> send
		@4.9s a: 200 -> stop succeeded
		a: begin -> send
		@9.9s a: 200 -> stop succeeded            # 5 s
		a: begin -> send
		@20s a: 503 -> stop failed
		a: begin -> stop breaker_open`)
	// Outside a loop, an attempt is as slow as the last one, not as the call.
	strategytest.Play(t, []strategies.Layer{trip(CountWindow{Last: 1, SlowPercent: 100}), Retry{Backoff: backoffs.Fixed{Every: time.Hour}}}, `
		a: begin -> send
		@1s a: 503 -> wait 1h
		a: wake -> send
		a: 200 -> stop succeeded
		a: begin -> send`)
}

func TestTimeWindow(t *testing.T) {
	strategytest.Play(t, []strategies.Layer{trip(TimeWindow{Within: 30 * time.Second, Min: 2, Percent: 50})}, `
		a: begin -> send
		a: 503 -> stop failed
		@30s a: begin -> send
		a: 503 -> stop failed                     # the first is forgotten
		@56.9s a: begin -> send
		a: 200 -> stop succeeded                  # half of two
		a: begin -> stop breaker_open
		@86.9s a: begin -> send
		a: 200 -> stop succeeded
		a: begin -> send
		a: 200 -> stop succeeded
		a: begin -> send
		a: 503 -> stop failed
		a: begin -> stop breaker_open`)
}

func TestLifetime(t *testing.T) {
	strategytest.Play(t, []strategies.Layer{trip(Lifetime{Min: 3, Percent: 67, Clear: time.Minute})}, `
		a: begin -> send
		a: 503 -> stop failed
		a: begin -> send
		a: 503 -> stop failed
		@1m a: begin -> send
		a: 503 -> stop failed                     # another period
		a: begin -> send
		a: 200 -> stop succeeded
		a: begin -> send
		a: 503 -> stop failed                     # 66.7 %
		a: begin -> send
		a: 503 -> stop failed
		a: begin -> stop breaker_open`)
}

// After a million successes, 10 % takes a long time.
func TestLifetimeRemembersTheGoodDays(t *testing.T) {
	l := Lifetime{Percent: 10}
	m := make([]int64, l.Words())
	for range 1_000_000 {
		require.False(t, l.Note(0, m, false, false))
	}
	failures := 1
	for !l.Note(0, m, true, false) {
		failures++
	}
	require.Equal(t, 111_112, failures)
}

// naiveTrip keeps everything it was told.
type naiveTrip struct {
	all []struct {
		at           time.Duration
		failed, slow bool
	}
}

// Trips against a twin that keeps everything, and looks back over it.
func TestTripsAgainstNaiveTwins(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		percent, slowPercent := rapid.IntRange(0, 100).Draw(rt, "percent"), rapid.IntRange(1, 100).Draw(rt, "slow")
		least := rapid.IntRange(1, 12).Draw(rt, "least")
		count := CountWindow{Last: rapid.IntRange(12, 150).Draw(rt, "last"), Min: least, Percent: percent, SlowPercent: slowPercent}
		window := TimeWindow{Within: 100, Min: least, Percent: percent, SlowPercent: slowPercent}
		life := Lifetime{Clear: 1000, Min: least, Percent: percent, SlowPercent: slowPercent}
		require.NoError(rt, count.Validate())
		memory := map[Trip][]int64{count: make([]int64, count.Words()), window: make([]int64, window.Words()), life: make([]int64, life.Words())}
		var twin naiveTrip
		now := time.Duration(0)
		for range rapid.IntRange(1, 400).Draw(rt, "attempts") {
			now += time.Duration(rapid.IntRange(0, 40).Draw(rt, "dt"))
			failed, slow := rapid.Bool().Draw(rt, "failed"), rapid.Bool().Draw(rt, "slow")
			twin.all = append(twin.all, struct {
				at           time.Duration
				failed, slow bool
			}{now, failed, slow})
			for by, m := range memory {
				var all, failures, slows int64
				for i, a := range twin.all {
					switch by.(type) {
					case CountWindow:
						if i < len(twin.all)-count.Last {
							continue
						}
					case TimeWindow: // in steps of 10
						if a.at/10 <= now/10-10 {
							continue
						}
					case Lifetime:
						if a.at/1000 != now/1000 {
							continue
						}
					}
					all++
					if a.failed {
						failures++
					}
					if a.slow {
						slows++
					}
				}
				want := all >= int64(least) && (percent > 0 && float64(failures)/float64(all) >= float64(percent)/100-1e-12 ||
					float64(slows)/float64(all) >= float64(slowPercent)/100-1e-12)
				require.Equal(rt, want, by.Note(now, m, failed, slow), "%T of %d: %d failed, %d slow", by, all, failures, slows)
			}
		}
	})
}

// How many calls it takes to trip on k consecutive failures: (1−pᵏ)/((1−p)pᵏ).
func TestConsecutiveFailuresClosedForm(t *testing.T) {
	for _, c := range []struct {
		k    int
		p    float64
		want float64
		runs uint64 // the time to trip varies as much as it lasts, but for its end
	}{
		{5, 0.1, 111_110, 25}, {5, 0.3, 586.461, 1000}, {5, 0.5, 62, 4000}, {5, 0.9, 6.93509, 4000}, {5, 1, 5, 10},
		{3, 0.1, 1110, 500}, {3, 0.3, 51.4815, 4000}, {3, 0.5, 14, 4000}, {3, 0.9, 3.71742, 4000}, {3, 1, 3, 10},
	} {
		t.Run(fmt.Sprintf("k=%d/p=%g", c.k, c.p), func(t *testing.T) {
			require.InDelta(t, c.want, consecutive(c.k, c.p), 1e-3)
			var sum, squares float64
			for run := range c.runs {
				n := float64(callsToTrip(t, fast(c.k, strategies.PerClient), c.p, run))
				sum, squares = sum+n, squares+n*n
			}
			runs := float64(c.runs)
			mean := sum / runs
			se := math.Sqrt((squares/runs - mean*mean) / runs)
			require.InDelta(t, c.want, mean, 4*se+1e-9)
		})
	}
}

func consecutive(k int, p float64) float64 {
	if p == 1 {
		return float64(k)
	}
	return (1 - math.Pow(p, float64(k))) / ((1 - p) * math.Pow(p, float64(k)))
}

// callsToTrip is how many calls that fail with probability p it takes until the
// breaker is open.
func callsToTrip(t *testing.T, k Breaker, p float64, run uint64) int {
	x := strategytest.NewOneClient(t, k)
	for n := 0; ; n++ {
		class := strategytest.Answered.Class
		if draw.New(run).Float(uint64(n)) < p {
			class = strategytest.Refusal(0).Class
		}
		if x.Calls(class) == 0 {
			return n
		}
	}
}

// The chance that the first full window trips is the tail of a binomial: ten of
// twenty at p = 0.3, and one of ten at 5 %, which is why small windows trip by
// bad luck.
func TestCountWindowClosedForm(t *testing.T) {
	const runs = 20_000
	for _, c := range []struct {
		w    CountWindow
		p    float64
		want float64
	}{
		{CountWindow{Last: 20, Percent: 50}, 0.3, 0.047962},
		{CountWindow{Last: 20, Percent: 50}, 0.5, 0.588099},
		{CountWindow{Last: 10, Percent: 10}, 0.05, 0.401263},
	} {
		trips := 0
		for run := range uint64(runs) {
			m := make([]int64, c.w.Words())
			for n := range c.w.Last {
				if c.w.Note(0, m, draw.New(run).Float(uint64(n)) < c.p, false) {
					require.Equal(t, c.w.Last-1, n, "not before it is full")
					trips++
				}
			}
		}
		require.InDelta(t, c.want, float64(trips)/runs, 4*math.Sqrt(c.want*(1-c.want)/runs), "%+v at %v", c.w, c.p)
	}
}
