package mockprovider_test

import (
	"testing"
	"time"

	"herdlab/mockprovider"
	"herdlab/mockprovider/faults"
	"herdlab/mockprovider/limits"
)

func TestOutage(t *testing.T) {
	exact := mockprovider.As503.WithHint(mockprovider.Hint{Kind: mockprovider.Exact})
	t.Run("From ≤ t < To", func(t *testing.T) {
		play(t, mockprovider.Config{Faults: []mockprovider.Fault{faults.Outage(10*time.Second, 20*time.Second, exact)}, RefusalTime: 50 * time.Millisecond}, `
			arrive 1 -> 1 started 0s
			@9.999999999s arrive 2 -> 2 started 0s
			@10s arrive 3 -> 3 503 overloaded after=10s in 50ms
			@19.999999999s arrive 4 -> 4 503 overloaded after=1ns in 50ms
			@20s arrive 5 -> 5 started 0s`)
	})
	t.Run("from the beginning", func(t *testing.T) {
		play(t, mockprovider.Config{Faults: []mockprovider.Fault{faults.Outage(0, time.Second, mockprovider.Refusal{})}}, `
			arrive 1 -> 1 503 overloaded
			@1s arrive 2 -> 2 started 0s`)
	})
	t.Run("work in service and in the queue is carried on", func(t *testing.T) {
		play(t, mockprovider.Config{
			Capacity: mockprovider.Capacity{Slots: 1, Queue: 1, Service: takes(15 * time.Second)},
			Faults:   []mockprovider.Fault{faults.Outage(10*time.Second, 40*time.Second, mockprovider.Refusal{})},
		}, `
			arrive 1 -> 1 started 15s
			arrive 2 -> queued
			@10s tick -> nothing
			@15s done 1 -> 1 200 ok slot=15s; 2 started 15s
			arrive 3 -> 3 503 overloaded
			@30s done 2 -> 2 200 ok slot=15s
			@40s arrive 4 -> 4 started 15s`)
	})
	t.Run("refusals of an outage cost no quota, and come before authentication", func(t *testing.T) {
		play(t, mockprovider.Config{
			RejectKeys: []uint8{1}, Limits: []mockprovider.Limit{limits.Window{Limit: 1, Length: time.Minute}},
			Faults: []mockprovider.Fault{faults.Outage(0, 10*time.Second, mockprovider.Refusal{})},
		}, `
			arrive 1 -> 1 503 overloaded
			arrive 2 key=1 -> 2 503 overloaded
			@10s arrive 3 -> 3 started 0s`)
	})
	t.Run("overlapping: the last in the list speaks, and hints see the end of all", func(t *testing.T) {
		play(t, mockprovider.Config{Faults: []mockprovider.Fault{
			faults.Outage(10*time.Second, 40*time.Second, exact),
			faults.Outage(20*time.Second, 30*time.Second, mockprovider.As429.WithHint(mockprovider.Hint{Kind: mockprovider.Exact})),
			faults.Outage(50*time.Second, 60*time.Second, exact),
			faults.Outage(40*time.Second, 50*time.Second, exact), // joins the two around it
			faults.Outage(70*time.Second, 80*time.Second, exact),
		}}, `
			@10s arrive 1 -> 1 503 overloaded after=50s
			@20s arrive 2 -> 2 429 overloaded after=40s
			@30s arrive 3 -> 3 503 overloaded after=30s
			@45s arrive 4 -> 4 503 overloaded after=15s
			@60s arrive 5 -> 5 started 0s
			@79s arrive 6 -> 6 503 overloaded after=1s
			@80s arrive 7 -> 7 started 0s`)
	})
	t.Run("what may or may not strike, or strikes others, or never ends, makes hints no longer", func(t *testing.T) {
		play(t, mockprovider.Config{Faults: []mockprovider.Fault{
			faults.Outage(0, 10*time.Second, exact),
			{From: 5 * time.Second, To: 50 * time.Second, Probability: 1e-9, Does: faults.Refuse{Refusal: exact}},
			{From: 5 * time.Second, To: 60 * time.Second, Where: mockprovider.Match{Accounts: mockprovider.Just(7)}, Does: faults.Refuse{Refusal: exact}},
			{From: 55 * time.Second, To: mockprovider.Forever, Where: mockprovider.Match{Accounts: mockprovider.Just(7)}, Does: faults.Expiry{}},
		}}, `
			arrive 1 -> 1 503 overloaded after=10s
			arrive 2 account=7 -> 2 503 overloaded
			@10s arrive 3 -> 3 started 0s`)
	})
}
