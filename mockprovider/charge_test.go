package mockprovider

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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
		charge Charge
		want   int
	}{
		{"reserved and kept", 10_000, Charge{Count: OutputTokens}, 2},                                       // 2 × 4,000
		{"reserved and given back", 10_000, Charge{Count: OutputTokens, When: Reserved}, 13},                // 12 × 500 leave 4,000, and no less
		{"charged at completion", 10_000, Charge{Count: OutputTokens, When: AtCompletion}, 20},              // 20 × 500
		{"a floor above the limit", 100, Charge{Count: OutputTokens, When: Reserved, Least: 1024}, 0},       // for ever
		{"a floor below the cap", 10_000, Charge{Count: OutputTokens, When: Reserved, Least: 1024}, 13},     // changes nothing
		{"a floor instead of the cap", 10_000, Charge{Count: OutputTokens, When: Reserved, Least: 8000}, 5}, // 4 × 500 leave 8,000
	} {
		for _, l := range []Limit{
			Window{Limit: c.limit, Length: time.Minute, Terms: Terms{Charge: c.charge}},
			Window{Limit: c.limit, Length: time.Minute, Anchored: true, Terms: Terms{Charge: c.charge}},
			Quota{Limit: c.limit, Every: time.Minute, Terms: Terms{Charge: c.charge}},
			SlidingLog{Limit: c.limit, Length: time.Minute, Terms: Terms{Charge: c.charge}},
			SlidingCounter{Limit: c.limit, Length: time.Minute, Terms: Terms{Charge: c.charge}},
			Penalty{Limit: c.limit, Length: time.Minute, Block: time.Hour, Terms: Terms{Charge: c.charge}},
			TokenBucket{Limit: c.limit, Length: 1000 * time.Hour, Burst: c.limit, Terms: Terms{Charge: c.charge}},
		} {
			t.Run(fmt.Sprintf("%s/%T", c.name, l), func(t *testing.T) {
				gate, n := l.Gate(Space{}), 0
				r := wire.Request{Demand: heavy}
				for now := time.Duration(0); now < time.Minute; now += time.Second {
					if gate.Take(now, &r) {
						gate.Release(now+time.Second, &r, Ended{Since: now, Tokens: 500})
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
	for when, want := range map[Moment]int{AtAdmission: 2, Reserved: 2, AtCompletion: 5} {
		gate := Window{Limit: 10_000, Length: time.Minute, Terms: Terms{Charge: Charge{Count: OutputTokens, When: when}}}.Gate(Space{})
		n := 0
		r := wire.Request{Demand: wire.Demand{OutputTokens: 4000, MaxTokens: 4000}}
		for range 5 {
			if gate.Take(0, &r) {
				n++
			}
		}
		require.Equal(t, want, n)
		for range n {
			gate.Release(time.Second, &r, Ended{Tokens: 4000})
		}
		s := gate.(Teller).Tell(time.Second, &r)
		require.Equal(t, Standing{Limit: 10_000, Used: int32(n) * 4000, Remaining: max(0, 10_000-int32(n)*4000), Reset: 59 * time.Second}, s)
		require.False(t, gate.Take(2*time.Second, &r), "what is spent late is spent")
	}
}

// What needs more than the whole limit can never pass: the reply says so, and
// hints at no time; what only finds too little left is told when there is more.
func TestTooLarge(t *testing.T) {
	reply := As429.WithHint(Hint{Kind: Exact})
	play(t, Config{Limits: []Limit{Window{Limit: 100, Length: time.Minute, Terms: Terms{Charge: Charge{Count: AllTokens}, Refusal: reply}}}}, `
		arrive 1 input=80 tokens=1 max=21 -> 1 429 too_large limit=100 left=100
		arrive 2 input=80 tokens=1 max=20 -> 2 started 0s
		arrive 3 input=0 tokens=1 -> 3 429 token_rate after=1m0s limit=100 left=0
		@1m0s arrive 4 input=101 -> 4 429 too_large limit=100 left=100
		arrive 5 input=100 -> 5 started 0s`)
	require.False(t, wire.TooLarge.Transient(), "so that nobody tries again")
	// So it is with a floor that is more than the whole limit: every request, for
	// ever.
	play(t, Config{Limits: []Limit{TokenBucket{Limit: 100, Length: time.Minute, Burst: 100, Terms: Terms{
		Charge: Charge{Count: OutputTokens, When: Reserved, Least: 1024}, Refusal: reply}}}}, `
		arrive 1 tokens=1 -> 1 429 too_large limit=100 left=100
		@24h arrive 2 tokens=1 max=1 -> 2 429 too_large limit=100 left=100`)
	// As the limit shows it on the wire, it may look like any other.
	reply.Shows = wire.TokenRate
	play(t, Config{Limits: []Limit{SlidingLog{Limit: 100, Length: time.Minute, Terms: Terms{Charge: Charge{Count: InputTokens}, Refusal: reply}}}}, `
		arrive 1 input=101 -> 1 429 too_large as token_rate limit=100 left=100`)
}

// A refund goes where the charge was: into a window that is over it goes for
// nothing, so that the next one does not get more than its limit.
func TestRefundsStayInTheirWindow(t *testing.T) {
	charge := Charge{Count: OutputTokens, When: Reserved}
	for _, l := range []Limit{
		Window{Limit: 4000, Length: time.Minute, Terms: Terms{Charge: charge}},
		Window{Limit: 4000, Length: time.Minute, Anchored: true, Terms: Terms{Charge: charge}},
		SlidingLog{Limit: 4000, Length: time.Minute, Terms: Terms{Charge: charge}},
	} {
		gate, r := l.Gate(Space{}), wire.Request{Demand: heavy}
		require.True(t, gate.Take(0, &r))
		gate.Release(time.Minute, &r, Ended{Tokens: 500}) // an instant too late
		require.True(t, gate.Take(time.Minute, &r), "%#v", l)
		require.Equal(t, int32(4000), gate.(Teller).Tell(time.Minute, &r).Used, "%#v", l)
		gate.Release(61*time.Second, &r, Ended{Since: 0, Tokens: 0}) // whoever says so
		require.Equal(t, int32(4000), gate.(Teller).Tell(61*time.Second, &r).Used, "%#v", l)
		gate.Release(61*time.Second, &r, Ended{Since: time.Minute, Tokens: 500})
		require.Equal(t, int32(500), gate.(Teller).Tell(61*time.Second, &r).Used, "%#v", l)
	}
}

// A window that what it counted has been given back to goes on: it is closed
// only if it was opened by who is undone.
func TestUndoInAWindowThatIsEmptyAgain(t *testing.T) {
	charge := Charge{Count: OutputTokens, When: Reserved}
	for _, l := range []Limit{
		Window{Limit: 10, Length: time.Minute, Anchored: true, Terms: Terms{Charge: charge}},
		Penalty{Limit: 10, Length: time.Minute, Block: time.Minute, Terms: Terms{Charge: charge}},
	} {
		gate, r := l.Gate(Space{}), wire.Request{Demand: wire.Demand{MaxTokens: 10}}
		left := func(now time.Duration) time.Duration { return gate.(Teller).Tell(now, &r).Reset }
		require.True(t, gate.Take(0, &r))
		gate.Undo(0, &r)
		require.True(t, gate.Take(10*time.Second, &r))
		gate.Release(20*time.Second, &r, Ended{Since: 10 * time.Second})
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
		count                  Unit
		when                   Moment
		rule                   Settlement
		served, failed, output int32
	}{
		{Requests, AtAdmission, AsServed, 1, 1, 30},
		{Requests, AtAdmission, Refunded, 1, 0, 30},
		{Requests, AtAdmission, Produced, 1, 1, 30},
		{Requests, AtCompletion, AsServed, 1, 1, 30},
		{Requests, AtCompletion, Refunded, 1, 0, 30},
		{AllTokens, AtAdmission, AsServed, 1100, 1100, 30},
		{AllTokens, AtAdmission, Refunded, 1100, 0, 30},
		{AllTokens, AtAdmission, Produced, 1100, 130, 30},
		{AllTokens, Reserved, AsServed, 800, 130, 30},
		{AllTokens, Reserved, Whole, 800, 1100, 30},
		{AllTokens, Reserved, Refunded, 800, 0, 30},
		{AllTokens, AtCompletion, AsServed, 800, 130, 30},
		{AllTokens, AtCompletion, Whole, 800, 1100, 30},
		{InputTokens, Reserved, AsServed, 100, 100, 0},
		{InputTokens, Reserved, Refunded, 100, 0, 0},
		{OutputTokens, Reserved, AsServed, 700, 0, 0},
	} {
		used := func(charge Charge, e Ended) int32 {
			gate := Window{Limit: 10_000, Length: time.Minute, Terms: Terms{Charge: charge}}.Gate(Space{})
			require.True(t, gate.Take(0, &r))
			gate.Release(time.Second, &r, e)
			return gate.(Teller).Tell(time.Second, &r).Used
		}
		charge := Charge{Count: c.count, When: c.when, Failed: c.rule}
		require.Equal(t, c.served, used(charge, Ended{Tokens: 700}), "%+v", c)
		for _, class := range []wire.Class{wire.ServerError, wire.Overloaded, wire.Disconnected} {
			require.Equal(t, c.failed, used(charge, Ended{Tokens: uint32(c.output), Class: class}), "%+v", c)
		}
		charge.Failed, charge.Cancelled = AsServed, c.rule
		require.Equal(t, c.failed, used(charge, Ended{Tokens: uint32(c.output), Class: wire.Cancelled}), "%+v", c)
	}
}

// The largest requests saturate; they do not wrap around.
func TestChargesAtTheEndsOfNumbers(t *testing.T) {
	const most = 1<<32 - 1
	huge := wire.Request{Demand: wire.Demand{InputTokens: most, OutputTokens: most, MaxTokens: most}}
	for _, when := range []Moment{AtAdmission, Reserved, AtCompletion} {
		kinds := append(counting(1<<31-1, time.Minute, Hint{})[:4], TokenBucket{Limit: 1, Length: 1 << 30, Burst: 1 << 30})
		for _, kind := range kinds {
			require.NoError(t, kind.Validate())
			gate := charging(kind, Charge{Count: AllTokens, When: when}).Gate(Space{})
			for now := range time.Duration(5) {
				if gate.Take(now, &huge) {
					gate.Release(now, &huge, Ended{Since: now, Tokens: most})
				} else {
					require.NotEqual(t, wire.OK, gate.Refuse(now, &huge).Class)
				}
				s := gate.(Teller).Tell(now, &huge)
				require.GreaterOrEqual(t, s.Remaining, int32(0))
				require.GreaterOrEqual(t, s.Used, int32(0))
			}
			require.False(t, gate.Take(5, &huge), "%T is spent", kind)
		}
	}
}

// charging returns one of counting with another charge.
func charging(l Limit, c Charge) Limit {
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
	for want, terms := range map[string]Terms{
		"charge: there is no unit 4":                                                   {Charge: Charge{Count: 4}},
		"charge: there is no moment 3":                                                 {Charge: Charge{When: 3}},
		"charge: there is no settlement 4":                                             {Charge: Charge{Failed: 4}},
		"charge: there is no settlement 5":                                             {Charge: Charge{Cancelled: 5}},
		"charge: a least output needs a limit that counts output tokens":               {Charge: Charge{Count: InputTokens, Least: 1}},
		"there is no rule 3 of what is kept":                                           {Keep: 3},
		"what is charged at completion is not charged to who is refused; keep nothing": {Charge: Charge{When: AtCompletion}, Keep: KeepAll},
	} {
		require.EqualError(t, Window{Limit: 1, Length: 1, Terms: terms}.Validate(), "window: "+want)
	}
	require.EqualError(t, Semaphore{Limit: 1, Terms: Terms{Charge: Charge{When: Reserved}}}.Validate(),
		"semaphore: permits are taken at admission and all come back; leave out when, failed and cancelled")
	require.EqualError(t, Joint{Limit: 1, Length: 1, Terms: Terms{Charge: Charge{Count: AllTokens}}}.Validate(),
		"joint: it counts requests as they come; leave out the charge")
}
