package limits

import (
	"testing"
	"time"

	"herdlab/mockprovider"
)

func TestSemaphore(t *testing.T) {
	t.Run("counts what is in service and in the queue", func(t *testing.T) {
		play(t, mockprovider.Config{Limits: []mockprovider.Limit{Semaphore{Limit: 3}}, Capacity: mockprovider.Capacity{Slots: 1, Queue: 5, Service: takes(2 * time.Second)}}, `
			arrive 1 -> 1 started 2s
			arrive 2 -> queued
			arrive 3 -> queued
			arrive 4 -> 4 429 concurrency limit=3 left=0
			@2s done 1 -> 1 200 ok slot=2s; 2 started 2s
			arrive 5 -> queued
			arrive 6 -> 6 429 concurrency limit=3 left=0`)
	})
	t.Run("knows no time to come back", func(t *testing.T) {
		for _, k := range []mockprovider.HintKind{mockprovider.NoHint, mockprovider.Exact, mockprovider.RoundedUp} {
			play(t, mockprovider.Config{Limits: []mockprovider.Limit{Semaphore{Limit: 1, Terms: mockprovider.Terms{Refusal: mockprovider.As14003.WithHint(mockprovider.Hint{Kind: k, Value: time.Second})}}}}, `
				arrive 1 -> 1 started 0s
				arrive 2 -> 2 200 concurrency code=14003 limit=1 left=0`)
		}
		play(t, mockprovider.Config{Limits: []mockprovider.Limit{Semaphore{Limit: 1, Terms: mockprovider.Terms{Refusal: mockprovider.As14003.WithHint(mockprovider.Hint{Kind: mockprovider.Constant, Value: 3 * time.Second})}}}}, `
			arrive 1 -> 1 started 0s
			arrive 2 -> 2 200 concurrency code=14003 after=3s limit=1 left=0`)
	})
	t.Run("each account by itself", func(t *testing.T) {
		play(t, mockprovider.Config{Limits: []mockprovider.Limit{Semaphore{Limit: 1, Terms: mockprovider.Terms{Per: mockprovider.Account}}}, Space: mockprovider.Space{Accounts: 2}}, `
			arrive 1 account=0 -> 1 started 0s
			arrive 2 account=0 -> 2 429 concurrency limit=1 left=0
			arrive 3 account=1 -> 3 started 0s
			done 1 -> 1 200 ok
			arrive 4 account=1 -> 4 429 concurrency limit=1 left=0
			arrive 5 account=0 -> 5 started 0s`)
	})
}
