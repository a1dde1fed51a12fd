package layers

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/strategytest"
)

func TestVegas(t *testing.T) {
	strategytest.Play(t, []strategies.Layer{Vegas{LimitRange: LimitRange{Initial: 2}, Scope: strategies.PerFleet}}, `
		a: begin -> send
		b: begin -> send
		c: begin -> queued
		@1s a: 200 -> stop succeeded              # the shortest round trip so far
		c: admitted -> send
		@3s b: 200 -> stop succeeded              # queue ⌈2·(1 − 1/3)⌉ = 2, below α = 3: one more
		d: begin -> send
		e: begin -> send
		f: begin -> queued
		c: 503 -> stop failed                     # a refusal takes it away again
		f: admitted -> refused
		@4s d: 200 -> stop succeeded              # no queue: six more
		f: admitted -> send
		g: begin -> send
		@5s e: 400 -> stop failed                 # says nothing`)
}

// The formulas once more, in floating point, as the library prints them.
type naiveVegas struct{ limit, smoothing, rtt0, most float64 }

func (v *naiveVegas) sample(rtt float64, drop bool) {
	log := math.Floor(math.Max(1, math.Log10(math.Floor(v.limit)+1e-9)))
	next := v.limit
	switch {
	case drop:
		next -= log
	case v.rtt0 == 0 || rtt < v.rtt0:
		v.rtt0 = rtt
		return
	default:
		queue := math.Ceil(v.limit * (1 - v.rtt0/rtt))
		switch {
		case queue <= log:
			next += 6 * log
		case queue < 3*log:
			next += log
		case queue > 6*log:
			next -= log
		}
	}
	next = math.Max(1, math.Min(v.most, next))
	v.limit = (1-v.smoothing)*v.limit + v.smoothing*next
}

func TestVegasAgainstNaiveTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		initial := rapid.Int64Range(1, 300).Draw(t, "initial")
		v := &vegas{adaptiveLimit: adaptiveLimit{LimitRange{initial, 1, 1000}, 3}, smoothing: 1}
		s, twin := newSampler(v, v.Words()), &naiveVegas{limit: float64(initial), smoothing: 1, most: 1000}
		for range min(40, 15*initial-1) { // before the shortest round trip is forgotten
			rtt := time.Duration(rapid.Int64Range(1, 20).Draw(t, "rtt")) * time.Second / 4
			rtt += time.Duration(rapid.Int64Range(0, 3).Draw(t, "and")) * time.Millisecond
			o := strategytest.Answered
			if rapid.IntRange(0, 5).Draw(t, "drop") == 0 {
				o = strategytest.Refused(wire.Rate)
			}
			s.sample(1000, rtt, o)
			twin.sample(rtt.Seconds(), !o.OK())
			require.InDelta(t, twin.limit, float64(v.limit(s.m))/one, 1e-3)
			if v.limit(s.m) < 16*one { // few samples until it forgets
				return
			}
		}
	})
}

// After 30·L samples or half as many the shortest round trip is forgotten, so
// that a provider that has become slower is not taken for one that queues.
func TestVegasForgets(t *testing.T) {
	v := &vegas{adaptiveLimit: adaptiveLimit{LimitRange{20, 20, 20}, 3}, smoothing: 1}
	s := newSampler(v, v.Words())
	s.sample(20, time.Second, strategytest.Answered)
	forgotten := []int{}
	for n := 2; n <= 3000; n++ {
		before := s.m[shortest]
		s.sample(20, time.Second+time.Duration(n), strategytest.Answered)
		if s.m[shortest] > before {
			forgotten = append(forgotten, n)
		}
	}
	require.Equal(t, 300, forgotten[0], "half of 30·20 at first")
	for i := range forgotten[1:] {
		gap := forgotten[i+1] - forgotten[i]
		require.GreaterOrEqual(t, gap, 300)
		require.LessOrEqual(t, gap, 600)
	}
	require.Greater(t, len(forgotten), 4)
	// A limit that is not pressed does not move.
	s.sample(9, time.Second, strategytest.Answered)
	require.Zero(t, s.m[moved])
}
