package wire

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What a spelling can say: how finely, by whose clock, and to whom.
func TestSpellings(t *testing.T) {
	const s, ms, ns = time.Second, time.Millisecond, time.Nanosecond
	for spelling, want := range [NumSpellings]struct {
		unit            time.Duration
		header, isDated bool
	}{
		ExactSeconds:   {ns, true, false},
		HeaderSeconds:  {s, true, false},
		HeaderMillis:   {ms, true, false},
		HeaderDate:     {s, true, true},
		HeaderTime:     {ns, true, true},
		HeaderEpoch:    {s, true, true},
		HeaderDuration: {ns, true, false},
		BodySeconds:    {ns, false, false},
		BodyMillis:     {ms, false, false},
		BodyDelay:      {ms, false, false},
		Sentence:       {ms, false, false},
		BothSeconds:    {s, true, false},
		NoPlaceForHint: {ns, false, false},
	} {
		got := Spelling(spelling)
		require.Equal(t, want.unit, got.Unit(), "spelling %d", spelling)
		require.Equal(t, want.header, got.InHeader(), "spelling %d", spelling)
		require.Equal(t, want.isDated, got.Dated(), "spelling %d", spelling)
	}
}

func TestWordsOf(t *testing.T) {
	for text, want := range map[string]Words{
		"": 0, "Internal error": 0,
		"Rate limit reached": MentionsLimit, "rate_limit_error": MentionsLimit, "RateLimitReached": MentionsLimit, "Too Many Requests": MentionsLimit,
		"You exceeded your current quota": MentionsQuota, "Insufficient credit": MentionsQuota, "balance is too low": MentionsQuota, "check your billing details": MentionsQuota,
		"Permission denied": MentionsPermission, "access denied": MentionsPermission, "UNAUTHORIZED": MentionsPermission,
		"Incorrect API key provided": MentionsPermission, "invalid_api_key": MentionsPermission,
		"Selected model is at capacity": MentionsCapacity, "Overloaded": MentionsCapacity, "the system is busy": MentionsCapacity,
		"quota exceeded: rate limit, model busy": MentionsQuota | MentionsLimit | MentionsCapacity,
	} {
		require.Equal(t, want, WordsOf(text), text)
	}
}

// The plain forms put each class under a status that reads as it, where there is
// one, and show it as what it is.
func TestPlain(t *testing.T) {
	forms := Plain()
	for class, status := range map[Class]uint16{
		OK: 200, Rate: 429, TokenRate: 429, Concurrency: 429, Acceleration: 429, Overloaded: 503, Quota: 429, Auth: 401,
		Permission: 403, BadRequest: 400, TooLarge: 413, ServerError: 500, Timeout: 504, ConnectionLost: 0, Cancelled: 0,
	} {
		f := &forms[class]
		require.Equal(t, status, f.Status, class.String())
		require.Equal(t, class, f.Shown, class.String())
		require.Equal(t, class == OK, f.Body == Completion, class.String())
		switch class {
		case TokenRate, Concurrency, Acceleration, Quota: // there is no status of their own
			require.Equal(t, Rate, ClassOfStatus(status))
		case ConnectionLost, Cancelled: // nor any at all
		default:
			require.Equal(t, class, ClassOfStatus(status))
		}
		require.Equal(t, class == Rate, f.Foreign.Words == MentionsLimit, "14003 says too many requests: %v", class)
	}
}

func TestDemandOutput(t *testing.T) {
	for d, want := range map[Demand]uint32{
		{OutputTokens: 5}: 5, {OutputTokens: 5, MaxTokens: 3}: 3, {OutputTokens: 3, MaxTokens: 5}: 3, {MaxTokens: 5}: 0,
	} {
		require.Equal(t, want, d.Output(), "%+v", d)
	}
}
