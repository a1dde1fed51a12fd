package limits

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/wire"
)

// heavy states a cap of 4,000 output tokens and produces 500.
var heavy = wire.Demand{OutputTokens: 500, MaxTokens: 4000}

// One after the other ask a limit of 10,000 tokens a minute, all within the
// first minute: what the reservation costs depends on what is given back
// (cases.md 16).
func TestReservationsOneAfterTheOther(t *testing.T) {
	for _, c := range []struct {
		name   string
		limit  int32
		charge mockprovider.Charge
		want   int
	}{
		{"reserved and kept", 10_000, mockprovider.Charge{Count: mockprovider.OutputTokens}, 2},                                                    // 2 × 4,000
		{"reserved and given back", 10_000, mockprovider.Charge{Count: mockprovider.OutputTokens, When: mockprovider.Reserved}, 13},                // 12 × 500 leave 4,000, and no less
		{"charged at completion", 10_000, mockprovider.Charge{Count: mockprovider.OutputTokens, When: mockprovider.AtCompletion}, 20},              // 20 × 500
		{"a floor above the limit", 100, mockprovider.Charge{Count: mockprovider.OutputTokens, When: mockprovider.Reserved, Least: 1024}, 0},       // for ever
		{"a floor below the cap", 10_000, mockprovider.Charge{Count: mockprovider.OutputTokens, When: mockprovider.Reserved, Least: 1024}, 13},     // changes nothing
		{"a floor instead of the cap", 10_000, mockprovider.Charge{Count: mockprovider.OutputTokens, When: mockprovider.Reserved, Least: 8000}, 5}, // 4 × 500 leave 8,000
	} {
		for _, l := range []mockprovider.Limit{
			Window{Limit: c.limit, Length: time.Minute, Terms: mockprovider.Terms{Charge: c.charge}},
			Window{Limit: c.limit, Length: time.Minute, Anchored: true, Terms: mockprovider.Terms{Charge: c.charge}},
			Quota{Limit: c.limit, Every: time.Minute, Terms: mockprovider.Terms{Charge: c.charge}},
			SlidingLog{Limit: c.limit, Length: time.Minute, Terms: mockprovider.Terms{Charge: c.charge}},
			SlidingCounter{Limit: c.limit, Length: time.Minute, Terms: mockprovider.Terms{Charge: c.charge}},
			Penalty{Limit: c.limit, Length: time.Minute, Block: time.Hour, Terms: mockprovider.Terms{Charge: c.charge}},
			TokenBucket{Limit: c.limit, Length: 1000 * time.Hour, Burst: c.limit, Terms: mockprovider.Terms{Charge: c.charge}},
		} {
			t.Run(fmt.Sprintf("%s/%T", c.name, l), func(t *testing.T) {
				gate, n := l.Gate(mockprovider.Space{}), 0
				r := wire.Request{Demand: heavy}
				for now := time.Duration(0); now < time.Minute; now += time.Second {
					if gate.Take(now, &r) {
						gate.Release(now+time.Second, &r, mockprovider.Ended{Since: now, Tokens: 500})
						n++
					}
				}
				require.Equal(t, c.want, n)
			})
		}
	}
}

// Five that come together all pass a limit that only looks at what is spent:
// 20,000 tokens are on their way where 10,000 are allowed. A reservation lets in
// two.
func TestReservationsTogether(t *testing.T) {
	for when, want := range map[mockprovider.Moment]int{mockprovider.AtAdmission: 2, mockprovider.Reserved: 2, mockprovider.AtCompletion: 5} {
		gate := Window{Limit: 10_000, Length: time.Minute, Terms: mockprovider.Terms{Charge: mockprovider.Charge{Count: mockprovider.OutputTokens, When: when}}}.Gate(mockprovider.Space{})
		n := 0
		r := wire.Request{Demand: wire.Demand{OutputTokens: 4000, MaxTokens: 4000}}
		for range 5 {
			if gate.Take(0, &r) {
				n++
			}
		}
		require.Equal(t, want, n)
		for range n {
			gate.Release(time.Second, &r, mockprovider.Ended{Tokens: 4000})
		}
		s := gate.(mockprovider.StandingReporter).Standing(time.Second, &r)
		require.Equal(t, mockprovider.Standing{Allowance: mockprovider.Allowance{Limit: 10_000, Remaining: max(0, 10_000-int32(n)*4000)}, Used: int32(n) * 4000, Reset: 59 * time.Second}, s)
		require.False(t, gate.Take(2*time.Second, &r), "what is spent late is spent")
	}
}

// What needs more than the whole limit can never pass: the reply says so, and
// hints at no time; what only finds too little left is told when there is more.
func TestTooLarge(t *testing.T) {
	reply := mockprovider.As429.WithHint(mockprovider.Hint{Kind: mockprovider.Exact})
	play(t, mockprovider.Config{Limits: []mockprovider.Limit{Window{Limit: 100, Length: time.Minute, Terms: mockprovider.Terms{Charge: mockprovider.Charge{Count: mockprovider.AllTokens}, Refusal: reply}}}}, `
		arrive 1 input=80 tokens=1 max=21 -> 1 429 too_large limit=100 left=100
		arrive 2 input=80 tokens=1 max=20 -> 2 started 0s
		arrive 3 input=0 tokens=1 -> 3 429 token_rate after=1m0s limit=100 left=0
		@1m0s arrive 4 input=101 -> 4 429 too_large limit=100 left=100
		arrive 5 input=100 -> 5 started 0s`)
	require.False(t, wire.TooLarge.Transient(), "so that clients do not retry")
	// So it is with a floor that is more than the whole limit: every request, for
	// ever.
	play(t, mockprovider.Config{Limits: []mockprovider.Limit{TokenBucket{Limit: 100, Length: time.Minute, Burst: 100, Terms: mockprovider.Terms{
		Charge: mockprovider.Charge{Count: mockprovider.OutputTokens, When: mockprovider.Reserved, Least: 1024}, Refusal: reply}}}}, `
		arrive 1 tokens=1 -> 1 429 too_large limit=100 left=100
		@24h arrive 2 tokens=1 max=1 -> 2 429 too_large limit=100 left=100`)
	// As the limit shows it on the wire, it may look like any other.
	reply.ShownAs = wire.TokenRate
	play(t, mockprovider.Config{Limits: []mockprovider.Limit{SlidingLog{Limit: 100, Length: time.Minute, Terms: mockprovider.Terms{Charge: mockprovider.Charge{Count: mockprovider.InputTokens}, Refusal: reply}}}}, `
		arrive 1 input=101 -> 1 429 too_large as token_rate limit=100 left=100`)
}

// A refund goes where the charge was: into a window that is over it goes for
// nothing, so that the next one does not get more than its limit.
func TestRefundsStayInTheirWindow(t *testing.T) {
	charge := mockprovider.Charge{Count: mockprovider.OutputTokens, When: mockprovider.Reserved}
	for _, l := range []mockprovider.Limit{
		Window{Limit: 4000, Length: time.Minute, Terms: mockprovider.Terms{Charge: charge}},
		Window{Limit: 4000, Length: time.Minute, Anchored: true, Terms: mockprovider.Terms{Charge: charge}},
		SlidingLog{Limit: 4000, Length: time.Minute, Terms: mockprovider.Terms{Charge: charge}},
	} {
		gate, r := l.Gate(mockprovider.Space{}), wire.Request{Demand: heavy}
		require.True(t, gate.Take(0, &r))
		gate.Release(time.Minute, &r, mockprovider.Ended{Tokens: 500}) // an instant too late
		require.True(t, gate.Take(time.Minute, &r), "%#v", l)
		require.Equal(t, int32(4000), gate.(mockprovider.StandingReporter).Standing(time.Minute, &r).Used, "%#v", l)
		gate.Release(61*time.Second, &r, mockprovider.Ended{Since: 0, Tokens: 0}) // whoever says so
		require.Equal(t, int32(4000), gate.(mockprovider.StandingReporter).Standing(61*time.Second, &r).Used, "%#v", l)
		gate.Release(61*time.Second, &r, mockprovider.Ended{Since: time.Minute, Tokens: 500})
		require.Equal(t, int32(500), gate.(mockprovider.StandingReporter).Standing(61*time.Second, &r).Used, "%#v", l)
	}
}

// A window that what it counted has been given back to goes on: it is closed
// only if it was opened by who is undone.
func TestUndoInAWindowThatIsEmptyAgain(t *testing.T) {
	charge := mockprovider.Charge{Count: mockprovider.OutputTokens, When: mockprovider.Reserved}
	for _, l := range []mockprovider.Limit{
		Window{Limit: 10, Length: time.Minute, Anchored: true, Terms: mockprovider.Terms{Charge: charge}},
		Penalty{Limit: 10, Length: time.Minute, Block: time.Minute, Terms: mockprovider.Terms{Charge: charge}},
	} {
		gate, r := l.Gate(mockprovider.Space{}), wire.Request{Demand: wire.Demand{MaxTokens: 10}}
		left := func(now time.Duration) time.Duration {
			return gate.(mockprovider.StandingReporter).Standing(now, &r).Reset
		}
		require.True(t, gate.Take(0, &r))
		gate.Undo(0, &r)
		require.True(t, gate.Take(10*time.Second, &r))
		gate.Release(20*time.Second, &r, mockprovider.Ended{Since: 10 * time.Second})
		require.True(t, gate.Take(30*time.Second, &r))
		gate.Undo(30*time.Second, &r)
		require.Equal(t, 40*time.Second, left(30*time.Second), "%T", l)
	}
}

// The rules for requests that are not served, for a prompt of 100 and a cap of
// 1,000 of which 30 were produced.
func TestSettlements(t *testing.T) {
	r := wire.Request{Demand: wire.Demand{InputTokens: 100, OutputTokens: 700, MaxTokens: 1000}}
	for _, c := range []struct {
		count                  mockprovider.Unit
		when                   mockprovider.Moment
		rule                   mockprovider.Settlement
		served, failed, output int32
	}{
		{mockprovider.Requests, mockprovider.AtAdmission, mockprovider.AsServed, 1, 1, 30},
		{mockprovider.Requests, mockprovider.AtAdmission, mockprovider.Refunded, 1, 0, 30},
		{mockprovider.Requests, mockprovider.AtAdmission, mockprovider.Produced, 1, 1, 30},
		{mockprovider.Requests, mockprovider.AtCompletion, mockprovider.AsServed, 1, 1, 30},
		{mockprovider.Requests, mockprovider.AtCompletion, mockprovider.Refunded, 1, 0, 30},
		{mockprovider.AllTokens, mockprovider.AtAdmission, mockprovider.AsServed, 1100, 1100, 30},
		{mockprovider.AllTokens, mockprovider.AtAdmission, mockprovider.Refunded, 1100, 0, 30},
		{mockprovider.AllTokens, mockprovider.AtAdmission, mockprovider.Produced, 1100, 130, 30},
		{mockprovider.AllTokens, mockprovider.Reserved, mockprovider.AsServed, 800, 130, 30},
		{mockprovider.AllTokens, mockprovider.Reserved, mockprovider.Whole, 800, 1100, 30},
		{mockprovider.AllTokens, mockprovider.Reserved, mockprovider.Refunded, 800, 0, 30},
		{mockprovider.AllTokens, mockprovider.AtCompletion, mockprovider.AsServed, 800, 130, 30},
		{mockprovider.AllTokens, mockprovider.AtCompletion, mockprovider.Whole, 800, 1100, 30},
		{mockprovider.InputTokens, mockprovider.Reserved, mockprovider.AsServed, 100, 100, 0},
		{mockprovider.InputTokens, mockprovider.Reserved, mockprovider.Refunded, 100, 0, 0},
		{mockprovider.OutputTokens, mockprovider.Reserved, mockprovider.AsServed, 700, 0, 0},
	} {
		used := func(charge mockprovider.Charge, e mockprovider.Ended) int32 {
			gate := Window{Limit: 10_000, Length: time.Minute, Terms: mockprovider.Terms{Charge: charge}}.Gate(mockprovider.Space{})
			require.True(t, gate.Take(0, &r))
			gate.Release(time.Second, &r, e)
			return gate.(mockprovider.StandingReporter).Standing(time.Second, &r).Used
		}
		charge := mockprovider.Charge{Count: c.count, When: c.when, Failed: c.rule}
		require.Equal(t, c.served, used(charge, mockprovider.Ended{Tokens: 700}), "%+v", c)
		for _, class := range []wire.Class{wire.ServerError, wire.Overloaded, wire.ConnectionLost} {
			require.Equal(t, c.failed, used(charge, mockprovider.Ended{Tokens: uint32(c.output), Class: class}), "%+v", c)
		}
		charge.Failed, charge.Cancelled = mockprovider.AsServed, c.rule
		require.Equal(t, c.failed, used(charge, mockprovider.Ended{Tokens: uint32(c.output), Class: wire.Cancelled}), "%+v", c)
	}
}

// The largest requests saturate; they do not wrap around.
func TestChargesAtTheEndsOfNumbers(t *testing.T) {
	const most = 1<<32 - 1
	huge := wire.Request{Demand: wire.Demand{InputTokens: most, OutputTokens: most, MaxTokens: most}}
	for _, when := range []mockprovider.Moment{mockprovider.AtAdmission, mockprovider.Reserved, mockprovider.AtCompletion} {
		kinds := append(counting(1<<31-1, time.Minute, mockprovider.Hint{})[:4], TokenBucket{Limit: 1, Length: 1 << 30, Burst: 1 << 30})
		for _, kind := range kinds {
			require.NoError(t, kind.Validate())
			gate := charging(kind, mockprovider.Charge{Count: mockprovider.AllTokens, When: when}).Gate(mockprovider.Space{})
			for now := range time.Duration(5) {
				if gate.Take(now, &huge) {
					gate.Release(now, &huge, mockprovider.Ended{Since: now, Tokens: most})
				} else {
					require.NotEqual(t, wire.OK, gate.Refuse(now, &huge).Class)
				}
				s := gate.(mockprovider.StandingReporter).Standing(now, &huge)
				require.GreaterOrEqual(t, s.Remaining, int32(0))
				require.GreaterOrEqual(t, s.Used, int32(0))
			}
			require.False(t, gate.Take(5, &huge), "%T is spent", kind)
		}
	}
}

// charging returns one of counting with another charge.
func charging(l mockprovider.Limit, c mockprovider.Charge) mockprovider.Limit {
	switch l := l.(type) {
	case Window:
		l.Charge = c
		return l
	case SlidingLog:
		l.Charge = c
		return l
	case SlidingCounter:
		l.Charge = c
		return l
	case TokenBucket:
		l.Charge = c
		return l
	}
	return l
}

func TestChargeValidate(t *testing.T) {
	for want, terms := range map[string]mockprovider.Terms{
		"charge: there is no unit 4":                                     {Charge: mockprovider.Charge{Count: 4}},
		"charge: there is no moment 3":                                   {Charge: mockprovider.Charge{When: 3}},
		"charge: there is no settlement 4":                               {Charge: mockprovider.Charge{Failed: 4}},
		"charge: there is no settlement 5":                               {Charge: mockprovider.Charge{Cancelled: 5}},
		"charge: a least output needs a limit that counts output tokens": {Charge: mockprovider.Charge{Count: mockprovider.InputTokens, Least: 1}},
		"there is no rule 3 of what is kept":                             {Keep: 3},
		"a refused request is not charged at completion; keep nothing":   {Charge: mockprovider.Charge{When: mockprovider.AtCompletion}, Keep: mockprovider.KeepAll},
	} {
		require.EqualError(t, Window{Limit: 1, Length: 1, Terms: terms}.Validate(), "window: "+want)
	}
	require.EqualError(t, Semaphore{Limit: 1, Terms: mockprovider.Terms{Charge: mockprovider.Charge{When: mockprovider.Reserved}}}.Validate(),
		"semaphore: permits are taken at admission and all come back; leave out when, failed and cancelled")
	require.EqualError(t, Joint{Limit: 1, Length: 1, Terms: mockprovider.Terms{Charge: mockprovider.Charge{Count: mockprovider.AllTokens}}}.Validate(),
		"joint: it counts requests as they come; leave out the charge")
}
