package layers

import (
	"fmt"
	"time"

	"herdlab/sim/saturating"
	"herdlab/strategies"
)

// BBR is a limit on attempts in flight that adapts as TCP's BBR adapts its window.
// The limit is the product of the highest rate of answers in the last ten rounds
// and the shortest mean round trip of a round, plus a quarter, because answers
// differ in length where packets do not. At first BBR nearly triples the limit each
// round, until the rate has not grown for three rounds or an attempt is refused.
// Then it lets the queue drain. After that it probes with one and a half times the
// product in one round of eight. A refusal limits the limit to 85 % of its value,
// but not below the product, and each probe raises that ceiling by an eighth. When
// no shorter round trip has been measured for Window, BBR halves the limit for two
// rounds to measure one.
//
// Use it with a provider that has a deep queue, where limits that wait for refusals
// first fill the queue. A round is a round trip and at least 16 answers, so with
// calls of a minute it adapts slowly. If the mean length of answers changes, BBR
// takes that for a queue until Window is over. (Cardwell and others, BBR:
// Congestion-Based Congestion Control, ACM Queue 2016, and the ceiling of its
// second version. It is not TCP's BBR exactly, because calls are few and long where
// packets are many and short.)
type BBR struct {
	// LimitRange is the initial limit and its bounds; the default is 10 within 2 …
	// 1000.
	LimitRange `defaults:"initial:10 min:2 max:1000"`
	// Window is how long a shortest round trip is used before it is measured again;
	// 0 means 1 min.
	Window time.Duration `default:"1m" about:"How long a shortest round trip is trusted."`
	// Scope sets which clients share the limit, PerClient or wider. Name identifies
	// a limit with the scope PerEveryone.
	Scope strategies.Scope `except:"call" about:"Which clients share the memory of the layer."`
	Name  string           `without:"it has none" about:"The name by which layers of several fleets share memory; required with the scope everyone."`
}

// Build implements Layer.
func (k BBR) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	limits, err := k.LimitRange.or(10, 2, 1000)
	if err != nil {
		return nil, fmt.Errorf("bbr: %w", err)
	}
	if k.Window == 0 {
		k.Window = time.Minute
	}
	if k.Window < 0 {
		return nil, fmt.Errorf("bbr: window must be positive, not %v", k.Window)
	}
	t := &bbr{adaptiveLimit{limits, bbrWords}, k.Window}
	s, err := withSampler(b, "bbr", t.adaptiveLimit, k.Scope, k.Name, true, t, inner)
	if err != nil {
		return nil, fmt.Errorf("bbr: %w", err)
	}
	return s, nil
}

type bbr struct {
	adaptiveLimit
	window time.Duration
}

// The words of a bbr.
const (
	roundAt   = tuning + iota // the time when the round began
	delivered                 // answers in the round
	rttSum                    // the sum of their round trips, in ns
	rounds                    // the number of rounds that have ended
	leastRTT                  // the shortest mean of a round, in ns; 0 for none yet
	leastAt                   // when that mean was measured
	mode                      // one of the modes below
	fullRate                  // the highest rate in startup
	fullFor                   // the number of rounds since the rate last grew
	ceiling                   // the bound that refusals put on the limit, in millionths; 0 before the first
	cutAt                     // when a refusal last reduced the limit, plus one; 0 for never
	rates                     // the rates of the last rounds, in millionths of an answer per second
	numRates  = 10
	bbrWords  = rates + numRates - tuning
)

// The modes of a bbr. Zeroed memory is the startup.
const (
	startup = iota
	draining
	probingRate
	emptying // empties the queue before the round that measures
	probingRTT
)

// The gains of startup and drain, and of eight rounds of probing, in percent.
const startupGain, drainGain = 289, 35 // 2/ln 2 and its reciprocal

var probeGains = [8]int64{150, 100, 125, 125, 125, 125, 125, 125}

// leastRound is the least number of answers in a round after the startup.
const leastRound = 16

// update implements limitUpdater.
func (k *bbr) update(now time.Duration, _ *strategies.Call, m []int64, s sample) {
	if !s.ok {
		if s.dropped && int64(s.sentAt) >= m[cutAt] { // attempts sent before the last reduction do not count
			m[cutAt] = int64(now) + 1
			m[ceiling] = max(k.limit(m)*85/100, product(m, 100))
			m[mode] = max(m[mode], draining)
			k.set(m, min(k.limit(m), m[ceiling]))
		}
		return
	}
	m[delivered]++
	m[rttSum] = int64(saturating.Add(time.Duration(m[rttSum]), s.rtt))
	switch {
	case int64(s.sentAt) < m[roundAt] || int64(now) == m[roundAt]:
		return // sent before this round began
	case m[mode] > draining && m[delivered] < leastRound:
		return // too few for a mean
	}
	k.note(m, int64(float64(m[delivered])*1e15/float64(int64(now)-m[roundAt])))
	rtt := m[rttSum] / m[delivered]
	if m[leastRTT] == 0 || rtt <= m[leastRTT] {
		m[leastRTT], m[leastAt] = rtt, int64(now)
	}
	m[roundAt], m[delivered], m[rttSum] = int64(now), 0, 0
	m[rounds]++
	k.turn(now, m, rtt)
}

// note stores the rate of a round. A low rate while less than half of the limit was
// in use is left out: it shows only that there were few calls.
func (k *bbr) note(m []int64, rate int64) {
	if rate < highest(m) && !k.pressed(m) {
		return
	}
	m[rates+m[rounds]%numRates] = rate
}

func highest(m []int64) (rate int64) {
	for _, r := range m[rates : rates+numRates] {
		rate = max(rate, r)
	}
	return rate
}

// product returns a percentage of the highest rate times the shortest round trip,
// in millionths of a permit.
func product(m []int64, percent int64) int64 {
	permits := float64(float64(highest(m))*float64(m[leastRTT])) / 1e9
	return int64(float64(permits*float64(percent)) / 100)
}

// turn begins the next round and sets its limit.
func (k *bbr) turn(now time.Duration, m []int64, rtt int64) {
	gain := int64(100)
	switch rate := highest(m); {
	case m[mode] == startup && rate*4 >= m[fullRate]*5:
		m[fullRate], m[fullFor], gain = rate, 0, startupGain
	case m[mode] == startup && m[fullFor] < 2:
		m[fullFor]++
		gain = startupGain
	case m[mode] == startup || m[mode] == draining:
		m[mode], gain = probingRate, drainGain
	case m[mode] == emptying:
		m[mode], gain = probingRTT, 50
	case m[mode] == probingRTT:
		m[mode], m[leastRTT], m[leastAt] = probingRate, rtt, int64(now)
	case int64(now)-m[leastAt] > int64(k.window):
		m[mode], gain = emptying, 50
	default:
		if gain = probeGains[m[rounds]%int64(len(probeGains))]; gain == probeGains[0] {
			m[ceiling] += m[ceiling] / 8
		}
	}
	limit := product(m, gain)
	if m[ceiling] > 0 {
		limit = min(limit, m[ceiling])
	}
	k.set(m, limit)
}
