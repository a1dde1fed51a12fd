package layers

import (
	"fmt"
	"time"

	"herdlab/sim/saturating"
	"herdlab/strategies"
)

// AWSAdaptive is the client-side rate limiter of the AWS SDKs' adaptive retry
// mode: a token bucket that does nothing until the provider first throttles, and
// from then on moves its rate as CUBIC does a window. A throttled attempt cuts
// the rate to 0.7 of what was measured; successes let it grow along
// 0.4·(t − k)³ + w, where w is the rate at the last cut and k = ∛(0.3·w/0.4)
// seconds, up to twice the measured rate and never below 0.5 per second.
//
// It is right where the limit is unknown and refusals are cheap: it needs no
// number, and settles around the limit. It is slow after a long outage, because
// every refusal cuts by 30 % down to one attempt in two seconds, and a fleet of
// many clients each keeps its minimum. Put it inside a retry loop.
//
// Formulas and constants are those of botocore 1.43 (retries/adaptive.py); the
// rates are kept in thousandths per second and k in milliseconds.
type AWSAdaptive struct {
	// On is the classes that count as throttling: the caller's own Limits if
	// empty. An overloaded provider (503) is
	// not among them, as in the SDKs.
	On strategies.Classes `without:"the limits" about:"Which classes of failures count as throttling."`
	// Scope is who shares the limiter, PerClient or wider; the SDKs have one
	// for each client. Name tells limiters apart that everyone shares.
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

// The words of a cubic bucket. Rates are in thousandths of a token per second,
// tokens in what such a rate brings in a nanosecond.
const (
	fillRate    = iota // 0 until the first throttling
	tokens             //
	refilledAt         //
	topRate            // w, the rate at the last throttling
	throttledAt        //
	measured           // the rate of answers, smoothed
	halfSecond         // the number of the current half second, and its answers
	answers            //
	cubicWords
)

const (
	minRate     = 500               // 0.5 per second
	aToken      = 1000 * 1000000000 // a token, in the units of the word tokens
	maxRate     = 1000 * MaxLimit   // far beyond what anybody serves; bounds the arithmetic
	cubicMillis = 1_000_000         // so does 1000 s since a cut, in ms
)

// Words implements Pool.
func (cubicBucket) Words() int { return cubicWords }

// refill brings the tokens up to date.
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
		// rate·0.3/0.4 in s³ is 750,000 times as much, of a rate in thousandths,
		// in ms³; and 0.4·ms³ is four ten-millionths of it.
		k := cubeRoot(m[topRate] * 750_000)
		d := min(int64(now)-m[throttledAt], cubicMillis*1_000_000)/1_000_000 - k
		rate = d*d*d/10_000_000*4 + m[topRate]
	}
	cubicBucket{}.refill(now, m)
	m[fillRate] = min(max(min(rate, 2*m[measured]), minRate), maxRate)
	m[tokens] = min(m[tokens], max(m[fillRate], 1000)*(aToken/1000))
}

// measure counts an answer: the rate of each half second weighs 0.8 against all
// before it.
func (cubicTuner) measure(now time.Duration, m []int64) {
	half := int64(now / (500 * time.Millisecond))
	m[answers]++
	if half > m[halfSecond] {
		rate := min(m[answers]*2000/(half-m[halfSecond]), maxRate)
		m[measured] = (4*rate + m[measured]) / 5
		m[answers], m[halfSecond] = 0, half
	}
}

// cubeRoot is ⌊∛x⌋ for 0 ≤ x < 2⁶⁰.
func cubeRoot(x int64) (root int64) {
	for bit := int64(1) << 19; bit > 0; bit >>= 1 {
		if r := root | bit; r*r*r <= x {
			root = r
		}
	}
	return root
}
