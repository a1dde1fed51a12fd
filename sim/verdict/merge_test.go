package verdict_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"herdlab/sim/metrics"
	"herdlab/sim/verdict"
	"herdlab/sim/verdict/verdicttest"
)

func text(t *testing.T, r *metrics.Result) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, r.WriteJSON(&b))
	return b.String()
}

// The law of merging: the same bytes in any order, and those of running all
// seeds at once.
func TestMergedResultsAreThoseOfAllSeeds(t *testing.T) {
	run := func(seeds ...uint64) *metrics.Result {
		r := verdicttest.Result(verdicttest.Outage(), seeds, verdicttest.Varied()...)
		r.Verdict = verdict.Judge(r, verdict.Rules{Objectives: []verdict.Objective{verdict.ByDrain}}, nil, nil).Record()
		back, err := metrics.ReadResult(strings.NewReader(text(t, r))) // a file is as good
		require.NoError(t, err)
		return back
	}
	merge := func(a, b *metrics.Result) *metrics.Result {
		m, err := verdict.Merge(a, b)
		require.NoError(t, err)
		return m
	}
	a, b, c := run(2, 5, 6), run(1, 9), run(3, 4, 7, 8)
	want := text(t, run(1, 2, 3, 4, 5, 6, 7, 8, 9))
	for name, got := range map[string]*metrics.Result{
		"ab c": merge(merge(a, b), c), "ba c": merge(merge(b, a), c), "c ab": merge(c, merge(a, b)),
		"a bc": merge(a, merge(b, c)), "ac b": merge(merge(a, c), b), "cb a": merge(merge(c, b), a),
	} {
		assert.Equal(t, want, text(t, got), name)
	}
}

func TestMergeOfInterruptedResults(t *testing.T) {
	a := verdicttest.Result(verdicttest.Outage(), verdicttest.Seeds(1, 2), verdicttest.Varied()...)
	b := verdicttest.Result(verdicttest.Outage(), verdicttest.Seeds(3, 4), verdicttest.Varied()[:2]...)
	b.Complete = false
	want := verdicttest.Result(verdicttest.Outage(), verdicttest.Seeds(1, 4), verdicttest.Varied()[:2]...)
	want.Complete = false
	for _, pair := range [][2]*metrics.Result{{a, b}, {b, a}} {
		m, err := verdict.Merge(pair[0], pair[1])
		require.NoError(t, err)
		assert.Equal(t, text(t, want), text(t, m))
	}
}

func TestMergeRefusesWhatDoesNotFit(t *testing.T) {
	a := verdicttest.Result(verdicttest.Outage(), verdicttest.Seeds(1, 3), verdicttest.Varied()...)
	for _, test := range []struct {
		want string
		edit func(r *metrics.Result)
	}{
		{"both have seed 3", func(r *metrics.Result) {
			*r = *verdicttest.Result(verdicttest.Outage(), verdicttest.Seeds(3, 4), verdicttest.Varied()...)
		}},
		{"different scenarios", func(r *metrics.Result) { r.Scenario.SHA256 = "fedcba9876543210" }},
		{"different input or options", func(r *metrics.Result) { r.Scenario.Capacity = 4 }},
		{"made by herdlab test", func(r *metrics.Result) { r.Tool.Version = "other" }},
		{"only one of them has a verdict", func(r *metrics.Result) {
			r.Verdict = verdict.Judge(r, verdict.Rules{Objectives: []verdict.Objective{verdict.ByPeak}}, nil, nil).Record()
		}},
		{"schema_version", func(r *metrics.Result) { r.SchemaVersion = 0 }},
		{"only in one", func(r *metrics.Result) { r.Results = r.Results[:2] }},
		{"more strategies", func(r *metrics.Result) {
			*r = *verdicttest.Result(verdicttest.Outage(), verdicttest.Seeds(4, 5), append(verdicttest.Varied(), verdicttest.Strategy{Name: "more"})...)
		}},
		{"different orders", func(r *metrics.Result) { r.Results[0], r.Results[1] = r.Results[1], r.Results[0] }},
		{"is not the same in both", func(r *metrics.Result) { r.Results[1].Summary = "another" }},
		{"is missing", func(r *metrics.Result) { delete(r.Results[1].Metrics, "goodput") }},
	} {
		b := verdicttest.Result(verdicttest.Outage(), verdicttest.Seeds(4, 6), verdicttest.Varied()...)
		test.edit(b)
		_, err := verdict.Merge(a, b)
		assert.ErrorContains(t, err, test.want)
		if test.want != "only in one" && test.want != "more strategies" {
			_, err = verdict.Merge(b, a)
			assert.ErrorContains(t, err, "do not merge")
		}
	}
	x, y := verdicttest.Result(verdicttest.Outage(), verdicttest.Seeds(1, 2), verdicttest.Varied()...), verdicttest.Result(verdicttest.Outage(), verdicttest.Seeds(3, 4), verdicttest.Varied()...)
	x.Verdict, y.Verdict = verdict.Judge(x, verdict.Rules{Objectives: []verdict.Objective{verdict.ByPeak}}, nil, nil).Record(), verdict.Judge(y, verdict.Rules{Objectives: []verdict.Objective{verdict.ByPeak}, MaxPeak: 4}, nil, nil).Record()
	_, err := verdict.Merge(x, y)
	assert.ErrorContains(t, err, "different rules")
}

// What a program must tell apart, it can: no fault from an unknown one, no
// runner-up from a bad p-value, never from undefined.
func TestJSONTellsAbsencesApart(t *testing.T) {
	quiet := verdicttest.Outage()
	quiet.OneShot, quiet.Faults = false, nil
	mixed := verdicttest.Strategy{Name: "mixed", Edit: func(seed uint64, v *metrics.Values) {
		v[metrics.RecoveryTime] = []float64{5, metrics.Never, metrics.Undefined}[seed%3]
	}}
	all := verdicttest.Result(quiet, verdicttest.Seeds(1, 6), mixed)
	all.Verdict = verdict.Judge(all, verdict.Rules{Objectives: []verdict.Objective{verdict.ByDefault}}, nil, nil).Record()
	var text strings.Builder
	require.NoError(t, all.WriteJSON(&text))
	for _, want := range []string{`"faults":[]`, `"p_value":null`, `"per_seed":[null,null,5,null,null,5],"never_at":[0,3]`, `"fallback":true`} {
		assert.Contains(t, text.String(), want)
	}
	back, err := metrics.ReadResult(strings.NewReader(text.String()))
	require.NoError(t, err)
	assert.Equal(t, all, back)
	for _, damaged := range []string{"[0,2]", "[3,0]", "[-1,3]", "[0,6]", "[0]"} {
		_, err := metrics.ReadResult(strings.NewReader(strings.Replace(text.String(), `"never_at":[0,3]`, `"never_at":`+damaged, 1)))
		assert.ErrorContains(t, err, "metric recovery_time: ")
	}
	// Merging keeps them apart, and the objective that nobody chose.
	a, b := verdicttest.Result(quiet, verdicttest.Seeds(1, 2), mixed), verdicttest.Result(quiet, verdicttest.Seeds(3, 6), mixed)
	a.Verdict, b.Verdict = verdict.Judge(a, verdict.Rules{Objectives: []verdict.Objective{verdict.ByDefault}}, nil, nil).Record(), verdict.Judge(b, verdict.Rules{Objectives: []verdict.Objective{verdict.ByDefault}}, nil, nil).Record()
	merged, err := verdict.Merge(b, a)
	require.NoError(t, err)
	assert.Equal(t, all, merged)
	b.Scenario.Faults = []metrics.Span{}
	_, err = verdict.Merge(a, b)
	assert.NoError(t, err, "an empty list is none, too")
}
