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
			Reply{Status: 200, Class: OK, RetryAfter: NoHint},
			Outcome{Status: 200, Class: OK, RetryAfter: NoHint},
			Outcome{Status: 200, Class: OK, RetryAfter: NoHint},
		},
		"14003 in a 200: a success to who reads the status, and no hint": {
			Reply{Status: 200, Class: Rate, Shown: Rate, Body: CodeBody, Code: Code14003, RetryAfter: hint, Limit: 20},
			Outcome{Status: 200, Class: OK, RetryAfter: NoHint},
			Outcome{Status: 200, Class: Rate, Code: Code14003, RetryAfter: hint, Limit: 20},
		},
		"14003 for want of a permit": {
			Reply{Status: 200, Class: Concurrency, Shown: Concurrency, Body: CodeBody, Code: Code14003, RetryAfter: NoHint, Limit: 2, Remaining: 0},
			Outcome{Status: 200, Class: OK, RetryAfter: NoHint},
			Outcome{Status: 200, Class: Concurrency, Code: Code14003, RetryAfter: NoHint, Limit: 2},
		},
		"an error body has its hint in a header": {
			Reply{Status: 429, Class: Rate, Shown: Rate, Body: ErrorBody, RetryAfter: hint, Limit: 120, Remaining: 7},
			Outcome{Status: 429, Class: Rate, RetryAfter: hint, Limit: 120, Remaining: 7},
			Outcome{Status: 429, Class: Rate, RetryAfter: hint, Limit: 120, Remaining: 7},
		},
		"a business code under an error status": {
			Reply{Status: 429, Class: Quota, Shown: Quota, Body: CodeBody, Code: 1, RetryAfter: hint, Spelled: BodySeconds},
			Outcome{Status: 429, Class: Rate, RetryAfter: NoHint},
			Outcome{Status: 429, Class: Quota, Code: 1, RetryAfter: hint},
		},
		"its headers are read, as those of any error": {
			Reply{Status: 429, Class: Quota, Shown: Quota, Body: CodeBody, Code: 1, RetryAfter: hint, Spelled: HeaderSeconds},
			Outcome{Status: 429, Class: Rate, RetryAfter: hint},
			Outcome{Status: 429, Class: Quota, Code: 1, RetryAfter: hint},
		},
		"a spent quota under 429 is told by the body alone": {
			Reply{Status: 429, Class: Quota, Shown: Quota, Body: ErrorBody, RetryAfter: NoHint},
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
		ByStatus{}.Read(&Reply{Status: status, RetryAfter: NoHint}, 0, &o)
		require.Equal(t, want, o.Class, status)
	}
}

// A date is read against the client's own clock: one that is ahead waits too
// little, one that is behind too long, and neither waits less than nothing.
func TestDatesAreReadAgainstTheClientsClock(t *testing.T) {
	r := Reply{Status: 429, Class: Rate, Shown: Rate, Body: ErrorBody, RetryAfter: time.Minute, Spelled: HeaderTime}
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
	r.RetryAfter, r.Spelled = 3*time.Second, HeaderSeconds
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
			reader.Read(&Reply{Status: 200, RetryAfter: NoHint, Limit: 20, Remaining: 7, Reset: time.Minute, Marks: marks}, 0, &o)
			require.Equal(t, want, o, "%T %b", reader, marks)
		}
	}
}
