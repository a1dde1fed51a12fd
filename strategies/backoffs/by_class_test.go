package backoffs

import (
	"testing"
	"time"

	"herdlab/strategies"
	"herdlab/strategies/layers"
	"herdlab/strategies/strategytest"
)

func TestByClass(t *testing.T) {
	b := ByClass{Classes: strategies.Limits, Then: Exponential{Base: time.Second, Cap: 20 * time.Second}, Else: Exponential{Base: 50 * time.Millisecond}}
	strategytest.Play(t, []strategies.Layer{layers.Retry{Backoff: b}}, `
		begin -> send
		rate -> wait 1s
		wake -> send
		overloaded -> wait 100ms                  # both count the same retries
		wake -> send
		concurrency -> wait 4s
		wake -> send
		lost -> wait 400ms`)
}
