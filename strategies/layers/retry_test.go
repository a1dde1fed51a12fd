package layers

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/strategytest"
)

func TestRetry(t *testing.T) {
	second := backoffs.Fixed{Every: time.Second}
	t.Run("success", func(t *testing.T) {
		strategytest.Play(t, []strategies.Layer{Retry{Backoff: second, MaxAttempts: 3}}, `
			begin -> send
			503 -> wait 1s
			wake -> send
			overloaded -> wait 1s
			@2s wake -> send
			200 -> stop succeeded ok`)
	})
	t.Run("max attempts counts attempts; waits are one fewer", func(t *testing.T) {
		strategytest.Play(t, []strategies.Layer{Retry{Backoff: second, MaxAttempts: 3}}, `
			begin -> send
			503 -> wait 1s
			wake -> send
			429 -> wait 1s
			wake -> send
			500 -> stop tries_exhausted server_error
			begin -> send                             # the next call starts afresh
			503 -> wait 1s`)
		strategytest.Play(t, []strategies.Layer{Retry{Backoff: second, MaxAttempts: 1}}, `
			begin -> send
			503 -> stop tries_exhausted overloaded`)
	})
	t.Run("hints", func(t *testing.T) {
		strategytest.Play(t, []strategies.Layer{Retry{Backoff: backoffs.Fixed{Every: 2 * time.Second, Jitter: time.Second}}}, `
			begin -> send
			overloaded after=3s -> wait [3s,4s)
			wake -> send
			rate after=1s -> wait [2s,3s)             # a shorter hint changes nothing
			wake -> send
			503 after=1h -> wait [1h,1h1s)
			wake -> send
			503 after=0s -> wait [2s,3s)
			wake -> send
			503 after=-5s -> wait [2s,3s)             # nonsense is no hint`)
		strategytest.Play(t, []strategies.Layer{Retry{Backoff: backoffs.Fixed{Every: 2 * time.Second}, Hints: Hints{Use: HintIgnored}}}, `
			begin -> send
			503 after=1h -> wait 2s`)
		strategytest.Play(t, []strategies.Layer{Retry{Backoff: backoffs.Exponential{Base: time.Second}}}, `
			begin -> send
			503 after=10s -> wait 10s                 # a hint does not stop the doubling
			wake -> send
			503 -> wait 2s
			wake -> send
			503 -> wait 4s`)
	})
	t.Run("ends without a reply", func(t *testing.T) {
		strategytest.Play(t, []strategies.Layer{Retry{Backoff: second}}, `
			begin -> send
			lost -> wait 1s
			wake -> send
			expired -> wait 1s
			wake -> send
			disconnected -> wait 1s`)
	})
	t.Run("a failure without an attempt has no hint", func(t *testing.T) {
		refusing := strategytest.Gatekeeper{Heard: new([]string), Decide: func(now time.Duration, _ *strategies.Call) strategies.Decision {
			if now < 2*time.Second {
				return strategies.StopWith(strategies.Failed, wire.Overloaded)
			}
			return strategies.Decision{}
		}}
		strategytest.Play(t, []strategies.Layer{Retry{Backoff: second, MaxAttempts: 9}, refusing}, `
			begin -> wait 1s
			wake -> wait 1s
			wake -> send`)
	})
	t.Run("withdrawn", func(t *testing.T) {
		strategytest.Play(t, []strategies.Layer{Retry{Backoff: second}}, `
			begin -> send
			cancelled -> stop withdrawn cancelled
			begin -> send
			503 -> wait 1s
			cancelled -> stop withdrawn cancelled     # in the middle of a wait
			begin -> send
			settled -> stop failed cancelled          # its call is over: no retry
			cancelled -> stop withdrawn cancelled`)
	})
}

// Waiting helps against some failures and against others it never does.
func TestOnlyTransientFailuresAreRetried(t *testing.T) {
	const most = 5
	attempts := map[wire.Class]int{
		wire.OK: 1, wire.Rate: most, wire.TokenRate: most, wire.Concurrency: most, wire.Acceleration: most,
		wire.Overloaded: most, wire.ServerError: most, wire.Timeout: most, wire.ConnectionLost: most,
		wire.Quota: 1, wire.Auth: 1, wire.Permission: 1, wire.BadRequest: 1, wire.TooLarge: 1, wire.Cancelled: 1,
	}
	require.Len(t, attempts, wire.NumClasses)
	x := strategytest.NewRetrier(t, Retry{Backoff: backoffs.Fixed{}, MaxAttempts: most})
	for class, want := range attempts {
		x.Begin(uint64(class))
		d := strategies.Decision{Kind: strategies.Wait}
		for d.Kind == strategies.Wait {
			o := wire.Outcome{Class: class, RetryAfter: wire.NoHint}
			if d = x.Step(0, strategies.Event{Kind: strategies.Reply, Attempt: x.Call.Attempts, Outcome: &o}); d.Kind == strategies.Wait {
				x.Step(0, strategies.Event{Kind: strategies.Wake})
			}
		}
		require.Equal(t, want, int(x.Call.Attempts), class.String())
		switch {
		case class == wire.OK:
			require.Equal(t, strategies.StopWith(strategies.Succeeded, class), d)
		case want == 1:
			require.Equal(t, strategies.StopWith(strategies.Failed, class), d)
		default:
			require.Equal(t, strategies.StopWith(strategies.TriesExhausted, class), d)
		}
	}
}

// badBackoff answers what no backoff should.
type badBackoff struct{ base, jitter time.Duration }

func (b badBackoff) Delay(*strategies.Call, strategies.Purpose, int64, time.Duration) (base, jitter time.Duration) {
	return b.base, b.jitter
}

func TestWaitsAreNeverNegative(t *testing.T) {
	for _, b := range []badBackoff{{-1, 0}, {0, -1}, {-strategies.Never, -strategies.Never}, {-1, time.Second}} {
		x := strategytest.NewRetrier(t, Retry{Backoff: b})
		for _, w := range x.Waits(1, 3) {
			require.Equal(t, max(b.base, 0)+max(b.jitter, 0), w, "%+v", b)
		}
	}
}

// history is a backoff from outside the package that wants the last wait.
type history struct{ told *[]time.Duration }

func (history) RemembersPrevious() {}

func (h history) Delay(_ *strategies.Call, _ strategies.Purpose, retry int64, prev time.Duration) (base, jitter time.Duration) {
	*h.told = append(*h.told, prev)
	return time.Duration(retry+1) * time.Second, time.Millisecond
}

func TestRemembering(t *testing.T) {
	var told []time.Duration
	strategytest.Play(t, []strategies.Layer{Retry{Backoff: history{&told}}}, `
		begin -> send
		503 -> wait 1.001s
		wake -> send
		503 after=1h -> wait 1h0m0.001s       # what a hint adds is not remembered
		wake -> send
		503 -> wait 3.001s
		cancelled -> stop withdrawn
		begin -> send                         # nor is another call
		503 -> wait 1.001s`)
	want := []time.Duration{0, 1001 * time.Millisecond, 2001 * time.Millisecond, 0}
	require.Equal(t, append(want, want...), told) // each script is played twice
}

func TestRetryBounds(t *testing.T) {
	t.Run("elapsed time", func(t *testing.T) {
		// A retry that would begin when the call is older than 10 s is not waited
		// for; at exactly 10 s it may.
		strategytest.Play(t, []strategies.Layer{Retry{Backoff: backoffs.Exponential{Base: time.Second}, MaxElapsed: 10 * time.Second}}, `
			@5s begin -> send
			@6s 503 -> wait 1s
			wake -> send
			@8s 503 -> wait 2s
			wake -> send
			@11s 503 -> wait 4s
			wake -> send
			503 -> stop deadline_passed overloaded
			@20s begin -> send
			@29s 503 -> wait 1s
			wake -> send`)
	})
	t.Run("least wait", func(t *testing.T) {
		strategytest.Play(t, []strategies.Layer{Retry{Backoff: backoffs.Fixed{Jitter: time.Second}, MinWait: 3 * time.Second}}, `
			begin -> send
			503 -> wait [3s,4s)
			wake -> send
			503 after=1s -> wait [3s,4s)
			wake -> send
			503 after=5s -> wait [5s,6s)`)
	})
	t.Run("a long wait does not overflow the elapsed time", func(t *testing.T) {
		strategytest.Play(t, []strategies.Layer{Retry{Backoff: backoffs.Fixed{Every: strategies.Never}, MaxElapsed: time.Hour}}, `
			@1s begin -> send
			@2s 503 -> stop deadline_passed`)
	})
}

func TestRetryRejectsInvalidSettings(t *testing.T) {
	for want, r := range map[string]Retry{
		"backoff is required; for retries without a wait use fixed with 0s":                                       {},
		"max_attempts must not be negative; 0 means no bound":                                                     {Backoff: backoffs.Fixed{}, MaxAttempts: -1},
		"max_elapsed and min_wait must not be negative; 0 means no bound":                                         {Backoff: backoffs.Fixed{}, MaxElapsed: -1},
		"fixed: every and jitter must not be negative":                                                            {Backoff: backoffs.Fixed{Every: -1}},
		"exponential: base must be positive, not 0s":                                                              {Backoff: backoffs.Exponential{}},
		"exponential: factor must be from 1 to 1000, not 0.5; 0 means 2":                                          {Backoff: backoffs.Exponential{Base: 1, Factor: 0.5}},
		"full_jitter: factor must be from 1 to 1000, not NaN; 0 means 2":                                          {Backoff: backoffs.FullJitter{Base: 1, Factor: math.NaN()}},
		"equal_jitter: cap must not be negative; 0 means no bound":                                                {Backoff: backoffs.EqualJitter{Base: 1, Cap: -1}},
		"proportional: low 120 % and high 80 % are not a range; use 0 % ≤ low ≤ high ≤ 1000 %":                    {Backoff: backoffs.Proportional{Of: backoffs.Fixed{}, Low: 120, High: 80}},
		"proportional: of: give a backoff":                                                                        {Backoff: backoffs.PlusMinus(nil, 10)},
		"capped: of: backoffs.DecorrelatedJitter does not work inside another backoff; make it the outermost one": {Backoff: backoffs.Capped{Of: backoffs.DecorrelatedJitter{Base: 1}, Cap: 1}},
		"capped: cap must be positive":                                                                            {Backoff: backoffs.Capped{Of: backoffs.Fixed{}}},
		"uniform: low 2ns and high 1ns are not a range; use 0s ≤ low ≤ high":                                      {Backoff: backoffs.Capped{Of: backoffs.Uniform{Low: 2, High: 1}, Cap: 1}},
		"memoryless: mean must be positive, not 0s":                                                               {Backoff: backoffs.Memoryless{}},
		"by_class: classes is empty; give classes, or use the backoff else alone":                                 {Backoff: backoffs.ByClass{Then: backoffs.Fixed{}, Else: backoffs.Fixed{}}},
		"polly_jitter: base must be positive, not 0s":                                                             {Backoff: backoffs.PollyJitter{}},
		"linear: first, step, cap and jitter must not be negative; cap 0 means no bound":                          {Backoff: backoffs.Linear{Step: -1}},
	} {
		_, err := strategies.Compile(strategies.Definition{Name: "bad", Layers: []strategies.Layer{r}}, nil)
		require.EqualError(t, err, `strategy "bad": retry: `+want)
	}
}
