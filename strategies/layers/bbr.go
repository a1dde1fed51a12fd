package layers

import (
	"fmt"
	"time"

	"herdlab/sim/saturating"
	"herdlab/strategies"
)

// BBR adapts a limit on concurrency as TCP's BBR does its window: to the
// product of the highest rate of answers of the last ten rounds and the
// shortest mean round trip of a round, and a quarter more, because answers
// differ in length where packets do not. It begins by nearly tripling the limit
// each round until the rate has stopped growing for three rounds or something is
// refused, lets the queue drain, and then probes with half as much again in one
// round of eight. A refusal caps the limit at 85 % of what it was, though not
// below what has been answered, and each probe lifts that cap by an eighth. When
// it has seen no shorter round trip for Window, it halves the limit for two
// rounds to see one.
//
// It is right before a provider that queues deeply, where limits that wait for
// refusals fill the queue first. A round is a round trip and 16 answers: with calls
// of a minute it learns slowly; and answers whose mean length changes look like a
// queue for as long as Window. (Cardwell and others, BBR: Congestion-Based
// Congestion Control, ACM Queue 2016, and the cap of its second version; "like",
// because calls are few and long where packets are many and short.)
type BBR struct {
	// LimitRange is where the limit begins and what bounds it: 10 within 2 … 1000
	// unless said.
	LimitRange `defaults:"initial:10 min:2 max:1000"`
	// Window is how long a shortest round trip is trusted; 0 means 1 min.
	Window time.Duration `default:"1m" about:"How long a shortest round trip is trusted."`
	// Scope is who shares the limit, PerClient or wider; Name tells limits
	// apart that everyone shares.
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
		return nil, fmt.Errorf("bbr: the window must be positive, not %v", k.Window)
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
	roundAt   = tuning + iota // when the round began
	delivered                 // answers in it
	rttSum                    // of their round trips, in ns
	rounds                    // how many are over
	leastRTT                  // the shortest mean of a round, in ns; 0 for none yet
	leastAt                   // when it was seen
	mode                      // startup, drain, probing the rate or the round trip
	fullRate                  // the highest rate in startup, and since how many rounds
	fullFor                   //
	ceiling                   // what a refusal has left of the limit, in millionths; 0 for none yet
	cutAt                     // when it was last cut, plus one; 0 for never
	rates                     // of the last rounds, answers per second in millionths
	numRates  = 10
	bbrWords  = rates + numRates - tuning
)

// The modes of a bbr. Zeroed memory is the startup.
const (
	startup = iota
	draining
	probingRate
	emptying // the queue, so that the next round
	probingRTT
)

// The gains of startup and drain, and of eight rounds of probing, in percent.
const startupGain, drainGain = 289, 35 // 2/ln 2 and its reciprocal

var probeGains = [8]int64{150, 100, 125, 125, 125, 125, 125, 125}

// leastRound is how many answers a round has at least after the startup.
const leastRound = 16

// update implements limitUpdater.
func (k *bbr) update(now time.Duration, _ *strategies.Call, m []int64, s sample) {
	if !s.ok {
		if s.dropped && int64(s.sentAt) >= m[cutAt] { // later ones are of the same crowd
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

// note remembers the rate of a round. One that was low because nobody asked for
// more says nothing.
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

// product is so many per cent of rate times round trip, in millionths of a permit.
func product(m []int64, percent int64) int64 {
	permits := float64(float64(highest(m))*float64(m[leastRTT])) / 1e9
	return int64(float64(permits*float64(percent)) / 100)
}

// turn goes on to the next round.
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
