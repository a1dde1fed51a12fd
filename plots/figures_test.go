package plots

import (
	"bytes"
	"flag"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"herdlab/sim/metrics"
	"herdlab/sim/verdict"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// all returns every figure of r.
func all(r *metrics.Result) []*Figure { return []*Figure{Attempts(r), Goodput(r), Bars(r)} }

// shapes returns results of different kinds by name.
func shapes() map[string]*metrics.Result {
	twice, halves := trace(), trace()
	twice.Scenario.Faults = append(twice.Scenario.Faults, metrics.Span{Name: "brownout", From: 1640, To: 2000}, metrics.Span{From: 3000, To: 3100})
	halves.Scenario.Bin, halves.Scenario.Capacity = 0.5, 2.5
	for i := range halves.Results {
		halves.Results[i].Timeline.Width, halves.Results[i].Timeline.Start = 0.5, -0.25
	}
	noFaults, unbounded, allNever, one := trace(), reference(), reference(), reference()
	noFaults.Scenario.Faults = nil
	unbounded.Scenario.Capacity = 0
	one.Results, one.Verdict = one.Results[:1], nil
	for i := range allNever.Results {
		allNever.Results[i].Metrics = values(metrics.PeakAfter, 60.0, metrics.DrainTime, metrics.Never)
	}
	allNever.Verdict.Winner, allNever.Verdict.Outcome = "", metrics.Unreached
	return map[string]*metrics.Result{
		"reference": reference(), "trace": trace(), "million": million(), "no faults": noFaults,
		"unbounded": unbounded, "all never": allNever, "one strategy": one, "three faults": twice, "half seconds": halves, "empty": {}, "nil": nil,
	}
}

// TestGolden compares the texts of the figures with golden files.
func TestGolden(t *testing.T) {
	for name, r := range map[string]*metrics.Result{"reference": reference(), "trace": trace(), "million": million()} {
		for _, f := range all(r) {
			var b strings.Builder
			for _, x := range textsOf(t, f) {
				b.WriteString(x.text + "\n")
			}
			path := filepath.Join("testdata", name+"-"+f.Name+".txt")
			if *update {
				require.NoError(t, os.MkdirAll("testdata", 0o755))
				require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o644))
			}
			want, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, string(want), b.String(), path)
		}
	}
}

func TestEveryStrategyOnceInEveryFigure(t *testing.T) {
	for name, r := range shapes() {
		if r == nil {
			continue
		}
		for _, f := range all(r) {
			seen := map[string]int{}
			for _, x := range textsOf(t, f) {
				seen[x.text]++
			}
			for i := range r.Results {
				require.Equal(t, 1, seen[r.Results[i].Strategy], "%s %s: %s", name, f.Name, r.Results[i].Strategy)
			}
		}
	}
}

// TestTexts checks the texts of the figures against the data.
func TestTexts(t *testing.T) {
	textOf := func(f *Figure) string {
		var b strings.Builder
		for _, x := range textsOf(t, f) {
			b.WriteString(x.text + "\n")
		}
		return b.String()
	}
	r := reference()
	text := textOf(Attempts(r))
	// naive, fixed-30s, fixed-30s+0.5s, exponential, exponential+0.5s and the
	// breaker pass 2 × 3 per second after the outage.
	require.Contains(t, text, "second peak above 2 × capacity after the outage with 6 of 13 strategies")
	for _, want := range []string{
		"1,086 /s = 362 × capacity\n", "60 /s = 20 × capacity\n", // the peaks, × 3 per second
		"no attempt after the outage\n", "never drained\n", // five tries
		"until 897 s →\n",          // the last wave of exponential: 300 + 597 s, rounded to its bin
		"capacity\n3 per second\n", // the dashed line
		"attempts per second",      // units
		"start of the run, s\n",    // of time
		"second-peak · 60 clients", // the scenario
	} {
		require.Contains(t, text, want)
	}

	text = textOf(Goodput(r))
	for _, want := range []string{"bins of 10 s", "answers per second", "drained after", "capacity\n3 per second\n"} {
		require.Contains(t, text, want)
	}

	text = textOf(Bars(r))
	for _, want := range []string{
		"breaker+full-jitter wins", r.Verdict.Sentence, "winner\n", "Not eligible to win\n", "bound 5 × capacity\n",
		"its peak is over the bound\n", "never drained\n", "attempts per second, log scale\n", "Drain time after the outage, seconds\n",
	} {
		require.Contains(t, text, want)
	}

	text = textOf(Bars(million()))
	require.Contains(t, text, "180 s, 33.3 % never\n") // the median of 150, 180 and never

	// Without a fault the figure shows the peak of the run and no bound, and no
	// strategy is ineligible because it has no recovery.
	r = trace()
	r.Scenario.Faults = nil
	for i := range r.Results {
		r.Results[i].Metrics = values(metrics.Peak, float64(70+i), metrics.PeakAfter, metrics.Undefined)
	}
	r.Verdict = &metrics.Verdict{MaxPeak: 5, Outcome: metrics.NoMeaning, Metric: "recovery_time"}
	text = textOf(Bars(r))
	for _, want := range []string{"No winner: recovery time is undefined in this scenario\n", "Peak, attempts per second\n", "70.0 /s"} {
		require.Contains(t, text, want)
	}
	require.NotContains(t, text, "bound")
	require.Contains(t, textOf(Attempts(r)), "peak 70.0 /s")

	r = reference()
	for i := range r.Results {
		r.Results[i].Timeline.Attempts = make([]uint32, 400)
		r.Results[i].Timeline.Attempts[310] = 6
	}
	require.Contains(t, textOf(Attempts(r)), "No second peak", "6 per second do not exceed 2 × 3")
}

// The headline of Bars agrees with the verdict of Judge.
func TestBarsHeadline(t *testing.T) {
	first := func(r *metrics.Result, o verdict.Objective) string {
		r.Verdict = verdict.Judge(r, verdict.Rules{Objectives: []verdict.Objective{o}}, nil, nil).Record()
		return textsOf(t, Bars(r))[0].text
	}
	one := func(pairs ...any) *metrics.Result {
		r := reference()
		r.Results = r.Results[:1]
		r.Results[0].Metrics = values(append([]any{
			metrics.JudgedCalls, 60.0, metrics.SuccessLower, 1.0, metrics.SuccessUpper, 1.0, metrics.HerdPeakOfCapacity, 1.0,
		}, pairs...)...)
		return r
	}
	r := one(metrics.PeakAfter, 6.0, metrics.DrainTime, 50.0, metrics.LatencyP99, 7.0)
	require.Regexp(t, "^naive is the only fit strategy: a peak of 2.00 × capacity, drained in 50.0 s$", first(r, verdict.ByDrain))
	require.Regexp(t, "^naive is the only fit strategy: a p99 latency of 7.00 s, a peak of ", first(r, verdict.ByLatency))
	require.Equal(t, "No winner: completion time is undefined in this scenario", first(r, verdict.ByCompletion))
	require.Equal(t, "No winner: for most seeds, the drain time of every eligible strategy is never", first(one(metrics.DrainTime, metrics.Never), verdict.ByDrain))
	require.Equal(t, "No strategy is eligible to win", first(one(metrics.SuccessUpper, 0.1, metrics.SuccessLower, 0.1, metrics.DrainTime, 1.0), verdict.ByDrain))
	r = one(metrics.DrainTime, 50.0)
	r.Results = append(r.Results, r.Results[0])
	r.Results[1].Strategy = "other"
	require.Equal(t, "No single winner: naive, other lead together", first(r, verdict.ByDrain))

	// The headline names a winner whose row is not shown.
	r = one(metrics.DrainTime, 50.0)
	for len(r.Results) <= maxRows {
		r.Results = append(r.Results, metrics.StrategyResult{Strategy: strings.Repeat("x", len(r.Results)), Metrics: values(metrics.DrainTime, 60.0, metrics.SuccessUpper, 0.1)})
	}
	r.Results[0].Metrics = values(metrics.DrainTime, 60.0, metrics.SuccessUpper, 0.1)
	r.Results[maxRows].Metrics = values(metrics.DrainTime, 1.0, metrics.JudgedCalls, 60.0, metrics.SuccessLower, 1.0, metrics.SuccessUpper, 1.0)
	r.Results[maxRows].Strategy = "best"
	require.Equal(t, "best is the only fit strategy", first(r, verdict.ByDrain))
}

// Bars orders the strategies by its second column, which may be the latency.
func TestBarsAreRanked(t *testing.T) {
	r := reference()
	r.Verdict, r.Scenario.Faults, r.Results = nil, nil, r.Results[:3]
	for i, p99 := range []float64{4.6, 2.8, 3.8} {
		r.Results[i].Metrics = values(metrics.LatencyP99, p99)
	}
	order := func() (names []string) {
		for _, row := range newSummary(r).ranked() {
			names = append(names, row.name)
		}
		return names
	}
	require.Equal(t, []string{"fixed-30s", "fixed-30s+0.5s", "naive"}, order())
	r.Results[0].Metrics = values(metrics.DrainTime, 1.0)
	require.Equal(t, "naive", order()[0], "a strategy that drains comes before one that does not, whatever its latency")
}

// Bins have a unit and the labels of the axis differ, for very small times too.
func TestSmallTimes(t *testing.T) {
	for width, want := range map[float64][]string{
		1e-9: {"in bins of 1 ns", "start of the run, ns\n", "outage from 0 to 300 ns", "until 897 ns →"},
		1e-6: {"in bins of 1 µs", "start of the run, µs\n", "outage from 0 to 300 µs"},
		1e-3: {"in bins of 1 ms", "outage from 0 to 0.3 s"},
		600:  {"in bins of 10 min", "start of the run, d\n"},
	} {
		r := reference()
		sc := &r.Scenario
		sc.Bin, sc.Capacity, sc.Horizon, sc.Faults[0].To = width, 3/width, 3600*width, 300*width
		for i := range r.Results {
			s := &r.Results[i]
			s.Timeline.Width, s.Timeline.Start = width, 0
			s.Metrics["amplification"] = verdict.Summarise([]metrics.Values{at(metrics.Amplification, 1)})["amplification"]
		}
		r.Seeds = make([]uint64, 4000)
		var b strings.Builder
		for _, x := range textsOf(t, Attempts(r)) {
			b.WriteString(x.text + "\n")
		}
		for _, w := range append(want, "\n1 attempt per call\n", "over 4,000 seeds") {
			require.Contains(t, b.String(), w)
		}
		// The labels of the time axis differ.
		ticks, _ := newSummary(r).window().times(10)
		seen := map[string]bool{}
		for _, x := range ticks {
			require.False(t, seen[x.label], "%s twice with bins of %g s", x.label, width)
			seen[x.label] = true
		}
		require.Greater(t, len(ticks), 3)
	}
	r := reference()
	r.Results = r.Results[:1]
	r.Results[0].Metrics = values(metrics.DrainTime, 1.04e-7)
	var bars []string
	for _, x := range textsOf(t, Bars(r)) {
		bars = append(bars, x.text)
	}
	require.Subset(t, bars, []string{"Drain time after the outage, ns", "104 ns", "50", "100"})
	r = reference()
	r.Scenario.Faults = make([]metrics.Span, 4)
	for i := range r.Scenario.Faults {
		r.Scenario.Faults[i] = metrics.Span{Name: "outage", From: float64(10 * i), To: float64(10*i) + 5}
	}
	require.Contains(t, newSummary(r).scenarioLine(), "to 25 s · 1 more fault")
}

// TestPeakIsDrawnToScale measures pixels: the height of the area of a wave agrees
// with the scale, and a second with one attempt is visible.
func TestPeakIsDrawnToScale(t *testing.T) {
	r := reference()
	r.Results = r.Results[1:2] // fixed-30s
	f := Attempts(r)
	var b bytes.Buffer
	require.NoError(t, f.PNG(&b))
	img, err := png.Decode(&b)
	require.NoError(t, err)
	require.Equal(t, pageWidth, img.Bounds().Dx())
	require.Equal(t, f.Height, img.Bounds().Dy())

	s := newSummary(r)
	w := s.window()
	// height returns the height of the area at a time, in pixels.
	height := func(at float64) (n int) {
		x := panelX + int(w.at(at)*panelWidth)
		full, paler := Colour("fixed-30s"), pale(Colour("fixed-30s"))
		for y := range f.Height {
			switch c := color.RGBAModel.Convert(img.At(x, y)); c {
			case full, paler:
				n++
			}
		}
		return n
	}
	const panel = 150 - 24
	y := logScale(1, 60)
	for _, wave := range []float64{0.5, 30.5, 300.5, 330.5} {
		n := r.Results[0].Timeline.Attempts[int(wave)]
		// The dashed line may cover a pixel, and smoothing may change another.
		require.InDelta(t, y.at(float64(n))*panel, height(wave), 3, "the wave at %g s", wave)
	}
	require.Zero(t, height(15.5))

	r.Results[0].Timeline.Attempts[15] = 1
	b.Reset()
	require.NoError(t, Attempts(r).PNG(&b))
	img, err = png.Decode(&b)
	require.NoError(t, err)
	require.InDelta(t, math.Log(2)/math.Log(y.hi/y.lo)*panel, height(15.5), 3)
}

func TestSameBytes(t *testing.T) {
	draw := func() []byte {
		var b bytes.Buffer
		for _, r := range []*metrics.Result{reference(), trace()} {
			for _, f := range all(r) {
				require.NoError(t, f.PNG(&b))
				require.NoError(t, f.SVG(&b))
			}
		}
		return b.Bytes()
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	one := draw()
	runtime.GOMAXPROCS(2)
	require.True(t, bytes.Equal(one, draw()), "the bytes depend on GOMAXPROCS or on time")
}

func BenchmarkWrite(b *testing.B) {
	r, dir := reference(), b.TempDir()
	for b.Loop() {
		if _, err := Write(dir, r); err != nil {
			b.Fatal(err)
		}
	}
}
