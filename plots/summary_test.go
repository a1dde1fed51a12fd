package plots

import (
	"bytes"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/sim/metrics"
)

func TestWindow(t *testing.T) {
	of := func(oneShot bool, after float64, ends ...int) scale {
		s := &summary{bin: 1, oneShot: oneShot, after: after}
		if after > 0 {
			s.faults = []metrics.Span{{To: after}}
		}
		for _, end := range ends {
			counts := make([]uint32, end)
			counts[end-1] = 1
			s.rows = append(s.rows, row{attempts: series{width: 1, counts: counts}})
		}
		return s.window()
	}
	for _, c := range []struct {
		w        scale
		from, to float64 // hi must lie in between
		why      string
	}{
		{of(true, 300, 320, 573, 579, 368, 434, 898, 904, 365, 369, 370, 15, 356, 362), 579, 620, "two that take 50 % longer do not compress the others"},
		{of(true, 300, 340, 350, 360, 370, 400), 400, 430, "all fit"},
		{of(true, 300, 15), 360, 380, "the time after the outage is visible even without attempts"},
		{of(true, 300, 10800, 10800, 10800), 1500, 1560, "no strategy drains: the axis is cut"},
		{of(false, 120, 3500, 3500, 3500), 3500, 3700, "continuous traffic is shown to its end"},
		{of(false, 0, 50), 50, 60, "no fault"},
	} {
		require.Zero(t, c.w.lo)
		require.True(t, c.w.hi >= c.from && c.w.hi <= c.to, "%s: %+v", c.why, c.w)
	}
}

func TestManyStrategies(t *testing.T) {
	r := reference()
	for range 3 {
		r.Results = append(r.Results, r.Results...)
	}
	for _, f := range all(r) {
		require.Less(t, f.Height, 6000)
		texts := textsOf(t, f)
		require.Equal(t, "64 more strategies are not shown.", texts[len(texts)-1].text)
	}
}

// TestMalformedResults draws results that no run returns. Their figures are well
// formed.
func TestMalformedResults(t *testing.T) {
	odd := rapid.SampledFrom([]float64{0, 1, -1, 0.5, 3, 300, 1e-300, 1e-9, 1e9, 1e14, 1e18, 1e308, -1e308, math.Inf(1), math.Inf(-1), math.NaN(), math.SmallestNonzeroFloat64})
	some := rapid.Custom(func(t *rapid.T) *float64 {
		if rapid.Bool().Draw(t, "nil") {
			return nil
		}
		v := odd.Draw(t, "v")
		return &v
	})
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		"", "naive", "full-jitter", "outage", "\x00\x01", "</text><script>", "重试", strings.Repeat("very long ", 300), "\xff\xfe",
	}))
	counts := rapid.SliceOfN(rapid.SampledFrom([]uint32{0, 1, 60, math.MaxUint32}), 0, 50)
	figure := rapid.Custom(func(t *rapid.T) metrics.Estimate {
		return metrics.Estimate{
			Mean: some.Draw(t, "mean"), Lo: some.Draw(t, "lo"), Hi: some.Draw(t, "hi"), Median: some.Draw(t, "median"),
			Never: odd.Draw(t, "never"), PerSeed: rapid.SliceOfN(some, 0, 3).Draw(t, "seeds"),
		}
	})
	checks := 0
	rapid.Check(t, func(t *rapid.T) {
		checks++
		r := &metrics.Result{
			Scenario: metrics.Scenario{
				Name: text.Draw(t, "scenario"), Clients: rapid.Int().Draw(t, "clients"), Capacity: odd.Draw(t, "capacity"),
				OneShot: rapid.Bool().Draw(t, "one-shot"), Bin: odd.Draw(t, "bin"), Horizon: odd.Draw(t, "horizon"),
			},
			Seeds: make([]uint64, rapid.IntRange(0, 3).Draw(t, "seeds")),
		}
		for range rapid.IntRange(0, 3).Draw(t, "faults") {
			r.Scenario.Faults = append(r.Scenario.Faults, metrics.Span{Name: text.Draw(t, "fault"), From: odd.Draw(t, "from"), To: odd.Draw(t, "to")})
		}
		for range rapid.IntRange(0, 3).Draw(t, "results") {
			s := metrics.StrategyResult{Strategy: text.Draw(t, "strategy"), Timeline: metrics.Timeline{
				Start: odd.Draw(t, "start"), Width: odd.Draw(t, "width"),
				Calls: counts.Draw(t, "calls"), Attempts: counts.Draw(t, "attempts"), Useful: counts.Draw(t, "useful"),
			}}
			if rapid.Bool().Draw(t, "metrics") {
				s.Metrics = metrics.Estimates{}
				for _, m := range []metrics.Metric{metrics.PeakAfter, metrics.DrainTime, metrics.RecoveryTime, metrics.Amplification, metrics.SuccessRate, metrics.SilentLosses, metrics.LatencyP99} {
					s.Metrics[m.Info().Name] = figure.Draw(t, "figure")
				}
			}
			r.Results = append(r.Results, s)
		}
		if rapid.Bool().Draw(t, "verdict") {
			r.Verdict = &metrics.Verdict{
				MaxPeak: odd.Draw(t, "max peak"), Winner: text.Draw(t, "winner"), Sentence: text.Draw(t, "sentence"),
				Disqualified: []metrics.Disqualification{{Strategy: text.Draw(t, "disqualified"), Reason: text.Draw(t, "reason")}},
			}
		}
		for _, f := range all(r) {
			require.True(t, f.Height > 0 && f.Height < 2000)
			var b bytes.Buffer
			require.NoError(t, f.SVG(&b))
			wellFormed(t, b.Bytes())
			require.NotContains(t, b.String(), "NaN")
			require.NotContains(t, b.String(), "Inf")
			if checks%10 == 0 { // pixels take longer
				require.NoError(t, f.PNG(io.Discard))
			}
		}
	})
}
