package live

import (
	"fmt"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"net/http"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
	"herdlab/strategies/presets"
)

// specimens are the strategies that are compared with the simulator: all built-in
// ones, and stacks with every layer, backoff, trip and use of hints.
func specimens() []presets.Builtin {
	all := presets.All()
	add := func(name string, layers ...strategies.Layer) {
		all = append(all, presets.Builtin{Name: name, Define: func(presets.Knowledge) strategies.Definition {
			return strategies.Definition{Layers: layers}
		}})
	}
	const s, fleet = time.Second, strategies.PerFleet
	retry := layers.Retry{Backoff: backoffs.FullJitter{Base: s, Cap: 8 * s}, MaxAttempts: 6}
	for _, b := range []strategies.Backoff{
		backoffs.Fixed{Every: s, Jitter: s}, backoffs.Uniform{Low: s, High: 3 * s}, backoffs.Linear{Step: s, Jitter: s},
		backoffs.Exponential{Base: s, Cap: 5 * s, Factor: 1.5, Jitter: s}, backoffs.FullJitter{Base: s}, backoffs.EqualJitter{Base: s},
		backoffs.DecorrelatedJitter{Base: s, Cap: 20 * s}, backoffs.PollyJitter{Base: s, Cap: 9 * s}, backoffs.Memoryless{Mean: 2 * s},
		backoffs.Proportional{Of: backoffs.Exponential{Base: s}, Low: 70, High: 130},
		backoffs.Capped{Of: backoffs.Exponential{Base: s, Jitter: s}, Cap: 3 * s},
		backoffs.ByClass{Classes: strategies.Limits, Then: backoffs.Fixed{Every: 2 * s}, Else: backoffs.FullJitter{Base: s}},
	} {
		r := retry
		r.Backoff = b
		add("retry-"+typeName(b), r)
	}
	for use := range layers.HintUse(layers.NumHintUses) {
		r := retry
		r.Hints = layers.Hints{Use: use, Least: s, Most: 20 * s, Beyond: layers.Beyond(use) % layers.NumBeyonds, Slack: 3 * s, Restart: use%2 == 0}
		if use == layers.HintAsWait || use == layers.HintAsFloor {
			r.Hints.Spread = 20
		}
		add(strings.ReplaceAll(fmt.Sprintf("hints-%v", use), "_", "-"), r)
	}
	breaker := layers.Breaker{OpenFor: 4 * s, OpenJitter: s, SlowAfter: s, Probes: 2, MinWait: s / 10, Jitter: s, Scope: fleet}
	for _, trip := range []layers.Trip{
		layers.CountWindow{Last: 4, Min: 2, Percent: 50, SlowPercent: 80}, layers.TimeWindow{Within: 10 * s, Percent: 50},
		layers.Lifetime{Clear: 20 * s, Percent: 40},
	} {
		k := breaker
		k.Trip = trip
		add("breaker-"+typeName(trip), retry, k)
	}
	for _, l := range []strategies.Layer{
		layers.AIMD{LimitRange: layers.LimitRange{Initial: 2}, Scope: fleet},
		layers.AWSAdaptive{Scope: fleet},
		layers.AWSBudget{Capacity: 50, Cost: 5, Other: strategies.ClassesOf(wire.Timeout), OtherCost: 10, Scope: fleet},
		layers.AttemptTimeout{After: s},
		layers.BBR{LimitRange: layers.LimitRange{Initial: 2}, Scope: fleet},
		layers.Breaker{Failures: 2, OpenFor: 3 * s, FailFast: true, Scope: fleet},
		layers.BrookerBudget{Size: 2, Deposit: 300, Scope: fleet},
		layers.Bulkhead{Permits: 2, Line: 2, Patience: 3 * s, Scope: fleet},
		layers.BusyHours{Day: 20 * s, Least: 1, Scope: fleet},
		layers.Cache{TTL: 5 * s, Scope: fleet},
		layers.CapacityAlarm{After: 3 * s, GiveUp: true, Scope: fleet},
		layers.ClassAlarm{Scope: fleet},
		layers.Concurrency{Permits: 2, Scope: fleet},
		layers.CoolDown{For: 5 * s, Jitter: s, Pace: s / 5, ProbeTimeout: 4 * s, Scope: fleet},
		layers.DailyBudget{Quota: 4, Per: 20 * s, Scope: fleet},
		layers.Deadline{Within: 20 * s, Least: s},
		layers.EnvoyBudget{Percent: 50, Floor: 1, Scope: fleet},
		layers.FinagleBudget{Percent: 50, MinPerSecond: 1, Scope: fleet},
		layers.GCRA{Rate: 1, Per: s, Burst: 2, Scope: fleet},
		layers.GRPCBudget{MaxTokens: 4, Ratio: 500, Scope: fleet},
		layers.Gradient2{LimitRange: layers.LimitRange{Initial: 2}, Scope: fleet},
		layers.HeaderLimit{Percent: 10, Spread: true, Scope: fleet},
		layers.LatchedClass{Scope: fleet},
		layers.Merge{Size: 3, Window: s, Scope: fleet},
		layers.MinInterval{Every: s / 2, Jitter: s / 2, Scope: fleet},
		layers.Quality{Percent: 50, Accept: []float64{0.5}, Reject: true, All: true},
		layers.Shedder{Above: []int{30}, Window: 10 * s, Hold: 2 * s, Scope: fleet},
		layers.SingleFlight{Scope: fleet},
		layers.SlidingCounter{Limit: 2, Length: 3 * s, Scope: fleet},
		layers.SlidingLog{Limit: 2, Length: 3 * s, Scope: fleet},
		layers.Throttle{Window: 20 * s, Scope: fleet},
		layers.TimeShift{Every: 10 * s, At: 5 * s, Window: 10 * s},
		layers.TokenBucket{Rate: 1, Per: s, Burst: 2, Scope: fleet},
		layers.Vegas{LimitRange: layers.LimitRange{Initial: 2}, Scope: fleet},
	} {
		add("in-retry-"+typeName(l), retry, l)
	}
	for _, l := range []strategies.Layer{
		layers.Deployments{Targets: []wire.Target{{}, {Region: 1}}, Jitter: s, Backoff: retry.Backoff, Scope: fleet},
		layers.Failover{Regions: []uint8{0, 1}, Rounds: 2, Backoff: backoffs.Fixed{Every: s}, Stay: 3 * s, Scope: fleet},
		layers.Hedge{After: s, Quantile: 0.9, Percent: 50, Scope: fleet},
		layers.KeyRotation{Keys: []uint8{0, 1, 2}, Rounds: 2, Backoff: backoffs.Fixed{Every: s}, Scope: fleet},
		layers.Ladder{Rungs: []layers.Rung{{Model: 0, Tries: 2}, {Model: 1}, {Model: 2}}, On: layers.Rules{Classes: strategies.Transient}, Backoff: retry.Backoff},
		layers.ConstantRetrial{Mean: 2 * s, Scope: fleet},
		layers.RecursiveSemaphore{Permits: 2, Retry: retry, Scope: fleet},
		layers.Shrink{Context: 0.5, Output: 0.5, Times: 2, On: layers.Rules{Classes: strategies.Transient}, Backoff: retry.Backoff},
		layers.WorkerQueue{Rate: 1, Per: s, Workers: 2, MaxAttempts: 3, Scope: fleet},
		strategies.Script(func(s *strategies.Session) error {
			for range 3 {
				if r := s.Send(); r.OK() {
					return nil
				}
				s.Sleep(s.Uniform(0, 4*time.Second))
			}
			return strategies.ErrGaveUp
		}),
	} {
		add("alone-"+typeName(l), l)
	}
	add("merge-around-retry", layers.Merge{Size: 3, Window: s, Scope: fleet}, retry)
	add("merge-around-breaker", retry, layers.Merge{Size: 2, Window: s, Scope: fleet}, layers.Breaker{Failures: 1, OpenFor: 3 * s, FailFast: true, Scope: fleet})
	add("merge-around-hedge", layers.Merge{Size: 4, Window: s, Scope: fleet}, layers.Hedge{After: s / 2, Scope: fleet})
	split := layers.Shrink{Pieces: 3, On: layers.Rules{Classes: strategies.Transient}, Backoff: retry.Backoff}
	add("pieces-around-retry", split, retry)
	add("pieces-around-hedge", split, layers.Hedge{After: s / 2, Scope: fleet})
	add("pieces-around-single-flight", split, layers.SingleFlight{Scope: fleet})
	add("pieces-in-retry", retry, layers.Shrink{Pieces: 2, Output: 0.5, Times: 2, On: layers.Rules{Classes: strategies.Transient}})
	return all
}

// withFunctions sets the functions that merge and split requests; these ignore the
// content.
func withFunctions(cfg Config) Config {
	cfg.Shrink = func(body []byte, _, _ wire.Demand) ([]byte, error) { return body, nil }
	cfg.JoinRequests = func(_ *http.Request, bodies [][]byte) ([]byte, error) { return bodies[0], nil }
	cfg.SplitReply = func(_ *http.Response, body []byte, n int) ([][]byte, error) {
		return slices.Repeat([][]byte{body}, n), nil
	}
	cfg.SplitRequest = func(_ *http.Request, body []byte, n int) ([][]byte, error) {
		return slices.Repeat([][]byte{body}, n), nil
	}
	cfg.JoinReplies = func(_ *http.Response, answers [][]byte) ([]byte, error) { return answers[0], nil }
	return cfg
}

// typeName returns the name of a type in lower case.
func typeName(v any) string { return strings.ToLower(reflect.TypeOf(v).Name()) }

// The specimens contain every type of package strategies that is a layer, a backoff
// or a trip.
func TestSpecimensAreComplete(t *testing.T) {
	there := map[string]bool{
		"impossible": true, // the layer of a stack that cannot be built
	}
	var look func(v reflect.Value)
	look = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Interface, reflect.Pointer:
			if !v.IsNil() {
				look(v.Elem())
			}
			return
		case reflect.Slice:
			for i := range v.Len() {
				look(v.Index(i))
			}
		case reflect.Struct:
			for i := range v.NumField() {
				look(v.Field(i))
			}
		}
		there[v.Type().Name()] = true
	}
	names := map[string]bool{}
	for _, b := range specimens() {
		require.False(t, names[b.Name], "%s is there twice", b.Name)
		names[b.Name] = true
		def := b.Define(presets.Knowledge{Rate: 3, Per: time.Second, Concurrency: 6})
		look(reflect.ValueOf(def.Layers))
	}
	for _, b := range presets.All() {
		require.True(t, names[b.Name], b.Name)
	}
	var files []string
	for _, folder := range []string{"..", "../layers", "../backoffs", "../presets"} {
		some, err := filepath.Glob(folder + "/*.go")
		require.NoError(t, err)
		files = append(files, some...)
	}
	found := map[string]int{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(gotoken.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil {
				continue
			}
			receiver, ok := fn.Recv.List[0].Type.(*ast.Ident)
			if ok && receiver.Name != "noWait" && (fn.Name.Name == "Build" || fn.Name.Name == "Delay" || fn.Name.Name == "Note") {
				found[fn.Name.Name]++
				require.True(t, there[receiver.Name], "%s, which has a %s, plays in no test of two worlds; add it to the cast", receiver.Name, fn.Name.Name)
			}
		}
	}
	require.GreaterOrEqual(t, found["Build"], 48)
	require.GreaterOrEqual(t, found["Delay"], 12)
	require.GreaterOrEqual(t, found["Note"], 3)
}
