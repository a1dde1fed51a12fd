package presets

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/sim/saturating"
	"herdlab/strategies"
	"herdlab/strategies/strategytest"
)

func TestPresets(t *testing.T) {
	names, summaries := map[string]bool{}, map[string]bool{}
	for _, b := range Builtins() {
		names[b.Name], summaries[b.Summary] = true, true
	}
	wellFormed := regexp.MustCompile(`^[a-z0-9][a-z0-9.+-]*$`)
	for _, p := range Presets() {
		require.Regexp(t, wellFormed, p.Name)
		require.False(t, names[p.Name], "two strategies are named %s", p.Name)
		require.False(t, summaries[p.Summary], "%s has the summary of another strategy", p.Name)
		names[p.Name], summaries[p.Summary] = true, true
		require.LessOrEqual(t, len([]rune(p.Summary)), 80, p.Name)
		require.NotEmpty(t, p.Version, p.Name)
		require.NotEmpty(t, p.Source, p.Name)

		d, err := Lookup(p.Name, Knowledge{})
		require.NoError(t, err)
		program, err := strategies.Compile(d, nil)
		require.NoError(t, err)
		require.Equal(t, p.Name, program.Name)
		require.Zero(t, program.Words[strategies.PerEveryone]+program.Words[strategies.PerFleet], "%s: a library must not share memory beyond its process", p.Name)
	}
	require.Len(t, All(), len(Builtins())+len(Presets()))
	for _, name := range []string{
		"openai-python", "openai-node", "openai-go", "anthropic-python", "anthropic-ts", "anthropic-go", "google-genai", "google-genai-retry",
		"aws-legacy", "aws-standard", "aws-standard-2026", "aws-adaptive", "vercel-ai", "langchain-js", "tenacity", "litellm-router",
		"go-retryablehttp", "cenkalti-backoff", "grpc", "polly", "polly-jitter", "resilience4j", "codex", "gemini-cli", "gemini-cli-fallback",
		"failsafe-go", "gobreaker", "x-time-rate", "article-capacity", "article-fallback", "article-three-tiers",
		"article-14003", "article-14003-semaphore", "article-14003-client", "article-14003-bucket",
	} {
		require.True(t, names[name], name)
	}
}

// callResult is the course of one call: the waits between its attempts, the number of
// attempts, and whether the client counts the call as answered.
type callResult struct {
	waits    []time.Duration
	attempts int
	ok       bool
	hangs    bool // waits for a permit that only the call itself could return
	end      strategies.End
	models   []uint8 // the models of the attempts
}

// replies runs one call of a preset against a server that sends the given replies in
// order and then repeats the last one. A reply without a status is a lost connection.
// It stops after most attempts.
func replies(t *testing.T, name string, seed uint64, most int, all ...wire.Reply) (l callResult) {
	t.Helper()
	d, err := Lookup(name, Knowledge{})
	require.NoError(t, err)
	w := strategytest.NewWorld(t, map[string][]strategies.Layer{"": d.Layers}, seed)
	w.Direct = true
	c := w.Call("a")
	reader := d.Reader
	if reader == nil {
		reader = wire.ByBody{}
	}
	last := time.Duration(0)
	dec := c.Next(strategies.Event{Kind: strategies.Begin})
	for dec.Kind != strategies.Stop {
		switch dec.Kind {
		case strategies.Send:
			if l.attempts++; l.attempts > most {
				return l
			}
			if l.attempts > 1 {
				l.waits = append(l.waits, w.Now-last)
			}
			last = w.Now
			l.models = append(l.models, c.Target.Model)
			r := all[min(l.attempts, len(all))-1]
			e := strategies.Event{Kind: strategies.Reply, Attempt: c.Attempts, Outcome: &wire.Outcome{}}
			if r.Status == 0 {
				e.Kind, *e.Outcome = strategies.Lost, strategytest.Refused(wire.ConnectionLost)
			} else {
				reader.Read(&r, w.Now, e.Outcome)
			}
			dec = c.Next(e)
		case strategies.Wait:
			w.Now = saturating.Add(w.Now, dec.After)
			dec = c.Next(strategies.Event{Kind: strategies.Wake})
		default: // the call waits for a pool, or is admitted at once
			if c.Line != nil {
				p, m := c.Pool(c.Wants.Pool)
				ok, ready := p.TryTake(w.Now, m, c.Wants.N)
				if ready == strategies.Never {
					l.hangs = true
					return l
				}
				if !ok {
					w.Now = ready
					continue
				}
				c.LeaveLine()
				dec = c.Next(strategies.Event{Kind: strategies.Admitted})
			}
		}
	}
	l.end, l.ok = dec.End, dec.End.Reason == strategies.Succeeded
	return l
}

// says returns an error reply with a status and, in its body, a class.
func says(status uint16, class wire.Class) wire.Reply {
	return wire.Reply{Status: status, Class: class, Shown: class, Body: wire.ErrorBody, Hint: wire.Hint{Value: wire.NoHint}}
}

// asks returns r with a hint.
func asks(r wire.Reply, after time.Duration, how wire.Spelling) wire.Reply {
	r.Hint.Value, r.Hint.Spelling = after, how
	return r
}

func marked(r wire.Reply, m wire.Marks) wire.Reply {
	r.Marks = m
	return r
}

func spoilt(b wire.Body, tokens uint32) wire.Reply {
	return wire.Reply{Status: 200, Body: b, Shown: wire.Overloaded, Tokens: tokens, Hint: wire.Hint{Value: wire.NoHint}}
}

var (
	limited  = says(429, wire.Rate)
	busy     = says(503, wire.Overloaded)
	quota429 = wire.Reply{Status: 429, Shown: wire.Quota, Body: wire.ErrorBody, Hint: wire.Hint{Value: wire.NoHint}, Words: wire.MentionsQuota}
	body200  = wire.Reply{Status: 200, Shown: wire.Rate, Body: wire.CodeBody, Code: wire.Code14003, Hint: wire.Hint{Value: 3 * time.Second, Spelling: wire.BodySeconds}}
)

// failings returns the ways in which a preset fails.
func failings(t *testing.T, name string) (all []string) {
	add := func(what string, is bool) {
		if is {
			all = append(all, what)
		}
	}
	live := func(r wire.Reply) [2]callResult {
		return [2]callResult{replies(t, name, 1, 200, r), replies(t, name, 2, 200, r)}
	}
	same := func(l [2]callResult) bool { return len(l[0].waits) > 0 && l[0].waits[0] == l[1].waits[0] }
	var early, sleeps, spins, together, inStep bool
	for _, r := range refusals(name) {
		inStep = inStep || same(live(r))
		for _, w := range live(asks(r, time.Hour, r.Hint.Spelling))[0].waits {
			early, sleeps = early || w < time.Hour, sleeps || w >= time.Hour
		}
		first := func(after time.Duration) (a, b time.Duration, any bool) {
			l := live(asks(r, after, r.Hint.Spelling))
			if len(l[0].waits) == 0 || len(l[1].waits) == 0 {
				return 0, 0, false
			}
			return l[0].waits[0], l[1].waits[0], true
		}
		a, b, any := first(0)
		spins = spins || any && a == 0 && b == 0
		a, b, any = first(5 * time.Second)
		together = together || any && a == b
	}
	add("early", early)
	add("sleeps", sleeps)
	add("spins", spins)
	add("together", together)
	add("in step", inStep)
	add("permanent", live(says(401, wire.Auth))[0].attempts+live(says(400, wire.BadRequest))[0].attempts+live(quota429)[0].attempts > 3)
	add("blind", live(body200)[0].ok || live(busy)[0].ok)
	add("twice", live(spoilt(wire.StreamError, 30))[0].attempts > 1)
	add("endless", live(busy)[0].attempts > 200)
	add("gives up", live(busy)[0].attempts == 1 && !live(busy)[0].ok)
	add("hangs", live(body200)[0].hangs)
	return all
}

// refusals returns the refusals that a preset may receive, without a hint but with the
// spelling of its provider: Google's clients support neither 14003 nor Retry-After.
func refusals(name string) []wire.Reply {
	body := asks(body200, wire.NoHint, wire.BodySeconds)
	all := []wire.Reply{asks(limited, wire.NoHint, wire.HeaderSeconds), asks(busy, wire.NoHint, wire.HeaderSeconds), body}
	if strings.HasPrefix(name, "gemini-cli") {
		all = all[:2]
		for i := range all {
			all[i].Hint.Spelling = wire.BodyDelay
		}
	}
	return all
}

// The number of retries of one client in an outage that uses up its retry budget.
func TestPresetBudgets(t *testing.T) {
	for name, want := range map[string]map[wire.Class]int{
		"aws-standard":      {wire.Overloaded: 500 / 5, wire.Rate: 500 / 5, wire.Timeout: 500 / 10},
		"aws-standard-2026": {wire.Overloaded: 500 / 14, wire.Rate: 500 / 5, wire.Timeout: 500 / 14},
		"grpc":              {wire.Overloaded: 3, wire.ConnectionLost: 3, wire.Rate: 0},
	} {
		for class, n := range want {
			x := strategytest.NewOneClient(t, layersOf(t, name)...)
			retries := 0
			for range 150 {
				retries += x.CallsEnding(class, map[wire.Class]uint16{wire.Overloaded: 503, wire.Rate: 429}[class]) - 1
			}
			require.Equal(t, n, retries, "%s after %v", name, class)
		}
	}
}

// The timeout of an attempt of each preset; the others have none. An attempt that timed
// out is retried as after a lost connection.
func TestPresetTimeouts(t *testing.T) {
	want := map[string]time.Duration{
		"openai-python": 600 * time.Second, "openai-node": 600 * time.Second, "anthropic-python": 600 * time.Second,
		"anthropic-ts": 600 * time.Second, "anthropic-go": 600 * time.Second,
		"litellm-router": 6000 * time.Second, "codex": 300 * time.Second, "gemini-cli": 300 * time.Second, "gemini-cli-fallback": 300 * time.Second,
		"article-14003": 30 * time.Second, "article-14003-semaphore": 30 * time.Second, "article-14003-client": 30 * time.Second, "article-14003-bucket": 30 * time.Second,
	}
	for _, p := range Presets() {
		d := strategytest.NewOneClient(t, layersOf(t, p.Name)...).Caller.Next(strategies.Event{Kind: strategies.Begin})
		require.Equal(t, strategies.Send, d.Kind, p.Name)
		require.Equal(t, want[p.Name], d.After, p.Name)
	}
	for _, name := range []string{"openai-python", "openai-node", "anthropic-python", "anthropic-ts", "anthropic-go", "litellm-router", "codex", "gemini-cli"} {
		x := strategytest.NewOneClient(t, layersOf(t, name)...)
		require.Greater(t, x.CallsEnding(wire.Timeout, 0), 1, name)
	}
}
