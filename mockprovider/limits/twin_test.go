package limits

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/mockprovider"
	"herdlab/mockprovider/faults"
	"herdlab/mockprovider/providertest"
	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// twin is a provider that is too simple to be wrong: it keeps lists of all that
// has happened and counts them anew each time.
type twin struct {
	cfg      mockprovider.Config
	counts   map[counterOf]naive // of limits that count in time
	serving  []*twinJob
	queue    []*twinJob
	answered map[uint32]int
}

type twinJob struct {
	ticket uint32
	r      wire.Request
	since  time.Duration
	job    uint32 // what the provider calls it, once started
}

// counterOf says whose counter of which limit: with nothing in what is not told
// apart.
type counterOf struct {
	limit int
	apart [3]uint32 // account, key, organisation
}

// whose says whose counter counts r.
func (w *twin) whose(limit int, r *wire.Request) counterOf {
	c, per := counterOf{limit: limit}, termsOf(w.cfg.Limits[limit]).Per
	if per&(mockprovider.Account|mockprovider.Key) != 0 && w.cfg.Accounts > 0 {
		c.apart[0] = r.Account
	}
	if per&mockprovider.Key != 0 && w.cfg.Keys > 0 {
		c.apart[1] = uint32(r.Target.Key)
	}
	if per&mockprovider.Organisation != 0 && w.cfg.Accounts > 0 {
		c.apart[2] = r.Account / uint32(max(1, w.cfg.OrgSize))
	}
	return c
}

// counter returns what a limit has counted of the caller of r; nil if it is none
// that counts in time.
func (w *twin) counter(limit int, r *wire.Request) naive {
	l := w.cfg.Limits[limit]
	fresh, _, _ := twinOf(l)
	if j, ok := l.(Joint); ok {
		fresh = &naiveWindow{limit: int64(j.Limit), length: j.Length, anchored: j.Anchored}
	}
	if fresh == nil {
		return nil
	}
	key := w.whose(limit, r)
	if w.counts[key] == nil {
		w.counts[key] = fresh
	}
	return w.counts[key]
}

// inFlight counts what a limit counts with r of what is not over: requests, or
// what they were charged.
func (w *twin) inFlight(limit int, r *wire.Request) (n int64) {
	for _, j := range append(slices.Clone(w.serving), w.queue...) {
		if w.whose(limit, &j.r) == w.whose(limit, r) {
			n += naiveCost(termsOf(w.cfg.Limits[limit]).Charge, &j.r)
		}
	}
	return n
}

// refusal says why a request is refused, and counts what it takes; OK if it is
// not.
func (w *twin) refusal(now time.Duration, r *wire.Request) wire.Class {
	for _, f := range w.cfg.Faults {
		if f.From <= now && now < f.To {
			return wire.Overloaded
		}
	}
	if slices.Contains(w.cfg.RejectKeys, r.Target.Key) || w.cfg.Accounts > 0 && int(r.Account) >= w.cfg.Accounts {
		return wire.Auth
	}
	if w.cfg.Keys > 0 && int(r.Target.Key) >= w.cfg.Keys {
		return wire.Auth
	}
	verdict, passed := wire.OK, len(w.cfg.Limits)
	for i, l := range w.cfg.Limits {
		switch l := l.(type) {
		case Semaphore:
			cost := naiveCost(l.Charge, r)
			if cost > int64(l.Limit) {
				verdict = wire.TooLarge
			} else if w.inFlight(i, r)+max(1, cost) > int64(l.Limit) {
				verdict = wire.Concurrency
			}
		case Joint:
			started := w.counter(i, r).(*naiveWindow)
			if started.used(now)+w.inFlight(i, r) >= int64(l.Limit) {
				verdict = wire.Concurrency
				started.refused(now, 1, l.Keep == mockprovider.KeepAll)
			}
			if !started.room(now, 1) && verdict != wire.OK {
				verdict = wire.Rate
			}
		default:
			verdict = w.ask(i, now, r)
		}
		if verdict != wire.OK {
			passed = i
			break
		}
	}
	if verdict == wire.OK && w.cfg.Slots > 0 && len(w.serving) == w.cfg.Slots && len(w.queue) == w.cfg.Queue {
		verdict = wire.Overloaded
	}
	for i := range passed {
		if c := w.counter(i, r); c != nil && (verdict == wire.OK || termsOf(w.cfg.Limits[i]).Keep != mockprovider.KeepNone) {
			c.charge(now, naiveCost(termsOf(w.cfg.Limits[i]).Charge, r))
		}
	}
	return verdict
}

// ask asks a limit that counts in time.
func (w *twin) ask(limit int, now time.Duration, r *wire.Request) wire.Class {
	_, terms, whole := twinOf(w.cfg.Limits[limit])
	twin, cost := w.counter(limit, r), naiveCost(terms.Charge, r)
	if twin.room(now, max(1, cost)) {
		return wire.OK
	}
	twin.refused(now, cost, terms.Keep == mockprovider.KeepAll)
	_, ramp := w.cfg.Limits[limit].(Ramp)
	_, quota := w.cfg.Limits[limit].(Quota)
	switch {
	case ramp:
		return wire.Acceleration
	case cost > whole:
		return wire.TooLarge
	case quota:
		return wire.Quota
	case terms.Charge.Count != mockprovider.Requests:
		return wire.TokenRate
	}
	return wire.Rate
}

// ends settles what a request that was served is charged.
func (w *twin) ends(now time.Duration, j *twinJob) {
	for i, l := range w.cfg.Limits {
		if c, charge := w.counter(i, &j.r), termsOf(l).Charge; c != nil {
			since := j.since
			if charge.When == mockprovider.AtCompletion {
				since = now
			}
			e := mockprovider.Ended{Tokens: j.r.Demand.Output()}
			c.correct(now, since, naiveDue(charge, &j.r, e)-naiveCost(charge, &j.r))
		}
	}
}

func termsOf(l mockprovider.Limit) mockprovider.Terms {
	switch l := l.(type) {
	case Semaphore:
		return l.Terms
	case Joint:
		return l.Terms
	}
	_, terms, _ := twinOf(l)
	return terms
}

// configOf makes a small configuration, with all that can go together.
func configOf(b *providertest.Bytes) mockprovider.Config {
	cfg := mockprovider.Config{
		Capacity: mockprovider.Capacity{Slots: b.Below(4), Service: takes(5)}, Space: mockprovider.Space{Accounts: b.Below(4), Keys: b.Below(4), OrgSize: b.Below(3)},
		RejectKeys: []uint8{1}, RefusalTime: time.Duration(b.Below(3)),
	}
	if cfg.Slots > 0 {
		cfg.Queue = b.Below(4)
	}
	for range b.Below(4) {
		cfg.Limits = append(cfg.Limits, limitOf(b))
	}
	for range b.Below(3) {
		from := time.Duration(b.Below(100))
		cfg.Faults = append(cfg.Faults, faults.Outage(from, from+time.Duration(1+b.Below(40)), mockprovider.Refusal{}))
	}
	return cfg
}

// limitOf makes a small limit of any kind.
func limitOf(b *providertest.Bytes) mockprovider.Limit {
	terms := mockprovider.Terms{Per: [...]mockprovider.Counted{mockprovider.Everyone, mockprovider.Account, mockprovider.Key, mockprovider.Account | mockprovider.Key, mockprovider.Organisation}[b.Below(5)], Keep: mockprovider.Keep(b.Below(int(mockprovider.KeepAll) + 1))}
	kind, limit, length := b.Below(12), int32(1+b.Below(4)), time.Duration(1+b.Below(30))
	if kind > 1 && b.Below(2) == 1 { // tokens, then
		terms.Charge = mockprovider.Charge{Count: mockprovider.Unit(b.Below(int(mockprovider.AllTokens) + 1)), When: mockprovider.Moment(b.Below(int(mockprovider.AtCompletion) + 1))}
		if terms.Charge.When == mockprovider.AtCompletion {
			terms.Keep = mockprovider.KeepNone
		}
		limit *= 4
	}
	switch kind {
	case 0:
		return Joint{Limit: limit, Length: length, Anchored: b.Below(2) == 1, Terms: terms}
	case 1:
		terms.Charge.Count = mockprovider.Unit(b.Below(int(mockprovider.AllTokens) + 1))
		return Semaphore{Limit: limit, Terms: terms}
	case 2:
		return Window{Limit: limit, Length: length, Anchored: b.Below(2) == 1, Terms: terms}
	case 3:
		if terms.Charge.Settles() {
			terms.Keep = min(terms.Keep, mockprovider.KeepOthers)
		}
		return SlidingLog{Limit: limit, Length: length, Terms: terms}
	case 4:
		return SlidingCounter{Limit: limit, Length: length, Terms: terms}
	case 5:
		return GCRA{Interval: length, Tolerance: time.Duration(b.Below(60)), Terms: terms}
	case 6:
		return LeakyBucket{Limit: limit, Length: length, Size: int32(1 + b.Below(9)), Terms: terms}
	case 7:
		return Quota{Limit: limit, Every: length, At: time.Duration(b.Below(int(length))), Terms: terms}
	case 8:
		return Sliced{Limit: limit, Length: 3 * length, Slices: 3, Terms: terms}
	case 9:
		return Penalty{Limit: limit, Length: length, Block: length + time.Duration(b.Below(30)), Restarts: b.Below(2) == 1, Terms: terms}
	case 10:
		return Ramp{Base: limit, Length: length, Growth: int32(100 + b.Below(100)), Terms: terms}
	}
	return TokenBucket{Limit: limit, Length: length, Burst: int32(1 + b.Below(9)), Terms: terms}
}

// watchedLimit is a limit whose gate the test can look into.
type watchedLimit struct {
	mockprovider.Limit
	made *mockprovider.Gate
}

func (l watchedLimit) Gate(s mockprovider.Space) mockprovider.Gate {
	*l.made = l.Limit.Gate(s)
	return *l.made
}

// checkScript plays any bytes to a provider and to its twin, and compares them
// in every step.
func checkScript(t require.TestingT, script []byte) {
	b := &providertest.Bytes{Script: script}
	cfg := configOf(b)
	gates := make([]mockprovider.Gate, len(cfg.Limits))
	watched := cfg
	watched.Limits = nil
	for i, l := range cfg.Limits {
		watched.Limits = append(watched.Limits, watchedLimit{l, &gates[i]})
	}
	p, err := mockprovider.New(watched, draw.New(1))
	require.NoError(t, err)
	w := &twin{cfg: cfg, counts: map[counterOf]naive{}, answered: map[uint32]int{}}
	now, ticket := time.Duration(0), uint32(0)
	// step tells both; want is what the twin expects, in order.
	step := func(in wire.Input, want ...wire.Effect) []wire.Effect {
		got := p.Step(now, &in, nil)
		require.Len(t, got, len(want), "at %d: %+v", now, in)
		for i, e := range got {
			require.Equal(t, want[i].Kind, e.Kind)
			require.Equal(t, want[i].Ticket, e.Ticket)
			require.Equal(t, want[i].Reply.Class, e.Reply.Class)
			if e.Kind != wire.Started {
				w.answered[e.Ticket]++
			}
		}
		require.Equal(t, len(w.serving), p.Busy())
		require.Equal(t, len(w.queue), p.Queued())
		require.Greater(t, p.NextTick(), now)
		if cfg.Slots > 0 {
			require.LessOrEqual(t, p.Busy(), cfg.Slots)
		}
		require.LessOrEqual(t, p.Queued(), cfg.Queue)
		for i, g := range gates {
			for _, j := range append(slices.Clone(w.serving), w.queue...) {
				switch g := g.(type) {
				case *semaphore:
					require.EqualValues(t, w.inFlight(i, &j.r), g.used[g.Of(&j.r)])
					require.LessOrEqual(t, g.used[g.Of(&j.r)], cfg.Limits[i].(Semaphore).Limit)
				case *joint:
					require.EqualValues(t, w.inFlight(i, &j.r), g.keys[g.Of(&j.r)].inFlight)
				}
			}
		}
		return got
	}
	started := func(j *twinJob) wire.Effect { return wire.Effect{Kind: wire.Started, Ticket: j.ticket} }
	finish := func(i int) {
		j := w.serving[i]
		w.serving = slices.Delete(w.serving, i, i+1)
		w.ends(now, j)
		want := []wire.Effect{{Kind: wire.Replied, Ticket: j.ticket, Reply: wire.Reply{Class: wire.OK}}}
		if len(w.queue) > 0 {
			next := w.queue[0]
			w.queue = w.queue[1:]
			w.serving = append(w.serving, next)
			want = append(want, started(next))
		}
		got := step(wire.Input{Kind: wire.Done, Job: j.job}, want...)
		if len(got) == 2 {
			w.serving[len(w.serving)-1].job = got[1].Job
		}
	}
	for len(b.Script) > 0 {
		now += time.Duration(b.Below(12))
		switch b.Below(8) {
		case 0: // whatever job
			job := uint32(b.Below(256))
			if i := slices.IndexFunc(w.serving, func(j *twinJob) bool { return j.job == job }); i >= 0 {
				finish(i)
			} else {
				step(wire.Input{Kind: wire.Done, Job: job})
			}
		case 1:
			step(wire.Input{Kind: wire.Abandon, Ticket: uint32(b.Below(256))})
		case 2:
			step(wire.Input{Kind: wire.Tick})
		case 3, 4:
			if len(w.serving) > 0 {
				finish(b.Below(len(w.serving)))
			}
		default:
			ticket++
			r := wire.Request{
				Call: uint64(ticket), Attempt: 1, Account: uint32(b.Below(4)), Target: wire.Target{Key: uint8(b.Below(5))},
				Demand: wire.Demand{InputTokens: uint32(b.Below(4)), OutputTokens: uint32(b.Below(5)), MaxTokens: uint32(b.Below(6))},
			}
			in := wire.Input{Kind: wire.Arrive, Ticket: ticket, Request: r}
			class := w.refusal(now, &r)
			j := &twinJob{ticket: ticket, r: r, since: now}
			switch {
			case class != wire.OK:
				step(in, wire.Effect{Kind: wire.Replied, Ticket: ticket, Reply: wire.Reply{Class: class}})
			case cfg.Slots > 0 && len(w.serving) == cfg.Slots:
				w.queue = append(w.queue, j)
				step(in)
			default:
				w.serving = append(w.serving, j)
				j.job = step(in, started(j))[0].Job
			}
		}
	}
	for len(w.serving) > 0 {
		finish(0)
	}
	for i := range ticket {
		require.Equal(t, 1, w.answered[i+1], "every ticket gets one answer")
	}
	require.Len(t, w.answered, int(ticket))
}

func TestProviderAgainstNaiveTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkScript(t, rapid.SliceOfN(rapid.Byte(), 100, 400).Draw(t, "script"))
	})
}

func FuzzLimits(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{1, 2, 3, 0, 2, 2, 1, 1, 3, 20, 1, 0, 0, 2, 2, 1, 10, 5, 7, 6, 5, 4, 3, 2, 1})
	f.Fuzz(func(t *testing.T, script []byte) {
		checkScript(t, script)
	})
}
