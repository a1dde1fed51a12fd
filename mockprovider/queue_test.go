package mockprovider

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// The queue against a list that is searched: any order, and anybody may leave
// from anywhere.
func TestQueueAgainstList(t *testing.T) {
	type waits struct {
		job uint32
		key uint64
	}
	rapid.Check(t, func(t *rapid.T) {
		order := Order(rapid.IntRange(0, numOrders-1).Draw(t, "order"))
		turns := rapid.IntRange(2, 5).Draw(t, "turns")
		q := newQueue(Discipline{Order: order, Turns: turns})
		var places []place
		var free []uint32
		var list []waits // as they came
		next := func() int {
			switch {
			case order == LIFO || order == AdaptiveLIFO && len(list) >= turns:
				return len(list) - 1
			case order == ShortestFirst || order == UrgentFirst:
				first := slices.MinFunc(list, func(a, b waits) int { return cmp.Compare(a.key, b.key) })
				return slices.Index(list, first)
			}
			return 0
		}
		remove := func(i int) {
			q.remove(places, list[i].job)
			free = append(free, list[i].job)
			list = slices.Delete(list, i, i+1)
		}
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				job := uint32(len(places))
				if len(free) > 0 {
					job, free = free[0], free[1:]
				} else {
					places = append(places, place{})
				}
				key := uint64(rapid.IntRange(0, 3).Draw(t, "key"))
				q.join(places, job)
				if q.ranked() {
					q.ranking.push(places, job, key)
				}
				list = append(list, waits{job, key})
			},
			"serve": func(t *rapid.T) {
				if len(list) > 0 {
					remove(next())
				}
			},
			"leave": func(t *rapid.T) {
				if len(list) > 0 {
					remove(rapid.IntRange(0, len(list)-1).Draw(t, "who"))
				}
			},
			"": func(t *rapid.T) {
				require.Equal(t, len(list), q.n)
				if len(list) > 0 {
					require.Equal(t, list[next()].job, q.next())
					require.Equal(t, list[0].job, q.oldest)
				}
			},
		})
	})
}

// The ring against a slice.
func TestRing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q ring[uint32]
		var twin []uint32
		next := uint32(0)
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				for range rapid.IntRange(1, 20).Draw(t, "n") {
					q.push(next)
					twin = append(twin, next)
					next++
				}
			},
			"pop": func(t *rapid.T) {
				for range rapid.IntRange(1, 20).Draw(t, "n") {
					if len(twin) > 0 {
						require.Equal(t, twin[0], *q.first())
						q.pop()
						twin = twin[1:]
					}
				}
			},
			"": func(t *rapid.T) { require.Equal(t, len(twin), q.len()) },
		})
	})
}

// One slot is held; in what order do five that wait get it?
func TestOrders(t *testing.T) {
	demands := []wire.Demand{
		1: {}, // in service
		2: {InputTokens: 9, OutputTokens: 9, Priority: 1},
		3: {InputTokens: 5, OutputTokens: 3, Priority: 0},
		4: {InputTokens: 0, OutputTokens: 5, Priority: 2},
		5: {InputTokens: 4, OutputTokens: 4, Priority: 0},
		6: {OutputTokens: 50, MaxTokens: 1, Priority: 255},
	}
	for order, c := range map[Order]struct {
		turns int
		want  []uint32
	}{
		FIFO:          {0, []uint32{2, 3, 4, 5, 6}},
		LIFO:          {0, []uint32{6, 5, 4, 3, 2}},
		AdaptiveLIFO:  {4, []uint32{6, 5, 2, 3, 4}}, // five wait, then four, then few
		ShortestFirst: {0, []uint32{6, 4, 3, 5, 2}}, // 3 and 5 are equal
		UrgentFirst:   {0, []uint32{3, 5, 2, 4, 6}},
	} {
		p, err := New(Config{Capacity: Capacity{
			Slots: 1, Queue: 5, Discipline: Discipline{Order: order, Turns: c.turns},
			Service: Service{PerInput: time.Second, PerToken: time.Second},
		}}, draw.New(1))
		require.NoError(t, err)
		var job uint32
		var got []uint32
		for ticket := 1; ticket < len(demands); ticket++ {
			for _, e := range p.Step(0, &wire.Input{Ticket: uint32(ticket), Request: wire.Request{Call: uint64(ticket), Demand: demands[ticket]}}, nil) {
				job = e.Job
			}
		}
		for p.Queued() > 0 {
			started := p.Step(0, &wire.Input{Kind: wire.Done, Job: job}, nil)[1]
			got, job = append(got, started.Ticket), started.Job
		}
		require.Equal(t, c.want, got, "order %d", order)
	}
}

// Whoever has waited too long is dropped when a slot is free, not before, and
// as if there had been no room.
func TestMaxWait(t *testing.T) {
	p := play(t, Config{RefusalTime: 50 * time.Millisecond, Capacity: Capacity{
		Slots: 1, Queue: 4, Full: As429, Service: takes(10 * time.Second), Discipline: Discipline{MaxWait: 6 * time.Second},
	}}, `
		arrive 1 -> 1 started 10s
		@1s arrive 2 -> queued
		@3.999s arrive 3 -> queued
		@4s arrive 4 -> queued
		@9s arrive 5 -> queued
		arrive 6 -> 6 429 overloaded in 50ms
		@10s done 1 -> 1 200 ok slot=10s; 2 429 overloaded in 50ms; 3 429 overloaded in 50ms; 4 started 10s
		@20s done 4 -> 4 200 ok slot=10s; 5 429 overloaded in 50ms`)
	require.Zero(t, p.Busy())
	// In a stack, those at the bottom are not forgotten.
	play(t, Config{Capacity: Capacity{
		Slots: 1, Queue: 4, Service: takes(10 * time.Second), Discipline: Discipline{Order: LIFO, MaxWait: 6 * time.Second},
	}}, `
		arrive 1 -> 1 started 10s
		@1s arrive 2 -> queued
		@8s arrive 3 -> queued
		@9s arrive 4 -> queued
		@10s done 1 -> 1 200 ok slot=10s; 2 503 overloaded; 4 started 10s
		@20s done 4 -> 4 200 ok slot=10s; 3 503 overloaded`)
}

func TestDisciplineValidate(t *testing.T) {
	for want, d := range map[string]Discipline{
		"there is no order 5": {Order: 5},
		"the longest wait must not be negative; 0 means no bound":                                        {MaxWait: -1},
		"an adaptive LIFO must not turn before two wait; use LIFO for one that always serves the newest": {Order: AdaptiveLIFO, Turns: 1},
		"only an adaptive LIFO turns; leave that out":                                                    {Turns: 3},
		"codel: target and interval must not be negative, nor beyond all times":                          {CoDel: CoDel{Target: -1}},
		"codel: it needs an interval, of about twenty targets; leave out the target for no shedding":     {CoDel: CoDel{Target: 1}},
	} {
		require.EqualError(t, d.validate(1), want)
	}
	d := Discipline{Order: LIFO}
	require.EqualError(t, d.validate(0), "the queue has no places; give it some, or leave its discipline out")
	require.NoError(t, (&Discipline{}).validate(0))
	require.NoError(t, (&Discipline{Order: AdaptiveLIFO, Turns: 2, MaxWait: 1, DropGone: true, CoDel: CoDel{1, 20}}).validate(1))
}
