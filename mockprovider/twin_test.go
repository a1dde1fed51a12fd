package mockprovider

import (
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// twin is a provider that is too simple to be wrong: it keeps lists of all that
// has happened and counts them anew each time.
type twin struct {
	cfg      Config
	counts   map[[2]uint32]naive // of limits that count in time, by limit and account
	serving  []*twinJob
	queue    []*twinJob
	answered map[uint32]int
}

type twinJob struct {
	ticket, account uint32
	job             uint32 // what the provider calls it, once started
}

// counter returns what a limit has counted of an account; nil if it is none
// that counts in time.
func (w *twin) counter(limit int, account uint32) naive {
	var fresh naive
	var per Counted
	switch l := w.cfg.Limits[limit].(type) {
	case Window:
		fresh, per = &naiveWindow{Window: l}, l.Per
	case Joint:
		fresh, per = &naiveWindow{Window: Window{Limit: l.Limit, Length: l.Length, Anchored: l.Anchored}}, l.Per
	case SlidingLog:
		fresh, per = &naiveLog{SlidingLog: l}, l.Per
	case SlidingCounter:
		fresh, per = &naiveCounter{SlidingCounter: l}, l.Per
	case TokenBucket:
		fresh, per = &gcra{l, new(big.Rat)}, l.Per
	default:
		return nil
	}
	key := [2]uint32{uint32(limit), 0}
	if per == Account && w.cfg.Accounts > 0 {
		key[1] = account
	}
	if w.counts[key] == nil {
		w.counts[key] = fresh
	}
	return w.counts[key]
}

// inFlight counts the requests of an account, or of all, that are not over.
func (w *twin) inFlight(per Counted, account uint32) (n int32) {
	for _, j := range append(slices.Clone(w.serving), w.queue...) {
		if per == Everyone || w.cfg.Accounts == 0 || j.account == account {
			n++
		}
	}
	return n
}

// refusal says why a request is refused, and counts what it takes; OK if it is
// not.
func (w *twin) refusal(now time.Duration, r *wire.Request) wire.Class {
	for _, o := range w.cfg.Outages {
		if o.From <= now && now < o.To {
			return wire.Overloaded
		}
	}
	if slices.Contains(w.cfg.RejectKeys, r.Target.Key) || w.cfg.Accounts > 0 && int(r.Account) >= w.cfg.Accounts {
		return wire.Auth
	}
	verdict, passed := wire.OK, len(w.cfg.Limits)
	for i, l := range w.cfg.Limits {
		switch l := l.(type) {
		case Semaphore:
			if w.inFlight(l.Per, r.Account) >= l.Limit {
				verdict = wire.Concurrency
			}
		case Joint:
			started := w.counter(i, r.Account).(*naiveWindow)
			if !started.room(now) {
				verdict = wire.Rate
			} else if started.used(now)+w.inFlight(l.Per, r.Account) >= l.Limit {
				verdict = wire.Concurrency
			}
		default:
			if !w.counter(i, r.Account).room(now) {
				verdict = wire.Rate
			}
		}
		if verdict != wire.OK {
			passed = i
			break
		}
	}
	if verdict == wire.OK && w.cfg.Slots > 0 && len(w.serving) == w.cfg.Slots && len(w.queue) == w.cfg.Queue {
		verdict = wire.Overloaded
	}
	if verdict == wire.OK || w.cfg.KeepOnRefusal {
		for i := range passed {
			if c := w.counter(i, r.Account); c != nil {
				c.count(now)
			}
		}
	}
	return verdict
}

// bytesOf hands out the bytes of a script, zeros when it is over.
type bytesOf struct {
	script []byte
}

func (b *bytesOf) below(n int) int {
	if len(b.script) == 0 {
		return 0
	}
	v := int(b.script[0])
	b.script = b.script[1:]
	return v % n
}

// configOf makes a small configuration, with all that can go together.
func configOf(b *bytesOf) Config {
	cfg := Config{
		KeepOnRefusal: b.below(2) == 1, Capacity: Capacity{Slots: b.below(4), Service: takes(5)}, Space: Space{Accounts: b.below(4)},
		RejectKeys: []uint8{1}, RefusalTime: time.Duration(b.below(3)),
	}
	if cfg.Slots > 0 {
		cfg.Queue = b.below(4)
	}
	for range b.below(4) {
		cfg.Limits = append(cfg.Limits, limitOf(b))
	}
	for range b.below(3) {
		from := time.Duration(b.below(100))
		cfg.Outages = append(cfg.Outages, Outage{From: from, To: from + time.Duration(1+b.below(40))})
	}
	return cfg
}

// limitOf makes a small limit of any kind.
func limitOf(b *bytesOf) Limit {
	per, kind, limit := Counted(b.below(2)), b.below(6), int32(1+b.below(4))
	if kind == 0 {
		return Semaphore{Limit: limit, Terms: Terms{Per: per}}
	}
	length := time.Duration(1 + b.below(30))
	switch kind {
	case 1:
		return Window{Limit: limit, Length: length, Anchored: b.below(2) == 1, Terms: Terms{Per: per}}
	case 2:
		return Joint{Limit: limit, Length: length, Anchored: b.below(2) == 1, Terms: Terms{Per: per}}
	case 3:
		return SlidingLog{Limit: limit, Length: length, Terms: Terms{Per: per}}
	case 4:
		return SlidingCounter{Limit: limit, Length: length, Terms: Terms{Per: per}}
	default:
		return TokenBucket{Limit: limit, Length: length, Burst: int32(1 + b.below(4)), Terms: Terms{Per: per}}
	}
}

// checkScript plays any bytes to a provider and to its twin, and compares them
// in every step.
func checkScript(t require.TestingT, script []byte) {
	b := &bytesOf{script}
	cfg := configOf(b)
	p, err := New(cfg, draw.New(1))
	require.NoError(t, err)
	w := &twin{cfg: cfg, counts: map[[2]uint32]naive{}, answered: map[uint32]int{}}
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
		for i, g := range p.gates {
			switch g := g.(type) {
			case *semaphore:
				for account, used := range g.used {
					require.Equal(t, w.inFlight(cfg.Limits[i].(Semaphore).Per, uint32(account)), used)
				}
			case *joint:
				for account, k := range g.keys {
					require.Equal(t, w.inFlight(cfg.Limits[i].(Joint).Per, uint32(account)), k.inFlight)
				}
			}
		}
		return got
	}
	started := func(j *twinJob) wire.Effect { return wire.Effect{Kind: wire.Started, Ticket: j.ticket} }
	finish := func(i int) {
		j := w.serving[i]
		w.serving = slices.Delete(w.serving, i, i+1)
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
	for len(b.script) > 0 {
		now += time.Duration(b.below(12))
		switch b.below(8) {
		case 0: // whatever job
			job := uint32(b.below(256))
			if i := slices.IndexFunc(w.serving, func(j *twinJob) bool { return j.job == job }); i >= 0 {
				finish(i)
			} else {
				step(wire.Input{Kind: wire.Done, Job: job})
			}
		case 1:
			step(wire.Input{Kind: wire.Abandon, Ticket: uint32(b.below(256))})
		case 2:
			step(wire.Input{Kind: wire.Tick})
		case 3, 4:
			if len(w.serving) > 0 {
				finish(b.below(len(w.serving)))
			}
		default:
			ticket++
			r := wire.Request{Call: uint64(ticket), Attempt: 1, Account: uint32(b.below(4)), Target: wire.Target{Key: uint8(b.below(5))}}
			in := wire.Input{Kind: wire.Arrive, Ticket: ticket, Request: r}
			class := w.refusal(now, &r)
			j := &twinJob{ticket: ticket, account: r.Account}
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

func FuzzStep(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{1, 2, 3, 0, 2, 2, 1, 1, 3, 20, 1, 0, 0, 2, 2, 1, 10, 5, 7, 6, 5, 4, 3, 2, 1})
	f.Fuzz(func(t *testing.T, script []byte) { checkScript(t, script) })
}
