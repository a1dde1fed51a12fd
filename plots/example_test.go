package plots_test

import (
	"fmt"
	"os"

	"herdlab/plots"
	"herdlab/sim/metrics"
)

// A comparison returns a Result; this one has one strategy and one fault.
func Example() {
	result := &metrics.Result{
		Scenario: metrics.Scenario{
			Name: "outage", Clients: 60, Capacity: 3, OneShot: true, Bin: 1,
			Faults: []metrics.Span{{Name: "outage", From: 0, To: 2}},
		},
		Seeds: []uint64{1},
		Results: []metrics.StrategyResult{{
			Strategy: "fixed-2s",
			Timeline: metrics.Timeline{Seed: 1, Width: 1, Attempts: []uint32{60, 0, 60, 0, 57}, Useful: []uint32{0, 0, 3, 3, 3}},
		}},
	}

	// One figure. Its methods PNG and SVG write it to an io.Writer.
	f := plots.Attempts(result)
	fmt.Printf("%s: %d × %d pixels\n", f.Name, f.Width, f.Height)

	// All figures, as PNG and as SVG.
	dir, err := os.MkdirTemp("", "figures")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	files, err := plots.Write(dir, result)
	fmt.Println(len(files), "files", err)
	// Output:
	// attempts: 1200 × 339 pixels
	// 6 files <nil>
}
