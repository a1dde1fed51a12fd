package strategies

import (
	"testing"
	"time"
)

func TestByClass(t *testing.T) {
	b := ByClass{Classes: Limits, Then: Exponential{Base: time.Second, Cap: 20 * time.Second}, Else: Exponential{Base: 50 * time.Millisecond}}
	Play(t, []Layer{Retry{Backoff: b}}, `
		begin -> send
		rate -> wait 1s
		wake -> send
		overloaded -> wait 100ms                  # both count the same retries
		wake -> send
		concurrency -> wait 4s
		wake -> send
		lost -> wait 400ms`)
}
