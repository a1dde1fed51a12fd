package layers

import (
	"fmt"
	"time"

	"herdlab/strategies"
)

// Gradient2 is a limit on attempts in flight that adapts by comparing the latest
// round trip with the average of about the last 600: gradient g =
// tolerance·long/short, within ½ … 1; the limit moves a fifth of the way to L·g +
// queue. A long average that is more than twice the latest sample decays faster, so
// that the end of a slow period is noticed.
//
// Use it with a provider that gets slower as its load rises and never refuses. It
// ignores refusals: with a provider that refuses quickly and serves at a constant
// speed it rises to its upper bound and stays there.
//
// Formulas and constants are those of Gradient2Limit in Netflix's
// concurrency-limits (2026-01).
type Gradient2 struct {
	// LimitRange is the initial limit and its bounds; the default is 20 within 20 …
	// 200.
	LimitRange `defaults:"initial:20 min:20 max:200"`
	// Tolerance is how many times the average a round trip may be before the limit
	// decreases, 1 to 1000; 0 means 1.5.
	Tolerance float64 `unit:"times" default:"1.5" about:"How many times the long average a round trip may be before the limit decreases, 1 to 1000."`
	// Queue is the number of attempts that may queue at the provider, 1 to
	// MaxLimit; 0 means 4.
	Queue int64 `unit:"attempts" most:"1000000" default:"4" about:"How many attempts may queue at the provider."`
	// Scope sets which clients share the limit, PerClient or wider. Name identifies
	// a limit with the scope PerEveryone.
	Scope strategies.Scope `except:"call" about:"Which clients share the memory of the layer."`
	Name  string           `without:"it has none" about:"The name by which layers of several fleets share memory; required with the scope everyone."`
}

// Build implements Layer.
func (g Gradient2) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	limits, err := g.LimitRange.or(20, 20, 200)
	if err != nil {
		return nil, fmt.Errorf("gradient2: %w", err)
	}
	if g.Tolerance == 0 {
		g.Tolerance = 1.5
	}
	if g.Queue == 0 {
		g.Queue = 4
	}
	switch {
	case !(g.Tolerance >= 1 && g.Tolerance <= 1000):
		return nil, fmt.Errorf("gradient2: tolerance must be 1 to 1000, not %g", g.Tolerance)
	case g.Queue < 0 || g.Queue > MaxLimit:
		return nil, fmt.Errorf("gradient2: queue must be 1 to %d, not %d", MaxLimit, g.Queue)
	}
	t := &gradient2{adaptiveLimit{limits, 2}, g.Tolerance, g.Queue}
	s, err := withSampler(b, "gradient2", t.adaptiveLimit, g.Scope, g.Name, true, t, inner)
	if err != nil {
		return nil, fmt.Errorf("gradient2: %w", err)
	}
	return s, nil
}

type gradient2 struct {
	adaptiveLimit
	tolerance float64
	queue     int64
}

// The words of a gradient2.
const (
	longRTT = tuning + iota // the long average, in ns
	samples                 // the number of samples in it, up to warmUp
)

// The long average is the mean of all samples at first, and then moves by 2/(window
// + 1) of the difference; a new limit has the weight of a fifth.
const (
	warmUp      = 10
	longWindow  = 600
	newWeighs   = 5
	decayFactor = 20 // a long average that is far off loses a twentieth
)

// update implements limitUpdater.
func (g *gradient2) update(_ time.Duration, _ *strategies.Call, m []int64, s sample) {
	if !s.ok {
		return
	}
	short := int64(s.rtt)
	if m[samples] < warmUp {
		m[samples]++
		m[longRTT] += (short - m[longRTT]) / m[samples]
	} else {
		m[longRTT] += (short - m[longRTT]) * 2 / (longWindow + 1)
	}
	long := m[longRTT] // this sample is judged by the average before it decays
	if long > 2*short {
		m[longRTT] -= long / decayFactor
	}
	if !g.pressed(m) {
		return
	}
	gradient := float64(g.tolerance*float64(long)) / float64(short)
	gradient = max(0.5, min(1, gradient))
	limit := g.limit(m)
	aim := int64(float64(float64(limit)*gradient)) + g.queue*one
	g.set(m, limit+(aim-limit)/newWeighs)
}
