package conformance

import (
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
)

// subject is a client under test, real code or a preset, with two processes. Each use of
// run is one call to a provider that always replies the same.
type subject struct {
	t       *testing.T
	dialect string
	open    [2]func(http.RoundTripper) session
}

// subjects are the real code and the preset.
func subjects(t *testing.T, c *client) map[string]*subject {
	speak := c.dialects[0]
	return map[string]*subject{
		"real":   {t, speak, [2]func(http.RoundTripper) session{c.open, c.open}},
		"preset": {t, speak, [2]func(http.RoundTripper) session{preset(t, c.preset, speak, 1), preset(t, c.preset, speak, 2)}},
	}
}

func (s *subject) run(d *script) *runResult { return d.run(s.t, s.open[0]) }

// call makes one call to a provider that always replies the same.
func (s *subject) call(a scriptedReply) *runResult { return s.run(steadyScript(s.dialect, 1, 0, a)) }

// first returns the first waits of two processes that get the same reply and then a
// success (with a hint of 0 s for ever, some would never end). ok is false if one does
// not wait.
func (s *subject) first(a scriptedReply) (waits [2]time.Duration, ok bool) {
	for i := range s.open {
		d := steadyScript(s.dialect, 1, 0, a)
		d.replies = append(d.replies, well)
		l := d.run(s.t, s.open[i])
		if len(l.sent) < 2 {
			return waits, false
		}
		waits[i] = l.sent[1] - l.answered[0]
	}
	return waits, true
}

// together reports whether two processes with the same replies retry at the same time.
func (s *subject) together(a scriptedReply) bool {
	w, ok := s.first(a)
	return ok && w[0] == w[1]
}

// asks returns a reply with a hint.
func asks(a scriptedReply, after time.Duration, how wire.Spelling) scriptedReply {
	if a.reply.Body == wire.CodeBody {
		how = wire.BodySeconds
	}
	a.reply.Hint.Value, a.reply.Hint.Spelling = after, how
	return a
}

var (
	well      = scriptedReply{reply: wire.Reply{Status: 200, Hint: wire.Hint{Value: wire.NoHint}, Tokens: 3}}
	limited   = says(429, wire.Rate)
	busy      = says(503, wire.Overloaded)
	saysNo    = scriptedReply{reply: wire.Reply{Status: 200, Class: wire.Rate, Shown: wire.Rate, Body: wire.CodeBody, Code: wire.Code14003, Hint: wire.Hint{Value: wire.NoHint}}}
	refusals  = []scriptedReply{limited, busy, saysNo}
	outOf     = scriptedReply{reply: wire.Reply{Status: 429, Class: wire.Quota, Shown: wire.Quota, Body: wire.ErrorBody, Hint: wire.Hint{Value: wire.NoHint}}}
	badKey    = says(401, wire.Auth)
	malformed = says(400, wire.BadRequest)
)

// failings returns the failures of a client, by the names in the parent module's
// TestPresetsFail, which explains them.
func (s *subject) failings() string {
	var all []string
	add := func(what string, is bool) {
		if is {
			all = append(all, what)
		}
	}
	var early, sleeps, spins, together, inStep bool
	for _, r := range refusals {
		s.call(asks(r, time.Hour, wire.HeaderSeconds)).waits(func(_ int, w time.Duration) {
			early, sleeps = early || w < time.Hour, sleeps || w >= time.Hour
		})
		w, ok := s.first(asks(r, 0, wire.HeaderSeconds))
		spins = spins || ok && w == [2]time.Duration{}
		together = together || s.together(asks(r, 5*time.Second, wire.HeaderSeconds))
		inStep = inStep || s.together(r)
	}
	add("early", early)
	add("sleeps", sleeps)
	add("spins", spins)
	add("together", together)
	add("in step", inStep)
	add("permanent", len(s.call(badKey).sent)+len(s.call(malformed).sent)+len(s.call(outOf).sent) > 3)
	add("blind", s.call(saysNo).calls[0].OK || s.call(busy).calls[0].OK)
	d := steadyScript(s.dialect, 1, 0, scriptedReply{reply: wire.Reply{Status: 200, Shown: wire.Overloaded, Body: wire.StreamError, Tokens: 30, Hint: wire.Hint{Value: wire.NoHint}}})
	d.stream = true
	add("twice", len(s.run(d).sent) > 1)
	add("gives up", s.call(busy).calls[0] == call{1, false})
	return strings.Join(all, ", ")
}

// failing is the failures of a preset: their names, and the numbers of the cases.
type failing struct{ ways, cases string }

// tableOfFailings reads the table of TestPresetsFail, which is the only one.
func tableOfFailings(t *testing.T) map[string]failing {
	file, err := parser.ParseFile(token.NewFileSet(), "../presets/presets_fail_test.go", nil, 0)
	require.NoError(t, err)
	table := map[string]failing{}
	text := func(e ast.Expr) string {
		lit, ok := e.(*ast.BasicLit)
		require.True(t, ok)
		s, err := strconv.Unquote(lit.Value)
		require.NoError(t, err)
		return s
	}
	spec, _ := file.Scope.Lookup("presetFails").Decl.(*ast.ValueSpec)
	require.NotNil(t, spec)
	rows, ok := spec.Values[0].(*ast.CompositeLit)
	require.True(t, ok)
	for _, e := range rows.Elts {
		row := e.(*ast.KeyValueExpr)
		f := row.Value.(*ast.CompositeLit)
		require.Len(t, f.Elts, 2)
		table[text(row.Key)] = failing{text(f.Elts[0]), text(f.Elts[1])}
	}
	require.NotEmpty(t, table)
	return table
}

// The real code has exactly the failures of its preset in the table. In production a
// preset cannot send a request again after its stream has begun, because it is a
// RoundTripper.
func TestFailuresOfPresets(t *testing.T) {
	table := tableOfFailings(t)
	for i := range clients {
		c := &clients[i]
		require.Contains(t, table, c.preset)
		for whose, s := range subjects(t, c) {
			t.Run(c.preset+"/"+whose, func(t *testing.T) {
				s.t = t
				want := table[c.preset].ways
				if whose == "preset" {
					want = strings.TrimSuffix(want, ", twice")
				}
				require.Equal(t, want, s.failings())
			})
		}
	}
}

// More cases, by the behaviour that they show.
type outcomes struct {
	// product is case 1: the number of requests that four attempts of an application make.
	product int
	// inVain is case 8: which permanent failures are retried.
	inVain string
	// zoo is case 12: the result of a 429 with Retry-After 1 s, 30 s as a date, 75, 451
	// and 198300 s.
	zoo string
	// noReplay is half of case 14: an error event before any output ends the call;
	// believes is the other half: a stream without a finish marker counts as complete.
	noReplay, believes bool
	// alone is case 15: ten tasks share a limit, and each detects it separately.
	alone bool
	// opens is the first of the short cases: requests that can never succeed block other
	// requests.
	opens bool
}

// A client obeys a hint, is too early, or stops.
const (
	obeys = "obeys"
	early = "early"
	stops = "stops"
)

func TestMoreCases(t *testing.T) {
	zoo := func(all ...string) string { return strings.Join(all, " ") }
	want := map[string]outcomes{
		"openai-go":          {product: 12, inVain: "quota", zoo: zoo(obeys, obeys, obeys, stops, stops), noReplay: true, believes: true, alone: true},
		"anthropic-go":       {product: 12, inVain: "quota", zoo: zoo(obeys, obeys, obeys, obeys, obeys), noReplay: true, believes: true, alone: true},
		"google-genai":       {product: 4, zoo: zoo(stops, stops, stops, stops, stops), noReplay: true, believes: true, alone: true},
		"google-genai-retry": {product: 20, inVain: "quota", zoo: zoo(obeys, early, early, early, early), noReplay: true, believes: true, alone: true},
		"aws-standard-2026":  {product: 12, zoo: zoo(early, early, early, early, early), alone: true},
		"go-retryablehttp":   {product: 20, inVain: "quota", zoo: zoo(obeys, obeys, obeys, obeys, obeys), alone: true},
		"cenkalti-backoff":   {inVain: "key request quota", zoo: zoo(obeys, obeys, obeys, obeys, stops)},
		"failsafe-go":        {product: 12, inVain: "key request quota", zoo: zoo(early, early, early, early, early), alone: true},
		"gobreaker":          {product: 4, zoo: zoo(stops, stops, stops, stops, stops), opens: true},
		"x-time-rate":        {product: 4, zoo: zoo(stops, stops, stops, stops, stops), alone: true},
	}
	require.Len(t, want, len(clients))
	for i := range clients {
		c := &clients[i]
		for whose, s := range subjects(t, c) {
			t.Run(c.preset+"/"+whose, func(t *testing.T) {
				s.t = t
				require.Equal(t, want[c.preset], s.outcomes(c))
			})
		}
	}
}

func (s *subject) outcomes(c *client) (o outcomes) {
	if c.preset != "cenkalti-backoff" { // its attempts cannot be counted
		o.product = len(s.run(steadyScript(s.dialect, 4, 0, limited)).sent)
		o.alone = len(s.run(steadyScript(s.dialect, 10, 0, limited)).sent) == 10*len(s.call(limited).sent)
	}
	var vain []string
	for _, f := range []struct {
		word string
		says scriptedReply
	}{{"key", badKey}, {"request", malformed}, {"quota", outOf}} {
		if len(s.call(f.says).sent) > 1 {
			vain = append(vain, f.word)
		}
	}
	o.inVain = strings.Join(vain, " ")
	var zoo []string
	for _, h := range []struct {
		after time.Duration
		how   wire.Spelling
	}{
		{time.Second, wire.HeaderSeconds}, {30 * time.Second, wire.HeaderDate}, {75 * time.Second, wire.HeaderSeconds},
		{451 * time.Second, wire.HeaderSeconds}, {198_300 * time.Second, wire.HeaderSeconds},
	} {
		d := steadyScript(s.dialect, 1, 0, asks(limited, h.after, h.how))
		d.replies = append(d.replies, well)
		switch l := s.run(d); {
		case len(l.sent) < 2:
			zoo = append(zoo, stops)
		case l.sent[1]-l.answered[0] < h.after:
			zoo = append(zoo, early)
		default:
			zoo = append(zoo, obeys)
		}
	}
	o.zoo = strings.Join(zoo, " ")
	if c.streams {
		broken := func(b wire.Body, tokens uint32) *runResult {
			d := steadyScript(s.dialect, 1, 0, scriptedReply{reply: wire.Reply{Status: 200, Shown: wire.Overloaded, Body: b, Tokens: tokens, Hint: wire.Hint{Value: wire.NoHint}}})
			d.stream = true
			return s.run(d)
		}
		o.noReplay = broken(wire.StreamError, 0).calls[0] == call{1, false}
		o.believes = broken(wire.SilentEnd, 3).calls[0].OK
	}
	// Six requests that can never succeed, and one that would.
	d := steadyScript(s.dialect, 7, 0, malformed)
	d.replies = append(slices.Repeat([]scriptedReply{malformed}, 6*len(s.call(malformed).sent)), well)
	l := s.run(d)
	o.opens = l.calls[6].Attempts == 0
	return o
}
