package metrics

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/mockprovider/wire"
)

// wish is one call of a ledger made by hand. Its attempts arrive at once; the
// last of them is answered when the call is settled, the others are refused
// when the next arrives.
type wish struct {
	born    time.Duration
	tries   []time.Duration // when attempts arrive, the first when it is born
	settled time.Duration   // ever if it is not
	how     fate
}

// fate is how a call ends.
type fate uint8

const (
	well      fate = iota // answered usefully
	mistaken              // a refusal taken for an answer
	abandoned             // given up
)

// answered is a call with one attempt that is answered usefully.
func answered(born, at time.Duration) wish {
	return wish{born: born, tries: []time.Duration{born}, settled: at}
}

// ever is when what never happens does.
const ever = time.Duration(math.MaxInt64)

// record plays the wishes until the horizon, or as long as something happens.
func record(t require.TestingT, p Plan, wishes []wish) *Report {
	const begins, arrives, ends = 0, 1, 2 // in this order at one instant
	type event struct {
		at   time.Duration
		kind int
		wish *wish
		try  uint32
	}
	var events []event
	for i := range wishes {
		w := &wishes[i]
		events = append(events, event{w.born, begins, w, 0})
		for n, at := range w.tries {
			events = append(events, event{at, arrives, w, uint32(n + 1)})
		}
		if w.settled != ever {
			events = append(events, event{w.settled, ends, w, 0})
		}
	}
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.kind, b.kind)) })
	r := NewRecorder(p)
	var end time.Duration
	flying := map[*wish]bool{}
	for _, e := range events {
		if e.at >= p.Horizon {
			end = p.Horizon
			break
		}
		end = e.at
		w := e.wish
		switch e.kind {
		case begins:
			r.CallBegan(e.at)
		case arrives:
			if flying[w] {
				r.Replied(wire.Overloaded, 0)
				r.AttemptEnded(Refused)
			}
			flying[w] = true
			r.AttemptSent(e.try, false)
			r.AttemptArrived(e.at)
		case ends:
			if flying[w] {
				class, how := wire.OK, Answered
				if w.how != well {
					class, how = wire.Rate, Refused
				}
				r.Replied(class, 0)
				r.AttemptEnded(how)
				delete(flying, w)
			}
			r.CallSettled(e.at, Settlement{Born: w.born, Succeeded: w.how != abandoned, Useful: w.how == well})
		}
	}
	rep := r.Finish(end, uint64(len(flying)), func(yield func(time.Duration)) {
		for i := range wishes {
			if w := &wishes[i]; w.born < p.Horizon && w.settled >= p.Horizon {
				yield(w.born)
			}
		}
	})
	require.NoError(t, rep.Check())
	return rep
}

// plans are plans of all kinds, with a fault or without.
func plans(t *rapid.T) Plan {
	ms := func(label string, least, most int) time.Duration {
		return time.Duration(rapid.IntRange(least, most).Draw(t, label)) * time.Millisecond
	}
	p := Plan{
		Bin:      rapid.SampledFrom([]time.Duration{s / 2, s, 3 * s / 2, 4 * s, 7 * s, 60 * s}).Draw(t, "bin"),
		Horizon:  ms("horizon", 1, 200_000),
		Service:  ms("service", 0, 15_000),
		Capacity: rapid.SampledFrom([]float64{0, 0.25, 1, 3}).Draw(t, "capacity"),
		OneShot:  rapid.IntRange(0, 9).Draw(t, "one shot") == 0,
		Supply:   rapid.SampledFrom([]Supply{Counted, Open, Endless}).Draw(t, "supply"),
	}
	if rapid.Bool().Draw(t, "fault") {
		p.FaultEnd = ms("fault end", 1, 120_000)
		p.FaultBegin = min(p.FaultEnd, ms("fault begin", 0, 120_000))
	}
	return p
}

// wishesOf are calls of all kinds, some of which come together.
func wishesOf(t *rapid.T, p Plan) []wish {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) wish {
		born := time.Duration(rapid.IntRange(0, 150_000).Draw(t, "born")) * time.Millisecond
		if rapid.Bool().Draw(t, "together") {
			born -= born % (10 * s)
		}
		w := answered(born, born+p.Service)
		w.how = rapid.SampledFrom([]fate{well, well, well, well, mistaken, abandoned}).Draw(t, "fate")
		if rapid.Bool().Draw(t, "slow") {
			for range rapid.IntRange(0, 3).Draw(t, "retries") {
				w.settled += time.Duration(rapid.IntRange(1, 30_000).Draw(t, "wait")) * time.Millisecond
				w.tries = append(w.tries, w.settled)
			}
			w.settled += p.Service
		}
		if rapid.IntRange(0, 20).Draw(t, "stuck") == 0 {
			w.settled = ever
		}
		return w
	}), 0, 60).Draw(t, "wishes")
}
