package layers

import (
	"fmt"
	"time"

	"herdlab/strategies"
)

// AIMD is a limit on attempts in flight that adapts as TCP adapts its window: it
// adds Increase for each round trip without a refusal and multiplies the limit by
// Decrease at a refusal. Only refusals of attempts that were sent after the last
// decrease count, so that one full window causes one decrease.
//
// Use it where the provider's limit is unknown or changes, and refusals are cheap:
// it finds the limit by refusals. In the long run it uses (1 + Decrease)/2 of a
// limit of L attempts in flight, and 2·Increase/((1 − Decrease²)·L²) of its
// attempts are refused (Chiu and Jain, 1989, in the fluid limit).
type AIMD struct {
	// LimitRange is the initial limit and its bounds; the default is 20 within 1 …
	// 200.
	LimitRange `defaults:"initial:20 min:1 max:200"`
	// Increase is added to the limit for each round trip without a refusal: 1 to
	// MaxLimit attempts; 0 means 1.
	Increase int64 `unit:"attempts" most:"1000000" default:"1" about:"What is added to the limit for each round trip without a refusal."`
	// Decrease is the share of the limit that remains after a refusal, between 0
	// and 1; 0 means 0.9.
	Decrease float64 `unit:"share" default:"0.9" about:"The share of the limit that remains after a refusal, between 0 and 1."`
	// Slow is the time after which a success counts as a refusal; 0 means that no
	// success does.
	Slow time.Duration `without:"none" about:"A success that takes longer counts as a refusal."`
	// EachSample adds Increase for each success, not for each round trip, and
	// decreases the limit at each refusal, as Netflix's AIMDLimit does (20 within
	// 20 … 200, Decrease 0.9, Slow 5 s).
	EachSample bool `about:"Whether each success increases the limit and each refusal decreases it, as in Netflix's AIMDLimit."`
	// Scope sets which clients share the limit, PerClient or wider. Name identifies
	// a limit with the scope PerEveryone.
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
		return nil, fmt.Errorf("aimd: increase must be 1 to %d, not %d", MaxLimit, a.Increase)
	case !(a.Decrease > 0 && a.Decrease < 1):
		return nil, fmt.Errorf("aimd: decrease must be between 0 and 1, not %g", a.Decrease)
	case a.Slow < 0:
		return nil, fmt.Errorf("aimd: slow must not be negative, but is %v; 0 means that no success counts as a refusal", a.Slow)
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

// lastCut is the word that holds the time of the last decrease, 0 before the first.
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
	default: // in one round trip, as many attempts end as the limit allows
		a.set(m, limit+a.Increase*one*one/limit)
	}
}
