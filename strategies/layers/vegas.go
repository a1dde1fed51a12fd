package layers

import (
	"fmt"
	"math"
	"time"

	"herdlab/strategies"
)

// Vegas is a limit on attempts in flight that adapts by delay, not by refusals:
// from the shortest round trip it estimates how many of its own attempts wait in a
// queue, q = ⌈L·(1 − rtt₀/rtt)⌉, and keeps that between α = 3·log₁₀ L and β =
// 6·log₁₀ L. If q is at most log₁₀ L, it adds β; below α, it adds log₁₀ L; above β,
// it subtracts log₁₀ L. A refusal or a timeout subtracts log₁₀ L as well. After
// about 30·L samples it replaces the shortest round trip by the next one.
//
// Use it with a provider that queues, because it slows down before attempts are
// refused. It fails if the service time itself changes: a day of long answers looks
// like a queue, and if the provider is never idle, the queue is taken for service
// time.
//
// Formulas and constants are those of VegasLimit in Netflix's concurrency-limits
// (2026-01), except that a refusal is not a sample of the round trip: in
// VegasLimit, a refusal after 50 ms becomes the shortest round trip and reduces the
// limit to the minimum.
type Vegas struct {
	// LimitRange is the initial limit and its bounds; the default is 20 within 1 …
	// 1000.
	LimitRange `defaults:"initial:20 min:1 max:1000"`
	// Smoothing is the weight of a new limit over the old one, above 0 and at most
	// 1; 0 means 1.
	Smoothing float64 `unit:"weight" default:"1" about:"The weight of a new limit over the old one, above 0 and up to 1."`
	// Scope sets which clients share the limit, PerClient or wider. Name identifies
	// a limit with the scope PerEveryone.
	Scope strategies.Scope `except:"call" about:"Which clients share the memory of the layer."`
	Name  string           `without:"it has none" about:"The name by which layers of several fleets share memory; required with the scope everyone."`
}

// Build implements Layer.
func (v Vegas) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	limits, err := v.LimitRange.or(20, 1, 1000)
	if err != nil {
		return nil, fmt.Errorf("vegas: %w", err)
	}
	if v.Smoothing == 0 {
		v.Smoothing = 1
	}
	if !(v.Smoothing > 0 && v.Smoothing <= 1) {
		return nil, fmt.Errorf("vegas: smoothing must be above 0 and at most 1, not %g", v.Smoothing)
	}
	t := &vegas{adaptiveLimit{limits, 3}, v.Smoothing, b.Purpose()}
	s, err := withSampler(b, "vegas", t.adaptiveLimit, v.Scope, v.Name, true, t, inner)
	if err != nil {
		return nil, fmt.Errorf("vegas: %w", err)
	}
	return s, nil
}

type vegas struct {
	adaptiveLimit
	smoothing float64
	purpose   strategies.Purpose
}

// The words of a Vegas layer.
const (
	shortest   = tuning + iota // the shortest round trip, in ns; 0 for none yet
	probeCount                 // samples since the shortest round trip was last replaced
	probeWidth                 // it is replaced after ½ plus this number of millionths, times 30·L samples
)

// probeEvery is the number of samples, per permit of the limit, for which a
// shortest round trip is used.
const probeEvery = 30

// update implements limitUpdater.
func (v *vegas) update(_ time.Duration, c *strategies.Call, m []int64, s sample) {
	limit := v.limit(m)
	if s.dropped {
		v.smooth(m, limit, limit-digits(limit/one)*one)
		return
	}
	if !s.ok {
		return
	}
	m[probeCount]++
	if m[probeCount]*one*1000 >= (one/2+m[probeWidth])*probeEvery*(limit/1000) {
		m[probeWidth] = int64(float64(c.Float(v.purpose) * (one / 2)))
		m[probeCount], m[shortest] = 0, int64(s.rtt)
		return
	}
	if m[shortest] == 0 || int64(s.rtt) < m[shortest] {
		m[shortest] = int64(s.rtt)
		return
	}
	if !v.pressed(m) {
		return
	}
	share := 1 - float64(m[shortest])/float64(s.rtt)
	queue := int64(math.Ceil(float64(float64(limit)/one) * share))
	log := digits(limit / one)
	switch alpha, beta := 3*log, 6*log; {
	case queue <= log:
		v.smooth(m, limit, limit+beta*one)
	case queue < alpha:
		v.smooth(m, limit, limit+log*one)
	case queue > beta:
		v.smooth(m, limit, limit-log*one)
	}
}

// smooth moves the limit towards the new one.
func (v *vegas) smooth(m []int64, old, limit int64) {
	limit = min(max(limit, v.Min*one), v.Max*one)
	v.set(m, old+int64(float64(float64(limit-old)*v.smoothing)))
}

// digits returns ⌊log₁₀ n⌋, at least 1.
func digits(n int64) (log int64) {
	for log = 0; n >= 10; n /= 10 {
		log++
	}
	return max(1, log)
}
