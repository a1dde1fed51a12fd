package mockprovider

import (
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
	windows  map[[2]uint32]*naiveWindow // by limit and account
	serving  []*twinJob
	queue    []*twinJob
	answered map[uint32]int
}

type twinJob struct {
	ticket, account uint32
	job             uint32 // what the provider calls it, once started
}

// window returns the state of a window for an account.
func (w *twin) window(limit int, account uint32) *naiveWindow {
	l := w.cfg.Limits[limit].(Window)
	key := [2]uint32{uint32(limit), 0}
	if l.Per == Account && w.cfg.Accounts > 0 {
		key[1] = account
	}
	if w.windows[key] == nil {
		w.windows[key] = &naiveWindow{Window: l}
	}
	return w.windows[key]
}

// inFlight counts the requests of an account, or of all, that are not over.
func (w *twin) inFlight(l Semaphore, account uint32) (n int32) {
	for _, j := range append(slices.Clone(w.serving), w.queue...) {
		if l.Per == Everyone || w.cfg.Accounts == 0 || j.account == account {
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
		case Window:
			if !w.window(i, r.Account).room(now) {
				verdict = wire.Rate
			}
		case Semaphore:
			if w.inFlight(l, r.Account) >= l.Limit {
				verdict = wire.Concurrency
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
			if _, ok := w.cfg.Limits[i].(Window); ok {
				w.window(i, r.Account).count(now)
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
		KeepOnRefusal: b.below(2) == 1, Slots: b.below(4), Accounts: b.below(4),
		RejectKeys: []uint8{1}, Service: takes(5), RefusalTime: time.Duration(b.below(3)),
	}
	if cfg.Slots > 0 {
		cfg.Queue = b.below(4)
	}
	for range b.below(4) {
		if per := Counted(b.below(2)); b.below(2) == 0 {
			cfg.Limits = append(cfg.Limits, Semaphore{Limit: int32(1 + b.below(4)), Per: per})
		} else {
			cfg.Limits = append(cfg.Limits, Window{
				Limit: int32(1 + b.below(4)), Length: time.Duration(1 + b.below(30)), Anchored: b.below(2) == 1, Per: per,
			})
		}
	}
	for range b.below(3) {
		from := time.Duration(b.below(100))
		cfg.Outages = append(cfg.Outages, Outage{From: from, To: from + time.Duration(1+b.below(40))})
	}
	return cfg
}

// checkScript plays any bytes to a provider and to its twin, and compares them
// in every step.
func checkScript(t require.TestingT, script []byte) {
	b := &bytesOf{script}
	cfg := configOf(b)
	p, err := New(cfg, draw.New(1))
	require.NoError(t, err)
	w := &twin{cfg: cfg, windows: map[[2]uint32]*naiveWindow{}, answered: map[uint32]int{}}
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
			if s, ok := g.(*semaphore); ok {
				for account, used := range s.used {
					require.Equal(t, w.inFlight(cfg.Limits[i].(Semaphore), uint32(account)), used)
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
