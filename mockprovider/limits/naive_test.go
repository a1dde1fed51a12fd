package limits

import (
	"math"
	"math/big"
	"slices"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/mockprovider"
	"herdlab/mockprovider/wire"
)

// naive is the twin of a gate that is too simple to be wrong: it writes down all
// that it is charged, and adds it up anew each time.
type naive interface {
	// room reports whether n more may be charged at now.
	room(now time.Duration, n int64) bool
	// charge charges n at now.
	charge(now time.Duration, n int64)
	// correct is told at now that what was charged at since was n too little.
	correct(now, since time.Duration, n int64)
	// refused records that n were refused at now, and whether they count.
	refused(now time.Duration, n int64, counts bool)
}

// slips are what was charged when: what is given back later is a negative slip
// at the time of the charge.
type slips []struct {
	at time.Duration
	n  int64
}

func (s *slips) charge(at time.Duration, n int64) {
	*s = append(*s, struct {
		at time.Duration
		n  int64
	}{at, n})
}

func (s *slips) correct(now, since time.Duration, n int64) { s.charge(since, n) }

func (s *slips) refused(now time.Duration, n int64, counts bool) {
	if counts {
		s.charge(now, n)
	}
}

// sum is what was charged from ≤ t < to.
func (s slips) sum(from, to time.Duration) (n int64) {
	for _, slip := range s {
		if from <= slip.at && slip.at < to {
			n += slip.n
		}
	}
	return n
}

// most is the largest sum of any half-open interval of that length.
func (s slips) most(length time.Duration) (n int64) {
	for _, slip := range s {
		n = max(n, s.sum(slip.at, slip.at+length))
	}
	return n
}

// naiveWindow knows when windows began.
type naiveWindow struct {
	slips
	limit    int64
	length   time.Duration
	anchored bool
	offset   time.Duration
	starts   []time.Duration // of windows, if anchored
}

// start returns when the window began that now falls into; now if it would
// begin one.
func (w *naiveWindow) start(now time.Duration) time.Duration {
	n := len(w.starts)
	switch {
	case !w.anchored && now < w.offset:
		return 0
	case !w.anchored:
		return now - (now-w.offset)%w.length
	case n > 0 && now-w.starts[n-1] < w.length:
		return w.starts[n-1]
	}
	return now
}

// used is what was charged in the window that now falls into.
func (w *naiveWindow) used(now time.Duration) int64 { return w.sum(w.start(now), mockprovider.Forever) }

func (w *naiveWindow) room(now time.Duration, n int64) bool { return w.used(now)+n <= w.limit }

func (w *naiveWindow) charge(now time.Duration, n int64) {
	if s := w.start(now); w.anchored && n > 0 && (len(w.starts) == 0 || s != w.starts[len(w.starts)-1]) {
		w.starts = append(w.starts, s)
	}
	w.slips.charge(now, n)
}

func (w *naiveWindow) correct(now, since time.Duration, n int64) {
	if now == since { // it is charged late
		w.charge(now, n)
		return
	}
	w.slips.charge(since, n)
}

func (w *naiveWindow) refused(now time.Duration, n int64, counts bool) {
	if counts {
		w.charge(now, n)
	}
}

// naiveLog looks back.
type naiveLog struct {
	slips
	limit  int64
	length time.Duration
}

func (l *naiveLog) room(now time.Duration, n int64) bool {
	return l.sum(now-l.length+1, mockprovider.Forever)+n <= l.limit
}

// naiveCounter counts windows with fractions.
type naiveCounter struct {
	slips
	limit  int64
	length time.Duration
}

func (c *naiveCounter) room(now time.Duration, n int64) bool {
	start := now - now%c.length
	covered := new(big.Rat).Sub(big.NewRat(1, 1), big.NewRat(int64(now-start), int64(c.length)))
	sum := covered.Mul(covered, big.NewRat(c.sum(start-c.length, start), 1))
	sum.Add(sum, big.NewRat(c.sum(start, mockprovider.Forever)+n, 1))
	return sum.Cmp(big.NewRat(c.limit, 1)) <= 0
}

// gcra is the other way to say what a bucket does (ITU-T I.371): a request is
// due an interval after the one before it was, and may come so much too early.
type gcra struct {
	interval, tolerance *big.Rat
	due                 *big.Rat // the theoretical arrival time of the next
}

func newGCRA(limit, length, burst int64) *gcra {
	interval := big.NewRat(length, limit)
	return &gcra{interval, new(big.Rat).Mul(interval, big.NewRat(burst-1, 1)), new(big.Rat)}
}

// after is when the next is due if n more come at now.
func (g *gcra) after(now time.Duration, n int64) *big.Rat {
	due := big.NewRat(int64(now), 1)
	if g.due.Cmp(due) > 0 {
		due = g.due
	}
	return new(big.Rat).Add(due, new(big.Rat).Mul(g.interval, big.NewRat(n, 1)))
}

func (g *gcra) room(now time.Duration, n int64) bool {
	early := new(big.Rat).Sub(g.after(now, n-1), big.NewRat(int64(now), 1))
	return early.Cmp(g.tolerance) <= 0
}

func (g *gcra) charge(now time.Duration, n int64)         { g.due = g.after(now, n) }
func (g *gcra) correct(now, since time.Duration, n int64) { g.due = g.after(now, n) }
func (g *gcra) refused(now time.Duration, n int64, kept bool) {
	if !kept {
		return
	}
	// It takes what there is.
	empty := new(big.Rat).Add(big.NewRat(int64(now), 1), new(big.Rat).Add(g.tolerance, g.interval))
	if g.due.Cmp(empty) < 0 {
		if g.due = g.after(now, n); g.due.Cmp(empty) > 0 {
			g.due = empty
		}
	}
}

// naiveRamp compares with the window before.
type naiveRamp struct {
	slips
	base, growth int64
	length       time.Duration
}

func (a *naiveRamp) room(now time.Duration, n int64) bool {
	start := now - now%a.length
	return a.sum(start, mockprovider.Forever)+n <= a.base+a.sum(start-a.length, start)*a.growth/100
}

// naivePenalty is a window that knows when it was blocked.
type naivePenalty struct {
	naiveWindow
	block    time.Duration
	restarts bool
	until    time.Duration
}

func (p *naivePenalty) room(now time.Duration, n int64) bool {
	return now >= p.until && p.naiveWindow.room(now, n)
}

func (p *naivePenalty) refused(now time.Duration, n int64, _ bool) {
	if n <= p.limit && (p.restarts || now >= p.until) {
		p.until, p.starts = now+p.block, append(p.starts, now-p.length) // what began then is over
	}
}

func (p *naivePenalty) correct(now, since time.Duration, n int64) {
	if now >= p.until {
		p.naiveWindow.correct(now, since, n)
	}
}

// naiveSliced are two windows.
type naiveSliced struct {
	part, all naiveWindow
}

func (s *naiveSliced) room(now time.Duration, n int64) bool {
	return s.part.room(now, n) && s.all.room(now, n)
}

func (s *naiveSliced) charge(now time.Duration, n int64) {
	s.part.charge(now, n)
	s.all.charge(now, n)
}

func (s *naiveSliced) correct(now, since time.Duration, n int64) {
	s.part.correct(now, since, n)
	s.all.correct(now, since, n)
}

func (s *naiveSliced) refused(now time.Duration, n int64, counts bool) {
	s.part.refused(now, n, counts)
	s.all.refused(now, n, counts)
}

// tested are the kinds of limits that count in time.
var tested = []struct {
	name string
	draw func(t *rapid.T, terms mockprovider.Terms) mockprovider.Limit // a small one
	// Blind limits do not know when requests of any size would be let in; those
	// that tell of another limit than the one that refuses are sly.
	blind, sly bool
}{
	{name: "window", draw: func(t *rapid.T, terms mockprovider.Terms) mockprovider.Limit {
		return Window{Limit: smallLimit(t), Length: smallLength(t), Anchored: rapid.Bool().Draw(t, "anchored"), Terms: terms}
	}},
	{name: "quota", draw: func(t *rapid.T, terms mockprovider.Terms) mockprovider.Limit {
		q := Quota{Limit: smallLimit(t), Every: smallLength(t), Terms: terms}
		q.At = time.Duration(rapid.IntRange(0, int(q.Every)-1).Draw(t, "at"))
		return q
	}},
	{name: "sliding log", draw: func(t *rapid.T, terms mockprovider.Terms) mockprovider.Limit {
		if terms.Charge.Settles() {
			terms.Keep = min(terms.Keep, mockprovider.KeepOthers)
		}
		return SlidingLog{Limit: smallLimit(t), Length: smallLength(t), Terms: terms}
	}},
	{name: "sliding counter", draw: func(t *rapid.T, terms mockprovider.Terms) mockprovider.Limit {
		return SlidingCounter{Limit: smallLimit(t), Length: smallLength(t), Terms: terms}
	}},
	{name: "token bucket", draw: func(t *rapid.T, terms mockprovider.Terms) mockprovider.Limit {
		return TokenBucket{Limit: smallLimit(t), Length: smallLength(t), Burst: smallLimit(t), Terms: terms}
	}},
	{name: "leaky bucket", draw: func(t *rapid.T, terms mockprovider.Terms) mockprovider.Limit {
		return LeakyBucket{Limit: smallLimit(t), Length: smallLength(t), Size: smallLimit(t), Terms: terms}
	}},
	{name: "gcra", draw: func(t *rapid.T, terms mockprovider.Terms) mockprovider.Limit {
		tolerance := time.Duration(rapid.IntRange(0, 300).Draw(t, "tolerance"))
		return GCRA{Interval: smallLength(t), Tolerance: tolerance, Terms: terms}
	}},
	{name: "sliced window", sly: true, draw: func(t *rapid.T, terms mockprovider.Terms) mockprovider.Limit {
		s := Sliced{Limit: smallLimit(t), Slices: rapid.Int32Range(2, 5).Draw(t, "slices"), Terms: terms}
		s.Length = smallLength(t) * time.Duration(s.Slices)
		return s
	}},
	{name: "penalty", draw: func(t *rapid.T, terms mockprovider.Terms) mockprovider.Limit {
		p := Penalty{Limit: smallLimit(t), Length: smallLength(t), Restarts: rapid.Bool().Draw(t, "restarts"), Terms: terms}
		p.Block = p.Length + smallLength(t) - 1
		return p
	}},
	{name: "ramp", blind: true, sly: true, draw: func(t *rapid.T, terms mockprovider.Terms) mockprovider.Limit {
		return Ramp{Base: smallLimit(t), Length: smallLength(t), Growth: rapid.Int32Range(100, 300).Draw(t, "growth"), Terms: terms}
	}},
}

// twinOf returns the twin of a limit that counts in time, for one caller, its
// terms, and how much a request may need at most; nil if it is none.
func twinOf(l mockprovider.Limit) (twin naive, terms mockprovider.Terms, whole int64) {
	switch l := l.(type) {
	case Window:
		return &naiveWindow{limit: int64(l.Limit), length: l.Length, anchored: l.Anchored}, l.Terms, int64(l.Limit)
	case Quota:
		return &naiveWindow{limit: int64(l.Limit), length: l.Every, offset: l.At}, l.Terms, int64(l.Limit)
	case SlidingLog:
		return &naiveLog{limit: int64(l.Limit), length: l.Length}, l.Terms, int64(l.Limit)
	case SlidingCounter:
		return &naiveCounter{limit: int64(l.Limit), length: l.Length}, l.Terms, int64(l.Limit)
	case TokenBucket:
		return newGCRA(int64(l.Limit), int64(l.Length), int64(l.Burst)), l.Terms, int64(l.Burst)
	case LeakyBucket:
		return newGCRA(int64(l.Limit), int64(l.Length), int64(l.Size)), l.Terms, int64(l.Size)
	case GCRA:
		return &gcra{big.NewRat(int64(l.Interval), 1), big.NewRat(int64(l.Tolerance), 1), new(big.Rat)}, l.Terms, 1 + int64(l.Tolerance/l.Interval)
	case Sliced:
		part := naiveWindow{limit: int64((l.Limit + l.Slices - 1) / l.Slices), length: l.Length / time.Duration(l.Slices)}
		return &naiveSliced{part, naiveWindow{limit: int64(l.Limit), length: l.Length}}, l.Terms, part.limit
	case Penalty:
		w := naiveWindow{limit: int64(l.Limit), length: l.Length, anchored: true}
		return &naivePenalty{naiveWindow: w, block: l.Block, restarts: l.Restarts}, l.Terms, int64(l.Limit)
	case Ramp:
		return &naiveRamp{base: int64(l.Base), growth: int64(l.Growth), length: l.Length}, l.Terms, math.MaxInt32
	}
	return nil, mockprovider.Terms{}, 0
}

func smallLimit(t *rapid.T) int32 { return rapid.Int32Range(1, 12).Draw(t, "limit") }

func smallLength(t *rapid.T) time.Duration {
	return time.Duration(rapid.IntRange(1, 50).Draw(t, "length"))
}

// anyTerms draws what is charged, and what is kept.
func anyTerms(t *rapid.T) mockprovider.Terms {
	terms := mockprovider.Terms{Charge: mockprovider.Charge{Count: mockprovider.Unit(rapid.IntRange(0, int(mockprovider.AllTokens)).Draw(t, "unit"))}}
	if rapid.Bool().Draw(t, "settled") {
		terms.Charge.When = mockprovider.Moment(rapid.IntRange(0, int(mockprovider.AtCompletion)).Draw(t, "moment"))
		terms.Charge.Failed = mockprovider.Settlement(rapid.IntRange(0, int(mockprovider.Whole)).Draw(t, "failed"))
		terms.Charge.Cancelled = mockprovider.Settlement(rapid.IntRange(0, int(mockprovider.Whole)).Draw(t, "cancelled"))
	}
	if terms.Charge.Count >= mockprovider.OutputTokens {
		terms.Charge.Least = uint32(rapid.IntRange(0, 4).Draw(t, "least"))
	}
	if terms.Charge.When != mockprovider.AtCompletion {
		terms.Keep = mockprovider.Keep(rapid.IntRange(0, int(mockprovider.KeepAll)).Draw(t, "keep"))
	}
	return terms
}

// naiveCost is what is charged for r when it comes, and naiveDue in the end.
func naiveCost(c mockprovider.Charge, r *wire.Request) int64 {
	if c.When == mockprovider.AtCompletion {
		return 0
	}
	return reserved(c, r)
}

func reserved(c mockprovider.Charge, r *wire.Request) int64 {
	out := r.Demand.OutputTokens
	if r.Demand.MaxTokens != 0 {
		out = r.Demand.MaxTokens
	}
	return produced(c, r, max(out, c.Least))
}

func produced(c mockprovider.Charge, r *wire.Request, out uint32) int64 {
	return map[mockprovider.Unit]int64{
		mockprovider.Requests: 1, mockprovider.InputTokens: int64(r.Demand.InputTokens), mockprovider.OutputTokens: int64(out), mockprovider.AllTokens: int64(r.Demand.InputTokens) + int64(out),
	}[c.Count]
}

func naiveDue(c mockprovider.Charge, r *wire.Request, e mockprovider.Ended) int64 {
	rule := map[wire.Class]mockprovider.Settlement{wire.OK: mockprovider.AsServed, wire.Cancelled: c.Cancelled, wire.ServerError: c.Failed}[e.Class]
	if rule == mockprovider.AsServed {
		rule = map[mockprovider.Moment]mockprovider.Settlement{mockprovider.AtAdmission: mockprovider.Whole, mockprovider.Reserved: mockprovider.Produced, mockprovider.AtCompletion: mockprovider.Produced}[c.When]
	}
	return map[mockprovider.Settlement]int64{mockprovider.Refunded: 0, mockprovider.Produced: produced(c, r, e.Tokens), mockprovider.Whole: reserved(c, r)}[rule]
}

// event is what a gate was charged or gave back, when it did.
type event struct {
	at time.Duration
	n  int64
}

// playTwins plays requests to a gate and to its twin: some are let in and served,
// some fail or are cancelled, some are refused by somebody else. It returns
// what was charged and given back, and when.
func playTwins(t *rapid.T, l mockprovider.Limit, blind, sly bool) (twin naive, events []event) {
	twin, terms, whole := twinOf(l)
	gate := l.Gate(mockprovider.Space{})
	now := time.Duration(rapid.IntRange(0, 100).Draw(t, "begin"))
	type work struct {
		r     wire.Request
		since time.Duration
	}
	var inFlight []work
	charge := func(n int64) {
		twin.charge(now, n)
		events = append(events, event{now, n})
	}
	for range rapid.IntRange(20, 80).Draw(t, "steps") {
		now += time.Duration(rapid.IntRange(0, 15).Draw(t, "dt"))
		if len(inFlight) > 0 && rapid.Bool().Draw(t, "ends") {
			i := rapid.IntRange(0, len(inFlight)-1).Draw(t, "which")
			w := inFlight[i]
			inFlight = slices.Delete(inFlight, i, i+1)
			e := mockprovider.Ended{Since: w.since, Tokens: w.r.Demand.Output()}
			if e.Class = rapid.SampledFrom([]wire.Class{wire.OK, wire.ServerError, wire.Cancelled}).Draw(t, "class"); e.Class != wire.OK {
				e.Tokens = uint32(rapid.IntRange(0, int(e.Tokens)).Draw(t, "produced"))
			}
			since, change := w.since, naiveDue(terms.Charge, &w.r, e)-naiveCost(terms.Charge, &w.r)
			if terms.Charge.When == mockprovider.AtCompletion {
				since = now
			}
			twin.correct(now, since, change)
			events = append(events, event{now, change})
			gate.Release(now, &w.r, e)
			continue
		}
		r := wire.Request{Demand: wire.Demand{
			InputTokens: uint32(rapid.IntRange(0, 6).Draw(t, "input")), OutputTokens: uint32(rapid.IntRange(0, 6).Draw(t, "output")),
			MaxTokens: uint32(rapid.IntRange(0, 6).Draw(t, "max")),
		}}
		cost := naiveCost(terms.Charge, &r)
		need := max(1, cost)
		want := twin.room(now, need)
		require.Equal(t, want, gate.Take(now, &r), "at %d", now)
		if want {
			if rapid.IntRange(0, 3).Draw(t, "fate") > 0 {
				charge(cost)
				inFlight = append(inFlight, work{r, now})
			} else { // somebody else refuses
				if terms.Keep != mockprovider.KeepNone {
					charge(cost)
				}
				gate.Undo(now, &r)
			}
		} else {
			twin.refused(now, cost, terms.Keep == mockprovider.KeepAll)
			verdict := gate.Refuse(now, &r)
			ready, known := verdict.Admission.After()
			switch {
			case need > whole:
				require.Equal(t, wire.TooLarge, verdict.Class)
				require.False(t, known, "no waiting helps")
			case !blind || terms.Charge.Count == mockprovider.Requests: // it says the first instant at which there is room
				require.True(t, verdict.Class.Transient() || verdict.Class == wire.Quota)
				require.True(t, known)
				require.Positive(t, ready)
				require.True(t, twin.room(now+ready, need), "at %d: not in %d", now, ready)
				for d := range ready {
					require.False(t, twin.room(now+d, need), "at %d: in %d already", now, d)
				}
			}
		}
		if s := gate.(mockprovider.StandingReporter).Standing(now, &r); !sly { // it says how many fit, and when all do
			require.GreaterOrEqual(t, s.Used, int32(0))
			if s.Remaining > 0 {
				require.True(t, twin.room(now, int64(s.Remaining)), "at %d: %+v", now, s)
			}
			require.False(t, twin.room(now, int64(s.Remaining)+1), "at %d: %+v", now, s)
			require.True(t, twin.room(now+s.Reset, whole), "at %d: %+v", now, s)
			switch twin.(type) {
			case *naiveLog, *naiveCounter: // others wait for the end of the window, or for part of a request
				if s.Reset > 0 {
					require.False(t, twin.room(now+s.Reset-1, whole), "at %d: %+v", now, s)
				}
			}
		}
	}
	return twin, events
}
