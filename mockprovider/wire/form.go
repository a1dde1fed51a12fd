package wire

import (
	"strings"
	"time"
)

// Spelling is how a hint to come back later is written on the wire.
type Spelling uint8

// The spellings. The zero Spelling is a header with as many decimals as it
// takes, which no provider sends and no client misreads.
const (
	ExactSeconds   Spelling = iota // Retry-After: 1.234567891
	HeaderSeconds                  // Retry-After: 3
	HeaderMillis                   // retry-after-ms: 1234
	HeaderDate                     // Retry-After: Wed, 21 Oct 2026 07:28:30 GMT
	HeaderTime                     // the same to the nanosecond, which no header has
	HeaderEpoch                    // X-RateLimit-Reset: 1796040000, and nothing else
	HeaderDuration                 // Retry-After: 6m0s, which is no valid one and is sent all the same
	BodySeconds                    // "retry_after": 2.5 in the body
	BodyMillis                     // "retry_after_ms": 2500 in the body
	BodyDelay                      // "retryDelay": "34.07s" in the body's details
	Sentence                       // "Please try again in 1.898s." in the message
	BothSeconds                    // Retry-After: 3, and the same in the body or message
	NoPlaceForHint                 // the form has no place for a hint
	NumSpellings   = iota          // how many there are
)

// Dated reports whether s writes a time on the provider's clock, not a wait.
func (s Spelling) Dated() bool { return s == HeaderDate || s == HeaderTime || s == HeaderEpoch }

// InHeader reports whether s can be read without the body.
func (s Spelling) InHeader() bool { return s < BodySeconds || s == BothSeconds }

// Unit is the finest difference that s can write.
func (s Spelling) Unit() time.Duration {
	switch s {
	case HeaderSeconds, HeaderDate, HeaderEpoch, BothSeconds:
		return time.Second
	case HeaderMillis, BodyMillis, BodyDelay, Sentence:
		return time.Millisecond
	}
	return 1
}

// NoHint in Hint.Value or Outcome.RetryAfter means that the reply does not state
// how long to wait.
const NoHint time.Duration = -1

// Hint is when a reply tells the client to come back, as it is written on the
// wire.
type Hint struct {
	// Value is a wait or, where Spelling.Dated, the time to come back as the
	// provider's clock shows it; NoHint if the reply states none.
	Value    time.Duration
	Spelling Spelling
}

// Wait returns the wait that the hint means to a client whose clock shows clock;
// NoHint if there is none. A time that has passed by then is no wait.
func (h Hint) Wait(clock time.Duration) time.Duration {
	if h.Value != NoHint && h.Spelling.Dated() {
		return max(0, h.Value-clock)
	}
	return h.Value
}

// Words are what the text of a reply mentions, as bits: keyword readers and log
// alarms go by it.
type Words uint8

// The words.
const (
	MentionsLimit      Words = 1 << iota // "rate limit", "too many requests"
	MentionsQuota                        // "quota", "credit", "balance", "billing"
	MentionsPermission                   // "permission", "access denied", "unauthorized", "api key"
	MentionsCapacity                     // "capacity", "overloaded", "busy"
)

// phrases are the texts that mention each. They are the ones of the reference articles'
// keyword readers and their nearest relatives.
var phrases = [...]struct {
	phrase string
	means  Words
}{
	{"rate limit", MentionsLimit}, {"rate_limit", MentionsLimit}, {"ratelimit", MentionsLimit}, {"too many requests", MentionsLimit},
	{"quota", MentionsQuota}, {"credit", MentionsQuota}, {"balance", MentionsQuota}, {"billing", MentionsQuota},
	{"permission", MentionsPermission}, {"access denied", MentionsPermission}, {"unauthorized", MentionsPermission},
	{"api key", MentionsPermission}, {"api_key", MentionsPermission},
	{"capacity", MentionsCapacity}, {"overloaded", MentionsCapacity}, {"busy", MentionsCapacity},
}

// WordsOf returns what a text mentions, in any case.
func WordsOf(text string) Words {
	var w Words
	text = strings.ToLower(text)
	for _, s := range phrases {
		if strings.Contains(text, s.phrase) {
			w |= s.means
		}
	}
	return w
}

// Form is how one class of reply is put on the wire.
type Form struct {
	// Status is the HTTP status; 0 means that there is no such form.
	Status uint16
	// Body is ErrorBody or CodeBody, Code the business code of the latter.
	Body Body
	Code int32
	// Shown is the class that the form reads as: a dialect that has no word for
	// a class uses another's.
	Shown Class
	// Words is what its text mentions.
	Words Words
	// Foreign is the text of a reply of this class in the other shape, CodeBody for
	// ErrorBody and the other way round.
	Foreign Text
	// Spelling is how it writes hints.
	Spelling Spelling
	// Marks are x-should-retry, where the form sends it, ResetAsTime, where it
	// writes resets as times, and what it has no place for.
	Marks Marks
}

// Text is the class that a text reads as, and what it mentions.
type Text struct {
	Shown Class
	Words Words
}

// Forms are the forms of all classes: what a provider of one dialect sends. The
// entry of OK is how successes describe limits; only its Marks matter.
type Forms [NumClasses]Form

// Plain is the forms of no provider in particular: an error body under the
// status that RFC 9110 and RFC 6585 have for the class. It shows each class as
// what it is.
func Plain() Forms {
	var f Forms
	for c := range Class(NumClasses) {
		f[c] = Form{Status: plainStatus[c], Body: ErrorBody, Shown: c, Foreign: Text{Shown: c}}
	}
	f[OK] = Form{Status: 200}
	f[Rate].Foreign.Words = MentionsLimit // 14003: "too many requests"
	return f
}

// plainStatus is the status of each class that a provider can reply with.
var plainStatus = [NumClasses]uint16{
	OK: 200, Rate: 429, TokenRate: 429, Concurrency: 429, Acceleration: 429, Overloaded: 503, Quota: 429, Auth: 401,
	Permission: 403, BadRequest: 400, TooLarge: 413, ServerError: 500, Timeout: 504,
}
