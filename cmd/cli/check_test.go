package cli

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"herdlab/scenarios"
)

// expecting is a scenario with one expectation that holds and one that does not.
const expecting = `herdlab: 1
name: expecting
title: A title
horizon: 1m
fleet: {clients: 2, traffic: {one_shot: {within: 0s}}}
provider: {}
strategies: [naive]
expect:
  - {metric: calls, is: 2}
  - {metric: attempts, at_least: 3, seeds: 2}
`

func TestCheck(t *testing.T) {
	inEmptyDir(t)
	got := herdlab("check", "case-01-layers", "case-13-silent-200")
	assert.Equal(t, exitOK, got.code)
	assert.Empty(t, got.err)
	isPage(t, got.out)
	assert.Equal(t, "✓ case-01-layers      10/10  "+titleOf(t, "case-01-layers")+"\n"+
		"✓ case-13-silent-200    8/8  "+titleOf(t, "case-13-silent-200")+"\n\n18 expectations in 2 scenarios.\n", got.out)

	write(t, "my.yaml", expecting)
	got = herdlab("check", "my.yaml")
	assert.Equal(t, exitInternal, got.code)
	assert.Equal(t, "herdlab: 1 expectation is not met\n", got.err)
	assert.Equal(t, "✗ expecting  1/2  A title\n    ✗ line 10: attempts of naive: 2, expected ≥ 3, 2 seeds\n\n2 expectations in 1 scenario, 1 not met.\n", got.out)
	got = herdlab("check", "my.yaml", "--all")
	assert.Contains(t, got.out, "    ✓ line 9: calls of naive: 2, expected 2\n")
	isPage(t, got.out)

	got = herdlab("check", "my.yaml", "--json")
	assert.Equal(t, exitInternal, got.code)
	var all []checked
	require.NoError(t, json.Unmarshal([]byte(got.out), &all))
	require.Len(t, all, 1)
	assert.False(t, all[0].Holds)
	assert.Equal(t, scenarios.Finding{Line: 10, What: "attempts of naive", Wanted: "≥ 3", Got: "2", Seeds: 2}, all[0].Findings[1])
	assert.True(t, all[0].Findings[0].Holds)
}

func TestCheckRefuses(t *testing.T) {
	inEmptyDir(t)
	write(t, "bad.yaml", strings.Replace(expecting, "calls, is", "cals, is", 1))
	write(t, "none.yaml", expecting[:strings.Index(expecting, "expect:")])
	for args, want := range map[string]string{
		"bad.yaml":                      `bad.yaml:9:14: unknown metric "cals"; did you mean "calls"?`,
		"none.yaml":                     "the scenario expecting has no expectations",
		"trace-replay":                  "has no expectations",
		"nothing-like-it.yaml":          "no scenario and no file",
		"case-01-layers --workers -1":   "--workers is -1",
		"case-01-layers --color purple": "--color",
	} {
		got := herdlab(append([]string{"check"}, strings.Fields(args)...)...)
		assert.Equal(t, exitInvalid, got.code, args)
		assert.Empty(t, got.out)
		assert.Contains(t, got.err, want)
	}
	write(t, "worse.yaml", "herdlab: 2\n")
	got := herdlab("check", "bad.yaml", "case-01-layers", "worse.yaml")
	assert.Equal(t, exitInvalid, got.code)
	assert.Contains(t, got.err, "bad.yaml:9:14", "what is wrong with each file")
	assert.Contains(t, got.err, "worse.yaml:1:10")
}

// The list of keys is not wider than a page and has all parts.
func TestScenarioKeys(t *testing.T) {
	t.Parallel()
	got := herdlab("scenarios", "--keys")
	assert.Equal(t, exitOK, got.code)
	isPage(t, got.out)
	for _, word := range []string{"horizon", "sliding_log", "masked_permission", "recursive_semaphore", "full_jitter", "at_least", "latency_p99"} {
		assert.Contains(t, got.out, "\n  "+word)
	}
}

// The schema is JSON, and the starter names the file that the help writes it to.
func TestScenarioSchema(t *testing.T) {
	t.Parallel()
	got := herdlab("scenarios", "--schema")
	assert.Equal(t, exitOK, got.code)
	assert.True(t, json.Valid([]byte(got.out)))
	for _, text := range []string{herdlab("init").out, herdlab("scenarios", "--help").out, herdlab("init", "--help").out} {
		assert.Contains(t, text, "herdlab scenarios --schema > herdlab.schema.json")
	}
	assert.True(t, strings.HasPrefix(herdlab("init").out, "# yaml-language-server: $schema=herdlab.schema.json\n"))
	assert.Equal(t, exitInvalid, herdlab("scenarios", "--schema", "--keys").code)
}

// A check that is stopped prints its findings up to there.
func TestStoppedCheckPrintsItsFindings(t *testing.T) {
	inEmptyDir(t)
	write(t, "my.yaml", expecting)
	write(t, "stuck.yaml", strings.NewReplacer("name: expecting", "name: stuck", "provider: {}", "provider: {capacity: {slots: 1, service: 1s}}").Replace(expecting))
	write(t, "endless.yaml", endless+"expect: [{strategy: naive, metric: calls, is: 60}]\n")
	got := herdlab("check", "my.yaml", "stuck.yaml")
	assert.Equal(t, exitInvalid, got.code)
	assert.Contains(t, got.out, "✗ expecting  1/2")
	assert.Contains(t, got.err, "herdlab: stuck: ")
	assert.Contains(t, got.err, "no progress in time")

	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	got = herdlabIn(ctx, "", "check", "my.yaml", "endless.yaml")
	assert.Equal(t, exitInterrupted, got.code)
	assert.Contains(t, got.out, "✗ expecting  1/2")
	assert.Equal(t, "herdlab: interrupted; 1 of 2 scenarios are checked\n", got.err)

	got = herdlabIn(ctx, "", "check", "endless.yaml", "--json")
	assert.Equal(t, exitInterrupted, got.code)
	assert.Equal(t, "[]\n", got.out)
}
