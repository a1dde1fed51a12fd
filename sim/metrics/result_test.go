package metrics_test

import (
	"bytes"
	"encoding/json"
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

func TestResultsAreReadBackAsWritten(t *testing.T) {
	r := verdicttest.Result(verdicttest.Outage(), verdicttest.Seeds(1, 9), verdicttest.Varied()...)
	r.Verdict = verdict.Judge(r, verdict.Rules{Objectives: []verdict.Objective{verdict.ByDrain}}, nil, nil).Record()
	written := text(t, r)
	assert.Equal(t, written, text(t, r))
	assert.True(t, json.Valid([]byte(written)))
	assert.NotContains(t, written, "Inf")
	assert.NotContains(t, written, "NaN")
	assert.Contains(t, written, `a < b: \"}{\" ×\n`)
	back, err := metrics.ReadResult(strings.NewReader(written))
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
	lines := strings.Split(text(t, verdicttest.Result(verdicttest.Outage(), verdicttest.Seeds(1, 2), verdicttest.Strategy{Name: "steady"})), "\n")
	next := metrics.Metric(0)
	for _, line := range lines {
		if int(next) < metrics.NumMetrics && !next.Optional() && strings.HasPrefix(strings.TrimSpace(line), `"`+next.Info().Name+`": {"unit":`) {
			next++
		}
	}
	assert.Equal(t, metrics.Hedges, next, "each metric on its line, up to those that there are none of")
}

func TestReadResultIsStrict(t *testing.T) {
	good := text(t, verdicttest.Result(verdicttest.Outage(), verdicttest.Seeds(1, 3), verdicttest.Varied()...))
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
		_, err := metrics.ReadResult(strings.NewReader(bad))
		assert.ErrorContains(t, err, test.want)
	}
	_, err := metrics.ReadResult(strings.NewReader(good + good))
	assert.Error(t, err, "two results are not one")
	broken := verdicttest.Result(verdicttest.Outage(), verdicttest.Seeds(1, 2), verdicttest.Strategy{Name: "steady"})
	broken.Results[0].Metrics["amplificaton"] = metrics.Estimate{}
	assert.ErrorContains(t, broken.WriteJSON(&bytes.Buffer{}), `no metric "amplificaton"`)
}

func FuzzReadResult(f *testing.F) {
	var b bytes.Buffer
	if err := verdicttest.Result(verdicttest.Outage(), verdicttest.Seeds(1, 3), verdicttest.Varied()...).WriteJSON(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, in []byte) {
		r, err := metrics.ReadResult(bytes.NewReader(in))
		if err != nil {
			return
		}
		verdict.Judge(r, verdict.Rules{Objectives: []verdict.Objective{verdict.ByDrain}}, nil, nil)
		if _, err := metrics.ReadResult(strings.NewReader(text(t, r))); err != nil {
			t.Fatal(err)
		}
	})
}
