package des

import (
	"container/heap"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// naive is the twin that is too simple to be wrong: a binary heap ordered by
// (time, kind, sequence).
type naive struct {
	items []naiveItem
	seq   int
}

type naiveItem struct {
	Event
	seq int
}

func (n *naive) Len() int      { return len(n.items) }
func (n *naive) Swap(i, j int) { n.items[i], n.items[j] = n.items[j], n.items[i] }
func (n *naive) Less(i, j int) bool {
	a, b := n.items[i], n.items[j]
	if a.At != b.At {
		return a.At < b.At
	}
	if a.Kind != b.Kind {
		return a.Kind < b.Kind
	}
	return a.seq < b.seq
}
func (n *naive) Push(x any) { n.items = append(n.items, x.(naiveItem)) }
func (n *naive) Pop() any {
	x := n.items[len(n.items)-1]
	n.items = n.items[:len(n.items)-1]
	return x
}
func (n *naive) push(e Event) { n.seq++; heap.Push(n, naiveItem{e, n.seq}) }
func (n *naive) pop() Event   { return heap.Pop(n).(naiveItem).Event }

// gap draws waits of every magnitude, with many exact ties.
func gap(r *rand.Rand) time.Duration {
	switch r.IntN(6) {
	case 0:
		return 0
	case 1:
		return time.Duration(r.IntN(3))
	case 2:
		return time.Duration(r.IntN(1000)) * time.Millisecond
	case 3:
		return time.Duration(r.Int64N(int64(time.Second)))
	case 4:
		return 30 * time.Second
	default:
		return time.Duration(r.Int64N(1 << (1 + r.IntN(45))))
	}
}

func TestQueueAgreesWithNaiveHeap(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		var q Queue
		var n naive
		ref := uint32(0)
		push := func(now time.Duration) {
			ref++
			e := Event{At: now + gap(r), Ref: ref, Kind: uint8(r.IntN(MaxKinds))}
			q.Push(e)
			n.push(e)
		}
		for range 1 + r.IntN(2000) {
			push(0)
		}
		for i := 0; n.Len() > 0; i++ {
			want := n.pop()
			got, ok := q.Pop()
			require.True(t, ok)
			require.Equal(t, want, got, "seed %d, pop %d", seed, i)
			require.Equal(t, want.At, q.Now())
			require.Equal(t, n.Len(), q.Len())
			// Events beget events, some of them at the same instant with a
			// lower kind than the one that fired; the population dies out.
			for i < 30_000 && r.IntN(100) < 60 && n.Len() < 5000 {
				push(want.At)
			}
		}
		_, ok := q.Pop()
		require.False(t, ok)
	}
}

func TestOpenedSeesEventsBeforeTheyFire(t *testing.T) {
	var q Queue
	seen := map[uint32]int{}
	q.Opened = func(es []Event) {
		for _, e := range es {
			seen[e.Ref]++
		}
	}
	r := rand.New(rand.NewPCG(7, 7))
	const n = 10_000
	for i := range uint32(n) {
		// Dense, as with many clients: some 30 events to each slot.
		q.Push(Event{At: time.Second + time.Duration(r.Int64N(int64(20*time.Millisecond))), Ref: i})
	}
	for q.Len() > 0 {
		e, _ := q.Pop()
		require.LessOrEqual(t, seen[e.Ref], 2)
	}
	require.Greater(t, len(seen), n*95/100)
}

func TestPushIntoThePastPanics(t *testing.T) {
	var q Queue
	q.Push(Event{At: time.Second})
	q.Pop()
	require.PanicsWithValue(t, "des: event of kind 3 scheduled at 999.999999ms, before the present 1s", func() {
		q.Push(Event{At: time.Second - 1, Kind: 3})
	})
}

// FuzzQueue lets the fuzzer write a schedule: each pair of bytes pushes an
// event or pops some.
func FuzzQueue(f *testing.F) {
	f.Add([]byte{0, 0, 1, 255, 2, 9, 200, 3, 7, 7})
	f.Fuzz(func(t *testing.T, script []byte) {
		var q Queue
		var n naive
		now := time.Duration(0)
		for i := 0; i+1 < len(script); i += 2 {
			op, arg := script[i], script[i+1]
			if op >= 200 {
				for range min(int(arg), n.Len()) {
					got, _ := q.Pop()
					want := n.pop()
					if got != want {
						t.Fatalf("popped %+v, want %+v", got, want)
					}
					now = got.At
				}
				continue
			}
			e := Event{At: now + time.Duration(arg)<<(op%48), Ref: uint32(i), Kind: op % MaxKinds}
			q.Push(e)
			n.push(e)
		}
	})
}

// BenchmarkHold is the hold model: pop one event, schedule one an exponential
// time later, at a steady population.
func BenchmarkHold(b *testing.B) {
	for _, n := range []int{1_000, 100_000, 1_000_000} {
		b.Run(size(n), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 2))
			waits := make([]time.Duration, 1<<16)
			for i := range waits {
				waits[i] = time.Duration(r.ExpFloat64() * float64(time.Second))
			}
			var q Queue
			q.Grow(n)
			for i := range n {
				q.Push(Event{At: waits[i&(1<<16-1)], Ref: uint32(i)})
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				e, _ := q.Pop()
				e.At += waits[i&(1<<16-1)]
				q.Push(e)
			}
		})
	}
}

func size(n int) string {
	switch {
	case n >= 1_000_000:
		return "pending=1M"
	case n >= 100_000:
		return "pending=100k"
	}
	return "pending=1k"
}
