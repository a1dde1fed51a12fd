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

func TestGradient2(t *testing.T) {
	strategytest.Play(t, []strategies.Layer{Gradient2{LimitRange: LimitRange{Initial: 1}, Queue: 5, Scope: strategies.PerFleet}}, `
		a: begin -> send
		b: begin -> queued
		@1s a: 200 -> stop succeeded              # a fifth of the way from 1 to 1·1 + 5
		b: admitted -> send
		c: begin -> send
		d: begin -> queued
		@2s b: 429 -> stop failed                 # refusals mean nothing to it
		d: admitted -> send
		e: begin -> queued
		@8s c: 200 -> stop succeeded              # 7 s against an average of 4: a fifth of the way to 2·1.5·4/7 + 5
		e: admitted -> send
		f: begin -> queued                        # 2.94
		@9s e: 200 -> stop succeeded              # 1 s, so no gradient: to 2.94 + 5
		f: admitted -> send
		g: begin -> send
		h: begin -> queued`)
}

// The formulas once more, in floating point and as the library prints them.
type naiveGradient struct {
	limit, tolerance, queue, least, most float64
	long                                 float64
	n                                    int
}

func (g *naiveGradient) sample(rtt, use float64) {
	if g.n < 10 {
		g.n++
		g.long += (rtt - g.long) / float64(g.n)
	} else {
		factor := 2.0 / (600 + 1)
		g.long = g.long*(1-factor) + rtt*factor
	}
	long := g.long
	if long/rtt > 2 {
		g.long *= 0.95
	}
	if use < g.limit/2 {
		return
	}
	gradient := math.Max(0.5, math.Min(1, g.tolerance*long/rtt))
	next := g.limit*gradient + g.queue
	next = g.limit*0.8 + next*0.2
	g.limit = math.Max(g.least, math.Min(g.most, next))
}

func TestGradient2AgainstNaiveTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		initial := rapid.Int64Range(20, 200).Draw(t, "initial")
		g := &gradient2{adaptiveLimit{LimitRange{initial, 20, 200}, 2}, 1.5, 4}
		s := newSampler(g, g.Words())
		twin := &naiveGradient{limit: float64(initial), tolerance: 1.5, queue: 4, least: 20, most: 200}
		for range 100 {
			rtt := time.Duration(rapid.Int64Range(1e6, 20e9).Draw(t, "rtt"))
			use := rapid.Int64Range(5, 200).Draw(t, "use")
			if math.Abs(float64(use)-twin.limit/2) < 0.01 {
				use += 2 // neither is to be split over a hair
			}
			s.sample(use, rtt, strategytest.Answered)
			twin.sample(float64(rtt), float64(use))
			require.InDelta(t, twin.limit, float64(g.limit(s.m))/one, 0.001)
			if rapid.IntRange(0, 5).Draw(t, "refused") == 0 {
				before := g.limit(s.m)
				s.sample(use, 1, strategytest.Refused(wire.Rate))
				require.Equal(t, before, g.limit(s.m))
			}
		}
	})
}
