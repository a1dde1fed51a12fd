package strategies

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// failing is how a preset fails.
type failing struct {
	// ways are words:
	//
	//	early      comes back before the time it was asked to wait, given an hour
	//	sleeps     waits the hour
	//	spins      comes back at once when asked for 0 s
	//	together   two clients that are told the same come back in the same instant
	//	in step    two clients that are told nothing do
	//	permanent  retries a bad key, a bad request or a spent quota
	//	blind      takes a 14003 under 200, or a 503, for an answer
	//	twice      asks again when some of a stream has been delivered
	//	endless    knows no bound in an outage
	//	gives up   does not retry a 503
	//	hangs      waits for itself for ever
	ways string
	// cases are numbers of clientCases.
	cases string
}

// clientCases are the cases of the field that concern a client, as the built-in
// scenarios number them: what one that fails does. TestPresetsFailCases has the
// days in which each is tried. Refused is, unless it says more, by a 429, a 503 or
// a 14003, whichever it takes worst; hints are spelled as its provider spells them.
var clientCases = []struct {
	Number int
	What   string
}{
	{1, "multiplies: an application that asks four times makes more than four attempts"},
	{4, "told, as a hundred others, that there is room in a minute, comes before it, or with forty others in a second of it"},
	{5, "reads the wait that it is asked for in a wrong unit"},
	{6, "is in a hot loop on the second day of an outage"},
	{7, "keeps a caller out for seconds after two thousand have given up waiting"},
	{8, "asks again after a prompt that is too long, a spent quota, or more than the whole limit"},
	{9, "comes back in the same instant as others that were refused when it was"},
	{10, "never lets anybody in again after a probe that is never answered"},
	{11, "of a thousand calls that fail at once, retries more than two hundred"},
	{12, "of the waits that a header may ask for, cuts one short, spins at one of 0, or sleeps for an hour"},
	{13, "takes a 14003 under 200 for an answer"},
	{14, "does not begin a stream again that fails before its first token, or begins one again that fails after it, or says that all is well"},
	{15, "with ten tasks under one limit, asks in vain ten times as often as with one"},
	{17, "is shut by requests that can never succeed, for all others too"},
	{18, "opens no breaker when every other refusal is a 429"},
	{19, "keeps a call in a hurry out because a background job is refused"},
	{20, "is shut by a single 529"},
	{21, "has no jitter at its longest wait, or exceeds that"},
}

// presetFails is in which ways, and in which cases of the field, each preset
// fails. It is faithful, not good: a change of this table is a change of what
// somebody's client does.
var presetFails = map[string]failing{
	"openai-python":           {"together, permanent, blind", "1 4 8 11 12 13 14 15"},
	"openai-node":             {"early, spins, together, permanent, blind", "1 4 5 8 11 12 13 14 15"},
	"openai-go":               {"spins, together, permanent, blind", "1 4 8 11 12 13 14 15"},
	"anthropic-python":        {"early, together, permanent, blind", "1 4 8 11 12 13 14 15"},
	"anthropic-ts":            {"sleeps, together, permanent, blind", "1 4 5 8 11 12 13 14 15"},
	"anthropic-go":            {"sleeps, spins, together, permanent, blind", "1 4 8 11 12 13 14 15"},
	"google-genai":            {"blind, gives up", "13 14 15"},
	"google-genai-retry":      {"early, permanent, blind", "1 4 8 11 12 13 14 15"},
	"aws-legacy":              {"early, permanent, blind", "1 4 8 11 12 13 14 15"},
	"aws-standard":            {"early, blind", "1 4 12 13 14 15"},
	"aws-standard-2026":       {"early, blind", "1 4 12 13 14 15"},
	"aws-adaptive":            {"early, together, in step, blind", "1 4 9 12 13 14 15 19"}, // 2 s after a first 429, whoever it is
	"vercel-ai":               {"early, spins, together, in step, permanent", "1 4 5 8 9 11 12 15"},
	"langchain-js":            {"early, together", "1 4 11 12 14 15"},
	"litellm-router":          {"early, spins, together, in step, permanent, blind", "1 4 8 9 11 12 13 14 15 19"}, // at once, elsewhere
	"codex":                   {"early, blind, twice", "1 4 11 12 13 14 15"},
	"gemini-cli":              {"twice", "1 8 11 12 14 15 21"},
	"gemini-cli-fallback":     {"early, permanent, twice", "1 8 11 12 14 15 21"}, // at another model
	"tenacity":                {"early, spins, together, in step, permanent, blind, twice, endless", "1 4 6 8 9 11 12 13 14 15"},
	"langchain-python":        {"early, permanent, blind", "1 4 8 11 12 13 14 15"},
	"go-retryablehttp":        {"sleeps, spins, together, in step, permanent, blind", "1 4 8 9 11 12 13 14 15"},
	"cenkalti-backoff":        {"spins, together, permanent, blind, twice", "1 4 8 11 12 13 14 15 21"},
	"grpc":                    {"sleeps, spins, together, blind", "1 4 12 13 14 15"},
	"polly":                   {"early, together, in step, permanent, blind, twice", "1 4 8 9 11 12 13 14 15"},
	"polly-jitter":            {"early, permanent, blind, twice", "1 4 8 11 12 13 14 15"},
	"resilience4j":            {"early, together, in step, permanent, blind, twice", "1 4 8 9 10 12 13 14 15 17 19"},
	"failsafe-go":             {"early, spins, together, in step, permanent, blind, twice", "1 4 8 9 11 12 13 14 15"},
	"gobreaker":               {"blind, gives up", "10 13 14 15 17 19"},
	"x-time-rate":             {"blind, gives up", "7 13 14 15"},
	"article-capacity":        {"sleeps", "1 4 11 12 15"},
	"article-fallback":        {"early, spins, together, in step", "1 4 9 11 12 15"}, // likewise
	"article-three-tiers":     {"early, sleeps", "1 11 12 15"},                       // early at another model
	"article-14003":           {"sleeps, spins, together, in step, blind", "1 4 9 11 12 14 15"},
	"article-14003-semaphore": {"sleeps, spins, together, in step, blind, hangs", "4 9 10 12 14 15 19"},
	"article-14003-client":    {"sleeps, blind", "1 4 11 12 14 15 19"},
	"article-14003-bucket":    {"blind", "14 15"},
}

// How the field's clients fail, each in exactly these ways.
func TestPresetsFail(t *testing.T) {
	require.Len(t, presetFails, len(Presets()))
	for _, p := range Presets() {
		require.Equal(t, presetFails[p.Name].ways, strings.Join(failings(t, p.Name), ", "), p.Name)
	}
}
