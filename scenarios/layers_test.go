package scenarios

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// written is each layer as a file may write it: those that need nothing stand
// with nothing.
var written = map[string]string{
	"retry":               "{backoff: fixed, max_attempts: 3, on: {classes: [transient, quota], statuses: [429, 500-599], also: auth, marks: decide, replay: nothing}, hints: {use: as_floor, most: 1m, beyond: give_up, spread: 20}}",
	"ladder":              "{rungs: [{model: big, tries: 2}, {model: small}], on: {classes: overloaded}, backoff: {fixed: {every: 1s}}}",
	"failover":            "{regions: [eu, us], rounds: 2, backoff: {fixed: {every: 1s}}, stay: 1m}",
	"key_rotation":        "{keys: [0, 1], rounds: 1, even: true}",
	"deployments":         "{targets: [{model: big, region: eu, key: 0}, {model: small, key: 1}], cool_down: 5s, percent: 50, least: 5}",
	"orbit":               "{mean: 1s}",
	"worker_queue":        "{rate: 10/s, workers: 4, max_attempts: 3}",
	"hedge":               "{after: 2s, quantile: 95%, percent: 5, regions: [us]}",
	"shrink":              "{on: {classes: [overloaded, too_large]}, context: 50%, output: 0.5, pieces: 2}",
	"recursive_semaphore": "{permits: 2, retry: {backoff: {fixed: {every: 1s}}, max_attempts: 2}}",
	"token_bucket":        "{rate: 2.1/s, burst: 3}",
	"gcra":                "{rate: 2/s, burst: 3}",
	"sliding_log":         "{limit: 100/min}",
	"sliding_counter":     "{limit: 100/min, scope: client}",
	"min_interval":        "{every: 300ms, jitter: 20ms}",
	"daily_budget":        "{quota: 500, percent: 70}",
	"header_limit":        "{percent: 10, spread: true}",
	"aws_adaptive":        "",
	"concurrency":         "{permits: 4}",
	"bulkhead":            "{permits: 4, line: 10, patience: 5s}",
	"aimd":                "{initial: 4, min: 1, max: 100, increase: 1, decrease: 0.9}",
	"vegas":               "{initial: 4, min: 1, max: 100, smoothing: 1}",
	"gradient2":           "{initial: 4, min: 1, max: 100, tolerance: 1.5, queue: 4}",
	"bbr":                 "{initial: 4, min: 1, max: 100, window: 10s}",
	"breaker":             "{trip: {time_window: {within: 10s, min: 10, percent: 50}}, open_for: 30s, counts: [overloaded, server_error], fail_fast: true}",
	"throttle":            "{k: 2, window: 2m}",
	"shedder":             "{above: [20, 10], window: 1m, min: 5}",
	"cool_down":           "{for: 5m, pace: 1s}",
	"grpc_budget":         "{max_tokens: 10, ratio: 100}",
	"finagle_budget":      "{percent: 20, min_per_second: 10, ttl: 10s}",
	"envoy_budget":        "{percent: 20, floor: 3}",
	"aws_budget":          "{capacity: 500, cost: 5, other: timeout, other_cost: 10}",
	"brooker_budget":      "{size: 5, deposit: 100}",
	"attempt_timeout":     "{after: 10s}",
	"deadline":            "{within: 1m, least: 1s}",
	"cache":               "{ttl: 5m, entries: 100}",
	"single_flight":       "",
	"merge":               "{size: 10, window: 1s}",
	"time_shift":          "{every: 5m, at: 1m, window: 1m, steady: true}",
	"busy_hours":          "{percent: 10, day: 24h, parts: 24}",
	"quality":             "{percent: 50, accept: [1, 0.9]}",
	"capacity_alarm":      "{after: 1h}",
	"class_alarm":         "",
	"latched_class":       "",
}

// writtenBackoffs is the same of backoffs.
var writtenBackoffs = map[string]string{
	"fixed": "{every: 1s, jitter: 1s}", "uniform": "{low: 1s, high: 2s}", "linear": "{first: 1s, step: 1s, cap: 9s}",
	"exponential": "{base: 1s, cap: 9s, factor: 1.5}", "full_jitter": "{base: 1s, cap: 9s}", "equal_jitter": "{base: 1s, cap: 9s}",
	"decorrelated_jitter": "{base: 1s, cap: 9s}", "polly_jitter": "{base: 1s, cap: 9s}", "memoryless": "{mean: 1s}",
	"proportional": "{of: {fixed: {every: 1s}}, low: 50, high: 150}", "capped": "{of: {exponential: {base: 1s}}, cap: 9s}",
	"by_class": "{classes: limits, then: {fixed: {every: 1s}}, else: {full_jitter: {base: 1s, cap: 9s}}}",
}

// Every layer and every backoff that a file may name can be written, built with
// what it has of its own, and run.
func TestEveryLayerRuns(t *testing.T) {
	const head = `herdlab: 1
name: layers
title: Layers
horizon: 10m
fleet: {clients: 3, model: big, region: eu, prompts: 2, tokens: {input: 10, output: 10}, traffic: {closed: {think: 1s, calls: 5}}}
provider:
  keys: 2
  models: {big: {}, small: {}}
  regions: {eu: {}, us: {}}
  limits: [window: {limit: 20/s, retry_after: exact}]
  tells: 1
  capacity: {slots: 2, queue: 3, service: 1s}
  refusal_time: 10ms
faults:
  - outage: {from: 5s, to: 8s}
strategies:
`
	var lines []string
	for _, k := range layerKinds {
		settings, ok := written[k.Name]
		require.True(t, ok, "%s is new; write it down here", k.Name)
		lines = append(lines, "  - {name: x-"+strings.ReplaceAll(k.Name, "_", "-")+", stack: ["+k.Name+": "+settings+"]}")
	}
	for _, k := range backoffKinds {
		settings, ok := writtenBackoffs[k.Name]
		require.True(t, ok, "%s is new; write it down here", k.Name)
		lines = append(lines, "  - {name: b-"+strings.ReplaceAll(k.Name, "_", "-")+", stack: [retry: {max_attempts: 4, backoff: {"+k.Name+": "+settings+"}}]}")
	}
	for _, k := range tripKinds {
		settings := map[string]string{"time_window": "{within: 10s, min: 10, percent: 50}", "count_window": "{last: 10, percent: 50}", "lifetime": "{min: 10, percent: 50}"}[k.Name]
		lines = append(lines, "  - {name: t-"+strings.ReplaceAll(k.Name, "_", "-")+", stack: [breaker: {trip: {"+k.Name+": "+settings+"}, open_for: 1s, fail_fast: true}]}")
	}
	s, err := Parse("x.yaml", []byte(head+strings.Join(lines, "\n")+"\n"))
	require.NoError(t, err)
	for i := range s.choices {
		r, err := s.report(context.Background(), i, 1)
		require.NoError(t, err)
		require.NotZero(t, r.Arrived, s.choices[i].Name)
	}
}

// What a layer or a backoff cannot do without is asked for at its place, with an
// example; and it is settings that are asked for.
func TestNeededSettings(t *testing.T) {
	asked := 0
	for _, k := range slices.Concat(layerKinds, backoffKinds) {
		for _, s := range settings(k.fresh()) {
			if s.required == "" {
				continue
			}
			asked++
			stack := k.Name + ": {}"
			if slices.ContainsFunc(backoffKinds, func(b Kind) bool { return b.Name == k.Name }) {
				stack = "retry: {backoff: {" + stack + "}}"
			}
			_, err := Parse("x.yaml", []byte("herdlab: 1\nname: x\ntitle: X\nhorizon: 1m\nfleet: {clients: 1, traffic: {one_shot: {within: 0s}}}\n"+
				"provider: {capacity: {slots: 1, service: 1s}}\nstrategies:\n  - {name: x, stack: ["+stack+"]}\n"))
			require.ErrorContains(t, err, k.Name+" needs the key "+s.key+", such as "+s.key+": "+s.required)
		}
	}
	require.Greater(t, asked, 40)
}

// Whatever strategies has, files can name: each exported type with the method of
// a layer, a backoff or a trip is in its table.
func TestTablesHaveAllThereIs(t *testing.T) {
	var files []string
	for _, folder := range []string{
		"../strategies", "../strategies/layers", "../strategies/backoffs",
		"../mockprovider", "../mockprovider/limits", "../mockprovider/faults",
	} {
		some, err := filepath.Glob(folder + "/*.go")
		require.NoError(t, err)
		require.NotEmpty(t, some)
		files = append(files, some...)
	}
	tables := map[string][]Kind{"Build": layerKinds, "Delay": backoffKinds, "Note": tripKinds, "Gate": limitKinds, "hooks": faultKinds}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Recv == nil || tables[f.Name.Name] == nil {
				continue
			}
			of, ok := f.Recv.List[0].Type.(*ast.Ident)
			if !ok || !of.IsExported() || of.Name == "Script" { // a script is Go
				continue
			}
			require.True(t, slices.ContainsFunc(tables[f.Name.Name], func(k Kind) bool {
				return reflect.TypeOf(k.Prototype).Name() == of.Name
			}), "%s is new: add it to the tables of layers.go, limit.go or fault.go", of.Name)
		}
	}
}
