package layers

import (
	"fmt"
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/strategytest"
)

// Some instants, 100 ms apart.
const (
	d  = 100 * time.Millisecond
	t0 = time.Duration(0)
	t1 = t0 + d
	t2 = t1 + d
	t3 = t2 + d
	t4 = t3 + d
	t5 = t4 + d
	t9 = t0 + 9*d
)

// take is one row: who asks for n tokens at t gets them, or hears when.
type take struct {
	t       time.Duration
	n       uint32
	ok      bool
	readyAt time.Duration
}

func TestTokenBucketRows(t *testing.T) {
	for _, c := range []struct {
		name  string
		rate  int64
		per   time.Duration
		burst int64
		takes []take
	}{
		{"burst 1", 10, time.Second, 1, []take{
			{t0, 1, true, t0},
			{t0, 1, false, t1},
			{t0, 1, false, t1},
			{t1, 1, true, t1},
			{t1, 1, false, t2},
			{t2 + 1, 1, true, t2 + 1},
			{t3, 1, false, t3 + 1},
			{t3 + 1, 1, true, t3 + 1},
		}},
		{"burst 3", 10, time.Second, 3, []take{
			{t0, 2, true, t0},
			{t0, 2, false, t1},
			{t0, 1, true, t0},
			{t0, 1, false, t1},
			{t1, 4, false, strategies.Never}, // more than there can ever be
			{t1, 1, true, t1},
			{t1, 1, false, t2},
			{t2, 1, true, t2},
			{t2, 3, false, t5},
			{t4, 3, false, t5},
			{t4, 2, true, t4},
			{t5, 1, true, t5},
			{t9, 3, true, t9}, // it kept three of four
			{t9, 1, false, t9 + d},
		}},
		{"a bucket is full at first, however late", 1, time.Hour, 2, []take{
			{1000 * time.Hour, 2, true, 1000 * time.Hour},
			{1000 * time.Hour, 1, false, 1001 * time.Hour},
		}},
		{"no token is nothing", 10, time.Second, 1, []take{
			{t0, 1, true, t0},
			{t0, 0, true, t0},
		}},
		{"uneven", 3, time.Second, 1, []take{ // a third of a second is 333,333,333⅓ ns
			{t0, 1, true, t0},
			{t0, 1, false, 333_333_334},
			{333_333_333, 1, false, 333_333_334},
			{333_333_334, 1, true, 333_333_334},
			{333_333_334, 1, false, 666_666_668}, // it was full: the ⅔ ns since are lost
			{666_666_668, 1, true, 666_666_668},
		}},
		{"uneven, nothing lost", 3, time.Second, 2, []take{
			{t0, 2, true, t0},
			{333_333_334, 1, true, 333_333_334},
			{333_333_334, 1, false, 666_666_667}, // ⅔ ns is in hand
			{666_666_667, 1, true, 666_666_667},
			{666_666_667, 1, false, time.Second},
			{time.Second, 1, true, time.Second},
		}},
		{"70 % of 6 per 2 s", 7 * 6, 10 * 2 * time.Second, 3, []take{
			{t0, 3, true, t0},
			{t0, 1, false, 476_190_477}, // 1 s ÷ 2.1
			{time.Second, 2, true, time.Second},
			{time.Second, 1, false, 1_428_571_429}, // 3 s ÷ 2.1
			{10 * time.Second, 3, true, 10 * time.Second},
		}},
		{"faster than the clock", math.MaxInt64, 1, 1, []take{
			{t0, 1, true, t0},
			{t0, 1, false, 1},
			{1, 1, true, 1},
		}},
		{"slower than the run", 1, strategies.Never / 4, 1, []take{
			{t0, 1, true, t0},
			{t0, 1, false, strategies.Never / 4},
			{strategies.Never / 4, 1, true, strategies.Never / 4},
			{strategies.Never - 1, 1, true, strategies.Never - 1},
			{strategies.Never - 1, 1, false, strategies.Never}, // saturated
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			k, m := bucketOf(c.rate, c.per, c.burst), make([]int64, 2)
			for i, row := range c.takes {
				ok, readyAt := k.TryTake(row.t, m, row.n)
				require.Equal(t, row, take{row.t, row.n, ok, readyAt}, "row %d", i+1)
			}
		})
	}
}

func TestTokenBucketPut(t *testing.T) {
	k, m := bucketOf(10, time.Second, 3), make([]int64, 2)
	takes := func(at time.Duration, n uint32, want bool) {
		t.Helper()
		ok, _ := k.TryTake(at, m, n)
		require.Equal(t, want, ok)
	}
	takes(t0, 3, true)
	k.Put(t0, m, 2)
	takes(t0, 3, false)
	takes(t0, 2, true)
	k.Put(t5, m, 3) // with what has come by then it is full, and no more than that
	takes(t5, 3, true)
	takes(t5, 1, false)
	k.Put(t5, m, math.MaxUint32)
	takes(t5, 3, true)
	takes(t5, 1, false)
}

// naiveBucket counts tokens in fractions that never round.
type naiveBucket struct {
	tokens, burst, rate *big.Rat // rate is per ns
	last                time.Duration
}

func (k *naiveBucket) take(now time.Duration, n int64) (bool, time.Duration) {
	k.tokens.Add(k.tokens, new(big.Rat).Mul(k.rate, big.NewRat(int64(now-k.last), 1)))
	k.last = now
	if k.tokens.Cmp(k.burst) > 0 {
		k.tokens.Set(k.burst)
	}
	want := big.NewRat(n, 1)
	if want.Cmp(k.burst) > 0 {
		return false, strategies.Never
	}
	if k.tokens.Cmp(want) >= 0 {
		k.tokens.Sub(k.tokens, want)
		return true, now
	}
	wait := new(big.Rat).Quo(want.Sub(want, k.tokens), k.rate)
	ceil := new(big.Int).Add(wait.Num(), new(big.Int).Sub(wait.Denom(), big.NewInt(1)))
	return false, now + time.Duration(ceil.Div(ceil, wait.Denom()).Int64())
}

func TestTokenBucketAgainstNaiveTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Int64Range(1, 1000).Draw(t, "rate")
		per := time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(t, "per"))
		burst := rapid.Int64Range(1, 20).Draw(t, "burst")
		k, m := bucketOf(rate, per, burst), make([]int64, 2)
		twin := &naiveBucket{big.NewRat(burst, 1), big.NewRat(burst, 1), big.NewRat(rate, int64(per)), 0}
		type admission struct {
			at time.Duration
			n  int64
		}
		var admitted []admission
		now := time.Duration(0)
		for range rapid.IntRange(20, 60).Draw(t, "asks") {
			now += time.Duration(rapid.Int64Range(0, 3*int64(per)/rate).Draw(t, "dt"))
			n := rapid.Uint32Range(1, uint32(burst)+1).Draw(t, "n")
			wantOK, wantAt := twin.take(now, int64(n))
			ok, readyAt := k.TryTake(now, m, n)
			require.Equal(t, wantOK, ok)
			require.Equal(t, wantAt, readyAt)
			switch {
			case ok:
				admitted = append(admitted, admission{now, int64(n)})
			case readyAt != strategies.Never:
				// readyAt is exact: then they are there, 1 ns before not.
				require.Greater(t, readyAt, now)
				for at, want := range map[time.Duration]bool{readyAt: true, readyAt - 1: false} {
					copied := []int64{m[0], m[1]}
					got, _ := k.TryTake(at, copied, n)
					require.Equal(t, want, got, "at %d of %d", at, readyAt)
				}
			}
		}
		// In any interval at most burst + rate·t are admitted.
		for i := range admitted {
			sum := int64(0)
			for _, a := range admitted[i:] {
				sum += a.n
				most := new(big.Int).Mul(big.NewInt(rate), big.NewInt(int64(a.at-admitted[i].at)))
				most.Div(most, big.NewInt(int64(per)))
				require.LessOrEqual(t, sum, burst+most.Int64())
			}
		}
	})
}

func TestTokenBucketLayer(t *testing.T) {
	bucket := func(s strategies.Scope) TokenBucket {
		return TokenBucket{Rate: 1, Per: time.Second, Burst: 2, Scope: s, Name: "b"}
	}
	t.Run("first come, first served; who gives up costs nothing", func(t *testing.T) {
		strategytest.Play(t, []strategies.Layer{bucket(strategies.PerFleet)}, `
			a: begin -> send
			b: begin -> send
			c: begin -> queued until 1s
			d: begin -> queued
			e: begin -> queued
			@1s d: admitted -> refused              # c is first
			c: admitted -> send
			d: admitted -> refused until 2s
			e: admitted -> refused
			d: cancelled -> stop withdrawn
			e: admitted -> refused until 2s
			@2s e: admitted -> send
			a: 503 -> stop failed                   # a token is spent, however it ends
			f: begin -> queued until 3s`)
	})
	t.Run("every attempt takes a token inside a loop, a call outside", func(t *testing.T) {
		retry := Retry{Backoff: backoffs.Fixed{Every: 100 * time.Millisecond}}
		strategytest.Play(t, []strategies.Layer{retry, bucket(strategies.PerClient)}, `
			begin -> send
			503 -> wait 100ms
			wake -> send
			503 -> wait 100ms
			wake -> queued until 1s
			@1s admitted -> send`)
		strategytest.Play(t, []strategies.Layer{bucket(strategies.PerClient), retry}, `
			begin -> send
			503 -> wait 100ms
			wake -> send
			503 -> wait 100ms
			wake -> send
			200 -> stop succeeded
			begin -> send
			200 -> stop succeeded
			begin -> queued until 1s`)
	})
	t.Run("scopes", func(t *testing.T) {
		const spend = "x/a.1: begin -> send\nx/a.2: begin -> send\n"
		for scope, script := range map[strategies.Scope]string{
			strategies.PerClient:   "x/a.3: begin -> queued until 1s\nx/b: begin -> send\ny/a: begin -> send",
			strategies.PerFleet:    "x/a.3: begin -> queued until 1s\nx/b: begin -> queued\ny/a: begin -> send",
			strategies.PerEveryone: "x/a.3: begin -> queued until 1s\nx/b: begin -> queued\ny/a: begin -> queued",
		} {
			stack := []strategies.Layer{bucket(scope)}
			strategytest.PlayFleets(t, map[string][]strategies.Layer{"x": stack, "y": stack}, spend+script)
		}
	})
}

// The same rate is the same bucket, however it is written.
func TestTokenBucketInLowestTerms(t *testing.T) {
	for _, k := range []*bucket{bucketOf(21, 10*time.Second, 3), bucketOf(42, 20*time.Second, 3), bucketOf(21_000, 10_000*time.Second, 3)} {
		require.Equal(t, bucket{21, int64(10 * time.Second), 3}.rate*k.per, k.rate*int64(10*time.Second), fmt.Sprint(k))
		require.Equal(t, bucketOf(21, 10*time.Second, 3), k)
	}
}

// Case A16: 1.4 per second and a burst of 3 keep 10,000 requests of one caller
// below 120 a minute, and cost 7140.714 s for them.
func TestTokenBucketBelowAWindow(t *testing.T) {
	l := strategytest.NewLab(t, TokenBucket{Rate: 14, Per: 10 * time.Second, Burst: 3, Scope: strategies.PerFleet})
	l.Serve = func(*strategytest.Caller) (time.Duration, wire.Outcome) { return 0, strategytest.Answered }
	l.ClosedLoop(1, 0)
	l.Run(2 * time.Hour)
	require.InDelta(t, 7140.714, l.Sent[9_999].Seconds(), 0.001)
	require.LessOrEqual(t, strategytest.MostWithin(l.Sent, time.Minute), 87)
	require.LessOrEqual(t, strategytest.MostWithin(l.Sent, 10*time.Second), 17)
}

// Case A19: three modules with a bucket of 1.4 per second each offer 4.2 to a
// provider of 2 per second, which refuses 52.4 % of that; one bucket for all
// three is never refused.
func TestOneBucketForAllModules(t *testing.T) {
	for scope, want := range map[strategies.Scope]float64{strategies.PerClient: 1 - 2/4.2, strategies.PerFleet: 0} {
		l := strategytest.NewLab(t, TokenBucket{Rate: 14, Per: 10 * time.Second, Burst: 3, Scope: scope})
		provider, m, refused := bucketOf(2, time.Second, 4), make([]int64, 2), 0
		l.Serve = func(*strategytest.Caller) (time.Duration, wire.Outcome) {
			if ok, _ := provider.TryTake(l.Now, m, 1); !ok {
				refused++
				return 0, strategytest.Refused(wire.Rate)
			}
			return 0, strategytest.Answered
		}
		l.ClosedLoop(3, time.Second)
		l.Run(time.Hour)
		require.InDelta(t, want, float64(refused)/float64(len(l.Sent)), 0.01, "shared per %v", scope)
	}
}
