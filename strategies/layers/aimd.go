package layers

import (
	"fmt"
	"time"

	"herdlab/strategies"
)

// AIMD adapts a limit on concurrency as TCP does its window: it adds Increase
// for each round trip without a refusal and multiplies by Decrease at one. Only
// refusals of attempts that were sent since the last cut cut again, so that one
// full window costs one cut.
//
// It is right where the provider's limit is unknown, or moves, and refusals are
// cheap: it needs to be refused once in a while to know where the limit is. In
// the long run it uses (1 + Decrease)/2 of a limit of L attempts in flight, and
// is refused 2·Increase/((1 − Decrease²)·L²) of its attempts (Chiu and Jain,
// 1989, in the fluid limit).
type AIMD struct {
	// LimitRange is where the limit begins and what bounds it: 20 within 1 … 200
	// unless said.
	LimitRange `defaults:"initial:20 min:1 max:200"`
	// Increase is added for each round trip, 0 for 1.
	Increase int64 `unit:"attempts" most:"1000000" default:"1" about:"What is added to the limit for each round trip without a refusal."`
	// Decrease is what a cut leaves, between 0 and 1; 0 means 0.9.
	Decrease float64 `unit:"share" default:"0.9" about:"The share of the limit that remains after a refusal, between 0 and 1."`
	// Slow takes a success that took longer for a refusal; 0 for none.
	Slow time.Duration `without:"none" about:"A success that takes longer counts as a refusal."`
	// EachSample adds Increase for each success instead, and cuts at each
	// refusal, as Netflix's AIMDLimit does (20 within 20 … 200, 0.9, 5 s).
	EachSample bool `about:"Whether each success increases the limit and each refusal decreases it, as in Netflix's AIMDLimit."`
	// Scope is who shares the limit, PerClient or wider; Name tells limits
	// apart that everyone shares.
	Scope strategies.Scope `except:"call" about:"Which clients share the memory of the layer."`
	Name  string           `without:"it has none" about:"The name by which layers of several fleets share memory; required with the scope everyone."`
}

// Build implements Layer.
func (a AIMD) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	limits, err := a.LimitRange.or(20, 1, 200)
	if err != nil {
		return nil, fmt.Errorf("aimd: %w", err)
	}
	if a.Increase == 0 {
		a.Increase = 1
	}
	if a.Decrease == 0 {
		a.Decrease = 0.9
	}
	switch {
	case a.Increase < 0 || a.Increase > MaxLimit:
		return nil, fmt.Errorf("aimd: the increase must be 1 to %d, not %d", MaxLimit, a.Increase)
	case !(a.Decrease > 0 && a.Decrease < 1):
		return nil, fmt.Errorf("aimd: the decrease must lie between 0 and 1, not %g", a.Decrease)
	case a.Slow < 0:
		return nil, fmt.Errorf("aimd: what is slow must take a positive time, or 0 for nothing, not %v", a.Slow)
	}
	a.LimitRange = limits
	t := &aimd{AIMD: a, adaptiveLimit: adaptiveLimit{limits, 1}}
	s, err := withSampler(b, "aimd", t.adaptiveLimit, a.Scope, a.Name, true, t, inner)
	if err != nil {
		return nil, fmt.Errorf("aimd: %w", err)
	}
	return s, nil
}

type aimd struct {
	AIMD
	adaptiveLimit
}

// lastCut is the word that holds when the limit was last cut.
const lastCut = tuning

// update implements limitUpdater.
func (a *aimd) update(now time.Duration, _ *strategies.Call, m []int64, s sample) {
	limit := a.limit(m)
	switch {
	case s.dropped || s.ok && a.Slow > 0 && s.rtt > a.Slow:
		if a.EachSample || m[lastCut] == 0 || int64(s.sentAt) > m[lastCut] {
			m[lastCut] = max(1, int64(now))
			a.set(m, int64(float64(float64(limit)*a.Decrease)))
		}
	case !s.ok || !a.pressed(m):
	case a.EachSample:
		a.set(m, limit+a.Increase*one)
	default: // a limit of so many attempts ends as many in a round trip
		a.set(m, limit+a.Increase*one*one/limit)
	}
}
