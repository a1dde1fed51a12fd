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
)

// specimens are the strategies that are compared with the simulator: all built-in
// ones, and stacks with every layer, backoff, trip and use of hints.
func specimens() []strategies.Builtin {
	all := strategies.All()
	add := func(name string, layers ...strategies.Layer) {
		all = append(all, strategies.Builtin{Name: name, Define: func(strategies.Knowledge) strategies.Definition {
			return strategies.Definition{Layers: layers}
		}})
	}
	const s, fleet = time.Second, strategies.PerFleet
	retry := strategies.Retry{Backoff: strategies.FullJitter{Base: s, Cap: 8 * s}, MaxAttempts: 6}
	for _, b := range []strategies.Backoff{
		strategies.Fixed{Every: s, Jitter: s}, strategies.Uniform{Low: s, High: 3 * s}, strategies.Linear{Step: s, Jitter: s},
		strategies.Exponential{Base: s, Cap: 5 * s, Factor: 1.5, Jitter: s}, strategies.FullJitter{Base: s}, strategies.EqualJitter{Base: s},
		strategies.DecorrelatedJitter{Base: s, Cap: 20 * s}, strategies.PollyJitter{Base: s, Cap: 9 * s}, strategies.Memoryless{Mean: 2 * s},
		strategies.Proportional{Of: strategies.Exponential{Base: s}, Low: 70, High: 130},
		strategies.Capped{Of: strategies.Exponential{Base: s, Jitter: s}, Cap: 3 * s},
		strategies.ByClass{Classes: strategies.Limits, Then: strategies.Fixed{Every: 2 * s}, Else: strategies.FullJitter{Base: s}},
	} {
		r := retry
		r.Backoff = b
		add("retry-"+typeName(b), r)
	}
	for use := range strategies.HintUse(strategies.NumHintUses) {
		r := retry
		r.Hints = strategies.Hints{Use: use, Least: s, Most: 20 * s, Beyond: strategies.Beyond(use) % strategies.NumBeyonds, Slack: 3 * s, Restart: use%2 == 0}
		if use == strategies.HintAsWait || use == strategies.HintAsFloor {
			r.Hints.Spread = 20
		}
		add(strings.ReplaceAll(fmt.Sprintf("hints-%v", use), "_", "-"), r)
	}
	breaker := strategies.Breaker{OpenFor: 4 * s, OpenJitter: s, SlowAfter: s, Probes: 2, MinWait: s / 10, Jitter: s, Scope: fleet}
	for _, trip := range []strategies.Trip{
		strategies.CountWindow{Last: 4, Min: 2, Percent: 50, SlowPercent: 80}, strategies.TimeWindow{Within: 10 * s, Percent: 50},
		strategies.Lifetime{Clear: 20 * s, Percent: 40},
	} {
		k := breaker
		k.Trip = trip
		add("breaker-"+typeName(trip), retry, k)
	}
	for _, l := range []strategies.Layer{
		strategies.AIMD{LimitRange: strategies.LimitRange{Initial: 2}, Scope: fleet},
		strategies.AWSAdaptive{Scope: fleet},
		strategies.AWSBudget{Capacity: 50, Cost: 5, Other: strategies.ClassesOf(wire.Timeout), OtherCost: 10, Scope: fleet},
		strategies.AttemptTimeout{After: s},
		strategies.BBR{LimitRange: strategies.LimitRange{Initial: 2}, Scope: fleet},
		strategies.Breaker{Failures: 2, OpenFor: 3 * s, FailFast: true, Scope: fleet},
		strategies.BrookerBudget{Size: 2, Deposit: 300, Scope: fleet},
		strategies.Bulkhead{Permits: 2, Line: 2, Patience: 3 * s, Scope: fleet},
		strategies.BusyHours{Day: 20 * s, Least: 1, Scope: fleet},
		strategies.Cache{TTL: 5 * s, Scope: fleet},
		strategies.CapacityAlarm{After: 3 * s, GiveUp: true, Scope: fleet},
		strategies.ClassAlarm{Scope: fleet},
		strategies.Concurrency{Permits: 2, Scope: fleet},
		strategies.CoolDown{For: 5 * s, Jitter: s, Pace: s / 5, ProbeTimeout: 4 * s, Scope: fleet},
		strategies.DailyBudget{Quota: 4, Per: 20 * s, Scope: fleet},
		strategies.Deadline{Within: 20 * s, Least: s},
		strategies.EnvoyBudget{Percent: 50, Floor: 1, Scope: fleet},
		strategies.FinagleBudget{Percent: 50, MinPerSecond: 1, Scope: fleet},
		strategies.GCRA{Rate: 1, Per: s, Burst: 2, Scope: fleet},
		strategies.GRPCBudget{MaxTokens: 4, Ratio: 500, Scope: fleet},
		strategies.Gradient2{LimitRange: strategies.LimitRange{Initial: 2}, Scope: fleet},
		strategies.HeaderLimit{Percent: 10, Spread: true, Scope: fleet},
		strategies.LatchedClass{Scope: fleet},
		strategies.Merge{Size: 3, Window: s, Scope: fleet},
		strategies.MinInterval{Every: s / 2, Jitter: s / 2, Scope: fleet},
		strategies.Quality{Percent: 50, Accept: []float64{0.5}, Reject: true, All: true},
		strategies.Shedder{Above: []int{30}, Window: 10 * s, Hold: 2 * s, Scope: fleet},
		strategies.SingleFlight{Scope: fleet},
		strategies.SlidingCounter{Limit: 2, Length: 3 * s, Scope: fleet},
		strategies.SlidingLog{Limit: 2, Length: 3 * s, Scope: fleet},
		strategies.Throttle{Window: 20 * s, Scope: fleet},
		strategies.TimeShift{Every: 10 * s, At: 5 * s, Window: 10 * s},
		strategies.TokenBucket{Rate: 1, Per: s, Burst: 2, Scope: fleet},
		strategies.Vegas{LimitRange: strategies.LimitRange{Initial: 2}, Scope: fleet},
	} {
		add("in-retry-"+typeName(l), retry, l)
	}
	for _, l := range []strategies.Layer{
		strategies.Deployments{Targets: []wire.Target{{}, {Region: 1}}, Jitter: s, Backoff: retry.Backoff, Scope: fleet},
		strategies.Failover{Regions: []uint8{0, 1}, Rounds: 2, Backoff: strategies.Fixed{Every: s}, Stay: 3 * s, Scope: fleet},
		strategies.Hedge{After: s, Quantile: 0.9, Percent: 50, Scope: fleet},
		strategies.KeyRotation{Keys: []uint8{0, 1, 2}, Rounds: 2, Backoff: strategies.Fixed{Every: s}, Scope: fleet},
		strategies.Ladder{Rungs: []strategies.Rung{{Model: 0, Tries: 2}, {Model: 1}, {Model: 2}}, On: strategies.Rules{Classes: strategies.Transient}, Backoff: retry.Backoff},
		strategies.Orbit{Mean: 2 * s, Scope: fleet},
		strategies.RecursiveSemaphore{Permits: 2, Retry: retry, Scope: fleet},
		strategies.Shrink{Context: 0.5, Output: 0.5, Times: 2, On: strategies.Rules{Classes: strategies.Transient}, Backoff: retry.Backoff},
		strategies.WorkerQueue{Rate: 1, Per: s, Workers: 2, MaxAttempts: 3, Scope: fleet},
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
	add("merge-around-retry", strategies.Merge{Size: 3, Window: s, Scope: fleet}, retry)
	add("merge-around-breaker", retry, strategies.Merge{Size: 2, Window: s, Scope: fleet}, strategies.Breaker{Failures: 1, OpenFor: 3 * s, FailFast: true, Scope: fleet})
	add("merge-around-hedge", strategies.Merge{Size: 4, Window: s, Scope: fleet}, strategies.Hedge{After: s / 2, Scope: fleet})
	split := strategies.Shrink{Pieces: 3, On: strategies.Rules{Classes: strategies.Transient}, Backoff: retry.Backoff}
	add("pieces-around-retry", split, retry)
	add("pieces-around-hedge", split, strategies.Hedge{After: s / 2, Scope: fleet})
	add("pieces-around-single-flight", split, strategies.SingleFlight{Scope: fleet})
	add("pieces-in-retry", retry, strategies.Shrink{Pieces: 2, Output: 0.5, Times: 2, On: strategies.Rules{Classes: strategies.Transient}})
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
		def := b.Define(strategies.Knowledge{Rate: 3, Per: time.Second, Concurrency: 6})
		look(reflect.ValueOf(def.Layers))
	}
	for _, b := range strategies.All() {
		require.True(t, names[b.Name], b.Name)
	}
	files, err := filepath.Glob("../*.go")
	require.NoError(t, err)
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
			if ok && (fn.Name.Name == "Build" || fn.Name.Name == "Delay" || fn.Name.Name == "Note") {
				found[fn.Name.Name]++
				require.True(t, there[receiver.Name], "%s, which has a %s, plays in no test of two worlds; add it to the cast", receiver.Name, fn.Name.Name)
			}
		}
	}
	require.GreaterOrEqual(t, found["Build"], 48)
	require.GreaterOrEqual(t, found["Delay"], 12)
	require.GreaterOrEqual(t, found["Note"], 3)
}
