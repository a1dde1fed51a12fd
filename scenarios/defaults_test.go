package scenarios

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
)

// defaultsFile is a scenario in which most settings matter. A test fills in some of
// its sections.
const defaultsFile = `herdlab: 1
name: defaults
title: Defaults
horizon: 10m
fleet: {clients: 6, model: big, region: eu, prompts: 2, tokens: {input: 10, output: 10}, traffic: {closed: {think: 1s, calls: 5, CLOSED}}, FLEET}
provider:
  models: {big: {MODEL}, small: {}}
  regions: {eu: {REGION}, us: {}}
  limits: [LIMIT]
  tells: 1
  capacity: {slots: 2, service: 1s, CAPACITY}
  PROVIDER
faults:
  - outage: {from: 5s, to: 8s, OUTAGE}
  - FAULT
strategies:
  - {name: x, stack: [STACK]}
`

// without are what stands in the sections that a test does not fill in.
var without = map[string]string{
	"LIMIT": "window: {limit: 20/s, retry_after: exact}", "FAULT": "silence: {from: 1s, to: 2s}", "STACK": "full-jitter",
	"CLOSED": "", "FLEET": "", "MODEL": "", "REGION": "", "CAPACITY": "queue: 3", "PROVIDER": "", "OUTAGE": "retry_after: 2s",
}

// ran returns what becomes of a run of the file with a section filled in; an error
// of Parse is returned.
func ran(t *testing.T, section, text string) (string, error) {
	t.Helper()
	src := strings.Replace(defaultsFile, section, text, 1)
	for other, plain := range without {
		if other != section {
			src = strings.Replace(src, other, plain, 1)
		}
	}
	s, err := Parse("x.yaml", []byte(strings.ReplaceAll(src, ", }", "}")))
	if err != nil {
		return "", err
	}
	r, err := s.report(context.Background(), 0, 1)
	require.NoError(t, err, text)
	return fmt.Sprint(r.Values(), r.Series, r.Truth, r.Belief), nil
}

// What tags say is the default is what a run without the setting does: it is the
// same as with the default written down. Another value is another run, for so many
// settings that this means something.
func TestDefaultsAreTrue(t *testing.T) {
	same, differ := 0, 0
	// holds checks the settings of something that stands in a section as put writes
	// it, with what it has besides.
	holds := func(of string, all []setting, section, rest string, put func(settings string) string) {
		for i := range all {
			s := &all[i]
			usual := s.usual()
			if usual == "" || nested(s.to.Type()) {
				continue
			}
			others := dropped(rest, s.key)
			plain, err := ran(t, section, put(others))
			if err != nil {
				continue // it is needed here
			}
			got, err := ran(t, section, put(joined(others, s.key+": "+usual)))
			require.NoError(t, err, "%s.%s: %s", of, s.key, usual)
			require.Equal(t, plain, got, "%s.%s is not %s without it", of, s.key, usual)
			same++
			if got, err := ran(t, section, put(joined(others, s.key+": "+other(s, usual)))); err == nil && got != plain {
				differ++
			}
		}
	}
	for _, k := range layerKinds {
		rest := inner(written[k.Name])
		if strings.Contains(rest, "initial:") {
			rest = "" // the bounds of a limit depend on each other
		}
		holds(k.Name, settings(k.fresh()), "STACK", rest, func(text string) string {
			if k.Name == "retry" {
				return "retry: {" + text + "}"
			}
			return "retry: {backoff: {full_jitter: {base: 1s, cap: 9s}}, max_attempts: 9}, " + k.Name + ": {" + text + "}"
		})
	}
	for _, k := range backoffKinds {
		holds(k.Name, settings(k.fresh()), "STACK", inner(writtenBackoffs[k.Name]), func(text string) string {
			return "retry: {backoff: {" + k.Name + ": {" + text + "}}}"
		})
	}
	for name, text := range map[string]string{"time_window": "within: 10s, percent: 50", "count_window": "last: 10, percent: 50", "lifetime": "percent: 50"} {
		for _, k := range tripKinds {
			if k.Name == name {
				holds(name, settings(k.fresh()), "STACK", text, func(text string) string {
					return "retry: {backoff: {full_jitter: {base: 1s, cap: 9s}}}, breaker: {trip: {" + name + ": {" + text + "}}, open_for: 1s, min_wait: 1s}"
				})
			}
		}
	}
	limits := map[string]string{
		"window": "limit: 2/s", "joint": "limit: 3/s", "sliding_log": "limit: 2/s", "sliding_counter": "limit: 2/s", "token_bucket": "limit: 1/s, burst: 2", "gcra": "interval: 500ms",
		"leaky_bucket": "limit: 1/s, size: 2", "concurrency": "limit: 2", "quota": "limit: 20, every: 20s", "ramp": "base: 2, length: 1s, growth: 110%", "penalty": "limit: 2/s, block: 2s", "sliced": "limit: 10/10s, slices: 10",
	}
	for _, k := range limitKinds {
		if v := k.fresh(); v.Kind() == reflect.Struct && limits[k.Name] != "" {
			holds(k.Name, append(settings(v), form[refusalForm]()...), "LIMIT", limits[k.Name], func(text string) string { return k.Name + ": {" + text + "}" })
		}
	}
	faults := map[string]string{"latency": "plus: 1s", "skew": "ahead: 30s", "brownout": "percent: 50%", "limit_cut": "percent: 10%", "spoil": "body: stream_error", "script": "answers: [{errors: {class: rate}}, pass]"}
	for _, k := range faultKinds {
		if k.Name == "outage" {
			continue // which would overlap with the one that is there
		}
		holds(k.Name, append(settings(k.fresh()), form[when]()...), "FAULT", faults[k.Name], func(text string) string { return k.Name + ": {" + text + "}" })
	}
	list := func(text string) string { return text }
	holds("closed", form[closedForm](), "CLOSED", "", list)
	holds("fleet", form[fleetForm](), "FLEET", "", list)
	holds("provider", form[providerForm](), "PROVIDER", "", list)
	holds("region", form[mockprovider.RegionConfig](), "REGION", "", list)
	holds("model", form[mockprovider.ModelConfig](), "MODEL", "", list)
	holds("capacity", form[mockprovider.Capacity](), "CAPACITY", "queue: 3", list)
	holds("refusal", form[refusalForm](), "OUTAGE", "retry_after: 2s", list)
	require.Greater(t, same, 200, "settings with a default that was checked")
	require.Greater(t, differ, 60, "of them, settings for which another value makes a difference")
}

// inner is what stands between the braces of a mapping.
func inner(text string) string { return strings.TrimSuffix(strings.TrimPrefix(text, "{"), "}") }

// dropped is a list of settings without that of a key.
func dropped(settings, key string) string {
	var kept []string
	depth, from := 0, 0
	for i, r := range settings + "," {
		switch {
		case r == '{' || r == '[':
			depth++
		case r == '}' || r == ']':
			depth--
		case r == ',' && depth == 0:
			if part := strings.TrimSpace(settings[from:i]); part != "" && !strings.HasPrefix(part, key+":") {
				kept = append(kept, part)
			}
			from = i + 1
		}
	}
	return strings.Join(kept, ", ")
}

func joined(settings, one string) string {
	if settings == "" {
		return one
	}
	return settings + ", " + one
}

// other is a value of a setting that is not its default.
func other(s *setting, usual string) string {
	switch {
	case enumerated(s.to.Type()) != nil:
		names, _ := s.words(enumerated(s.to.Type()))
		for _, name := range names {
			if name != usual {
				return name
			}
		}
	case s.to.Kind() == reflect.Bool:
		return fmt.Sprint(usual == "false")
	case s.to.Type() == refusalType:
		return "500"
	case s.to.Type() == durationType, s.to.Type() == distType:
		return "1700ms"
	case s.unit == percent:
		return "37%"
	case s.to.Kind() == reflect.Float64:
		return "0.75"
	}
	return "4"
}
