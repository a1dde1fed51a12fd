package strategies

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
)

func TestPresets(t *testing.T) {
	names, summaries := map[string]bool{}, map[string]bool{}
	for _, b := range Builtins() {
		names[b.Name], summaries[b.Summary] = true, true
	}
	wellFormed := regexp.MustCompile(`^[a-z0-9][a-z0-9.+-]*$`)
	for _, p := range Presets() {
		require.Regexp(t, wellFormed, p.Name)
		require.False(t, names[p.Name], "%s is there twice", p.Name)
		require.False(t, summaries[p.Summary], "%s says what another says", p.Name)
		names[p.Name], summaries[p.Summary] = true, true
		require.LessOrEqual(t, len([]rune(p.Summary)), 80, p.Name)
		require.NotEmpty(t, p.Version, p.Name)
		require.NotEmpty(t, p.Source, p.Name)

		d, err := Lookup(p.Name, Knowledge{})
		require.NoError(t, err)
		program, err := Compile(d, nil)
		require.NoError(t, err)
		require.Equal(t, p.Name, program.Name)
		require.Zero(t, program.Words[PerEveryone]+program.Words[PerFleet], "%s: a library keeps to its process", p.Name)
	}
	require.Len(t, All(), len(Builtins())+len(Presets()))
	for _, name := range []string{
		"openai-python", "openai-node", "openai-go", "anthropic-python", "anthropic-ts", "anthropic-go", "google-genai", "google-genai-retry",
		"aws-legacy", "aws-standard", "aws-standard-2026", "aws-adaptive", "vercel-ai", "langchain-js", "tenacity", "litellm-router",
		"go-retryablehttp", "cenkalti-backoff", "grpc", "polly", "resilience4j", "codex", "gemini-cli",
	} {
		require.True(t, names[name], name)
	}
}

// life is what became of one call: its waits between attempts, how many those
// were, and whether the client takes it for answered.
type life struct {
	waits    []time.Duration
	attempts int
	ok       bool
	hangs    bool // stands in a line that only it could move
}

// replies lives one call of a preset against a server that always answers the
// same; a reply without a status is a connection that breaks. It watches no more
// than so many attempts.
func replies(t *testing.T, name string, seed uint64, most int, r wire.Reply) (l life) {
	t.Helper()
	d, err := Lookup(name, Knowledge{})
	require.NoError(t, err)
	w := newWorld(t, map[string][]Layer{"": d.Layers}, seed)
	w.direct = true
	c := w.call("a")
	reader := d.Reader
	if reader == nil {
		reader = wire.ByBody{}
	}
	last := time.Duration(0)
	dec := c.next(Event{Kind: Begin})
	for dec.Kind != Stop {
		switch dec.Kind {
		case Send:
			if l.attempts++; l.attempts > most {
				return l
			}
			if l.attempts > 1 {
				l.waits = append(l.waits, w.now-last)
			}
			last = w.now
			e := Event{Kind: Reply, Attempt: c.Attempts, Outcome: &wire.Outcome{}}
			if r.Status == 0 {
				e.Kind, *e.Outcome = Lost, refusedAs(wire.Disconnected)
			} else {
				reader.Read(&r, w.now, e.Outcome)
			}
			dec = c.next(e)
		case Wait:
			w.now = saturatingAdd(w.now, dec.After)
			dec = c.next(Event{Kind: Wake})
		default: // it stands in line, or comes out of it at once
			if c.line != nil {
				p, m := c.pool(c.wants.Pool)
				ok, ready := p.TryTake(w.now, m, c.wants.N)
				if ready == Never {
					l.hangs = true
					return l
				}
				if !ok {
					w.now = ready
					continue
				}
				c.leave()
				dec = c.next(Event{Kind: Admitted})
			}
		}
	}
	l.ok = dec.End.Reason == Succeeded
	return l
}

// says is an error reply of a status, and its class by the body.
func says(status uint16, class wire.Class) wire.Reply {
	return wire.Reply{Status: status, Class: class, Shown: class, Body: wire.ErrorBody, RetryAfter: wire.NoHint}
}

// asks is r with a hint.
func asks(r wire.Reply, after time.Duration, how wire.Spelling) wire.Reply {
	r.RetryAfter, r.Spelled = after, how
	return r
}

func marked(r wire.Reply, m wire.Marks) wire.Reply {
	r.Marks = m
	return r
}

func spoilt(b wire.Body, tokens uint32) wire.Reply {
	return wire.Reply{Status: 200, Body: b, Shown: wire.Overloaded, Tokens: tokens, RetryAfter: wire.NoHint}
}

var (
	limited  = says(429, wire.Rate)
	busy     = says(503, wire.Overloaded)
	quota429 = wire.Reply{Status: 429, Shown: wire.Quota, Body: wire.ErrorBody, RetryAfter: wire.NoHint, Words: wire.SaysQuota}
	body200  = wire.Reply{Status: 200, Shown: wire.Rate, Body: wire.CodeBody, Code: wire.Code14003, RetryAfter: 3 * time.Second, Spelled: wire.BodySeconds}
)

// How the field's clients fail, each in exactly these ways:
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
//
// A preset is faithful, not good: a change of this table is a change of what
// somebody's client does.
func TestPresetsFail(t *testing.T) {
	want := map[string]string{
		"openai-python":           "together, permanent, blind",
		"openai-node":             "early, spins, together, permanent, blind",
		"openai-go":               "spins, together, permanent, blind",
		"anthropic-python":        "early, together, permanent, blind",
		"anthropic-ts":            "sleeps, together, permanent, blind",
		"anthropic-go":            "sleeps, spins, together, permanent, blind",
		"google-genai":            "blind, gives up",
		"google-genai-retry":      "early, permanent, blind",
		"aws-legacy":              "early, permanent, blind",
		"aws-standard":            "early, blind",
		"aws-standard-2026":       "early, blind",
		"aws-adaptive":            "early, together, in step, blind", // 2 s after a first 429, whoever it is
		"vercel-ai":               "early, spins, together, in step, permanent",
		"langchain-js":            "together",
		"litellm-router":          "early, spins, together, in step, permanent, blind", // at once, elsewhere
		"codex":                   "early, blind, twice",
		"gemini-cli":              "blind",
		"tenacity":                "early, spins, together, in step, permanent, blind, twice, endless",
		"langchain-python":        "early, permanent, blind, twice",
		"go-retryablehttp":        "sleeps, spins, together, in step, permanent, blind",
		"cenkalti-backoff":        "spins, together, permanent, blind, twice",
		"grpc":                    "sleeps, spins, together, blind",
		"polly":                   "early, together, in step, permanent, blind, twice",
		"polly-jitter":            "early, permanent, blind, twice",
		"resilience4j":            "early, together, in step, permanent, blind, twice",
		"failsafe-go":             "early, spins, together, in step, permanent, blind, twice",
		"gobreaker":               "blind, gives up",
		"article-capacity":        "sleeps",
		"article-three-tiers":     "early, sleeps", // early at another model
		"article-14003":           "sleeps, spins, together, in step, blind",
		"article-14003-semaphore": "sleeps, spins, together, in step, blind, hangs",
		"article-14003-client":    "sleeps, blind",
	}
	require.Len(t, want, len(Presets()))
	for _, p := range Presets() {
		require.Equal(t, want[p.Name], strings.Join(failings(t, p.Name), ", "), p.Name)
	}
}

// failings are the ways in which a preset fails.
func failings(t *testing.T, name string) (all []string) {
	add := func(what string, is bool) {
		if is {
			all = append(all, what)
		}
	}
	live := func(r wire.Reply) [2]life { return [2]life{replies(t, name, 1, 200, r), replies(t, name, 2, 200, r)} }
	body := body200
	var early, sleeps, spins, together bool
	for _, r := range []wire.Reply{limited, busy, body} {
		how := r.Spelled
		if r.Body == wire.ErrorBody {
			how = wire.HeaderSeconds
		}
		for _, w := range live(asks(r, time.Hour, how))[0].waits {
			early, sleeps = early || w < time.Hour, sleeps || w >= time.Hour
		}
		first := func(after time.Duration) (a, b time.Duration, any bool) {
			l := live(asks(r, after, how))
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
	same := func(l [2]life) bool { return len(l[0].waits) > 0 && l[0].waits[0] == l[1].waits[0] }
	body.RetryAfter = wire.NoHint
	add("in step", same(live(busy)) || same(live(limited)) || same(live(body)))
	add("permanent", live(says(401, wire.Auth))[0].attempts+live(says(400, wire.BadRequest))[0].attempts+live(quota429)[0].attempts > 3)
	add("blind", live(body200)[0].ok || live(busy)[0].ok)
	add("twice", live(spoilt(wire.StreamError, 30))[0].attempts > 1)
	add("endless", live(busy)[0].attempts > 200)
	add("gives up", live(busy)[0].attempts == 1 && !live(busy)[0].ok)
	add("hangs", live(body200)[0].hangs)
	return all
}

// How many retries one client makes in an outage that its budget does not last,
// whatever its loop would allow.
func TestPresetBudgets(t *testing.T) {
	for name, want := range map[string]map[wire.Class]int{
		"aws-standard":      {wire.Overloaded: 500 / 5, wire.Rate: 500 / 5, wire.Timeout: 500 / 10},
		"aws-standard-2026": {wire.Overloaded: 500 / 14, wire.Rate: 500 / 5, wire.Timeout: 500 / 14},
		"grpc":              {wire.Overloaded: 3, wire.Disconnected: 3, wire.Rate: 0},
	} {
		for class, n := range want {
			x := client(t, layersOf(t, name)...)
			retries := 0
			for range 150 {
				retries += x.ended(class, map[wire.Class]uint16{wire.Overloaded: 503, wire.Rate: 429}[class]) - 1
			}
			require.Equal(t, n, retries, "%s after %v", name, class)
		}
	}
}
