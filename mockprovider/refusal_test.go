package mockprovider_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/faults"
	"herdlab/mockprovider/limits"
	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// What nobody has given a form has the usual one.
func TestUsualForms(t *testing.T) {
	hint := mockprovider.Hint{Kind: mockprovider.Constant, Value: 3 * time.Second}
	play(t, mockprovider.Config{
		RejectKeys: []uint8{9}, BadKey: mockprovider.Refusal{Hint: hint},
		Limits: []mockprovider.Limit{
			limits.Window{Limit: 2, Length: time.Minute, Terms: mockprovider.Terms{Refusal: mockprovider.Refusal{Hint: hint}}},
			limits.Semaphore{Limit: 2, Terms: mockprovider.Terms{Refusal: mockprovider.Refusal{Hint: hint}}},
		},
		Capacity: mockprovider.Capacity{Slots: 1, Full: mockprovider.Refusal{Hint: hint}, Service: takes(time.Second)}, RefusalTime: time.Millisecond,
		Faults: []mockprovider.Fault{faults.Outage(time.Second, 2*time.Second, mockprovider.Refusal{Hint: hint})},
	}, `
		arrive 1 key=9 -> 1 401 auth after=3s in 1ms
		arrive 2 -> 2 started 1s
		arrive 3 -> 3 503 overloaded after=3s in 1ms
		@1s arrive 4 -> 4 503 overloaded after=3s in 1ms`)
	play(t, mockprovider.Config{Limits: []mockprovider.Limit{limits.Window{Limit: 1, Length: time.Minute}}}, `
		arrive 1 -> 1 started 0s
		arrive 2 -> 2 429 rate limit=1 left=0`)
	play(t, mockprovider.Config{Limits: []mockprovider.Limit{limits.Semaphore{Limit: 1}}}, `
		arrive 1 -> 1 started 0s
		arrive 2 -> 2 429 concurrency limit=1 left=0`)
}

// A refusal in the usual form has the usual spelling, unless it has its own; and
// the reference articles' body has no field for a reset, which headers have.
func TestWhatARefusalWrites(t *testing.T) {
	forms := wire.Plain()
	forms[wire.Rate].Spelling = wire.BodyMillis
	exact := mockprovider.Hint{Kind: mockprovider.Exact}
	for _, c := range []struct {
		refusal mockprovider.Refusal
		spelled wire.Spelling
		reset   time.Duration
	}{
		{mockprovider.Refusal{Hint: exact}, wire.BodyMillis, time.Minute},
		{mockprovider.Refusal{Hint: exact, Spelling: wire.HeaderSeconds}, wire.HeaderSeconds, time.Minute},
		{mockprovider.As429.WithHint(exact), wire.ExactSeconds, time.Minute},
		{mockprovider.As14003.WithHint(exact), wire.BodySeconds, 0},
	} {
		p, err := mockprovider.New(mockprovider.Config{Forms: &forms, Limits: []mockprovider.Limit{limits.Window{Limit: 1, Length: time.Minute, Terms: mockprovider.Terms{Refusal: c.refusal}}}}, draw.New(1))
		require.NoError(t, err)
		p.Step(0, &wire.Input{}, nil)
		reply := p.Step(0, &wire.Input{}, nil)[0].Reply
		require.Equal(t, c.spelled, reply.Hint.Spelling, "%+v", c.refusal)
		require.Equal(t, c.reset, reply.Reset, "%+v", c.refusal)
		require.Equal(t, time.Minute, reply.Hint.Value)
	}
}

func TestRefusalValidate(t *testing.T) {
	for _, ok := range []mockprovider.Refusal{{}, mockprovider.As14003, mockprovider.As429, mockprovider.As503, mockprovider.As401, {Status: 529}, {Status: 429, Body: wire.CodeBody, Code: 1}, {Hint: mockprovider.Hint{Kind: mockprovider.Constant, Value: time.Second}}} {
		require.NoError(t, ok.Validate(), "%+v", ok)
	}
	for want, r := range map[string]mockprovider.Refusal{
		"refusal: a body or a code needs a status":                                      {Body: wire.ErrorBody},
		"refusal: status 100 is not a final HTTP status; use 200 to 599":                {Status: 100},
		"refusal: status 600 is not a final HTTP status; use 200 to 599":                {Status: 600},
		"refusal: there is no body shape 3":                                             {Status: 429, Body: 3},
		"refusal: code 14003 needs a body that carries it":                              {Status: 429, Body: wire.ErrorBody, Code: 14003},
		"refusal: status 200 without a business code is a success to everyone":          {Status: 200, Body: wire.ErrorBody},
		"refusal: a hint must not be negative":                                          {Hint: mockprovider.Hint{Kind: mockprovider.Constant, Value: -1}},
		"refusal: the stated limit must not be negative; 0 states the one that refused": {StatedLimit: -1},
	} {
		require.EqualError(t, r.Validate(), want)
	}
}

// A provider may have one limit in all its replies, whichever refused.
func TestSays(t *testing.T) {
	play(t, mockprovider.Config{
		Limits: []mockprovider.Limit{
			limits.Window{Limit: 3, Length: time.Minute, Terms: mockprovider.Terms{Refusal: mockprovider.Refusal{StatedLimit: 20}}}, // in the usual form
			limits.Semaphore{Limit: 1, Terms: mockprovider.Terms{Refusal: mockprovider.As14003}},
		},
		Capacity: mockprovider.Capacity{Service: takes(time.Second)},
	}, `
		arrive 1 -> 1 started 1s
		arrive 2 -> 2 200 concurrency code=14003 limit=1 left=0
		@1s done 1 -> 1 200 ok slot=1s
		arrive 3 -> 3 started 1s
		@2s done 3 -> 3 200 ok slot=1s
		arrive 4 -> 4 started 1s
		arrive 5 -> 5 429 rate limit=20 left=0`)
}

// A refusal without a form of its own that shows another class has the form of
// that one.
func TestShows(t *testing.T) {
	forms := wire.Plain()
	forms[wire.Rate] = wire.Form{Status: 420, Body: wire.CodeBody, Code: 7, Shown: wire.Rate, Spelling: wire.BodyMillis}
	play(t, mockprovider.Config{
		Forms: &forms, Limits: []mockprovider.Limit{limits.Semaphore{Limit: 1, Terms: mockprovider.Terms{Refusal: mockprovider.Refusal{ShownAs: wire.Rate, Hint: mockprovider.Hint{Kind: mockprovider.Constant, Value: 1200 * time.Microsecond}}}}},
	}, `
		arrive 1 -> 1 started 0s
		arrive 2 -> 2 420 concurrency code=7 after=2ms limit=1 left=0`)
}

// A refusal says x-should-retry if it is told to, in its own form and in the
// provider's, beside what that form has to say.
func TestShouldRetry(t *testing.T) {
	forms := wire.Plain()
	forms[wire.Rate].Marks = wire.ResetAsTime
	for _, r := range []mockprovider.Refusal{{}, mockprovider.As429, mockprovider.As14003} {
		for _, says := range []wire.Marks{0, wire.ShouldRetry, wire.ShouldNotRetry} {
			r.Marks = says
			p, err := mockprovider.New(mockprovider.Config{Forms: &forms, Limits: []mockprovider.Limit{limits.Window{Limit: 1, Length: time.Minute, Terms: mockprovider.Terms{Refusal: r}}}}, draw.New(1))
			require.NoError(t, err)
			p.Step(0, &wire.Input{}, nil)
			reply := p.Step(0, &wire.Input{}, nil)[0].Reply
			want := says
			if r.Status == 0 {
				want |= wire.ResetAsTime
			}
			require.Equal(t, want, reply.Marks, "%+v", r)
		}
	}
	require.ErrorContains(t, mockprovider.Refusal{Marks: wire.ShouldRetry | wire.ShouldNotRetry}.Validate(), "marks")
	require.ErrorContains(t, mockprovider.Refusal{Marks: wire.HidesLimit}.Validate(), "marks")
}
