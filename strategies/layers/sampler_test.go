package layers

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
	"herdlab/strategies"
	"herdlab/strategies/strategytest"
)

// sampleFeed feeds a limitUpdater round trips as if half of its limit were always in use.
type sampleFeed struct {
	limitUpdater
	m    []int64
	call strategies.Call
	now  time.Duration
}

func newSampler(t limitUpdater, words int) *sampleFeed {
	return &sampleFeed{limitUpdater: t, m: make([]int64, words), call: *strategies.NewCall(draw.New(1))}
}

func (s *sampleFeed) sample(use int64, rtt time.Duration, o wire.Outcome) {
	s.m[inUse], s.now, s.call.ID = use, s.now+rtt, s.call.ID+1
	s.update(s.now, &s.call, s.m, sample{
		sentAt: s.now - rtt, rtt: rtt, ok: o.OK(), dropped: tooMuch.Has(o.Class), outcome: &o,
	})
}

// queueing is a provider of so many slots and a queue without end. A service
// takes half its mean to half as much again.
type queueing struct {
	slots   int
	service time.Duration
	free    []time.Duration // when each slot is
	waited  time.Duration   // by all attempts together
}

func (q *queueing) serve(l *strategytest.Lab) func(*strategytest.Caller) (time.Duration, wire.Outcome) {
	q.free = make([]time.Duration, q.slots)
	return func(c *strategytest.Caller) (time.Duration, wire.Outcome) {
		first := 0
		for i := range q.free {
			if q.free[i] < q.free[first] {
				first = i
			}
		}
		start := max(l.Now, q.free[first])
		q.free[first] = start + c.Driver().Rand.For(c.ID).Uniform(uint64(l.Now), q.service/2, q.service*3/2)
		q.waited += start - l.Now
		return q.free[first] - l.Now, strategytest.Answered
	}
}

// Before a provider of 10 slots that queues, each limit by delay keeps nearly
// all slots busy and the queue short, where 200 callers would queue 190 deep.
func TestLimitsByDelay(t *testing.T) {
	initial := LimitRange{Initial: 4}
	for name, c := range map[string]struct {
		layers []strategies.Layer
		rate   float64 // at least, per second
		queue  float64 // at most, on average
	}{
		"none":      {nil, 9.9, 190.5},
		"vegas":     {[]strategies.Layer{Vegas{LimitRange: initial, Scope: strategies.PerFleet}}, 9, 6},
		"gradient2": {[]strategies.Layer{Gradient2{LimitRange: initial, Scope: strategies.PerFleet}}, 9.9, 40}, // tolerates half as much again, and four
		"bbr":       {[]strategies.Layer{BBR{LimitRange: initial, Scope: strategies.PerFleet}}, 9, 6},
	} {
		t.Run(name, func(t *testing.T) {
			l := strategytest.NewLab(t, c.layers...)
			q := queueing{slots: 10, service: time.Second}
			l.Serve = q.serve(l)
			l.ClosedLoop(200, 5*time.Second)
			l.Run(10 * time.Minute)
			q.waited = 0
			sent := len(l.Sent)
			l.Run(30 * time.Minute)
			rate, queue := float64(len(l.Sent)-sent)/(20*60), q.waited.Seconds()/(20*60)
			t.Logf("%.3f per s, queue %.1f", rate, queue)
			require.InDelta(t, 10, rate, 10.2-c.rate, "per second") // slots serve ten, give or take
			require.GreaterOrEqual(t, rate, c.rate)
			require.LessOrEqual(t, queue, c.queue)
			if c.layers == nil {
				require.Greater(t, queue, 189.0)
			}
		})
	}
}
