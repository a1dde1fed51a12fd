package layers_test

import (
	"fmt"
	"time"

	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
)

// A retry loop whose attempts share a token bucket. The program names its layers,
// innermost first.
func Example() {
	program, err := strategies.Compile(strategies.Definition{Name: "mine", Layers: []strategies.Layer{
		layers.Retry{Backoff: backoffs.FullJitter{Base: time.Second, Cap: time.Minute}, MaxAttempts: 6},
		layers.TokenBucket{Rate: 84, Per: time.Minute, Burst: 3, Scope: strategies.PerFleet},
	}}, nil)
	fmt.Println(program.Layers, err)
	// Output: [tokens retry] <nil>
}
