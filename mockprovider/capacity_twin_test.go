package mockprovider

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/providertest"
	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// tally is a gate that admits every request and records its calls.
type tally struct {
	ended  map[uint64]Ended
	undone map[uint64]int
}

func (g *tally) Validate() error                                 { return nil }
func (g *tally) Bound(Load) Bound                                { return Bound{} }
func (g *tally) Counters(Space) int                              { return 0 }
func (g *tally) Gate(Space) Gate                                 { return g }
func (g *tally) Take(time.Duration, *wire.Request) bool          { return true }
func (g *tally) Refuse(time.Duration, *wire.Request) (v Verdict) { return v }
func (g *tally) Form(*wire.Request) *Refusal                     { return nil }
func (g *tally) Undo(_ time.Duration, r *wire.Request)           { g.undone[r.Call]++ }
func (g *tally) Release(_ time.Duration, r *wire.Request, e Ended) {
	if _, again := g.ended[r.Call]; again {
		e.Class = wire.BadRequest // no end is like that
	}
	g.ended[r.Call] = e
}

const ms = time.Millisecond

// stationsOf makes a small capacity with all that can go together. Only if the
// driver is punctual there are autoscalers: one that comes late finds fewer
// decisions.
func stationsOf(b *providertest.Bytes, punctual bool) Config {
	cfg := Config{Capacity: capacityOf(b, punctual), RefusalTime: time.Duration(b.Below(3)) * ms}
	for range b.Below(3) {
		m := ModelConfig{Price: Price{Input: int64(b.Below(3)) * 100, Output: int64(b.Below(3)) * 500}}
		if b.Below(2) == 1 {
			own := capacityOf(b, punctual)
			m.Capacity = &own
		}
		if c := cmp.Or(m.Capacity, &cfg.Capacity); c.Slots > 0 {
			m.Others = scheduleOf(b, 0.25)
		}
		cfg.Models = append(cfg.Models, m)
	}
	for range b.Below(3) {
		r := RegionConfig{Scale: [...]float64{0, 0.5, 2}[b.Below(3)], Latency: time.Duration(b.Below(2)) * ms, Surcharge: 10 * b.Below(2)}
		cfg.Regions = append(cfg.Regions, r)
	}
	if b.Below(2) == 1 {
		cfg.Abandoned = Notice{Noticed: true, Delay: time.Duration(b.Below(10)) * ms}
	}
	for range b.Below(3) {
		from := time.Duration(b.Below(100)) * ms
		to, percent := from+time.Duration(1+b.Below(40))*ms, int32(b.Below(3))*30
		if bounded := func(m ModelConfig) bool { return cmp.Or(m.Capacity, &cfg.Capacity).Slots > 0 }; percent == 0 ||
			slices.ContainsFunc(cfg.Models, bounded) || len(cfg.Models) == 0 && cfg.Slots > 0 {
			cfg.Faults = append(cfg.Faults, Fault{From: from, To: to, Does: lessCapacity{percent}})
		}
	}
	return cfg
}

func capacityOf(b *providertest.Bytes, punctual bool) Capacity {
	c := Capacity{
		Slots:   b.Below(5),
		Service: Service{First: draw.Const(time.Duration(b.Below(6)) * ms), PerInput: time.Duration(b.Below(2)) * ms, PerToken: time.Duration(b.Below(3)) * ms},
	}
	curve := func(low float64) Curve {
		if b.Below(3) > 0 {
			return Curve{}
		}
		return Curve{Points: []Point{{0.5, low}, {1 + float64(b.Below(4))/2, low + 0.75}}}
	}
	c.Overload = Overload{Latency: curve(1), Refusal: curve(0)}
	if any := !c.Overload.Latency.empty() || !c.Overload.Refusal.empty(); any {
		c.Overload.Rated = b.Below(4)
		if c.Slots == 0 {
			c.Overload.Rated++
		}
	}
	if c.Slots == 0 {
		return c
	}
	if c.Queue = b.Below(6); c.Queue > 0 {
		d := &c.Discipline
		if d.Order = Order(b.Below(numOrders)); d.Order == AdaptiveLIFO {
			d.Turns = 2 + b.Below(3)
		}
		if b.Below(3) == 0 {
			d.MaxWait = time.Duration(1+b.Below(20)) * ms
		}
		d.DropGone = b.Below(3) == 0
		if b.Below(3) == 0 {
			d.CoDel = CoDel{Target: time.Duration(b.Below(8)) * ms, Interval: time.Duration(1+b.Below(20)) * ms}
		}
	}
	if b.Below(2) == 1 {
		c.Unit = uint32(1 + b.Below(4))
	}
	c.Day = scheduleOf(b, 0.5)
	if punctual && b.Below(2) == 1 {
		c.Autoscale = &Autoscale{
			Min: 1 + b.Below(c.Slots), Max: c.Slots + b.Below(5), Target: 25 + 25*b.Below(4), Period: time.Duration(2+b.Below(10)) * ms, Delay: time.Duration(b.Below(15)) * ms,
		}
	}
	return c
}

// scheduleOf makes a schedule of up to four times so much.
func scheduleOf(b *providertest.Bytes, unit float64) (s Schedule) {
	at := time.Duration(0)
	for range b.Below(4) {
		at += time.Duration(b.Below(20)) * ms
		s.Steps = append(s.Steps, Step{at, unit * float64(b.Below(5))})
		at += ms
	}
	if len(s.Steps) > 0 && b.Below(2) == 1 {
		s.Every = at + time.Duration(b.Below(20))*ms
	}
	return s
}

// checkCapacity plays any bytes to a provider and to its naive twin, and
// compares them in every step.
func checkCapacity(t require.TestingT, script []byte) {
	b := &providertest.Bytes{Script: script}
	punctual := b.Below(2) == 1
	cfg := stationsOf(b, punctual)
	gate := &tally{map[uint64]Ended{}, map[uint64]int{}}
	cfg.Limits = []Limit{gate}
	rnd := draw.New(1)
	p, err := New(cfg, rnd)
	require.NoError(t, err)
	w := newNaiveCapacity(cfg, rnd)
	now := time.Duration(0)
	var all []*naiveJob // by ticket; nil if it was refused
	ends := map[uint32]int{}
	working := map[uint32]*naiveJob{} // by job, until its Done
	held, most := 0, 0
	step := func(in wire.Input) {
		var used []int
		for i := range p.stations {
			used = append(used, p.stations[i].used)
		}
		got := p.Step(now, &in, nil)
		if in.Kind == wire.Arrive {
			held++ // before others go
		}
		require.Len(t, got, len(w.out), "at %v: %+v: want %+v", now, in, w.out)
		for i, e := range got {
			want := w.out[i]
			require.Equal(t, want.Kind, e.Kind, "at %v: %+v", now, in)
			require.Equal(t, []any{want.Ticket, want.After, want.Slot, want.Cost}, []any{e.Ticket, e.After, e.Slot, e.Cost}, "at %v: %+v", now, in)
			require.Equal(t, []any{want.Reply.Class, want.Reply.Tokens}, []any{e.Reply.Class, e.Reply.Tokens}, "at %v: %+v", now, in)
			switch e.Kind {
			case wire.Started:
				require.Nil(t, working[e.Job], "the number of work that is not done")
				working[e.Job], all[e.Ticket].job = all[e.Ticket], e.Job
				held++
			case wire.Head:
				require.Zero(t, ends[e.Ticket])
			default:
				ends[e.Ticket]++
			}
		}
		most = max(most, held)
		held = len(working)
		for i, s := range w.stations {
			is := p.stations[i]
			require.Equal(t, []int{s.slots, s.open, len(s.serving), s.used(), len(s.waiting)}, []int{is.slots, is.open, is.busy, is.used, is.n}, "at %v", now)
			if is.used > used[i] {
				require.LessOrEqual(t, is.used, is.open, "only work that was there may exceed what is open")
			}
			if len(s.waiting) > 0 {
				require.Greater(t, is.used+s.next().units, is.open, "somebody waits for nothing")
			}
			held += len(s.waiting)
		}
		most = max(most, held)
		require.LessOrEqual(t, len(p.jobs), most)
		require.Greater(t, p.NextTick(), now)
	}
	finish := func(job uint32) {
		w.out = nil
		w.pass(now)
		if j := working[job]; j != nil && !j.over {
			w.done(j, now)
		}
		delete(working, job)
		step(wire.Input{Kind: wire.Done, Job: job})
	}
	tick := func() {
		w.out = nil
		w.pass(now)
		step(wire.Input{Kind: wire.Tick})
	}
	for len(b.Script) > 0 {
		until := now + time.Duration(b.Below(12))*ms
		for punctual && p.NextTick() <= until {
			now = p.NextTick()
			tick()
		}
		now = until
		switch b.Below(8) {
		case 0: // whatever job, but none that begins in this very step
			tick()
			finish(uint32(b.Below(256)))
		case 1:
			ticket := b.Below(max(1, len(all)))
			w.out = nil
			w.pass(now)
			if ticket < len(all) && all[ticket] != nil {
				w.abandon(all[ticket], now)
			}
			step(wire.Input{Kind: wire.Abandon, Ticket: uint32(ticket)})
		case 2:
			tick()
		case 3, 4:
			jobs := make([]uint32, 0, len(working))
			for job := range working {
				jobs = append(jobs, job)
			}
			if slices.Sort(jobs); len(jobs) > 0 {
				finish(jobs[b.Below(len(jobs))])
			}
		default:
			ticket := uint32(len(all))
			r := wire.Request{
				Call: uint64(ticket), Attempt: 1, Target: wire.Target{Model: uint8(b.Below(3)), Region: uint8(b.Below(3))}, Stream: b.Below(2) == 1,
				Demand: wire.Demand{InputTokens: uint32(b.Below(8)), OutputTokens: uint32(b.Below(8)), MaxTokens: uint32(b.Below(12)), Priority: uint8(b.Below(3))},
			}
			w.out = nil
			w.pass(now)
			all = append(all, nil)
			all[ticket] = w.arrive(ticket, r, now)
			step(wire.Input{Kind: wire.Arrive, Ticket: ticket, Request: r})
		}
	}
	for len(working) > 0 {
		for job := range working {
			finish(job)
			break
		}
	}
	waiting := 0
	for _, s := range w.stations {
		waiting += len(s.waiting)
	}
	for ticket, j := range all {
		want := 1
		if j != nil && !j.over {
			want, waiting = 0, waiting-1
		}
		require.Equal(t, want, ends[uint32(ticket)], "every ticket ends once, unless it waits for slots that are not there")
	}
	require.Zero(t, waiting)
	require.Equal(t, w.ended, gate.ended)
	require.Equal(t, w.undone, gate.undone)
}

func TestCapacityAgainstNaiveTwin(t *testing.T) {
	for seed := range uint64(1500) {
		rnd := draw.New(seed)
		script := make([]byte, 100+rnd.Below(0, 400))
		for i := range script {
			script[i] = byte(rnd.Bits(uint64(i) + 1))
		}
		if checkCapacity(t, script); t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func FuzzStep(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{1, 2, 3, 0, 2, 2, 1, 1, 3, 20, 1, 0, 0, 2, 2, 1, 10, 5, 7, 6, 5, 4, 3, 2, 1})
	f.Fuzz(func(t *testing.T, script []byte) { checkCapacity(t, script) })
}
