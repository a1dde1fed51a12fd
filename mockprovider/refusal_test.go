package mockprovider

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

func TestHints(t *testing.T) {
	const s = time.Second
	for name, c := range map[string]struct {
		hint        Hint
		ready, want time.Duration
	}{
		"none":                       {Hint{}, 7 * s, wire.NoHint},
		"none, whatever its value":   {Hint{Value: 3 * s}, 7 * s, wire.NoHint},
		"constant":                   {Hint{Constant, 3 * s}, 7 * s, 3 * s},
		"constant, nobody knows":     {Hint{Constant, 3 * s}, wire.NoHint, 3 * s},
		"exact":                      {Hint{Kind: Exact}, 34_800_000_001, 34_800_000_001},
		"exact, nobody knows":        {Hint{Kind: Exact}, wire.NoHint, wire.NoHint},
		"rounded up":                 {Hint{Kind: RoundedUp}, 34_800_000_001, 35 * s},
		"rounded up, nobody knows":   {Hint{Kind: RoundedUp}, wire.NoHint, wire.NoHint},
		"rounded up: whole already":  {Hint{Kind: RoundedUp}, 35 * s, 35 * s},
		"rounded up: a nanosecond":   {Hint{Kind: RoundedUp}, 1, s},
		"rounded up: at once":        {Hint{Kind: RoundedUp}, 0, 0},
		"rounded up: not before end": {Hint{Kind: RoundedUp}, never - 1, never},
	} {
		t.Run(name, func(t *testing.T) {
			r := As429.WithHint(c.hint)
			var to wire.Reply
			r.reply(&to, wire.Rate, c.ready, 120, 0)
			require.Equal(t, wire.Reply{RetryAfter: c.want, Status: 429, Body: wire.ErrorBody, Class: wire.Rate, Shown: wire.Rate, Limit: 120}, to)
		})
	}
}

// A time is told instead of a wait, and only by a gate that knows it.
func TestAtTimeTellsATime(t *testing.T) {
	r := As429.WithHint(Hint{Kind: Exact}).SpelledAs(wire.HeaderTime)
	p, err := New(Config{}, draw.New(1))
	require.NoError(t, err)
	for ready, want := range map[time.Duration]time.Duration{
		20 * time.Second: 80 * time.Second,
		0:                60 * time.Second,
		never - 1:        never,
		wire.NoHint:      wire.NoHint,
	} {
		var to wire.Reply
		r.reply(&to, wire.Rate, ready, 120, 0)
		p.phrase(time.Minute, &to)
		require.Equal(t, want, to.RetryAfter, "ready in %v", ready)
	}
}

// What nobody has given a form has the usual one.
func TestUsualForms(t *testing.T) {
	hint := Hint{Kind: Constant, Value: 3 * time.Second}
	play(t, Config{
		RejectKeys: []uint8{9}, BadKey: Refusal{Hint: hint},
		Limits: []Limit{
			Window{Limit: 2, Length: time.Minute, Terms: Terms{Refusal: Refusal{Hint: hint}}},
			Semaphore{Limit: 2, Terms: Terms{Refusal: Refusal{Hint: hint}}},
		},
		Capacity: Capacity{Slots: 1, Full: Refusal{Hint: hint}, Service: takes(time.Second)}, RefusalTime: time.Millisecond,
		Outages: []Outage{{From: time.Second, To: 2 * time.Second, Refusal: Refusal{Hint: hint}}},
	}, `
		arrive 1 key=9 -> 1 401 auth after=3s in 1ms
		arrive 2 -> 2 started 1s
		arrive 3 -> 3 503 overloaded after=3s in 1ms
		@1s arrive 4 -> 4 503 overloaded after=3s in 1ms`)
	play(t, Config{Limits: []Limit{Window{Limit: 1, Length: time.Minute}}}, `
		arrive 1 -> 1 started 0s
		arrive 2 -> 2 429 rate limit=1 left=0`)
	play(t, Config{Limits: []Limit{Semaphore{Limit: 1}}}, `
		arrive 1 -> 1 started 0s
		arrive 2 -> 2 429 concurrency limit=1 left=0`)
}

func TestRefusalValidate(t *testing.T) {
	for _, ok := range []Refusal{{}, As14003, As429, As503, As401, {Status: 529}, {Status: 429, Body: wire.CodeBody, Code: 1}, {Hint: Hint{Constant, time.Second}}} {
		require.NoError(t, ok.Validate(), "%+v", ok)
	}
	for want, r := range map[string]Refusal{
		"refusal: a body or a code needs a status":                                          {Body: wire.ErrorBody},
		"refusal: status 100 is not a final HTTP status; use 200 to 599":                    {Status: 100},
		"refusal: status 600 is not a final HTTP status; use 200 to 599":                    {Status: 600},
		"refusal: there is no body shape 3":                                                 {Status: 429, Body: 3},
		"refusal: code 14003 needs a body that carries it":                                  {Status: 429, Body: wire.ErrorBody, Code: 14003},
		"refusal: status 200 without a business code is a success to everyone":              {Status: 200, Body: wire.ErrorBody},
		"refusal: there is no kind 5 of hint":                                               {Hint: Hint{Kind: 5}},
		"refusal: a hint must not be negative":                                              {Hint: Hint{Kind: Constant, Value: -1}},
		"refusal: the limit that it says must not be negative; 0 says the one that refused": {Says: -1},
	} {
		require.EqualError(t, r.Validate(), want)
	}
}

// A provider may have one limit in all its replies, whichever refused.
func TestSays(t *testing.T) {
	play(t, Config{
		Limits: []Limit{
			Window{Limit: 3, Length: time.Minute, Terms: Terms{Refusal: Refusal{Says: 20}}}, // in the usual form
			Semaphore{Limit: 1, Terms: Terms{Refusal: As14003}},
		},
		Capacity: Capacity{Service: takes(time.Second)},
	}, `
		arrive 1 -> 1 started 1s
		arrive 2 -> 2 200 concurrency code=14003 limit=1 left=0
		@1s done 1 -> 1 200 ok slot=1s
		arrive 3 -> 3 started 1s
		@2s done 3 -> 3 200 ok slot=1s
		arrive 4 -> 4 started 1s
		arrive 5 -> 5 429 rate limit=20 left=0`)
}
