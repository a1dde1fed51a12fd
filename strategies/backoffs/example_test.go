package backoffs_test

import (
	"fmt"
	"time"

	"herdlab/sim/draw"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
)

// The waits of an exponential backoff without jitter, in the order of the retries.
func Example() {
	b := backoffs.Exponential{Base: time.Second, Cap: 10 * time.Second}
	call := strategies.NewCall(draw.New(1))
	for retry := range int64(5) {
		base, jitter := b.Delay(call, 1, retry, 0)
		fmt.Println(base, jitter)
	}
	// Output:
	// 1s 0s
	// 2s 0s
	// 4s 0s
	// 8s 0s
	// 10s 0s
}
