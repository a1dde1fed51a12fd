package wire

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestReaders(t *testing.T) {
	const hint = 3 * time.Second
	for name, c := range map[string]struct {
		reply            Reply
		byStatus, byBody Outcome
	}{
		"an answer": {
			Reply{Status: 200, Class: OK, Hint: Hint{Value: NoHint}},
			Outcome{Status: 200, Class: OK, RetryAfter: NoHint},
			Outcome{Status: 200, Class: OK, RetryAfter: NoHint},
		},
		"14003 in a 200: a success to who reads the status, and no hint": {
			Reply{Status: 200, Class: Rate, Shown: Rate, Body: CodeBody, Code: Code14003, Hint: Hint{Value: hint}, Limit: 20},
			Outcome{Status: 200, Class: OK, RetryAfter: NoHint},
			Outcome{Status: 200, Class: Rate, Code: Code14003, RetryAfter: hint, Limit: 20},
		},
		"14003 for want of a permit": {
			Reply{Status: 200, Class: Concurrency, Shown: Concurrency, Body: CodeBody, Code: Code14003, Hint: Hint{Value: NoHint}, Limit: 2, Remaining: 0},
			Outcome{Status: 200, Class: OK, RetryAfter: NoHint},
			Outcome{Status: 200, Class: Concurrency, Code: Code14003, RetryAfter: NoHint, Limit: 2},
		},
		"an error body has its hint in a header": {
			Reply{Status: 429, Class: Rate, Shown: Rate, Body: ErrorBody, Hint: Hint{Value: hint}, Limit: 120, Remaining: 7},
			Outcome{Status: 429, Class: Rate, RetryAfter: hint, Limit: 120, Remaining: 7},
			Outcome{Status: 429, Class: Rate, RetryAfter: hint, Limit: 120, Remaining: 7},
		},
		"a business code under an error status": {
			Reply{Status: 429, Class: Quota, Shown: Quota, Body: CodeBody, Code: 1, Hint: Hint{Value: hint, Spelling: BodySeconds}},
			Outcome{Status: 429, Class: Rate, RetryAfter: NoHint},
			Outcome{Status: 429, Class: Quota, Code: 1, RetryAfter: hint},
		},
		"its headers are read, as those of any error": {
			Reply{Status: 429, Class: Quota, Shown: Quota, Body: CodeBody, Code: 1, Hint: Hint{Value: hint, Spelling: HeaderSeconds}},
			Outcome{Status: 429, Class: Rate, RetryAfter: hint},
			Outcome{Status: 429, Class: Quota, Code: 1, RetryAfter: hint},
		},
		"a spent quota under 429 is told by the body alone": {
			Reply{Status: 429, Class: Quota, Shown: Quota, Body: ErrorBody, Hint: Hint{Value: NoHint}},
			Outcome{Status: 429, Class: Rate, RetryAfter: NoHint},
			Outcome{Status: 429, Class: Quota, RetryAfter: NoHint},
		},
	} {
		t.Run(name, func(t *testing.T) {
			for reader, want := range map[Reader]Outcome{ByStatus{}: c.byStatus, ByBody{}: c.byBody} {
				// What was there before must not shine through.
				got := Outcome{RetryAfter: time.Hour, Code: 9, Limit: 9, Remaining: 9, Status: 9, Class: Cancelled}
				reader.Read(&c.reply, 0, &got)
				require.Equal(t, want, got, "%T", reader)
				require.Equal(t, want.Class == OK, got.OK())
			}
		})
	}
}

// Whatever status, code and hint a reply has, reading the body finds the truth.
func TestByBodyAlwaysFindsTheTruth(t *testing.T) {
	for class := range Class(NumClasses) {
		for _, status := range []uint16{200, 401, 403, 429, 500, 503} {
			for body := range CodeBody + 1 {
				var o Outcome
				ByBody{}.Read(&Reply{Status: status, Class: class, Shown: class, Body: body}, 0, &o)
				require.Equal(t, class, o.Class)
			}
		}
	}
}

func TestClassOfStatus(t *testing.T) {
	for status, want := range map[uint16]Class{
		200: OK, 204: OK, 302: OK,
		400: BadRequest, 404: BadRequest, 409: BadRequest, 422: BadRequest,
		401: Auth, 402: Quota, 403: Permission, 413: TooLarge, 429: Rate,
		408: Timeout, 504: Timeout, 503: Overloaded, 529: Overloaded,
		500: ServerError, 501: ServerError, 502: ServerError, 599: ServerError,
	} {
		var o Outcome
		ByStatus{}.Read(&Reply{Status: status, Hint: Hint{Value: NoHint}}, 0, &o)
		require.Equal(t, want, o.Class, status)
	}
}

// A date is read against the client's own clock: one that is ahead waits too
// little, one that is behind too long, and neither waits less than nothing.
func TestDatesAreReadAgainstTheClientsClock(t *testing.T) {
	r := Reply{Status: 429, Class: Rate, Shown: Rate, Body: ErrorBody, Hint: Hint{Value: time.Minute, Spelling: HeaderTime}}
	for clock, want := range map[time.Duration]time.Duration{
		50 * time.Second: 10 * time.Second,
		55 * time.Second: 5 * time.Second,
		45 * time.Second: 15 * time.Second,
		60 * time.Second: 0,
		90 * time.Second: 0,
		-5 * time.Second: 65 * time.Second,
	} {
		for _, reader := range []Reader{ByBody{}, ByStatus{}} {
			var o Outcome
			reader.Read(&r, clock, &o)
			require.Equal(t, want, o.RetryAfter, "%T at %v", reader, clock)
		}
	}
	// A wait needs no clock.
	r.Hint.Value, r.Hint.Spelling = 3*time.Second, HeaderSeconds
	var o Outcome
	ByBody{}.Read(&r, time.Hour, &o)
	require.Equal(t, 3*time.Second, o.RetryAfter)
}

// What the bytes have no place for, no reader sees.
func TestHiddenLimits(t *testing.T) {
	for marks, want := range map[Marks]Outcome{
		0:                       {Limit: 20, Remaining: 7, Reset: time.Minute},
		HidesLimit:              {Reset: time.Minute},
		HidesReset:              {Limit: 20, Remaining: 7},
		HidesLimit | HidesReset: {},
	} {
		for _, reader := range []Reader{ByBody{}, ByStatus{}, ByKeyword{}, ByLibrary{}} {
			want.Status, want.RetryAfter = 200, NoHint
			var o Outcome
			reader.Read(&Reply{Status: 200, Hint: Hint{Value: NoHint}, Limit: 20, Remaining: 7, Reset: time.Minute, Marks: marks}, 0, &o)
			require.Equal(t, want, o, "%T %b", reader, marks)
		}
	}
}

// What a fault makes of an answer, and what each reader makes of that: a stream
// that ends without its finish marker is noticed by who looks for it.
func TestSpoiltAnswers(t *testing.T) {
	for body, want := range [NumBodies]struct {
		status, body, keyword, parser Class
		begun                         bool
	}{
		Completion:    {OK, OK, OK, OK, false},
		StreamError:   {OK, Overloaded, OK, BadRequest, true},
		SilentEnd:     {OK, ConnectionLost, ConnectionLost, OK, true},
		TruncatedBody: {ConnectionLost, ConnectionLost, ConnectionLost, ConnectionLost, true},
		Garbage:       {OK, ServerError, ServerError, BadRequest, false},
		WrongType:     {OK, ServerError, ServerError, BadRequest, false},
		Doubled:       {OK, OK, OK, OK, false},
	} {
		r := Reply{Status: 200, Hint: Hint{Value: NoHint}, Body: Body(body), Tokens: 7}
		switch r.Body {
		case ErrorBody, CodeBody:
			continue // no fault makes them
		case StreamError:
			r.Class, r.Shown = Overloaded, Overloaded
		}
		for reader, class := range map[Reader]Class{ByStatus{}: want.status, ByBody{}: want.body, ByKeyword{}: want.keyword, ByLibrary{}: want.parser} {
			var o Outcome
			reader.Read(&r, 0, &o)
			require.Equal(t, class, o.Class, "%T of body %d", reader, body)
			require.Equal(t, want.begun, o.Begun)
			require.Equal(t, uint32(7), o.Tokens)
			require.Equal(t, class == OK, o.OK())
		}
	}
}

// Any keyword beats the status, and where both groups appear the first one wins:
// limits, quotas and permissions against capacity.
func TestByKeyword(t *testing.T) {
	for text, want := range map[string]Class{
		"Rate limit reached": Rate, "quota exceeded": Quota, "permission denied": Permission,
		"model is at capacity": Overloaded, "overloaded": Overloaded, "server busy": Overloaded,
		"rate limit: the server is busy": Rate, "no quota, at capacity": Quota, "busy: no permission": Permission,
		"quota of the rate limit": Quota, "rate limit of the API key": Permission, "billing of the API key": Quota,
	} {
		for _, status := range []uint16{200, 401, 403, 429, 500, 503, 529} {
			for _, body := range []Body{ErrorBody, CodeBody, StreamError, Garbage} {
				var o Outcome
				ByKeyword{}.Read(&Reply{Status: status, Body: body, Words: WordsOf(text), Hint: Hint{Value: 3}, Code: 9}, 0, &o)
				require.Equal(t, Outcome{Status: status, Class: want, RetryAfter: 3, Code: 9, Begun: body == StreamError}, o, "%s under %d", text, status)
			}
		}
	}
	// Without one it goes by the status.
	for _, status := range []uint16{200, 401, 402, 403, 413, 429, 500, 503, 504, 529} {
		var o Outcome
		ByKeyword{}.Read(&Reply{Status: status, Body: ErrorBody, Class: Quota, Shown: Quota}, 0, &o)
		require.Equal(t, ClassOfStatus(status), o.Class)
	}
}

// Times of resets are read against the client's own clock, as dates are; marks
// that only say how to read are no facts.
func TestResetsAreReadAgainstTheClientsClock(t *testing.T) {
	for clock, want := range map[time.Duration]time.Duration{50: 10, 55: 5, 60: 0, 90: 0, -5: 65} {
		for _, reader := range []Reader{ByBody{}, ByStatus{}, ByKeyword{}, ByLibrary{}} {
			var o Outcome
			reader.Read(&Reply{Status: 200, Reset: 60, Limit: 5, Marks: ResetAsTime | ShouldRetry | DegradedReply}, clock, &o)
			require.Equal(t, want, o.Reset, "%T at %d", reader, clock)
			require.Equal(t, ShouldRetry|DegradedReply, o.Marks)
			reader.Read(&Reply{Status: 200, Reset: 60, Limit: 5}, clock, &o)
			require.Equal(t, time.Duration(60), o.Reset, "a length needs no clock")
			require.Zero(t, o.Marks)
		}
	}
}
