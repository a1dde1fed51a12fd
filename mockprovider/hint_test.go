package mockprovider_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/mockprovider"
	"herdlab/mockprovider/faults"
	"herdlab/mockprovider/limits"
	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// full is a limit that refuses everything with one verdict.
type full struct {
	verdict mockprovider.Verdict
	form    mockprovider.Refusal
}

func (full) Validate() error                                            { return nil }
func (full) Bound(mockprovider.Load) mockprovider.Bound                 { return mockprovider.Bound{} }
func (full) Counters(mockprovider.Space) int                            { return 0 }
func (f full) Gate(mockprovider.Space) mockprovider.Gate                { return f }
func (full) Take(time.Duration, *wire.Request) bool                     { return false }
func (f full) Refuse(time.Duration, *wire.Request) mockprovider.Verdict { return f.verdict }
func (f full) Form(*wire.Request) *mockprovider.Refusal                 { return &f.form }
func (full) Undo(time.Duration, *wire.Request)                          {}
func (full) Release(time.Duration, *wire.Request, mockprovider.Ended)   {}

// hinted returns the hint of a refusal made at now by a limit that would admit
// the request after ready; wire.NoHint if that is not known.
func hinted(t require.TestingT, h mockprovider.Hint, s wire.Spelling, now, ready time.Duration, faults ...mockprovider.Fault) time.Duration {
	refusal := mockprovider.As429.WithHint(h).WithSpelling(s)
	require.NoError(t, refusal.Validate())
	verdict := mockprovider.Verdict{Class: wire.Rate}
	if ready != wire.NoHint {
		verdict.Admission = mockprovider.AdmittedAfter(ready)
	}
	p, err := mockprovider.New(mockprovider.Config{Limits: []mockprovider.Limit{full{verdict, refusal}}, Faults: faults}, draw.New(1))
	require.NoError(t, err)
	e := p.Step(now, &wire.Input{Request: wire.Request{Call: 1, Attempt: 1}}, nil)[0]
	require.Equal(t, wire.Reply{Hint: wire.Hint{Value: e.Reply.Hint.Value, Spelling: s}, Status: 429, Body: wire.ErrorBody, Class: wire.Rate, Shown: wire.Rate}, e.Reply)
	return e.Reply.Hint.Value
}

func TestHints(t *testing.T) {
	const s, ms = time.Second, time.Millisecond
	for name, c := range map[string]struct {
		hint        mockprovider.Hint
		ready, want time.Duration
	}{
		"none":                        {mockprovider.Hint{}, 7 * s, wire.NoHint},
		"none, whatever its value":    {mockprovider.Hint{Value: 3 * s, Factor: 2, Jitter: s}, 7 * s, wire.NoHint},
		"constant":                    {mockprovider.Hint{Kind: mockprovider.Constant, Value: 3 * s}, 7 * s, 3 * s},
		"constant, nobody knows":      {mockprovider.Hint{Kind: mockprovider.Constant, Value: 3 * s}, wire.NoHint, 3 * s},
		"exact":                       {mockprovider.Hint{Kind: mockprovider.Exact}, 34_800_000_001, 34_800_000_001},
		"exact, nobody knows":         {mockprovider.Hint{Kind: mockprovider.Exact}, wire.NoHint, wire.NoHint},
		"rounded up":                  {mockprovider.Hint{Kind: mockprovider.RoundedUp}, 34_800_000_001, 35 * s},
		"rounded up, nobody knows":    {mockprovider.Hint{Kind: mockprovider.RoundedUp}, wire.NoHint, wire.NoHint},
		"rounded up: whole already":   {mockprovider.Hint{Kind: mockprovider.RoundedUp}, 35 * s, 35 * s},
		"rounded up: a nanosecond":    {mockprovider.Hint{Kind: mockprovider.RoundedUp}, 1, s},
		"rounded up: at once":         {mockprovider.Hint{Kind: mockprovider.RoundedUp}, 0, 0},
		"rounded up: not before end":  {mockprovider.Hint{Kind: mockprovider.RoundedUp}, mockprovider.Forever - 1, mockprovider.Forever},
		"rounded down":                {mockprovider.Hint{Kind: mockprovider.RoundedDown}, 34_800_000_001, 34 * s},
		"rounded down: to nothing":    {mockprovider.Hint{Kind: mockprovider.RoundedDown}, 999 * ms, 0},
		"rounded down, nobody knows":  {mockprovider.Hint{Kind: mockprovider.RoundedDown}, wire.NoHint, wire.NoHint},
		"seconds for milliseconds":    {mockprovider.Hint{Kind: mockprovider.Exact, Factor: 1000}, 555 * ms, 555 * s},
		"too early":                   {mockprovider.Hint{Kind: mockprovider.Exact, Factor: 0.5}, 7 * s, 3500 * ms},
		"wrong and rounded up":        {mockprovider.Hint{Kind: mockprovider.RoundedUp, Factor: 0.5}, 7 * s, 4 * s},
		"wrong, and nobody knows":     {mockprovider.Hint{Kind: mockprovider.Exact, Factor: 0.5}, wire.NoHint, wire.NoHint},
		"wrong and constant":          {mockprovider.Hint{Kind: mockprovider.Constant, Value: 3 * s, Factor: 2}, wire.NoHint, 6 * s},
		"wrong beyond all times":      {mockprovider.Hint{Kind: mockprovider.Exact, Factor: 1e9}, mockprovider.Forever / 2, mockprovider.Longest},
		"no jitter where nobody does": {mockprovider.Hint{Kind: mockprovider.Exact, Jitter: s}, wire.NoHint, wire.NoHint},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, hinted(t, c.hint, wire.ExactSeconds, 0, c.ready)) })
	}
}

// Case 5: the same wait, in each of its spellings: what it states is stated in
// the spelling's unit, and never less than it is.
func TestHintsInEverySpelling(t *testing.T) {
	const ready, now = 1234567890 * time.Nanosecond, 10*time.Second + 500*time.Millisecond
	for s, want := range [wire.NumSpellings]time.Duration{
		wire.ExactSeconds:   ready,
		wire.HeaderSeconds:  2 * time.Second,
		wire.HeaderMillis:   1235 * time.Millisecond,
		wire.HeaderDate:     12 * time.Second, // 11.73 s, on the clock
		wire.HeaderTime:     now + ready,
		wire.HeaderEpoch:    12 * time.Second,
		wire.HeaderDuration: ready,
		wire.BodySeconds:    ready,
		wire.BodyMillis:     1235 * time.Millisecond,
		wire.BodyDelay:      1235 * time.Millisecond,
		wire.Sentence:       1235 * time.Millisecond,
		wire.BothSeconds:    2 * time.Second,
		wire.NoPlaceForHint: wire.NoHint,
	} {
		require.Equal(t, want, hinted(t, mockprovider.Hint{Kind: mockprovider.Exact}, wire.Spelling(s), now, ready), "spelling %d", s)
	}
	// Down means down, also where it is a date: that is over already.
	require.Equal(t, time.Second, hinted(t, mockprovider.Hint{Kind: mockprovider.RoundedDown}, wire.HeaderSeconds, now, ready))
	require.Equal(t, 11*time.Second, hinted(t, mockprovider.Hint{Kind: mockprovider.RoundedDown}, wire.HeaderDate, now, ready))
	require.Equal(t, 10*time.Second, hinted(t, mockprovider.Hint{Kind: mockprovider.RoundedDown}, wire.HeaderDate, now, 400*time.Millisecond))
	// Dates are the provider's: a clock that is behind names an hour too early.
	for ahead, want := range map[time.Duration]time.Duration{5 * time.Second: now + ready + 5*time.Second, -5 * time.Second: now + ready - 5*time.Second, -time.Minute: now + ready - time.Minute} {
		skew := from(0, faults.Skew{Ahead: ahead})
		require.Equal(t, want, hinted(t, mockprovider.Hint{Kind: mockprovider.Exact}, wire.HeaderTime, now, ready, skew))
		require.Equal(t, ready, hinted(t, mockprovider.Hint{Kind: mockprovider.Exact}, wire.BodySeconds, now, ready, skew), "a wait needs no clock")
	}
	// The nanosecond before the run began is a date like any other, though it is
	// written like no hint.
	require.Zero(t, hinted(t, mockprovider.Hint{Kind: mockprovider.Exact}, wire.HeaderTime, 0, 5, from(0, faults.Skew{Ahead: -6})))
}

// Who obeys a hint that is not meant to be wrong is never early, and not late by
// more than the spelling's unit and the jitter.
func TestObeyedHintsAreNeverEarly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now, ready := time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "now")), time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "ready"))
		s := wire.Spelling(rapid.IntRange(0, int(wire.NoPlaceForHint)-1).Draw(t, "spelling"))
		ahead := time.Duration(rapid.Int64Range(-int64(time.Hour), int64(time.Hour)).Filter(func(a int64) bool { return a != 0 }).Draw(t, "ahead"))
		h := mockprovider.Hint{Kind: mockprovider.HintKind(rapid.IntRange(int(mockprovider.Exact), int(mockprovider.RoundedDown)).Draw(t, "kind")), Jitter: time.Duration(rapid.Int64Range(0, int64(time.Minute)).Draw(t, "jitter"))}
		said := hinted(t, h, s, now, ready, from(0, faults.Skew{Ahead: ahead}))
		var o wire.Outcome
		wire.ByBody{}.Read(&wire.Reply{Hint: wire.Hint{Value: said, Spelling: s}}, now+ahead, &o) // by a clock as wrong as the provider's
		unit := s.Unit()
		if h.Kind != mockprovider.Exact {
			unit = time.Second
		}
		if h.Kind == mockprovider.RoundedDown {
			require.Greater(t, o.RetryAfter, ready-unit)
			require.LessOrEqual(t, o.RetryAfter, ready+h.Jitter)
			return
		}
		require.GreaterOrEqual(t, o.RetryAfter, ready)
		require.Less(t, o.RetryAfter, ready+h.Jitter+unit)
	})
}

// The jitter of a hint belongs to the call and the attempt, and is uniform.
func TestJitteredHints(t *testing.T) {
	const n, ready, jitter = 10_000, 30 * time.Second, 10 * time.Second
	refusal := mockprovider.Refusal{Hint: mockprovider.Hint{Kind: mockprovider.Exact, Jitter: jitter}}
	p, err := mockprovider.New(mockprovider.Config{Faults: []mockprovider.Fault{faults.Outage(0, ready, refusal)}}, draw.New(1))
	require.NoError(t, err)
	asked := func(call uint64, attempt uint32) time.Duration {
		return p.Step(0, &wire.Input{Request: wire.Request{Call: call, Attempt: attempt}}, nil)[0].Reply.Hint.Value
	}
	var sum, squares float64
	different := map[time.Duration]bool{}
	for i := range uint64(n) {
		u := (asked(i, 1) - ready).Seconds()
		require.True(t, 0 <= u && u < jitter.Seconds())
		sum += u
		squares += u * u
		different[asked(i, 1)], different[asked(i, 2)] = true, true
	}
	require.Len(t, different, 2*n)
	require.Equal(t, asked(7, 1), asked(7, 1))
	mean, sd := sum/n, jitter.Seconds()/math.Sqrt(12)
	require.InDelta(t, 5, mean, 4*sd/math.Sqrt(n))
	require.InDelta(t, sd*sd, squares/n-mean*mean, 4*sd*sd/math.Sqrt(n))
}

// Tiers have hints of their own.
func TestHintsOfTiers(t *testing.T) {
	limit := func(h mockprovider.Hint) mockprovider.Limit {
		return limits.Window{Limit: 1, Length: time.Minute, Terms: mockprovider.Terms{Per: mockprovider.Account, Refusal: mockprovider.Refusal{Hint: h}}}
	}
	play(t, mockprovider.Config{Space: mockprovider.Space{Accounts: 9}, Limits: []mockprovider.Limit{limits.Tiered{
		{Match: mockprovider.Match{Accounts: mockprovider.Just(0)}, Limit: limit(mockprovider.Hint{Kind: mockprovider.Exact})},
		{Match: mockprovider.Match{Accounts: mockprovider.Range{From: 1, To: 3}}, Limit: limits.Only{Match: mockprovider.Match{Models: mockprovider.Just(0)}, Limit: limit(mockprovider.Hint{Kind: mockprovider.Constant, Value: 3 * time.Second})}},
		{Match: mockprovider.Match{}, Limit: limit(mockprovider.Hint{})},
	}}}, `
		arrive 1 -> 1 started 0s
		@10.5s arrive 2 -> 2 429 rate after=49.5s limit=1 left=0
		arrive 3 account=2 -> 3 started 0s
		arrive 4 account=2 -> 4 429 rate after=3s limit=1 left=0
		arrive 5 account=3 -> 5 started 0s
		arrive 6 account=3 -> 6 429 rate limit=1 left=0`)
}

func TestHintValidate(t *testing.T) {
	for want, h := range map[string]mockprovider.Hint{
		"there is no kind 5 of hint":                                                        {Kind: 5},
		"a hint must not be negative":                                                       {Value: -1},
		"-1 is no factor of a hint; use a number above 0, up to 1e+09":                      {Factor: -1},
		"NaN is no factor of a hint; use a number above 0, up to 1e+09":                     {Factor: math.NaN()},
		"2e+09 is no factor of a hint; use a number above 0, up to 1e+09":                   {Factor: 2e9},
		"the jitter of a hint must be 0 to " + mockprovider.Longest.String() + ", not -1ns": {Jitter: -1},
	} {
		require.EqualError(t, h.Validate(), want)
		require.EqualError(t, (&mockprovider.Refusal{Hint: h}).Validate(), "refusal: "+want)
	}
}
