package limits

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/mockprovider"
	"herdlab/mockprovider/providertest"
	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// Every limit that counts in time decides as its twin does, whatever is charged,
// kept and given back, and whoever is undone: what is undone might as well not
// have come, because the twin does not hear of it.
func TestGatesAgainstNaiveTwins(t *testing.T) {
	for _, kind := range tested {
		t.Run(kind.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				l := kind.draw(t, anyTerms(t))
				require.NoError(t, l.Validate())
				twin, events := playTwins(t, l, kind.blind, kind.sly)
				checkLaw(t, l, twin, events)
			})
		})
	}
}

// checkLaw checks what the limit promises, in what it counts: requests or
// tokens. Only what is charged at completion may be more.
func checkLaw(t *rapid.T, l mockprovider.Limit, twin naive, events []event) {
	_, terms, _ := twinOf(l)
	if terms.Charge.When == mockprovider.AtCompletion || terms.Keep == mockprovider.KeepAll {
		return
	}
	bucket := func(burst, limit, length int64) {
		// At most b + r·t in any interval, both ends included, and what was given
		// back meanwhile.
		for i, from := range events {
			sum := int64(0)
			for _, e := range events[i:] {
				sum += e.n
				require.LessOrEqual(t, sum*length, burst*length+int64(e.at-from.at)*limit)
			}
		}
	}
	switch l := l.(type) {
	case Window:
		s := twin.(*naiveWindow).slips
		require.LessOrEqual(t, s.most(l.Length), 2*int64(l.Limit))
		if l.Anchored {
			for _, start := range twin.(*naiveWindow).starts {
				require.LessOrEqual(t, s.sum(start, start+l.Length), int64(l.Limit))
			}
		}
	case Quota:
		for day := l.At - l.Every; day < 2000; day += l.Every {
			require.LessOrEqual(t, twin.(*naiveWindow).sum(day, day+l.Every), int64(l.Limit))
		}
	case SlidingLog:
		require.LessOrEqual(t, twin.(*naiveLog).most(l.Length), int64(l.Limit))
	case SlidingCounter:
		s := twin.(*naiveCounter).slips
		require.LessOrEqual(t, s.most(l.Length), max(1, 2*int64(l.Limit)-1))
		for start := time.Duration(0); start < 2000; start += l.Length {
			require.LessOrEqual(t, s.sum(start, start+l.Length), int64(l.Limit))
		}
	case TokenBucket:
		bucket(int64(l.Burst), int64(l.Limit), int64(l.Length))
	case LeakyBucket:
		bucket(int64(l.Size), int64(l.Limit), int64(l.Length))
	case GCRA:
		for i, from := range events { // 1 + (tolerance + t) ÷ interval
			sum := int64(0)
			for _, e := range events[i:] {
				sum += e.n
				require.LessOrEqual(t, (sum-1)*int64(l.Interval), int64(l.Tolerance+e.at-from.at))
			}
		}
	case Sliced:
		part, all := twin.(*naiveSliced).part, twin.(*naiveSliced).all
		require.LessOrEqual(t, part.most(part.length), 2*part.limit)
		for start := time.Duration(0); start < 2000; start += l.Length {
			require.LessOrEqual(t, all.sum(start, start+l.Length), int64(l.Limit))
		}
	case Penalty:
		require.LessOrEqual(t, twin.(*naivePenalty).most(l.Length), 2*int64(l.Limit))
	case Ramp:
		s := twin.(*naiveRamp).slips
		for start := l.Length; start < 2000; start += l.Length {
			if terms.Charge.Settles() {
				break // what is given back afterwards has let the next one in
			}
			require.LessOrEqual(t, s.sum(start, start+l.Length), int64(l.Base)+s.sum(start-l.Length, start)*int64(l.Growth)/100)
		}
	default:
		t.Fatalf("what does a %T promise?", l)
	}
}

// counting are the limits that count requests in time, each of l in w; the
// bucket holds as many as come in w.
func counting(l int32, w time.Duration, hint mockprovider.Hint) []mockprovider.Limit {
	r := mockprovider.Refusal{Hint: hint}
	return []mockprovider.Limit{
		Window{Limit: l, Length: w, Terms: mockprovider.Terms{Refusal: r}},
		Window{Limit: l, Length: w, Anchored: true, Terms: mockprovider.Terms{Refusal: r}},
		SlidingLog{Limit: l, Length: w, Terms: mockprovider.Terms{Refusal: r}},
		SlidingCounter{Limit: l, Length: w, Terms: mockprovider.Terms{Refusal: r}},
		TokenBucket{Limit: l, Length: w, Burst: l, Terms: mockprovider.Terms{Refusal: r}},
	}
}

// Around the tick of a minute, 200 requests in its last second and 200 in the
// first of the next meet a limit of 120 a minute.
func TestBoundaryBurst(t *testing.T) {
	burst := append(providertest.Evenly(200, 59*time.Second, 60*time.Second), providertest.Evenly(200, 60*time.Second, 61*time.Second)...)
	// A bucket of 120 gets 2 more tokens a second: until 61 s, three have come.
	for i, want := range []int{240, 120, 120, 121, 123} {
		limit := counting(120, time.Minute, mockprovider.Hint{})[i]
		p, err := mockprovider.New(mockprovider.Config{Limits: []mockprovider.Limit{limit}}, draw.New(1))
		require.NoError(t, err)
		require.Equal(t, want, providertest.Arrivals(t, p, burst...), "%#v", limit)
	}
}

// Who asks at every instant gets what Bound says: in k times Per, that much k
// times, and once what a limit lets through in the beginning.
func TestBoundIsWhatPasses(t *testing.T) {
	const k = 50
	for _, l := range []int32{1, 2, 3, 7, 60} {
		for _, limit := range append(counting(l, 420, mockprovider.Hint{}),
			Quota{Limit: l, Every: 420, At: 77}, LeakyBucket{Limit: l, Length: 420, Size: l}, GCRA{Interval: 420 / time.Duration(l), Tolerance: 419},
			Sliced{Limit: l, Length: 420, Slices: 3}, Only{Limit: Window{Limit: l, Length: 420}},
		) {
			b := limit.Bound(mockprovider.Load{})
			gate, n := limit.Gate(mockprovider.Space{}), int64(0)
			for now := range k * b.Per {
				if gate.Take(now, &wire.Request{}) {
					n++
				}
			}
			name := fmt.Sprintf("%#v", limit)
			require.GreaterOrEqual(t, n, k*b.Count, name)
			require.LessOrEqual(t, n, k*b.Count+int64(l), name)
		}
	}
}

func TestCountingLimitsOfAccounts(t *testing.T) {
	for _, limit := range []mockprovider.Limit{
		SlidingLog{Limit: 2, Length: time.Second, Terms: mockprovider.Terms{Per: mockprovider.Account}},
		SlidingCounter{Limit: 2, Length: time.Second, Terms: mockprovider.Terms{Per: mockprovider.Account}},
		TokenBucket{Limit: 2, Length: time.Second, Burst: 2, Terms: mockprovider.Terms{Per: mockprovider.Account}},
	} {
		play(t, mockprovider.Config{Space: mockprovider.Space{Accounts: 2}, Limits: []mockprovider.Limit{limit}}, `
			arrive 1 account=0 -> 1 started 0s
			arrive 2 account=0 -> 2 started 0s
			arrive 3 account=0 -> 3 429 rate limit=2 left=0
			arrive 4 account=1 -> 4 started 0s`)
		require.Equal(t, 5*limit.Bound(mockprovider.Load{}).PerSecond(), limit.Bound(mockprovider.Load{Space: mockprovider.Space{Accounts: 5}}).PerSecond())
	}
}

// The largest numbers neither overflow nor hang: the largest limit refuses
// nobody, and one of 1 in all of time everybody but the first.
func TestCountingLimitsAtTheEndsOfNumbers(t *testing.T) {
	at := []time.Duration{0, time.Second, time.Hour, math.MaxInt64 - 2, math.MaxInt64 - 1}
	for l, want := range map[int32]int{1: 1, math.MaxInt32: len(at)} {
		for _, limit := range counting(l, math.MaxInt64, mockprovider.Hint{Kind: mockprovider.Exact})[:4] { // a bucket has ends of its own
			p, err := mockprovider.New(mockprovider.Config{Limits: []mockprovider.Limit{limit}}, draw.New(1))
			require.NoError(t, err)
			require.Equal(t, want, providertest.Arrivals(t, p, at...), "%#v", limit)
		}
	}
}

// gated returns one of each limit, of that many requests a second.
func gated(limit int32) []mockprovider.Limit {
	const s = time.Second
	limits := append(counting(limit, s, mockprovider.Hint{Kind: mockprovider.Exact}),
		Joint{Limit: limit, Length: s}, Semaphore{Limit: limit}, Quota{Limit: limit, Every: s}, Sliced{Limit: limit, Length: s, Slices: 2},
		Penalty{Limit: limit, Length: s, Block: s}, Ramp{Base: limit, Length: s, Growth: 100}, GCRA{Interval: s / time.Duration(limit), Tolerance: s},
		LeakyBucket{Limit: limit, Length: s, Size: limit}, Tiered{{mockprovider.Match{Accounts: mockprovider.Just(1)}, Semaphore{Limit: 1}}, {mockprovider.Match{}, Window{Limit: limit, Length: s}}},
	)
	for _, l := range counting(100*limit, s, mockprovider.Hint{Kind: mockprovider.Exact}) {
		limits = append(limits, charging(l, mockprovider.Charge{Count: mockprovider.AllTokens, When: mockprovider.Reserved}), charging(l, mockprovider.Charge{Count: mockprovider.OutputTokens, When: mockprovider.AtCompletion}))
	}
	return limits
}

// sink keeps the verdicts that are measured.
var sink mockprovider.Verdict

// No gate allocates once it has seen its largest crowd, be it that it lets a
// request in or refuses it.
func TestGatesDoNotAllocate(t *testing.T) {
	p, err := mockprovider.New(mockprovider.Config{Limits: gated(1000)}, draw.New(1))
	require.NoError(t, err)
	in, out := &wire.Input{}, make([]wire.Effect, 0, 4)
	in.Request.Demand = wire.Demand{InputTokens: 10, OutputTokens: 10, MaxTokens: 80}
	now := time.Duration(0)
	for range 2000 {
		now += 2 * time.Millisecond
		out = serve(p, now, in, out)
	}
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		now += 2 * time.Millisecond
		out = serve(p, now, in, out)
	}))
	for _, l := range gated(1) { // each of them refuses what it has no room for
		gate := l.Gate(mockprovider.Space{})
		r := wire.Request{Demand: wire.Demand{InputTokens: 101, OutputTokens: 50}}

		for gate.Take(0, &r) {
			gate.Release(0, &r, mockprovider.Ended{Tokens: 50})
			if _, ok := gate.(*semaphore); ok {
				break
			}
		}
		require.Zero(t, testing.AllocsPerRun(1000, func() {
			if !gate.Take(0, &r) {
				sink = gate.Refuse(0, &r)
			}
		}))
	}
}

// BenchmarkGate measures each gate alone: what it lets in and releases, and
// what it refuses.
func BenchmarkGate(b *testing.B) {
	limits := append(counting(1000, time.Second, mockprovider.Hint{Kind: mockprovider.Exact}), Joint{Limit: 1000, Length: time.Second}, Semaphore{Limit: 1000})
	for i, name := range []string{"window", "window anchored", "log", "counter", "bucket", "joint", "semaphore"} {
		for _, gap := range []time.Duration{2 * time.Millisecond, time.Microsecond} {
			b.Run(fmt.Sprintf("%s/every %v", name, gap), func(b *testing.B) {
				gate, now := limits[i].Gate(mockprovider.Space{}), time.Duration(0)
				var r wire.Request

				b.ReportAllocs()
				for b.Loop() {
					if now += gap; gate.Take(now, &r) {
						gate.Release(now, &r, mockprovider.Ended{})
					} else {
						sink = gate.Refuse(now, &r)
					}
				}
			})
		}
	}
}
