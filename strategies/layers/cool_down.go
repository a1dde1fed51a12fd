package layers

import (
	"errors"
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/saturating"
	"herdlab/strategies"
)

// CoolDown makes a limit that all share be met by one. The first refusal sends
// everybody into one line for as long as the provider asks, at least For, plus
// U(0, Jitter). Then the head of the line probes, alone. If the probe is refused,
// all go on waiting; if not, the line is let go one by one, a Pace apart, because
// all at once would be the herd again. Refused calls go back into the line without
// a loop outside hearing of it: what is everybody's fate is charged to nobody's
// attempts. But those of whose answer a part has been delivered end.
//
// It is right where many tasks share one account and its limit lasts: N tasks that
// find out by themselves make N times the refusals, and use up their attempts
// although nothing is wrong with them.
type CoolDown struct {
	// For is the least time to cool down; Jitter the width of what is drawn on
	// top.
	For    time.Duration `required:"30s" about:"How long all wait after a refusal, at least; the reply may ask for more."`
	Jitter time.Duration `default:"0s" about:"The width of what is drawn evenly and added to that time."`
	// Pace is the gap between calls that are let go after a cool-down, > 0.
	Pace time.Duration `required:"1s" about:"The gap between calls that go after the cool-down."`
	// ProbeTimeout is when a probe that has not ended gives its place to the next
	// in line; 0 means For.
	ProbeTimeout time.Duration `without:"as long as for" about:"When a probe that has not ended leaves its turn to the next call."`
	// On is the refusals that all share; none means those by the caller's own
	// limits, and overload.
	On strategies.Classes `without:"the limits, overloaded" about:"Which refusals make all wait."`
	// Charged lets the loop outside hear of a refusal, which counts it as an
	// attempt of that call's.
	Charged bool `about:"Whether a refusal counts as an attempt of the retry loop outside."`
	// Scope is who shares it, PerClient or wider; Name tells cool-downs apart
	// that everyone shares.
	Scope strategies.Scope `except:"call" about:"Which clients share the memory of the layer."`
	Name  string           `without:"it has none" about:"The name by which layers of several fleets share memory; required with the scope everyone."`
}

// Build implements Layer.
func (k CoolDown) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	switch {
	case k.For <= 0 || k.Pace <= 0:
		return nil, fmt.Errorf("cool-down: its length and the pace after it must be positive, not %v and %v", k.For, k.Pace)
	case k.Jitter < 0 || k.ProbeTimeout < 0:
		return nil, errors.New("cool-down: the jitter and the probe timeout must not be negative; 0 as the latter means the length")
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

// coolDownPool is the pool of a CoolDown: what one waits for is to be let through.
type coolDownPool struct{ pace, probeTimeout time.Duration }

// The words of a door.
const (
	doorState   = iota // ajar, shut, tried or held
	doorUntil          // when the state changes by itself
	doorWaiting        // how many stand in line, as far as the layer knows
	doorProbe          // the number of the latest probe
	doorWords
)

// The states of a door.
const (
	ajar  = iota // everybody may pass
	shut         // nobody may, until doorUntil; then one tries
	tried        // one is trying; it is given up at doorUntil
	held         // one may pass at doorUntil
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

// coolDown is the layer around a door.
type coolDown struct {
	CoolDown
	inner   strategies.Strategy
	pool    strategies.PoolID
	memory  strategies.Slot
	own     strategies.Slot    // the number of the probe that the call is, 0 if it is none
	waiting strategies.Waiting // set while the call stands in line
	purpose strategies.Purpose
}

// Next implements Strategy.
func (k *coolDown) Next(now time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
	m := c.Words(k.memory)
	standing := k.waiting.In(c)
	switch {
	case e.Kind == strategies.Begin:
		return k.enter(now, c, m)
	case standing && e.Kind == strategies.Admitted:
		k.leave(c, m)
		return k.begin(now, c, m)
	case standing && e.Kind == strategies.Cancelled:
		k.leave(c, m)
		return strategies.StopCancelled()
	}
	return k.settled(now, c, m, e, k.inner.Next(now, c, e))
}

// enter lets the call pass or has it stand in line.
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

// begin begins what is inside for a call that the door has just let through.
func (k *coolDown) begin(now time.Duration, c *strategies.Call, m []int64) strategies.Decision {
	own := c.Word(k.own, 0)
	*own = 0
	if m[doorState] == tried {
		*own = m[doorProbe]
	}
	e := strategies.Event{Kind: strategies.Begin}
	return k.settled(now, c, m, e, k.inner.Next(now, c, e))
}

// settled moves the door if d ends what is inside.
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
		case m[doorState] == shut: // a straggler that knows more
			m[doorUntil] = max(m[doorUntil], int64(saturating.Add(now, hint)))
		case hint > 0: // and more than the probe
			m[doorState], m[doorUntil] = shut, int64(saturating.Add(now, hint))
			c.Put(k.pool, 0)
		}
		if !k.Charged && !halfGiven(e.Outcome) && !forbidden(e.Outcome) {
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
