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
)

var update = flag.Bool("update", false, "rewrite the golden files")

func all(r *metrics.Result) []*Figure { return []*Figure{Attempts(r), Goodput(r), Bars(r)} }

func shapes() map[string]*metrics.Result {
	twice, halves := trace(), trace()
	twice.Scenario.Faults = append(twice.Scenario.Faults, metrics.Span{Name: "brownout", From: 1640, To: 2000}, metrics.Span{From: 3000, To: 3100})
	halves.Scenario.Bin, halves.Scenario.Capacity = 0.5, 2.5
	for i := range halves.Results {
		halves.Results[i].Timeline.Width, halves.Results[i].Timeline.Start = 0.5, -0.25
	}
	quiet, unbounded, hopeless, one := trace(), founding(), founding(), founding()
	quiet.Scenario.Faults = nil
	unbounded.Scenario.Capacity = 0
	one.Results, one.Verdict = one.Results[:1], nil
	for i := range hopeless.Results {
		hopeless.Results[i].Metrics = figures(metrics.PeakAfter, 60.0, metrics.DrainTime, metrics.Never)
	}
	hopeless.Verdict.Winner = ""
	return map[string]*metrics.Result{
		"founding": founding(), "trace": trace(), "million": million(), "no faults": quiet,
		"unbounded": unbounded, "all never": hopeless, "one strategy": one, "three faults": twice, "half seconds": halves, "empty": {}, "nil": nil,
	}
}

// TestGolden pins what figures say. The laws beside it are in the other tests.
func TestGolden(t *testing.T) {
	for name, r := range map[string]*metrics.Result{"founding": founding(), "trace": trace(), "million": million()} {
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

// TestSaysWhatThereIsToSee checks words and numbers against the data.
func TestSaysWhatThereIsToSee(t *testing.T) {
	said := func(f *Figure) string {
		var b strings.Builder
		for _, x := range textsOf(t, f) {
			b.WriteString(x.text + "\n")
		}
		return b.String()
	}
	r := founding()
	text := said(Attempts(r))
	// naive, fixed-30s, fixed-30s+0.5s, exponential, exponential+0.5s and the
	// breaker pass 2 × 3 per second after the outage.
	require.Contains(t, text, "second peak above 2 × capacity with 6 of 13 strategies")
	for _, want := range []string{
		"1,086 /s = 362 × capacity\n", "60 /s = 20 × capacity\n", // the peaks, × 3 per second
		"no attempt after the outage\n", "never drained\n", // five tries
		"until 897 s →\n",          // exponential's last wave: 300 + 597 s, rounded to its bin
		"capacity 3 /s\n",          // the dashed line
		"attempts per second",      // units
		"start of the run, s\n",    // of time
		"second-peak · 60 clients", // the scenario
	} {
		require.Contains(t, text, want)
	}

	text = said(Goodput(r))
	for _, want := range []string{"bins of 10 s", "answers per second", "drained after", "capacity 3 /s"} {
		require.Contains(t, text, want)
	}

	text = said(Bars(r))
	for _, want := range []string{
		"breaker+full-jitter wins", r.Verdict.Sentence, "winner\n", "Not eligible to win\n", "bound 5 ×\n",
		"its peak is over the bound\n", "never drained\n", "attempts per second, log scale\n", "Drain after the outage, seconds\n",
	} {
		require.Contains(t, text, want)
	}

	text = said(Bars(million()))
	require.Contains(t, text, "180 s, 33.3 % never\n") // the median of 150, 180 and never

	// Without a fault there is a peak of the run, no bound, and nobody who is
	// unfit for having no recovery.
	r = trace()
	r.Scenario.Faults = nil
	for i := range r.Results {
		r.Results[i].Metrics = figures(metrics.Peak, float64(70+i), metrics.PeakAfter, metrics.Undefined)
	}
	r.Verdict = &metrics.Verdict{MaxPeak: 5}
	text = said(Bars(r))
	for _, want := range []string{"Nobody wins\n", "Peak, attempts per second\n", "70.0 /s"} {
		require.Contains(t, text, want)
	}
	require.NotContains(t, text, "bound")
	require.Contains(t, said(Attempts(r)), "peak 70.0 /s")

	r = founding()
	for i := range r.Results {
		r.Results[i].Timeline.Attempts = make([]uint32, 400)
		r.Results[i].Timeline.Attempts[310] = 6
	}
	require.Contains(t, said(Attempts(r)), "No second peak", "6 per second do not exceed 2 × 3")
}

// TestPeakIsDrawnToScale measures pixels: the bar of a wave is as high as the
// scale says, and a second with one attempt shows where one without does not.
func TestPeakIsDrawnToScale(t *testing.T) {
	r := founding()
	r.Results = r.Results[1:2] // fixed-30s
	f := Attempts(r)
	var b bytes.Buffer
	require.NoError(t, f.PNG(&b))
	img, err := png.Decode(&b)
	require.NoError(t, err)
	require.Equal(t, pageWidth, img.Bounds().Dx())
	require.Equal(t, f.Height, img.Bounds().Dy())

	s := newSheet(r)
	w := s.window()
	// tops are the colours of the bar at a time, and its height in pixels.
	height := func(at float64) (n int) {
		x := panelX + int(w.at(at)*panelWidth)
		strong, faint := Colour("fixed-30s"), pale(Colour("fixed-30s"))
		for y := range f.Height {
			switch c := color.RGBAModel.Convert(img.At(x, y)); c {
			case strong, faint:
				n++
			}
		}
		return n
	}
	const panel = 150 - 24
	y := logScale(1, 60)
	for _, wave := range []float64{0.5, 30.5, 300.5, 330.5} {
		n := r.Results[0].Timeline.Attempts[int(wave)]
		// The capacity's dashes may cover a pixel, smoothing another.
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
		for _, r := range []*metrics.Result{founding(), trace()} {
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
	r, dir := founding(), b.TempDir()
	for b.Loop() {
		if _, err := Write(dir, r); err != nil {
			b.Fatal(err)
		}
	}
}
