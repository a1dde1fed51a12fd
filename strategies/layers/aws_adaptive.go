package layers

import (
	"fmt"
	"time"

	"herdlab/sim/saturating"
	"herdlab/strategies"
)

// AWSAdaptive is the client-side rate limiter of the AWS SDKs' adaptive retry mode:
// a token bucket that does nothing until the provider first throttles, and from
// then on changes its rate as CUBIC changes a window. A throttled attempt reduces
// the rate to 0.7 of the measured rate; successes raise it along 0.4·(t − k)³ + w,
// where w is the rate at the last reduction, t the time since then and k =
// ∛(0.3·w/0.4) seconds, up to twice the measured rate. The rate is never below 0.5
// per second.
//
// Use it inside a retry loop, where the limit is unknown and refusals are cheap: it
// needs no configured rate and settles around the limit. It recovers slowly after a
// long outage, because every refusal reduces the rate by 30 %, down to one attempt
// in two seconds; and in a fleet of many clients each keeps that minimum rate.
//
// Formulas and constants are those of botocore 1.43 (retries/adaptive.py). Rates
// are stored in thousandths per second and k in milliseconds.
type AWSAdaptive struct {
	// On is the set of classes that count as throttling; the empty set means the
	// caller's own Limits. An overloaded provider (503) does not count, as in the
	// SDKs.
	On strategies.Classes `without:"the limits" about:"Which classes of failures count as throttling."`
	// Scope sets which clients share the limiter, PerClient or wider; the SDKs have
	// one for each client. Name identifies a limiter with the scope PerEveryone.
	Scope strategies.Scope `except:"call" about:"Which clients share the memory of the layer."`
	Name  string           `without:"it has none" about:"The name by which layers of several fleets share memory; required with the scope everyone."`
}

// Build implements Layer.
func (a AWSAdaptive) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	s, err := withSampler(b, "aws adaptive", cubicBucket{}, a.Scope, a.Name, false, cubicTuner{a.On.Or(strategies.Limits)}, inner)
	if err != nil {
		return nil, fmt.Errorf("aws adaptive: %w", err)
	}
	return s, nil
}

// cubicBucket is the pool of an AWSAdaptive layer.
type cubicBucket struct{}

// The words of a cubic bucket. Rates are in thousandths of a token per second.
// Tokens are in units of what a rate of one thousandth per second adds in a
// nanosecond.
const (
	fillRate    = iota // the rate; 0 until the first throttling
	tokens             // in the bucket
	refilledAt         // the time of the last refill
	topRate            // w, the rate at the last throttling
	throttledAt        // the time of the last throttling
	measured           // the rate of answers, smoothed
	halfSecond         // the number of the current half second
	answers            // in the current half second
	cubicWords
)

const (
	minRate     = 500               // 0.5 per second
	aToken      = 1000 * 1000000000 // a token, in the units of the word tokens
	maxRate     = 1000 * MaxLimit   // far above any real rate; prevents overflow
	cubicMillis = 1_000_000         // 1000 s in ms, the longest time since a reduction that counts; prevents overflow
)

// Words implements Pool.
func (cubicBucket) Words() int { return cubicWords }

// refill adds the tokens that have arrived since the last refill.
func (cubicBucket) refill(now time.Duration, m []int64) {
	dt := int64(now) - m[refilledAt]
	m[refilledAt] = int64(now)
	if full := max(m[fillRate], 1000) * (aToken / 1000); m[fillRate] > 0 && dt > (full-m[tokens])/m[fillRate] {
		m[tokens] = full
	} else {
		m[tokens] += dt * m[fillRate]
	}
}

// TryTake implements Pool.
func (k cubicBucket) TryTake(now time.Duration, m []int64, n uint32) (bool, time.Duration) {
	if m[fillRate] == 0 {
		return true, now
	}
	k.refill(now, m)
	if int64(n) > MaxLimit || int64(n)*1000 > max(m[fillRate], 1000) {
		return false, strategies.Never
	}
	missing := int64(n)*aToken - m[tokens]
	if missing <= 0 {
		m[tokens] -= int64(n) * aToken
		return true, now
	}
	return false, saturating.Add(now, time.Duration((missing-1)/m[fillRate]+1))
}

// Put implements Pool.
func (k cubicBucket) Put(now time.Duration, m []int64, n uint32) {
	k.refill(now, m)
	m[tokens] = min(m[tokens]+min(int64(n), MaxLimit)*aToken, max(m[fillRate], 1000)*(aToken/1000))
}

type cubicTuner struct{ throttling strategies.Classes }

// update implements limitUpdater.
func (t cubicTuner) update(now time.Duration, _ *strategies.Call, m []int64, s sample) {
	t.measure(now, m)
	rate := int64(0)
	if t.throttling.Has(s.outcome.Class) {
		used := m[measured]
		if m[fillRate] > 0 {
			used = min(used, m[fillRate])
		}
		m[topRate], m[throttledAt] = used, int64(now)
		rate = used * 7 / 10
	} else {
		if m[fillRate] == 0 {
			return // never throttled: nothing to limit
		}
		// In ms³, rate·0.3/0.4 is 750,000 times the rate in thousandths per second;
		// and 0.4·ms³ is 4/10,000,000 of the same unit.
		k := cubeRoot(m[topRate] * 750_000)
		d := min(int64(now)-m[throttledAt], cubicMillis*1_000_000)/1_000_000 - k
		rate = d*d*d/10_000_000*4 + m[topRate]
	}
	cubicBucket{}.refill(now, m)
	m[fillRate] = min(max(min(rate, 2*m[measured]), minRate), maxRate)
	m[tokens] = min(m[tokens], max(m[fillRate], 1000)*(aToken/1000))
}

// measure counts an answer. The rate of the last half second has the weight 0.8,
// the average of all earlier ones 0.2.
func (cubicTuner) measure(now time.Duration, m []int64) {
	half := int64(now / (500 * time.Millisecond))
	m[answers]++
	if half > m[halfSecond] {
		rate := min(m[answers]*2000/(half-m[halfSecond]), maxRate)
		m[measured] = (4*rate + m[measured]) / 5
		m[answers], m[halfSecond] = 0, half
	}
}

// cubeRoot returns ⌊∛x⌋ for 0 ≤ x < 2⁶⁰.
func cubeRoot(x int64) (root int64) {
	for bit := int64(1) << 19; bit > 0; bit >>= 1 {
		if r := root | bit; r*r*r <= x {
			root = r
		}
	}
	return root
}
