package layers

import (
	"errors"
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/saturating"
	"herdlab/strategies"
)

// CoolDown lets one call find out about a refusal on behalf of all. The first
// refusal puts all calls into one line for as long as the provider asks, at least
// For, plus U(0, Jitter). Then the head of the line probes, alone. If the probe is
// refused, all go on waiting; if not, the calls in line go one after the other,
// Pace apart, so that they do not form a new herd. Refused calls return to the line
// without an attempt being counted by a loop outside, because the cause is common
// to all. A call that has already delivered a part of an answer ends instead.
//
// Use it where many tasks share one account and its limit holds for a while: N
// tasks that find out separately cause N times the refusals, and use up their
// attempts although nothing is wrong with them.
type CoolDown struct {
	// For is the least length of a cool-down; it must be positive. A draw from U(0,
	// Jitter) is added.
	For    time.Duration `required:"30s" about:"How long all wait after a refusal, at least; the reply may ask for more."`
	Jitter time.Duration `default:"0s" about:"The width of what is drawn evenly and added to that time."`
	// Pace is the gap between calls that go after a cool-down; it must be positive.
	Pace time.Duration `required:"1s" about:"The gap between calls that go after the cool-down."`
	// ProbeTimeout is how long a probe may take before the next call in line
	// probes; 0 means For.
	ProbeTimeout time.Duration `without:"as long as for" about:"When a probe that has not ended leaves its turn to the next call."`
	// On is the set of refusals that begin a cool-down; the empty set means the
	// caller's own limits and overload.
	On strategies.Classes `without:"the limits, overloaded" about:"Which refusals make all wait."`
	// Charged passes refusals on to the loop outside, which counts each as an
	// attempt of its call.
	Charged bool `about:"Whether a refusal counts as an attempt of the retry loop outside."`
	// Scope sets which clients share the cool-down, PerClient or wider. Name
	// identifies a cool-down with the scope PerEveryone.
	Scope strategies.Scope `except:"call" about:"Which clients share the memory of the layer."`
	Name  string           `without:"it has none" about:"The name by which layers of several fleets share memory; required with the scope everyone."`
}

// Build implements Layer.
func (k CoolDown) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	switch {
	case k.For <= 0 || k.Pace <= 0:
		return nil, fmt.Errorf("cool-down: for and pace must be positive, not %v and %v", k.For, k.Pace)
	case k.Jitter < 0 || k.ProbeTimeout < 0:
		return nil, errors.New("cool-down: jitter and probe_timeout must not be negative; probe_timeout 0 means as long as for")
	}
	if err := k.Scope.CheckShared(k.Name); err != nil {
		return nil, fmt.Errorf("cool-down: %w", err)
	}
	if k.ProbeTimeout == 0 {
		k.ProbeTimeout = k.For
	}
	k.On = k.On.Or(strategies.Limits | strategies.ClassesOf(wire.Overloaded))
	g := &coolDown{CoolDown: k, inner: inner, purpose: b.Purpose()}
	var err error
	if g.pool, err = b.Pool(coolDownPool{k.Pace, k.ProbeTimeout}, k.Scope, "cool-down "+k.Name); err != nil {
		return nil, err
	}
	g.memory = b.PoolWords(g.pool)
	if g.own, err = b.Reserve(strategies.PerCall, 1, ""); err != nil {
		return nil, err
	}
	g.waiting, err = b.Waiting("cool-down")
	return g, err
}

// coolDownPool is the pool of a CoolDown.
type coolDownPool struct{ pace, probeTimeout time.Duration }

// The words of the pool of a CoolDown.
const (
	doorState   = iota // one of the states below
	doorUntil          // the time when the state changes by itself
	doorWaiting        // the number of calls in line, as the layer counts them
	doorProbe          // the number of the latest probe
	doorWords
)

// The states of the pool of a CoolDown.
const (
	ajar  = iota // all calls pass
	shut         // no call passes until doorUntil; then one probes
	tried        // a probe is in flight; at doorUntil another call probes
	held         // calls pass one by one, the next at doorUntil
)

// Words implements Pool.
func (coolDownPool) Words() int { return doorWords }

// TryTake implements Pool.
func (k coolDownPool) TryTake(now time.Duration, m []int64, _ uint32) (bool, time.Duration) {
	if m[doorState] == ajar {
		return true, now
	}
	if until := time.Duration(m[doorUntil]); now < until {
		return false, until
	}
	if m[doorState] == held {
		m[doorUntil] = int64(saturating.Add(now, k.pace))
		return true, now
	}
	m[doorState], m[doorUntil] = tried, int64(saturating.Add(now, k.probeTimeout))
	m[doorProbe]++
	return true, now
}

// Put implements Pool.
func (coolDownPool) Put(time.Duration, []int64, uint32) {}

// coolDown is the layer around that pool.
type coolDown struct {
	CoolDown
	inner   strategies.Strategy
	pool    strategies.PoolID
	memory  strategies.Slot
	own     strategies.Slot    // the number of the probe, 0 if the call is not a probe
	waiting strategies.Waiting // set while the call waits in line
	purpose strategies.Purpose
}

// Next implements Strategy.
func (k *coolDown) Next(now time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
	m := c.Words(k.memory)
	queued := k.waiting.In(c)
	switch {
	case e.Kind == strategies.Begin:
		return k.enter(now, c, m)
	case queued && e.Kind == strategies.Admitted:
		k.leave(c, m)
		return k.begin(now, c, m)
	case queued && e.Kind == strategies.Cancelled:
		k.leave(c, m)
		return strategies.StopCancelled()
	}
	return k.settled(now, c, m, e, k.inner.Next(now, c, e))
}

// enter lets the call pass or puts it into the line.
func (k *coolDown) enter(now time.Duration, c *strategies.Call, m []int64) strategies.Decision {
	take := strategies.Take{Pool: k.pool, N: 1}
	if c.TryTake(take) {
		return k.begin(now, c, m)
	}
	m[doorWaiting]++
	k.waiting.Set(c)
	return strategies.Decision{Kind: strategies.Acquire, Take: take}
}

func (k *coolDown) leave(c *strategies.Call, m []int64) {
	k.waiting.Clear(c)
	if m[doorWaiting]--; m[doorWaiting] == 0 && m[doorState] == held {
		m[doorState] = ajar
	}
}

// begin begins the inner strategy for a call that the pool has admitted.
func (k *coolDown) begin(now time.Duration, c *strategies.Call, m []int64) strategies.Decision {
	own := c.Word(k.own, 0)
	*own = 0
	if m[doorState] == tried {
		*own = m[doorProbe]
	}
	e := strategies.Event{Kind: strategies.Begin}
	return k.settled(now, c, m, e, k.inner.Next(now, c, e))
}

// settled changes the state of the pool if d ends the inner strategy.
func (k *coolDown) settled(now time.Duration, c *strategies.Call, m []int64, e strategies.Event, d strategies.Decision) strategies.Decision {
	if !d.Settles() {
		return d
	}
	own := c.Word(k.own, 0)
	probe := *own != 0 && *own == m[doorProbe] && m[doorState] == tried
	*own = 0
	switch {
	case d.Kind == strategies.Stop && e.Terminal() && k.On.Has(d.End.Class):
		hint := max(e.Hint(), 0)
		switch {
		case m[doorState] != shut && m[doorState] != tried || probe:
			wait := saturating.Add(max(k.For, hint), c.Uniform(k.purpose, 0, k.Jitter))
			m[doorState], m[doorUntil] = shut, int64(saturating.Add(now, wait))
		case m[doorState] == shut: // an earlier attempt whose hint is longer
			m[doorUntil] = max(m[doorUntil], int64(saturating.Add(now, hint)))
		case hint > 0: // during a probe, an earlier attempt with a hint
			m[doorState], m[doorUntil] = shut, int64(saturating.Add(now, hint))
			c.Put(k.pool, 0)
		}
		if !k.Charged && !partlyDelivered(e.Outcome) && !mustNotRetry(e.Outcome) {
			d = k.enter(now, c, m)
		}
	case !probe:
	case d.End.Class == wire.Cancelled || !e.Terminal():
		m[doorState], m[doorUntil] = shut, int64(now) // the next one probes
		c.Put(k.pool, 0)
	case m[doorWaiting] == 0:
		m[doorState] = ajar
	default:
		m[doorState], m[doorUntil] = held, int64(now)
		c.Put(k.pool, 0)
	}
	return d
}
