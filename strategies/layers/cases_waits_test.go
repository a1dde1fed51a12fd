package layers_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
	"herdlab/sim/saturating"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
	"herdlab/strategies/strategytest"
)

// waitKind is a way of waiting: a backoff that grows from a base up to a limit, as
// far as it grows.
type waitKind struct {
	how     string
	backoff strategies.Backoff
	// first is the longest first wait, most the longest of all.
	first, most time.Duration
	// inStep says that clients that have failed together stay together, atCap that
	// they come together again once their waits are as long as they can be.
	inStep, atCap bool
}

func waitKinds(base, limit time.Duration) []waitKind {
	half := limit / 2
	more := saturating.Add(limit, half)
	little := min(base/2, half)
	doubling := backoffs.Exponential{Base: base, Cap: limit}
	return []waitKind{
		{"", backoffs.Fixed{Every: limit}, limit, limit, true, true},
		{"with jitter", backoffs.Fixed{Every: half, Jitter: half}, limit, limit, false, false},
		{"", backoffs.Uniform{Low: half, High: limit}, limit, limit, false, false},
		{"", backoffs.Linear{First: base, Step: limit / 10, Cap: limit}, base, limit, true, true},
		{"with jitter", backoffs.Linear{First: base, Step: limit / 10, Cap: limit, Jitter: half}, saturating.Add(base, half), more, false, false},
		{"", doubling, base, limit, true, true},
		{"with little jitter", backoffs.Exponential{Base: base, Cap: limit, Jitter: little}, saturating.Add(base, little), saturating.Add(limit, little), false, true},
		{"with jitter", backoffs.Exponential{Base: base, Cap: limit, Jitter: half}, saturating.Add(base, half), more, false, false},
		{"×1.5", backoffs.Exponential{Base: base, Cap: limit, Factor: 1.5, Jitter: half}, saturating.Add(base, half), more, false, false},
		{"", backoffs.FullJitter{Base: base, Cap: limit}, base, limit, false, false},
		{"", backoffs.EqualJitter{Base: base, Cap: limit}, base, limit, false, false},
		{"", backoffs.DecorrelatedJitter{Base: base, Cap: limit}, layers.Times(base, 3), limit, false, true},
		{"", backoffs.PollyJitter{Base: base, Cap: limit}, layers.Times(base, 2), limit, false, true},
		{"", backoffs.Memoryless{Mean: max(half, 1)}, layers.Times(limit, 20), layers.Times(limit, 20), false, false},
		{"", backoffs.PlusMinus(doubling, 50), saturating.Add(base, base/2), more, false, false},
		{"", backoffs.Capped{Of: backoffs.Exponential{Base: base, Jitter: half}, Cap: max(limit, 1)}, saturating.Add(base, half), limit, false, true},
		{"below the wait", backoffs.Capped{Of: backoffs.Fixed{Every: limit, Jitter: half}, Cap: max(limit, 1)}, limit, limit, true, true},
		{"", backoffs.ByClass{Classes: strategies.Limits, Then: backoffs.Fixed{Every: base}, Else: backoffs.FullJitter{Base: base, Cap: limit}}, base, limit, false, false},
	}
}

// drifts is the law of case 9 for retries: of 25 clients that have failed together
// in an outage, no more than a quarter try again together, twenty minutes on.
func drifts(b strategies.Backoff) func(*testing.T) error {
	return func(t *testing.T) error {
		l := strategytest.NewLab(t, layers.Retry{Backoff: b})
		l.Serve = func(*strategytest.Caller) (time.Duration, wire.Outcome) {
			return 200 * time.Millisecond, strategytest.Refused(wire.Overloaded)
		}
		for i := range 25 {
			l.At(0, func() { l.Begin(fmt.Sprint(i), 0) })
		}
		l.Run(25 * time.Minute)
		last, _ := slices.BinarySearch(l.Sent, 20*time.Minute)
		n := strategytest.MostWithin(l.Sent[last:], 200*time.Millisecond)
		return wrong(n > 25/4, "%d of 25 together", n)
	}
}

// inOnePhase is how long half of 25 jobs, that are due every 10 s, take before one
// server of 200 ms.
func inOnePhase(t *testing.T, layers ...strategies.Layer) time.Duration {
	l := strategytest.NewLab(t, layers...)
	free, took := time.Duration(0), []time.Duration{}
	l.Serve = func(*strategytest.Caller) (time.Duration, wire.Outcome) {
		free = max(free, l.Now) + 200*time.Millisecond
		took = append(took, free-l.Now)
		return free - l.Now, strategytest.Answered
	}
	for i := range 60 {
		for job := range 25 {
			l.At(time.Duration(i)*10*time.Second, func() { l.Begin(fmt.Sprint(job), i) })
		}
	}
	l.Run(time.Hour)
	require.Len(t, took, 60*25)
	slices.Sort(took)
	return took[len(took)/2]
}

// shortQueues is the law of case 9 for jobs of one period: they wait for each other
// less than a quarter of what they would all at once, and 0.42 s on the worst day.
func shortQueues(layer strategies.Layer) func(*testing.T) error {
	return func(t *testing.T) error {
		together, p50 := inOnePhase(t), inOnePhase(t, layer)
		require.Equal(t, 2600*time.Millisecond, together, "the middle of 25 batches")
		return wrong(p50 > min(together/4, 420*time.Millisecond), "half of them take %v", p50)
	}
}

// onePhase is case 9.
func onePhase(t *testing.T) fieldCase {
	c := fieldCase{
		name: "case-09", law: "what happens again and again does not happen together",
		about: append(ofKind(t, movesCalls), exported(t, "../backoffs", "Delay")...),
		apart: map[string]string{"Merge": "it brings calls together on purpose, and makes one request of them"},
	}
	for _, b := range waitKinds(time.Second, 10*time.Second) {
		x := trial{of: typeName(b.backoff), how: b.how, holds: drifts(b.backoff)}
		if b.inStep {
			x.breaks = "with identical waits, calls that failed together retry together"
		}
		c.trials = append(c.trials, x)
	}
	for how, shift := range byName(map[string]layers.TimeShift{
		"steady":            {Window: 10 * time.Second, Steady: true},
		"each call":         {Window: 10 * time.Second},
		"every ten seconds": {Every: 10 * time.Second, At: 5 * time.Second, Window: 10 * time.Second, Steady: true},
	}) {
		c.trials = append(c.trials, layer(shift, how, shortQueues(shift)))
	}
	still := layers.TimeShift{Every: 10 * time.Second, At: 5 * time.Second}
	c.trials = append(c.trials, layer(still, "without a window", shortQueues(still)).but("it moves the herd and leaves it a herd"))
	return c
}

// spreadAtTheCap is the law of the case of jitter at the cap: of a thousand clients at
// their fortieth retry, no tenth waits the same to a hundredth of the cap, and nobody
// waits longer than half as much again.
func spreadAtTheCap(b strategies.Backoff, limit time.Duration) func(*testing.T) error {
	return func(*testing.T) error {
		bins, fullest := map[time.Duration]int{}, 0
		for id := range uint64(1000) {
			c := strategies.NewCall(draw.New(1))
			c.ID, c.Attempts = id, 40
			base, jitter := b.Delay(c, 1, 39, limit)
			if base+jitter > limit*3/2 {
				return fmt.Errorf("a wait of %v", base+jitter)
			}
			bin := (base + jitter) * 100 / limit
			bins[bin]++
			fullest = max(fullest, bins[bin])
		}
		return wrong(fullest > 100, "%d of 1000 wait the same", fullest)
	}
}

// jitterAtTheCap is one of the short ones.
func jitterAtTheCap(t *testing.T) fieldCase {
	const limit = 30 * time.Second
	c := fieldCase{name: "case-21", law: "the longest waits differ, and are at most half as much again as the cap", about: exported(t, "../backoffs", "Delay")}
	for _, b := range waitKinds(time.Second, limit) {
		x := trial{of: typeName(b.backoff), how: b.how, holds: spreadAtTheCap(b.backoff, limit)}
		switch {
		case x.of == "Memoryless":
			x.breaks = "it knows no longest wait"
		case b.atCap:
			x.breaks = "the cap takes the jitter, as it says"
		}
		c.trials = append(c.trials, x)
	}
	return c
}
