package cli

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"herdlab/sim/metrics"
)

// about is the description of the made-up scenario.
const about = "Some of them retry at once, some wait,\nand some have given up."

func TestPage(t *testing.T) {
	r := handMade()
	golden(t, "page.txt", page(false, r, about, false))
	golden(t, "page-wide.txt", page(false, r, about, true))
}

func TestPageOfOpenTraffic(t *testing.T) {
	r := handMade()
	r.Scenario.Name, r.Scenario.Title = "trace-replay", "real calls meet an outage"
	r.Scenario.OneShot, r.Scenario.Bin, r.Scenario.Clients, r.Scenario.Capacity = false, 0.5, 20, 10
	r.Scenario.Input = &metrics.Input{Name: "calls.csv", Rows: 8819}
	r.Scenario.Faults = []metrics.Span{{Name: "outage", From: 120, To: 200}}
	for i := range r.Results {
		s := &r.Results[i]
		s.Metrics["recovery_time"] = figureOf("s", float64(7*i), 0.3)
		s.Timeline.Width = 0.5
	}
	some, median := r.Results[3].Metrics["recovery_time"], 61.5
	some.Mean, some.Lo, some.Hi, some.Median, some.Never = nil, nil, nil, &median, 0.25
	r.Results[3].Metrics["recovery_time"] = some
	golden(t, "page-open.txt", page(false, r, about, true))
}

// Without its colours, a coloured page is the plain page.
func TestPageInColour(t *testing.T) {
	for _, wide := range []bool{false, true} {
		plain, painted := page(false, handMade(), about, wide), page(true, handMade(), about, wide)
		assert.NotContains(t, plain, "\x1b")
		assert.Contains(t, painted, "\x1b[1;32m★ breaker+full-jitter\x1b[0m")
		assert.Equal(t, plain, escapes.ReplaceAllString(painted, ""))
	}
}

// Without a capacity the table shows the peak after the last fault, and without a
// fault that of the whole run.
func TestPageWithoutCapacity(t *testing.T) {
	r := handMade()
	r.Scenario.Capacity = 0
	assert.Regexp(t, `(?m)^ +peak .*\n.* after, .*\n.* per s `, page(false, r, about, false))
	r.Scenario.Faults = nil
	for i := range r.Results {
		m := r.Results[i].Metrics
		m["peak"] = figureOf("attempts/bin", float64(70+i), 0)
		for _, after := range []string{"peak_after", "peak_after_of_capacity", "second_peak", "second_peak_time"} {
			m[after] = metrics.Estimate{Unit: m[after].Unit, Undefined: 1}
		}
	}
	text := page(false, r, about, true)
	assert.Regexp(t, `(?m)^ +whole .*\n.* peak, .*\n.* per s `, text)
	assert.Regexp(t, `(?m)^.* naive  .* 70 `, text)
	assert.Regexp(t, `(?m)^Attempts after the last fault\n.*\n.*\n.*\n. naive +– +– +– +–$`, text)
}

// The marks alone show the winner and the disqualified strategies.
func TestPageMarks(t *testing.T) {
	var winners, disqualified []string
	for line := range strings.Lines(page(false, handMade(), about, false)) {
		f := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "★ winner"):
		case strings.HasPrefix(line, "★"):
			winners = append(winners, f[1])
		case strings.HasPrefix(line, "✗"):
			disqualified = append(disqualified, f[1])
		}
	}
	assert.Equal(t, []string{"breaker+full-jitter"}, winners)
	assert.Equal(t, []string{"naive", "five-tries"}, disqualified)
}

func TestEmptyPage(t *testing.T) {
	r := handMade()
	r.Results, r.Complete, r.Verdict = nil, false, nil
	isPage(t, page(false, r, about, true))
	isPage(t, page(false, &metrics.Result{}, about, true))
}

// A table is at most 80 columns wide, whatever the result: numbers of any size,
// names of any length, faults outside the run.
func TestTableIsNotTooWide(t *testing.T) {
	t.Parallel()
	number := rapid.OneOf(
		rapid.Float64Range(0, 1e12),
		rapid.SampledFrom([]float64{0, 1, math.NaN(), math.Inf(1), 999.95, 99.995, 999_999.5, 1e-9}),
	)
	rapid.Check(t, func(rt *rapid.T) {
		r := handMade()
		r.Scenario.Name = rapid.StringN(1, 100, 200).Draw(rt, "name")
		r.Scenario.Bin = rapid.Float64Range(0, 100).Draw(rt, "bin")
		r.Scenario.OneShot = rapid.Bool().Draw(rt, "one shot")
		r.Scenario.Faults = rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) metrics.Span {
			return metrics.Span{Name: "outage", From: rapid.Float64Range(-10, 1e6).Draw(rt, "from"), To: rapid.Float64Range(-10, 1e6).Draw(rt, "to")}
		}), 0, 4).Draw(rt, "faults")
		for i := range r.Results {
			s := &r.Results[i]
			s.Strategy = rapid.StringOfN(rapid.RuneFrom([]rune("ab+-.\x1b")), 1, 60, -1).Draw(rt, "strategy")
			for _, m := range []metrics.Metric{metrics.Amplification, metrics.PeakAfter, metrics.DrainTime, metrics.RecoveryTime, metrics.LatencyP99, metrics.SuccessRate} {
				x := number.Draw(rt, m.Info().Name)
				if m == metrics.SuccessRate {
					x = min(x, 1)
				}
				f := figureOf("", x, 0)
				if rapid.Bool().Draw(rt, "partly") {
					f.Mean, f.Lo, f.Hi, f.Never, f.Undefined = nil, nil, nil, rapid.Float64Range(0, 1).Draw(rt, "never"), 0
				}
				s.Metrics[m.Info().Name] = f
			}
			s.Timeline.Attempts = rapid.SliceOf(rapid.Uint32()).Draw(rt, "attempts")
		}
		var b strings.Builder
		drawTable(&b, false, r)
		for i, line := range strings.Split(b.String(), "\n") {
			if n := columns(line); n > pageWidth {
				rt.Fatalf("line %d has %d columns: %s", i+1, n, line)
			}
		}
		if strings.Contains(page(false, r, about, true), "\x1b") {
			rt.Fatal("an escape code came through")
		}
	})
}

func TestSparksScale(t *testing.T) {
	t.Parallel()
	r := handMade()
	r.Scenario.Faults = nil
	r.Results = r.Results[:1]
	r.Results[0].Timeline.Attempts = []uint32{0, 1, 2, 4, 8, 16, 32, 64, 128}
	s := newSparks(r, 9)
	// Equal ratios are equal steps: that is what logarithmic means.
	assert.Equal(t, " ▁▂▃▄▅▆▇█", s.line(r.Results[0].Timeline.Attempts))
}

func TestSparksShareTimeAndScale(t *testing.T) {
	t.Parallel()
	r := handMade()
	for width := 1; width < 200; width++ {
		s := newSparks(r, width)
		for i := range r.Results {
			line := []rune(s.line(r.Results[i].Timeline.Attempts))
			assert.Len(t, line, width)
			at := -1
			for j, c := range line {
				if c == boundary {
					assert.Equal(t, -1, at, "one boundary")
					at = j
				}
			}
			if width < 3 {
				continue
			}
			// The outage takes its share of the axis: 300 s of 572 s, at which
			// four of five runs have ended; the longer one ends with an arrow.
			assert.InDelta(t, 300./572*float64(width-1), at, 1, fmt.Sprint(width))
			assert.Equal(t, r.Results[i].Strategy == "exponential+0.5s", line[width-1] == goesOn)
			assert.Equal(t, at, strings.IndexRune(strings.ReplaceAll(s.heading(nil, []string{"after"}), " ", "."), boundary))
		}
	}
}

// A herd that lasts one second is visible, however long the step.
func TestSparksShowABurst(t *testing.T) {
	t.Parallel()
	r := handMade()
	burst := make([]uint32, 900)
	burst[450] = 1200
	r.Results[0].Timeline.Attempts = burst
	s := newSparks(r, 10)
	assert.Equal(t, 1, strings.Count(s.line(burst), "█"))
}

// If all runs end before the fault does, the heading of the last part is the fault's
// name.
func TestSparksEndInTheFault(t *testing.T) {
	t.Parallel()
	r := handMade()
	r.Scenario.Faults = []metrics.Span{{Name: "silence", From: 8, To: 20}}
	for i := range r.Results {
		r.Results[i].Timeline.Attempts = []uint32{1, 1, 1, 1, 1, 1, 1, 1, 5, 5, 5, 5}
	}
	s := newSparks(r, 25)
	assert.Equal(t, strings.Repeat(" ", 16)+"│silence", s.heading([]string{"silence", "out"}, []string{"after"}))
	assert.Equal(t, strings.Repeat("▁", 16)+"│"+strings.Repeat("█", 8), s.line(r.Results[0].Timeline.Attempts))
}
