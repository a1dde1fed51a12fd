package metrics

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"herdlab/sim/draw"
)

// runner is a strategy whose runs are made up: 60 calls, all answered with 240
// attempts and a drain of 60 s, unless edit says otherwise.
type runner struct {
	name string
	edit func(seed uint64, v *Values)
}

// outage is a scenario with a capacity of 3 per second.
var outage = Scenario{
	Name: "outage", SHA256: "0123456789abcdef", Text: "a < b: \"}{\" ×\n", Capacity: 3, OneShot: true, Bin: 1, Horizon: 3600,
	Faults: []Span{{Name: "blip", From: 1, To: 2}, {Name: "outage", From: 0, To: 300}},
}

// contest is the complete result of some runners with seeds.
func contest(s Scenario, seeds []uint64, runners ...runner) *Result {
	r := &Result{SchemaVersion: SchemaVersion, Tool: Tool{"herdlab", "test"}, Scenario: s, Seeds: seeds, Complete: true}
	for _, runner := range runners {
		values := make([]Values, len(seeds))
		for i, seed := range seeds {
			v := &values[i]
			v[Calls], v[Attempts], v[Amplification] = 60, 240, 4
			v[SuccessRate], v[BelievedSuccessRate] = 1, 1
			v[Peak], v[PeakAfter], v[PeakAfterOfCapacity] = 60, 6, 2
			v[SecondPeak], v[SecondPeakTime] = Undefined, Undefined
			v[DrainTime], v[RecoveryTime] = 60, Undefined
			v[FirstAlarm] = Undefined
			if !s.OneShot {
				v[DrainTime], v[RecoveryTime] = 60, 30
			}
			if runner.edit != nil {
				runner.edit(seed, v)
			}
			if s.Capacity == 0 {
				v[PeakAfterOfCapacity] = Undefined
			}
			if len(s.Faults) == 0 {
				v[PeakAfter], v[PeakAfterOfCapacity] = Undefined, Undefined
			}
		}
		signals := make([][]Signal, len(seeds))
		for i, seed := range seeds {
			if values[i][Alarms] > 0 {
				signals[i] = append(signals[i], Signal{Reason: fmt.Sprint("reason ", seed%2), Alarm: true, Count: seed, First: s2d(values[i][FirstAlarm])},
					Signal{Reason: "never raised"}, Signal{Reason: "reason 1", Count: 1, First: time.Second})
			}
		}
		r.Results = append(r.Results, StrategyResult{
			Strategy: runner.name, Summary: "a made-up one", Metrics: Summarise(values), Signals: SummariseSignals(signals),
			Timeline: Timeline{Seed: seeds[0], Width: 1, Calls: []uint32{60, 0}, Attempts: []uint32{60, 180}, Useful: []uint32{0, uint32(seeds[0])}},
		})
	}
	return r
}

// scatter are runners with every kind of figure: numbers, never, undefined.
func scatter() []runner {
	return []runner{
		{"steady", nil},
		{"jittered", func(seed uint64, v *Values) {
			r := draw.New(seed)
			v[DrainTime] = 55 + 10*r.Float(0)
			v[Attempts] = float64(200 + r.Below(1, 100))
			v[Goodput] = 1 / (3 + r.Float(2))
		}},
		{"sometimes never", func(seed uint64, v *Values) {
			if seed%3 == 0 {
				v[DrainTime] = Never
				v[PendingCalls], v[OverdueCalls], v[SuccessRate] = 6, 6, 0.9
			}
		}},
		{"a peak now and then", func(seed uint64, v *Values) {
			if seed%2 == 0 {
				v[SecondPeak], v[SecondPeakTime] = 7, 0.1*float64(seed)
			}
		}},
		{"a bill and alarms now and then", func(seed uint64, v *Values) {
			if seed%4 == 0 || seed == 9 {
				v[Hedges], v[Spent], v[CostPerAnswer] = 3, 0.25, Never
				v[Alarms], v[FirstAlarm] = 2, 0.5*float64(seed)
			}
		}},
	}
}

// s2d is a time in seconds as a duration.
func s2d(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }

func text(t *testing.T, r *Result) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, r.WriteJSON(&b))
	return b.String()
}

func ascending(from, to uint64) (seeds []uint64) {
	for s := from; s <= to; s++ {
		seeds = append(seeds, s)
	}
	return seeds
}

func TestResultsAreReadBackAsWritten(t *testing.T) {
	r := contest(outage, ascending(1, 9), scatter()...)
	r.Verdict = Judge(r, ByDrain, DefaultMaxPeak)
	written := text(t, r)
	assert.Equal(t, written, text(t, r))
	assert.True(t, json.Valid([]byte(written)))
	assert.NotContains(t, written, "Inf")
	assert.NotContains(t, written, "NaN")
	assert.Contains(t, written, `a < b: \"}{\" ×\n`)
	back, err := ReadResult(strings.NewReader(written))
	require.NoError(t, err)
	assert.Equal(t, r, back)
	assert.Equal(t, written, text(t, back))

	// Spaces and lines aside, it is what encoding/json writes.
	var compact, plain bytes.Buffer
	require.NoError(t, json.Compact(&compact, []byte(written)))
	e := json.NewEncoder(&plain)
	e.SetEscapeHTML(false)
	require.NoError(t, e.Encode(r))
	assert.Equal(t, strings.TrimSpace(plain.String()), compact.String())
}

func TestMetricsAreWrittenInTheirOrder(t *testing.T) {
	lines := strings.Split(text(t, contest(outage, ascending(1, 2), runner{"steady", nil})), "\n")
	next := Metric(0)
	for _, line := range lines {
		if int(next) < NumMetrics && !next.optional() && strings.HasPrefix(strings.TrimSpace(line), `"`+next.Info().Name+`": {"unit":`) {
			next++
		}
	}
	assert.Equal(t, Hedges, next, "each metric on its line, up to those that there are none of")
}

func TestReadResultIsStrict(t *testing.T) {
	good := text(t, contest(outage, ascending(1, 3), scatter()...))
	for _, test := range []struct{ old, new, want string }{
		{`"schema_version": 1`, `"schema_version": 2`, "schema_version 2, this program reads 1"},
		{`"schema_version": 1,`, ``, "no schema_version"},
		{`{`, ``, "not a result"},
		{`"tool"`, `"toll"`, `unknown field "toll"`},
		{`"amplification"`, `"amplificaton"`, `no metric "amplificaton"`},
		{`"unit":"calls/s"`, `"unit":"calls/h"`, `goodput: its unit is "calls/h" and not "calls/s"`},
		{`"per_seed":[60,60,60]`, `"per_seed":[60,60]`, "2 values for 3 seeds"},
		{`"per_seed":[60,60,60]`, `"per_seed":[60,60,null]`, "1 of 3 values are absent"},
		{`"never":0`, `"never":1`, "0 of 3 values are absent, 0 of them never, but never is 1"},
		{`"seeds": [1,2,3]`, `"seeds": [1,3,2]`, "seeds must ascend, but 2 follows 3"},
		{`"seeds": [1,2,3]`, `"seeds": []`, "no seeds"},
		{`"strategy": "jittered"`, `"strategy": "steady"`, `"steady" is there twice`},
		{`"width":1`, `"width":0`, "0 s wide"},
		{`"timeline": {"seed":1`, `"timeline": {"seed":2`, "the timeline is of seed 2"},
		{`"calls":[60,0]`, `"calls":[60]`, "1 bins of calls, 2 of attempts"},
		{`"mean":60`, `"mean":1e999`, "1e999"},
	} {
		bad := strings.Replace(good, test.old, test.new, 1)
		require.NotEqual(t, good, bad, test.old)
		_, err := ReadResult(strings.NewReader(bad))
		assert.ErrorContains(t, err, test.want)
	}
	_, err := ReadResult(strings.NewReader(good + good))
	assert.Error(t, err, "two results are not one")
	broken := contest(outage, ascending(1, 2), runner{"steady", nil})
	broken.Results[0].Metrics["amplificaton"] = Figure{}
	assert.ErrorContains(t, broken.WriteJSON(&bytes.Buffer{}), `no metric "amplificaton"`)
}

func FuzzReadResult(f *testing.F) {
	var b bytes.Buffer
	if err := contest(outage, ascending(1, 3), scatter()...).WriteJSON(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, in []byte) {
		r, err := ReadResult(bytes.NewReader(in))
		if err != nil {
			return
		}
		Judge(r, ByDrain, DefaultMaxPeak)
		if _, err := ReadResult(strings.NewReader(text(t, r))); err != nil {
			t.Fatal(err)
		}
	})
}

// The law of merging: the same bytes in any order, and those of running all
// seeds at once.
func TestMergedResultsAreThoseOfAllSeeds(t *testing.T) {
	run := func(seeds ...uint64) *Result {
		r := contest(outage, seeds, scatter()...)
		r.Verdict = Judge(r, ByDrain, DefaultMaxPeak)
		back, err := ReadResult(strings.NewReader(text(t, r))) // a file is as good
		require.NoError(t, err)
		return back
	}
	merge := func(a, b *Result) *Result {
		m, err := Merge(a, b)
		require.NoError(t, err)
		return m
	}
	a, b, c := run(2, 5, 6), run(1, 9), run(3, 4, 7, 8)
	want := text(t, run(1, 2, 3, 4, 5, 6, 7, 8, 9))
	for name, got := range map[string]*Result{
		"ab c": merge(merge(a, b), c), "ba c": merge(merge(b, a), c), "c ab": merge(c, merge(a, b)),
		"a bc": merge(a, merge(b, c)), "ac b": merge(merge(a, c), b), "cb a": merge(merge(c, b), a),
	} {
		assert.Equal(t, want, text(t, got), name)
	}
}

func TestMergeOfInterruptedResults(t *testing.T) {
	a := contest(outage, ascending(1, 2), scatter()...)
	b := contest(outage, ascending(3, 4), scatter()[:2]...)
	b.Complete = false
	want := contest(outage, ascending(1, 4), scatter()[:2]...)
	want.Complete = false
	for _, pair := range [][2]*Result{{a, b}, {b, a}} {
		m, err := Merge(pair[0], pair[1])
		require.NoError(t, err)
		assert.Equal(t, text(t, want), text(t, m))
	}
}

func TestMergeRefusesWhatDoesNotFit(t *testing.T) {
	a := contest(outage, ascending(1, 3), scatter()...)
	for _, test := range []struct {
		want string
		edit func(r *Result)
	}{
		{"both have seed 3", func(r *Result) { *r = *contest(outage, ascending(3, 4), scatter()...) }},
		{"different scenarios", func(r *Result) { r.Scenario.SHA256 = "fedcba9876543210" }},
		{"different input or options", func(r *Result) { r.Scenario.Capacity = 4 }},
		{"made by herdlab test", func(r *Result) { r.Tool.Version = "other" }},
		{"only one of them has a verdict", func(r *Result) { r.Verdict = Judge(r, ByPeak, 5) }},
		{"schema_version", func(r *Result) { r.SchemaVersion = 0 }},
		{"only in one", func(r *Result) { r.Results = r.Results[:2] }},
		{"more strategies", func(r *Result) {
			*r = *contest(outage, ascending(4, 5), append(scatter(), runner{"more", nil})...)
		}},
		{"different orders", func(r *Result) { r.Results[0], r.Results[1] = r.Results[1], r.Results[0] }},
		{"is not the same in both", func(r *Result) { r.Results[1].Summary = "another" }},
		{"is missing", func(r *Result) { delete(r.Results[1].Metrics, "goodput") }},
	} {
		b := contest(outage, ascending(4, 6), scatter()...)
		test.edit(b)
		_, err := Merge(a, b)
		assert.ErrorContains(t, err, test.want)
		if test.want != "only in one" && test.want != "more strategies" {
			_, err = Merge(b, a)
			assert.ErrorContains(t, err, "do not merge")
		}
	}
	x, y := contest(outage, ascending(1, 2), scatter()...), contest(outage, ascending(3, 4), scatter()...)
	x.Verdict, y.Verdict = Judge(x, ByPeak, 5), Judge(y, ByPeak, 4)
	_, err := Merge(x, y)
	assert.ErrorContains(t, err, "different objectives")
}

// What a program must tell apart, it can: no fault from an unknown one, no
// runner-up from a bad p-value, never from undefined.
func TestJSONTellsAbsencesApart(t *testing.T) {
	quiet := outage
	quiet.OneShot, quiet.Faults = false, nil
	mixed := runner{"mixed", func(seed uint64, v *Values) { v[RecoveryTime] = []float64{5, Never, Undefined}[seed%3] }}
	all := contest(quiet, ascending(1, 6), mixed)
	all.Verdict = Judge(all, ByDefault, 5)
	var text strings.Builder
	require.NoError(t, all.WriteJSON(&text))
	for _, want := range []string{`"faults":[]`, `"p_value":null`, `"per_seed":[null,null,5,null,null,5],"never_at":[0,3]`, `"fallback":true`} {
		assert.Contains(t, text.String(), want)
	}
	back, err := ReadResult(strings.NewReader(text.String()))
	require.NoError(t, err)
	assert.Equal(t, all, back)
	for _, damaged := range []string{"[0,2]", "[3,0]", "[-1,3]", "[0,6]", "[0]"} {
		_, err := ReadResult(strings.NewReader(strings.Replace(text.String(), `"never_at":[0,3]`, `"never_at":`+damaged, 1)))
		assert.ErrorContains(t, err, "metric recovery_time: ")
	}
	// Merging keeps them apart, and the objective that nobody chose.
	a, b := contest(quiet, ascending(1, 2), mixed), contest(quiet, ascending(3, 6), mixed)
	a.Verdict, b.Verdict = Judge(a, ByDefault, 5), Judge(b, ByDefault, 5)
	merged, err := Merge(b, a)
	require.NoError(t, err)
	assert.Equal(t, all, merged)
	b.Scenario.Faults = []Span{}
	_, err = Merge(a, b)
	assert.NoError(t, err, "an empty list is none, too")
}
