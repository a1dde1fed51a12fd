package presets

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// failing is how a preset fails.
type failing struct {
	// ways are words:
	//
	//	early      retries before the end of a hint of an hour
	//	sleeps     waits for a hint of an hour
	//	spins      retries at once after a hint of 0 s
	//	together   two clients with the same hint retry at the same instant
	//	in step    two clients without a hint retry at the same instant
	//	permanent  retries an invalid key, a bad request or a used-up quota
	//	blind      counts a 14003 with status 200, or a 503, as an answer
	//	twice      retries a stream of which tokens have been delivered
	//	endless    makes attempts without a bound in an outage
	//	gives up   does not retry a 503
	//	hangs      waits for ever because of a deadlock
	ways string
	// cases are numbers of clientCases.
	cases string
}

// clientCases are the built-in scenarios case-NN that test a client, and the
// behaviour of a preset that fails the case. TestPresetsFailCases has the
// experiments. Unless stated otherwise a refusal is a 429, a 503 or a 14003,
// whichever has the worst effect; hints have the format of the preset's provider.
var clientCases = []struct {
	Number int
	What   string
}{
	{1, "retry layers multiply: an application with four tries of its own makes more than four attempts"},
	{4, "with a hint of one minute for a hundred clients, retries before it, or more than forty clients retry in the same second after it"},
	{5, "reads a hint in the wrong unit"},
	{6, "retries in a hot loop on the second day of an outage"},
	{7, "delays a caller for seconds after two thousand waiting callers have cancelled"},
	{8, "retries a prompt that is too long, a used-up quota, or a request larger than the whole limit"},
	{9, "retries at the same instant as other clients that were refused at the same time"},
	{10, "never admits a call again after a half-open probe without an answer"},
	{11, "retries more than two hundred of a thousand calls that fail at once"},
	{12, "for some format of Retry-After, retries too early, spins after a hint of 0, or waits for a hint of an hour"},
	{13, "counts a 14003 with status 200 as an answer"},
	{14, "does not retry a stream that fails before its first token, or retries one that fails after it, or reports a success"},
	{15, "with ten tasks at one limit, has ten times the refusals of one task"},
	{17, "opens for all callers because of requests that can never succeed"},
	{18, "does not open its breaker if every other refusal is a 429"},
	{19, "blocks an urgent call because a background job is refused"},
	{20, "blocks all targets because of a single 529"},
	{21, "has no jitter at its maximum wait, or exceeds it"},
}

// presetFails lists the ways and the cases in which each preset fails. A failure is
// part of the model: change this table only if the modelled client has changed.
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
	"aws-adaptive":            {"early, together, in step, blind", "1 4 9 12 13 14 15 19"}, // all clients wait 2 s after a first 429
	"vercel-ai":               {"early, spins, together, in step, permanent", "1 4 5 8 9 11 12 15"},
	"langchain-js":            {"early, together", "1 4 11 12 14 15"},
	"litellm-router":          {"early, spins, together, in step, permanent, blind", "1 4 8 9 11 12 13 14 15 19"}, // at once at another target
	"codex":                   {"early, blind, twice", "1 4 11 12 13 14 15"},
	"gemini-cli":              {"twice", "1 8 11 12 14 15 21"},
	"gemini-cli-fallback":     {"early, permanent, twice", "1 8 11 12 14 15 21"}, // early at another model
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
	"article-fallback":        {"early, spins, together, in step", "1 4 9 11 12 15"}, // early at another model
	"article-three-tiers":     {"early, sleeps", "1 11 12 15"},                       // early at another model
	"article-14003":           {"sleeps, spins, together, in step, blind", "1 4 9 11 12 14 15"},
	"article-14003-semaphore": {"sleeps, spins, together, in step, blind, hangs", "4 9 10 12 14 15 19"},
	"article-14003-client":    {"sleeps, blind", "1 4 11 12 14 15 19"},
	"article-14003-bucket":    {"blind", "14 15"},
}

// Each preset fails in exactly the ways in the table.
func TestPresetsFail(t *testing.T) {
	require.Len(t, presetFails, len(Presets()))
	for _, p := range Presets() {
		require.Equal(t, presetFails[p.Name].ways, strings.Join(failings(t, p.Name), ", "), p.Name)
	}
}
