package faults

import (
	"testing"
	"time"

	"herdlab/mockprovider"
	"herdlab/mockprovider/limits"
)

// A region that is gone is noticed at once, or after as long as the client takes
// to notice; nothing of it reaches the provider.
func TestUnreachable(t *testing.T) {
	play(t, mockprovider.Config{
		Limits: []mockprovider.Limit{limits.Window{Limit: 1, Length: time.Minute}}, RefusalTime: time.Second,
		Faults: []mockprovider.Fault{
			{To: 10 * time.Second, Where: mockprovider.Match{Regions: mockprovider.Just(1)}, Does: Unreachable{}},
			{To: 10 * time.Second, Where: mockprovider.Match{Regions: mockprovider.Just(2)}, Does: Unreachable{After: 3 * time.Second}},
		},
	}, `
		arrive 1 region=1 -> 1 broke
		arrive 2 region=2 -> 2 broke in 3s
		arrive 3 -> 3 started 0s
		arrive 4 -> 4 429 rate limit=1 left=0 in 1s
		@60s arrive 5 region=1 -> 5 started 0s`)
}

func TestReset(t *testing.T) {
	cfg := func(when Stage) mockprovider.Config {
		return mockprovider.Config{
			Capacity: mockprovider.Capacity{Slots: 1, Queue: 1, Service: mockprovider.Service{First: takes(2 * time.Second).First, PerToken: time.Second}},
			Faults:   []mockprovider.Fault{{To: 4 * time.Second, Does: Reset{when}}},
		}
	}
	play(t, cfg(AtArrival), `
		arrive 1 stream=1 -> 1 broke
		@4s arrive 2 -> 2 started 2s`)
	play(t, cfg(AfterWork), `
		arrive 1 tokens=1 -> 1 started 3s
		@1s arrive 2 stream=1 tokens=9 -> queued
		@3s done 1 -> 1 broke slot=3s; 2 started 2s  # where its head would leave
		@5s done 2 -> 2 broke slot=2s`)
	play(t, cfg(AfterHead), `
		arrive 1 stream=1 tokens=9 -> 1 started 2.000000001s; 1 head in 2s
		@2.000000001s done 1 -> 1 broke slot=2.000000001s
		@3s arrive 2 tokens=1 -> 2 started 3s   # no head leaves before the whole
		@6s done 2 -> 2 broke slot=3s`)
}
