package presets

import (
	"math"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/layers"
	"herdlab/strategies/strategytest"
)

// secondPeak is the capacity of the provider in the reference experiment: six slots
// with a service time of two seconds.
var secondPeak = Knowledge{Rate: 6, Per: 2 * time.Second, Concurrency: 6}

func TestBuiltins(t *testing.T) {
	names, summaries := map[string]bool{}, map[string]bool{}
	wellFormed := regexp.MustCompile(`^[a-z0-9][a-z0-9.+-]*$`)
	for _, b := range Builtins() {
		require.Regexp(t, wellFormed, b.Name)
		require.False(t, names[b.Name], "two strategies are named %s", b.Name)
		require.False(t, summaries[b.Summary], "%s has the summary of another strategy", b.Name)
		names[b.Name], summaries[b.Summary] = true, true
		require.NotEmpty(t, b.Summary)
		require.LessOrEqual(t, len([]rune(b.Summary)), 80, b.Name)

		d, err := Lookup(b.Name, secondPeak)
		require.NoError(t, err)
		require.Equal(t, b.Name, d.Name)
		require.Equal(t, b.Summary, d.Summary)
		p, err := strategies.Compile(d, nil)
		require.NoError(t, err)
		require.Equal(t, b.Name, p.Name)
		require.Zero(t, p.Words[strategies.PerEveryone], "a built-in strategy must not share memory between fleets")
	}
	for _, name := range []string{
		"naive", "fixed-30s", "fixed-30s+0.5s", "fixed-30s+30s", "uniform-90-150s", "exponential", "exponential+0.5s",
		"full-jitter", "equal-jitter", "decorrelated-jitter", "five-tries", "breaker+full-jitter", "token-bucket", "status-only",
	} {
		require.True(t, names[name], name)
	}
}

func TestLookupOfAnUnknownName(t *testing.T) {
	_, err := Lookup("full-jitters", secondPeak)
	require.EqualError(t, err, `there is no strategy "full-jitters"; Builtins and Presets list them`)
}

// The waits of the built-in strategies after their first refused attempts lie within
// bounds.
func TestBuiltinWaits(t *testing.T) {
	doubling := strategytest.Seconds(1, 2, 4, 8, 16, 32, 64, 64)
	zero := make([]time.Duration, 8)
	same := func(s float64) []time.Duration { return strategytest.Seconds(s, s, s, s, s, s, s, s) }
	plus := func(waits []time.Duration, jitter time.Duration) (more []time.Duration) {
		for _, w := range waits {
			more = append(more, w+jitter)
		}
		return more
	}
	for name, bounds := range map[string][2][]time.Duration{
		"naive":               {zero, zero},
		"fixed-30s":           {same(30), same(30)},
		"fixed-30s+0.5s":      {same(30), same(30.5)},
		"fixed-30s+30s":       {same(30), same(60)},
		"uniform-90-150s":     {same(90), same(150)},
		"exponential":         {doubling, doubling},
		"exponential+0.5s":    {doubling, plus(doubling, time.Second/2)},
		"five-tries":          {doubling[:4], plus(doubling[:4], time.Second/2)},
		"full-jitter":         {zero, doubling},
		"equal-jitter":        {strategytest.Seconds(0.5, 1, 2, 4, 8, 16, 32, 32), doubling},
		"decorrelated-jitter": {same(1), plus(strategytest.Seconds(3, 9, 27, 64, 64, 64, 64, 64), 1)},
		"token-bucket":        {zero, doubling}, // while the bucket has a token
		"status-only":         {zero, doubling},
	} {
		d, err := Lookup(name, secondPeak)
		require.NoError(t, err)
		for seed := range uint64(50) {
			w := strategytest.NewWorld(t, map[string][]strategies.Layer{"": d.Layers}, seed)
			c := w.Call("a")
			c.Next(strategies.Event{Kind: strategies.Begin})
			for k := range bounds[0] {
				o := strategytest.Refusal(wire.NoHint)
				d := c.Next(strategies.Event{Kind: strategies.Reply, Attempt: c.Attempts, Outcome: o})
				require.Equal(t, strategies.Wait, d.Kind, name)
				low, high := bounds[0][k], bounds[1][k]
				require.GreaterOrEqual(t, d.After, low, "%s, wait %d", name, k+1)
				require.LessOrEqual(t, d.After, high, "%s, wait %d", name, k+1)
				w.Now += d.After + time.Hour // the bucket is full again
				c.Next(strategies.Event{Kind: strategies.Wake})
			}
			if name == "five-tries" {
				d := c.Next(strategies.Event{Kind: strategies.Reply, Attempt: c.Attempts, Outcome: strategytest.Refusal(wire.NoHint)})
				require.Equal(t, strategies.StopWith(strategies.TriesExhausted, wire.Overloaded), d)
				require.Equal(t, 5, int(c.Attempts))
			}
		}
	}
}

func TestSharedBreakerOfTheReferenceExperiment(t *testing.T) {
	d, err := Lookup("breaker+full-jitter", secondPeak)
	require.NoError(t, err)
	strategytest.Play(t, d.Layers, `
		a: begin -> send
		b: begin -> send
		c: begin -> send
		d: begin -> send
		e: begin -> send
		a: 503 -> wait [0s,1s)
		b: 503 -> wait [0s,1s)
		c: 503 -> wait [0s,1s)
		d: 503 -> wait [0s,1s)
		f: begin -> send
		e: 503 -> wait [0s,1s)                    # the fifth opens it for 30 s
		g: begin -> wait [30s,40s)
		@30s h: begin -> send                     # the probe
		i: begin -> wait [100ms,10.1s)
		f: 200 -> stop succeeded                  # any success closes it
		j: begin -> send`)
}

// The rate of the bucket is 70 % of the known capacity, its burst half the
// concurrency.
func TestTokenBucketOfKnowledge(t *testing.T) {
	bucketOf := func(d strategies.Definition) (strategies.Pool, error) {
		p, err := strategies.Compile(d, nil)
		if err != nil {
			return nil, err
		}
		require.Equal(t, strategies.PerFleet, p.Pools[0].Scope)
		return p.Pools[0].Pool, nil
	}
	bucketFor := func(k Knowledge) (strategies.Pool, error) {
		d, err := Lookup("token-bucket", k)
		require.NoError(t, err)
		return bucketOf(d)
	}
	bucket := func(rate int64, per time.Duration, burst int64) strategies.Pool {
		p, err := bucketOf(strategies.Definition{Name: "bucket", Layers: []strategies.Layer{layers.TokenBucket{Rate: rate, Per: per, Burst: burst, Scope: strategies.PerFleet}}})
		require.NoError(t, err)
		return p
	}
	got, err := bucketFor(secondPeak)
	require.NoError(t, err)
	require.Equal(t, bucket(21, 10*time.Second, 3), got, "2.1 per second, burst 3")
	got, err = bucketFor(Knowledge{Rate: 120, Per: time.Minute})
	require.NoError(t, err)
	require.Equal(t, bucket(84, time.Minute, 1), got, "1.4 per second, burst 1")

	// A capacity far beyond that of any provider does not overflow.
	_, err = bucketFor(Knowledge{Rate: math.MaxInt64 / 7, Per: 10 * 365 * 24 * time.Hour, Concurrency: 1})
	require.NoError(t, err)
}

func TestTokenBucketNeedsKnowledge(t *testing.T) {
	compile := func(k Knowledge) error {
		d, err := Lookup("token-bucket", k)
		require.NoError(t, err)
		_, err = strategies.Compile(d, nil)
		return err
	}
	const unknown = `strategy "token-bucket": it stays below the provider's capacity, which is not known; ` +
		`give the provider slots and a service time, or a limit on the rate`
	require.EqualError(t, compile(Knowledge{}), unknown)
	require.EqualError(t, compile(Knowledge{Rate: 5}), unknown)
	require.EqualError(t, compile(Knowledge{Rate: -5, Per: time.Second}), unknown)
	require.ErrorContains(t, compile(Knowledge{Rate: math.MaxInt64, Per: 1}), "too large to take 70 % of")
	require.ErrorContains(t, compile(Knowledge{Rate: 1, Per: strategies.Never}), "too large to take 70 % of")
}

func TestStatusOnlyReadsTheStatus(t *testing.T) {
	d, err := Lookup("status-only", Knowledge{})
	require.NoError(t, err)
	require.Equal(t, wire.ByStatus{}, d.Reader)
}
