package layers

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
	"herdlab/strategies"
	"herdlab/strategies/strategytest"
)

func TestAWSAdaptive(t *testing.T) {
	strategytest.Play(t, []strategies.Layer{AWSAdaptive{Scope: strategies.PerClient}}, `
		a.1: begin -> send
		a.2: begin -> send                        # nothing is limited before the first throttling
		@1s a.1: 503 -> stop failed               # an overloaded provider does not throttle
		a.3: begin -> send
		@2s a.2: 429 -> stop failed               # an answer a second, smoothed: 0.96
		a.4: begin -> queued until 3.488095239s   # 0.7 of that, from an empty bucket
		a.5: begin -> queued
		a.4: cancelled -> stop withdrawn
		b: begin -> send                          # another client has a limiter of its own
		@4s a.5: admitted -> send
		a.3: 200 -> stop succeeded`)
	strategytest.Play(t, []strategies.Layer{AWSAdaptive{On: strategies.Limits | 1<<wire.Overloaded, Scope: strategies.PerClient}}, `
		a.1: begin -> send
		@2s a.1: 503 -> stop failed
		a.2: begin -> queued until 4s`) // 0.5 per second is the least
}

// The algorithm once more, in floating point and as the SDK prints it.
type naiveCubic struct {
	enabled                       bool
	fill, capacity, tokens, last  float64
	lastMax, lastThrottle, window float64
	measured, txBucket, txCount   float64
}

func (n *naiveCubic) refill(now float64) {
	if n.last > 0 || n.enabled {
		n.tokens = math.Min(n.capacity, n.tokens+(now-n.last)*n.fill)
	}
	n.last = now
}

func (n *naiveCubic) ended(now float64, throttled bool) {
	n.txCount++
	if bucket := math.Floor(now*2) / 2; bucket > n.txBucket {
		n.measured = n.txCount/(bucket-n.txBucket)*0.8 + n.measured*0.2
		n.txCount, n.txBucket = 0, bucket
	}
	var rate float64
	if throttled {
		used := n.measured
		if n.enabled {
			used = math.Min(used, n.fill)
		}
		n.lastMax, n.lastThrottle = used, now
		n.window = math.Cbrt(used * 0.3 / 0.4)
		rate = used * 0.7
		n.enabled = true
	} else {
		n.window = math.Cbrt(n.lastMax * 0.3 / 0.4)
		rate = 0.4*math.Pow(now-n.lastThrottle-n.window, 3) + n.lastMax
	}
	if !n.enabled {
		return
	}
	n.refill(now)
	n.fill = math.Max(math.Min(rate, 2*n.measured), 0.5)
	n.capacity = math.Max(n.fill, 1)
	n.tokens = math.Min(n.tokens, n.capacity)
}

func TestAWSAdaptiveAgainstNaiveTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var pool cubicBucket
		m, twin := make([]int64, cubicWords), &naiveCubic{}
		c := strategies.NewCall(draw.New(1))
		now := time.Duration(0)
		for range 150 {
			now += time.Duration(rapid.Int64Range(1, 900).Draw(t, "dt")) * time.Millisecond
			o := strategytest.Answered
			if rapid.IntRange(0, 6).Draw(t, "throttled") == 0 {
				o = strategytest.Refused(wire.Rate)
			}
			cubicTuner{strategies.Limits}.update(now, c, m, sample{ok: o.OK(), outcome: &o})
			twin.ended(now.Seconds(), !o.OK())
			require.Equal(t, twin.enabled, m[fillRate] > 0)
			if !twin.enabled {
				continue
			}
			// A thousandth of a rate and a millisecond of k are what integers lose.
			require.InDelta(t, twin.fill, float64(m[fillRate])/1000, 0.01+twin.fill/200, "rate")
			for rapid.Bool().Draw(t, "more") {
				pool.refill(now, m)
				twin.refill(now.Seconds())
				require.InDelta(t, twin.tokens, float64(m[tokens])/aToken, 0.05, "tokens")
				if math.Abs(twin.tokens-1) < 0.05 {
					break // neither is to be split over a hair
				}
				ok, ready := pool.TryTake(now, m, 1)
				require.Equal(t, twin.tokens >= 1, ok)
				if !ok {
					require.InDelta(t, (1-twin.tokens)/twin.fill, (ready - now).Seconds(), 0.2)
					break
				}
				twin.tokens--
				m[tokens] += int64((twin.tokens - float64(m[tokens])/aToken) * aToken) // errors are not to add up
			}
			m[fillRate], m[measured] = int64(twin.fill*1000+0.5), int64(twin.measured*1000+0.5)
			m[tokens], m[topRate] = int64(twin.tokens*aToken), int64(twin.lastMax*1000+0.5)
		}
	})
}

// What is given up is no answer.
func TestAWSAdaptiveCountsAnswers(t *testing.T) {
	l := strategytest.NewLab(t, AWSAdaptive{Scope: strategies.PerFleet})
	l.Withdraw(l.Begin("a", 0))
	require.Zero(t, l.Fleets[""].Words[answers])
	l.Begin("a", 1)
	l.Run(time.Second / 4)
	require.EqualValues(t, 1, l.Fleets[""].Words[answers])
}

func TestCubeRoot(t *testing.T) {
	for _, x := range []int64{0, 1, 7, 8, 26, 27, 999_999_999, 1e9, 1<<60 - 1} {
		r := cubeRoot(x)
		require.LessOrEqual(t, r*r*r, x)
		require.Greater(t, (r+1)*(r+1)*(r+1), x)
	}
}

// Against a provider of 10 per second, by token bucket, a client settles near
// its rate and is refused few of its attempts, where naive retries would be
// refused nearly all of theirs.
func TestAWSAdaptiveSettles(t *testing.T) {
	l := strategytest.NewLab(t, AWSAdaptive{Scope: strategies.PerClient})
	limit, m := bucketOf(10, time.Second, 5), make([]int64, 2)
	answered := 0
	l.Serve = func(*strategytest.Caller) (time.Duration, wire.Outcome) {
		if ok, _ := limit.TryTake(l.Now, m, 1); !ok {
			return 20 * time.Millisecond, strategytest.Refused(wire.Rate)
		}
		answered++
		return 20 * time.Millisecond, strategytest.Answered
	}
	l.ClosedLoopOf("a", 20)
	l.Run(time.Minute)
	sent := len(l.Sent)
	answered = 0
	l.Run(11 * time.Minute)
	n := len(l.Sent) - sent
	t.Logf("%d sent, %d answered", n, answered)
	require.InDelta(t, 6000, answered, 1200)
	require.Less(t, float64(n-answered)/float64(n), 0.2)
}
