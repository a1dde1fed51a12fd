package scenarios_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"herdlab/scenarios"
)

// valid is a minimal valid scenario; tests replace one of its lines.
const valid = `herdlab: 1
name: small
title: Small
horizon: 10m
bin: 1s
fleet:
  clients: 3
  traffic: {one_shot: {within: 1ms}}
provider:
  capacity: {slots: 2, service: 2s}
faults:
  - outage: {from: 0s, to: 10s}
strategies: [full-jitter]
`

// with returns the valid scenario with the line that begins like old replaced.
func with(t *testing.T, old, line string) string {
	t.Helper()
	lines := strings.Split(valid, "\n")
	for i := range lines {
		if strings.HasPrefix(lines[i], old) {
			lines[i] = line
			return strings.Join(lines, "\n")
		}
	}
	t.Fatalf("no line begins with %q", old)
	return ""
}

func problems(t *testing.T, src string) scenarios.Problems {
	t.Helper()
	s, err := scenarios.Parse("x.yaml", []byte(src))
	require.Error(t, err)
	require.Nil(t, s)
	var p scenarios.Problems
	require.True(t, errors.As(fmt.Errorf("wrapped: %w", err), &p))
	require.NotEmpty(t, p)
	return p
}

func TestValid(t *testing.T) {
	s, err := scenarios.Parse("x.yaml", []byte(valid))
	require.NoError(t, err)
	require.Equal(t, "small", s.Name())
	require.Equal(t, []string{"full-jitter"}, names(s))
}

func names(s *scenarios.Scenario) (all []string) {
	for _, c := range s.Strategies() {
		all = append(all, c.Name)
	}
	return all
}

// TestMistakes makes every kind of error, one at a time: exactly that error is
// reported, with its place and a suggestion.
func TestMistakes(t *testing.T) {
	type mistake struct {
		line, with string // the line that begins so is replaced
		at         string // line:column
		says       string
		suggests   string
	}
	for _, m := range []mistake{
		// The version.
		{"herdlab", "herdlab: 2", "1:10", "reads version 1", ""},
		{"herdlab", "herdlab: [1]", "1:10", "version a list", ""},
		{"herdlab", "title: Small", "1:1", "first key must be herdlab: 1", ""},
		// Keys.
		{"bin", "bni: 1s", "5:1", `unknown key "bni" in the scenario`, "bin"},
		{"  clients", "  cleints: 3", "7:3", `unknown key "cleints" in fleet`, "clients"},
		{"bin", "colour: red", "5:1", "the keys are herdlab, name", ""},
		{"bin", "name: again", "5:1", `duplicate key "name" in the scenario; it is already on line 2`, ""},
		{"bin", "? [a, b]\n: 1", "5:3", "a key of the scenario must be a word, found a list", ""},
		{"bin", "<<: {a: 1}", "5:1", `unknown key "<<"`, ""},
		{"title", "", "1:1", "the scenario needs the key title", ""},
		{"horizon", "", "1:1", "needs the key horizon", ""},
		{"  clients", "", "8:3", "fleet needs the key clients", ""},
		// Shapes.
		{"title", "title: [a]", "3:8", "expected a text, found a list", ""},
		{"title", "title:", "3:7", "expected a text, found nothing", ""},
		{"title", "title: |\n  two\n  lines", "3:8", "one line", ""},
		{"title", `title: "a\tb"`, "3:8", "control character U+0009", ""},
		{"title", "title: " + strings.Repeat("x", 101), "3:8", "at most 100 characters", ""},
		{"name", "name: ../etc", "2:7", `the name "../etc"; expected lower-case`, ""},
		{"  - outage", "  outage: {from: 0s, to: 10s}", "12:3", "expected a list of faults, found a mapping", ""},
		{"  - outage", "  - {outage: {from: 0s, to: 10s}, oops: 1}", "12:5", "expected one fault (outage, silence, unreachable", ""},
		{"  - outage", "  - outrage: {from: 0s, to: 10s}", "12:5", `unknown fault "outrage"`, "outage"},
		// Durations and rates.
		{"bin", "bin: 30", "5:6", "add one, such as 30s", ""},
		{"bin", "bin: 0s", "5:6", "longer than zero", ""},
		{"bin", "bin: -1s", "5:6", "is negative", ""},
		{"bin", "bin: 1sec", "5:6", `unknown unit "sec"`, "s"},
		{"bin", "bin: 5minutes", "5:6", `unknown unit "minutes"`, "min"},
		{"bin", "bin: 5 minutes", "5:6", `unknown unit "minutes"`, "min"},
		{"bin", "bin: 30 s", "5:6", "there is a space before the unit s; remove it", ""},
		{"bin", "bin: 5mss", "5:6", `unknown unit "mss"`, "ms"},
		{"bin", "bin: 1parsec", "5:6", "the units are ns", ""},
		{"bin", "bin: 1s1m", "5:6", "from large to small", ""},
		{"bin", "bin: 1.2.3s", "5:6", "expected a decimal number", ""},
		{"bin", "bin: .nan", "5:6", "expected a duration", ""},
		{"bin", "bin: .inf", "5:6", "expected a duration", ""},
		{"bin", "bin: 0.1ns", "5:6", "not a whole number of nanoseconds", ""},
		{"bin", "bin: 1.0000000000000000001s", "5:6", "too many decimal places", ""},
		{"bin", "bin: 11m", "4:10", "shorter than one bin", ""},
		{"horizon", "horizon: 4000d", "4:10", "longer than 10 years", ""},
		{"horizon", "horizon: 99999999999999999999s", "4:10", "too large", ""},
		{"horizon", "horizon: 3649d23h9999999m", "4:10", "longer than 10 years", ""},
		{"horizon", "horizon: 3000d", "4:10", "at most 5000000, so take a wider bin", ""},
		{"horizon", "horizon: 5s", "12:28", "does not end before the horizon 5s,", ""},
		// Traffic.
		{"  clients", "  clients: 0", "7:12", "from 1 to 10000000", ""},
		{"  clients", "  clients: -60", "7:12", "from 1 to 10000000", ""},
		{"  clients", "  clients: 10000001", "7:12", "from 1 to 10000000", ""},
		{"  clients", "  clients: 0x10", "7:12", "expected a whole number", ""},
		{"  clients", "  clients: 1.5", "7:12", "expected a whole number", ""},
		{"  clients", "  clients: .nan", "7:12", "expected a whole number", ""},
		{"  traffic", "  traffic: {oneshot: {within: 1ms}}", "8:13", `unknown traffic "oneshot"`, "one_shot"},
		{"  traffic", "  traffic: one_shot", "8:12", "one_shot needs the key within", ""},
		{"  traffic", "  traffic: {one_shot: 1ms}", "8:23", "expected a mapping for one_shot, found \"1ms\"", ""},
		{"  traffic", "  traffic: {trace: {file: x}}", "8:21", "it has no keys", ""},
		{"  traffic", "  traffic: {open: {rate: 120}}", "8:26", "expected a rate such as 120/min", ""},
		{"  traffic", "  traffic: {open: {rate: 0/s}}", "8:26", "must be positive", ""},
		{"  traffic", "  traffic: {open: {rate: 1/0s}}", "8:26", "must be positive", ""},
		{"  traffic", "  traffic: {open: {rate: 5/mim}}", "8:26", `unknown unit "mim"`, "min"},
		{"  traffic", "  traffic: {open: {rate: 2000000000/s}}", "8:26", "the count of a rate is at most 1000000000", ""},
		{"  traffic", "  traffic: {open: {rate: 100/ns}}", "8:26", "above one call per nanosecond", ""},
		{"  traffic", "  traffic: {open: {rate: 1000000/s}}", "7:3", "about 600000000 calls arrive", ""},
		{"  traffic", "  traffic: {open: {rate: 0.0000000001/s}}", "8:26", "too many decimal places", ""},
		{"  traffic", "  traffic: {open: {rate: 0.000000001/10d}}", "8:26", "for its period", ""},
		{"  traffic", "  traffic: {closed: {start: 1s}}", "8:13", "closed needs the key think", ""},
		{"  traffic", "  traffic: {closed: {think: 1s, calls: 0}}", "8:40", "from 1 to", ""},
		{"  traffic", "  traffic: {one_shot: {within: 10m}}", "8:32", "arrive up to 10m, but the run ends at the horizon 10m,", ""},
		{"  traffic", "  traffic: {one_shot: {within: 2h}}", "8:32", "start them earlier or extend the horizon", ""},
		{"  traffic", "  traffic: {closed: {start: 10m, think: 1s}}", "8:29", "some clients would never call", ""},
		{"  traffic", "  traffic: {closed: {start: {uniform: [0s, 11m]}, think: 1s}}", "8:29", "arrive up to 11m,", ""},
		{"  clients", "  clients: 3\n  account: mine", "8:12", `unknown account "mine"`, ""},
		{"  clients", "  clients: 3\n  key: 256", "8:8", "from 0 to 255", ""},
		{"  clients", "  clients: 3\n  patience: 0s", "8:13", "longer than zero", ""},
		// Distributions.
		{"  capacity", "  capacity: {service: {unifrom: [1s, 2s]}}", "10:24", `unknown distribution "unifrom"`, "uniform"},
		{"  capacity", "  capacity: {service: {uniform: [2s]}}", "10:33", "expected two durations", ""},
		{"  capacity", "  capacity: {service: {uniform: [2s, 1s]}}", "10:38", "the upper end 1s is below", ""},
		{"  capacity", "  capacity: {service: {exponential: 0s}}", "10:37", "longer than zero", ""},
		{"  capacity", "  capacity: {service: {lognormal: {mean: 2s, cv: .inf}}}", "10:50", "expected a number from 0 up to 100", ""},
		{"  capacity", "  capacity: {service: {lognormal: {mean: 2s, cv: -1}}}", "10:50", "expected a number from 0 up to 100", ""},
		{"  capacity", "  capacity: {service: {lognormal: {mean: 2s}}}", "10:24", "lognormal needs the key cv", ""},
		{"  capacity", "  capacity: {service: {frist_token: 1s, per_output_token: 1ms}}", "10:24", `unknown key "frist_token" in service`, "first_token"},
		// The provider.
		{"  capacity", "  capacity: {slots: 0, service: 2s}", "10:21", "from 1 to", ""},
		{"  capacity", "  capacity: {slots: 2}", "10:13", "capacity needs the key service", ""},
		{"  capacity", "  capacity: {queue: 2, service: 2s}", "10:21", "a queue needs a bounded number of slots", ""},
		{"  capacity", "  capacity: {slots: 2, service: 2s, full: 530}", "10:43", `unknown reply "530"`, "503"},
		{"  capacity", "  capacity: {slots: 2, service: 2s, retry_after: exact}", "10:50", "exact needs the time until admission", ""},
		{"  capacity", "  capacity: {slots: 2, service: 2s, retry_after: rounded-up}", "10:50", `unknown retry_after "rounded-up"`, "rounded_up"},
		{"  capacity", "  capacity: {slots: 2, service: 2s, retry_after: 3}", "10:50", "add one, such as 3s", ""},
		{"  capacity", "  limits: [{widow: {limit: 1/s}}]", "10:13", `unknown limit "widow"`, "window"},
		{"  capacity", "  limits: [{window: {limit: 2.1/s}}]", "10:29", "window counts whole requests; write 21/10s", ""},
		{"  capacity", "  limits: [{window: {limit: 0/s}}]", "10:29", "must be positive", ""},
		{"  capacity", "  limits: [{window: {limit: 1/s, anchored: yes}}]", "10:44", "expected true or false", ""},
		{"  capacity", "  limits: [{window: {limit: 1/s, per: acount}}]", "10:39", `unknown per "acount"`, "account"},
		{"  capacity", "  limits: [{concurrency: {limit: 0}}]", "10:34", "from 1 to 2147483647", ""},
		{"  capacity", "  limits: [{concurrency: {limit: 2147483648}}]", "10:34", "from 1 to 2147483647", ""},
		{"  capacity", "  limits: [{windw: {limit: 1/s}}]", "10:13", `unknown limit "windw"`, "window"},
		{"  capacity", "  limits: [{funnel: {limit: 1/s}}]", "10:13", "window, joint, sliding_log, sliding_counter, token_bucket, gcra", ""},
		{"  capacity", "  limits: [{slidinglog: {limit: 1/s}}]", "10:13", `unknown limit "slidinglog"`, "sliding_log"},
		{"  capacity", "  limits: [{joint: {limit: 2.1/s}}]", "10:28", "joint counts whole requests; write 21/10s", ""},
		{"  capacity", "  limits: [{joint: {limit: 20}}]", "10:28", "expected a rate such as", ""},
		{"  capacity", "  limits: [joint]", "10:12", "joint needs the key limit, such as limit: 20/s", ""},
		{"  capacity", "  limits: [{joint: {limit: 1/s, retry_after: exact}}]", "10:46", "exact needs the time until admission, which joint cannot know", ""},
		{"  capacity", "  limits: [{joint: {limit: 1/s, sys: 20}}]", "10:33", `unknown key "sys" in joint`, "says"},
		{"  capacity", "  limits: [{joint: {limit: 1/s, says: 0}}]", "10:39", "from 1 to 2147483647", ""},
		{"  capacity", "  limits: [{window: {limit: 1/s, burst: 5}}]", "10:34", `unknown key "burst" in window`, ""},
		{"  capacity", "  limits: [{sliding_log: {limit: 1/s, anchored: true}}]", "10:39", `unknown key "anchored" in sliding_log`, ""},
		{"  capacity", "  limits: [{sliding_log: {limit: 0.5/s}}]", "10:34", "sliding_log counts whole requests; write 5/10s", ""},
		{"  capacity", "  limits: [{sliding_log: {limit: 50000001/d}}]", "10:3", "50000001 requests are too much to remember", ""},
		{"  capacity", "  limits: [{sliding_counter: {limit: 0/s}}]", "10:38", "must be positive", ""},
		{"  capacity", "  limits: [{token_bucket: {limit: 1/s}}]", "10:13", "token_bucket needs the key burst, such as burst: 20", ""},
		{"  capacity", "  limits: [{token_bucket: {limit: 1/s, brust: 5}}]", "10:40", `unknown key "brust" in token_bucket`, "burst"},
		{"  capacity", "  limits: [{token_bucket: {limit: 1/s, burst: 0}}]", "10:47", "from 1 to 2147483647", ""},
		{"  capacity", "  limits: [{token_bucket: {limit: 7/d, burst: 2000000000}}]", "10:12", "take a smaller burst or a rounder rate", ""},
		{"  capacity", "  limits: [{token_bucket: {limit: 900000000.123456789/ms, burst: 2}}]", "10:35", "too many decimal places for so large a count", ""},
		{"  capacity", "  auth: {reject_keys: [256]}", "10:24", "from 0 to 255", ""},
		{"  capacity", "  limits: [" + strings.Repeat("concurrency, ", 17) + "]", "10:11", "the list has 17 limits; expected at most 16", ""},
		// Faults.
		{"  - outage", "  - outage: {from: 10s, to: 5s}", "12:29", "must end after it begins", ""},
		{"  - outage", "  - outage: {from: 5s, to: 5s}", "12:28", "must end after it begins", ""},
		{"  - outage", "  - outage: {from: 5s, to: 9s}\n  - outage: {from: 8s, to: 10s}", "13:5", "overlaps the one from 5s to 9s", ""},
		{"  - outage", "  - outage: {from: 5s, to: 10m}", "12:28", "does not end before the horizon 10m,", ""},
		{"  - outage", "  - outage: {from: 10m, to: 11m}", "12:20", "begins when the run is over, at the horizon 10m;", ""},
		{"  - outage", "  - outage: {from: 5s, to: 9s}\n  - outage: {from: 6, to: 10s}", "13:20", "add one, such as 6s", ""},
		{"  - outage", "  - errors: {from: 5s, to: 9s, class: ok}", "12:39", `unknown class "ok"; expected one of rate`, ""},
		{"  capacity", "  capacity: {slots: 2, service: {sample: []}}", "10:42", "at least one duration", ""},
		{"  - outage", "  - outage: {from: 5s, to: 9s, reply: 505}", "12:39", `unknown reply "505"`, "503"},
		// Strategies.
		{"strategies", "strategies: [nave]", "13:14", `unknown strategy "nave"`, "naive"},
		{"strategies", "strategies: [full_jitter]", "13:14", `unknown strategy "full_jitter"`, "full-jitter"},
		{"strategies", "strategies: [hope]", "13:14", "herdlab strategies lists them", ""},
		{"strategies", "strategies: []", "13:13", "no strategies", ""},
		{"strategies", "strategies: naive", "13:13", "expected a list of strategies", ""},
		{"strategies", "strategies: [naive, naive]", "13:21", "duplicate strategy naive", ""},
		{"strategies", "strategies: [{name: naive, reader: header}]", "13:36", `unknown reader "header"`, ""},
		{"strategies", "strategies: [{reader: status}]", "13:14", "strategy needs the key name", ""},
		// Text that is no scenario.
		{"bin", "bin: &x 1s", "5:6", "anchors (&x)", ""},
		{"bin", "bin: !!str 1s", "5:6", `tags ("!!str")`, ""},
		{"bin", "bin: 1s\x00", "5:8", "not plain UTF-8", ""},
		{"bin", "bin: 1s # \xff", "5:11", "not plain UTF-8", ""},
		{"bin", "bin: 1s # \u2028", "5:11", "not plain UTF-8", ""},
		{"bin", "\tbin: 1s", "5:1", "a tab is not allowed here", ""},
		{"bin", "bin: a: b", "5:7", "not YAML: mapping values are not allowed", ""},
		{"bin", "---\nbin: 1s", "5:1", "a second YAML document begins here", ""},
	} {
		t.Run(m.with, func(t *testing.T) {
			p := problems(t, with(t, m.line, m.with))
			require.Len(t, p, 1, "%v", p)
			assert.Equal(t, m.at, fmt.Sprintf("%d:%d", p[0].Line, p[0].Column))
			assert.Contains(t, p[0].Message, m.says)
			assert.Equal(t, m.suggests, p[0].Suggestion)
		})
	}
}

// TestHorizonLeavesRoom checks what is late, and not too late to be seen.
func TestHorizonLeavesRoom(t *testing.T) {
	for _, line := range []string{
		"  traffic: {one_shot: {within: 599.999999999s}}",
		"  traffic: {closed: {start: {uniform: [1m, 599s]}, think: 1h}}",
		"  traffic: {closed: {start: {exponential: 1h}, think: 1s}}",
		"  traffic: {open: {rate: 1/s, until: 1h}}",
		"  - outage: {from: 599s, to: 599.999999999s}",
	} {
		_, err := scenarios.Parse("x.yaml", []byte(with(t, line[:8], line)))
		require.NoError(t, err)
	}
	// One that cannot be read is complained of alone.
	require.Len(t, problems(t, strings.Replace(with(t, "horizon", "horizon: 5"), "1ms", "2h", 1)), 1)
}

// TestProducts checks numbers that are fine by themselves and not together.
func TestProducts(t *testing.T) {
	for _, c := range []struct{ fleet, provider, says string }{
		{"tokens: {output: 4294967295}", "capacity: {service: {first_token: 1s, per_output_token: 1s}}", "take longer than 10 years"},
		{"account: per_client", "limits: [{window: {limit: 1/s, per: account}}, concurrency: {limit: 1}, concurrency: {limit: 2}]", "3 limits of 10000000 accounts are too many to count"},
		{"account: per_client", "limits: [{sliding_log: {limit: 6/s, per: account}}]", "sliding logs of 60000000 requests are too much to remember"},
		{"account: shared", "limits: [{sliding_log: {limit: 30000000/s}}, {sliding_log: {limit: 30000000/s}}]", "sliding logs of 60000000 requests are too much"},
	} {
		src := with(t, "  clients", "  clients: 10000000\n  "+c.fleet)
		src = strings.Replace(src, "  capacity: {slots: 2, service: 2s}", "  "+c.provider, 1)
		p := problems(t, src)
		require.Contains(t, p.Error(), c.says)
	}
}

// TestHostile feeds files that are made to cost more than they weigh. Each of
// them is refused while it is read, so the test ends.
func TestHostile(t *testing.T) {
	laughs := "herdlab: 1\na0: &a0 [x, x]\n"
	for i := 1; i < 30; i++ {
		laughs += fmt.Sprintf("a%d: &a%d [*a%d, *a%d]\n", i, i, i-1, i-1)
	}
	for _, c := range []struct{ name, src, says string }{
		{"brackets", strings.Repeat("[", 100_000), "nested deeper than 64 levels"},
		{"braces", strings.Repeat("{a: ", 100_000), "nested deeper than 64 levels"},
		{"dashes", strings.Repeat("- ", 500_000), "nested deeper than 64 levels"},
		{"blocks and brackets", "a:\n" + func() string {
			var b strings.Builder
			for i := 1; i < 40; i++ {
				b.WriteString(strings.Repeat(" ", i) + "a:\n")
			}
			return b.String() + strings.Repeat(" ", 41) + strings.Repeat("[", 40) + strings.Repeat("]", 40)
		}(), "nested deeper than 64 levels"},
		{"aliases", laughs, "aliases (*a0)"},
		{"an alias of itself", "herdlab: 1\na: &a [*a]", "aliases (*a)"},
		{"size", "# " + strings.Repeat("x", 1<<20), "larger than 1 MiB"},
		{"one long line", "herdlab: 1\n" + strings.Repeat("x", 1<<19) + ": 1", "unknown key"},
		{"many keys", "herdlab: 1\n" + strings.Repeat("? x\n", 200_000), "more"},
		{"documents", strings.Repeat("---\na\n", 100_000), "a second YAML document"},
		{"nothing", "", "no content"},
		{"a comment", "# nothing\n", "no content"},
		{"a list", "- 1\n", "expected a scenario"},
		{"a word", "scenario\n", "expected a scenario"},
		{"UTF-16", "\xff\xfeh\x00", "not plain UTF-8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Contains(t, problems(t, c.src).Error(), c.says)
		})
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	_, err := scenarios.Load(filepath.Join(dir, "missing.yaml"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = scenarios.Load(dir)
	require.Error(t, err)

	path := filepath.Join(dir, "windows.yaml")
	src := "\ufeff" + strings.ReplaceAll(valid, "\n", "\r\n")
	require.NoError(t, os.WriteFile(path, []byte(src), 0o600))
	s, err := scenarios.Load(path)
	require.NoError(t, err)
	require.Equal(t, src, s.Source())

	require.NoError(t, os.WriteFile(path, []byte(strings.ReplaceAll(src, "clients", "cleints")), 0o600))
	_, err = scenarios.Load(path)
	require.ErrorContains(t, err, path+":7:3: unknown key")

	require.NoError(t, os.Truncate(path, 1<<30)) // only the beginning is read
	_, err = scenarios.Load(path)
	require.ErrorContains(t, err, "larger than 1 MiB")
}

// replace replaces a part of a text, which must be there.
func replace(t *testing.T, text, old, with string) string {
	t.Helper()
	require.Contains(t, text, old)
	return strings.Replace(text, old, with, 1)
}
