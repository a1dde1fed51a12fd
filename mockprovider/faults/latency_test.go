package faults

import (
	"testing"
	"time"

	"herdlab/mockprovider"
)

// Times are decided when work starts, and slots are held for as long.
func TestLatency(t *testing.T) {
	play(t, mockprovider.Config{
		Capacity: mockprovider.Capacity{Slots: 1, Queue: 2, Service: mockprovider.Service{First: takes(time.Second).First, PerToken: 100 * time.Millisecond}},
		Faults: []mockprovider.Fault{
			{From: time.Second, To: 10 * time.Second, Does: Latency{Factor: 2.5}},
			{From: 2 * time.Second, To: 10 * time.Second, Does: Latency{Plus: 500 * time.Millisecond}},
			{From: 2 * time.Second, To: 10 * time.Second, Does: Latency{Factor: 2, Plus: time.Millisecond}},
		},
	}, `
		arrive 1 tokens=10 -> 1 started 2s
		@1s arrive 2 tokens=10 -> queued
		arrive 3 -> queued
		@2s done 1 -> 1 200 ok slot=2s; 2 started 11.001s   # ((2 s × 2.5) + 0.5 s) × 2 + 1 ms
		@13.001s done 2 -> 2 200 ok slot=11.001s; 3 started 1s`)

	// What is too long for a run stays a time.
	play(t, mockprovider.Config{
		Capacity: mockprovider.Capacity{Service: takes(1000000 * time.Hour)},
		Faults:   []mockprovider.Fault{from(0, Latency{Factor: 1e9, Plus: mockprovider.Longest}), from(0, Latency{Factor: 1e9})},
	}, `arrive 1 -> 1 started `+mockprovider.Longest.String())
}

// Half of a factor is as fast again, and less than a nanosecond is none.
func TestLatencyMayShorten(t *testing.T) {
	play(t, mockprovider.Config{Capacity: mockprovider.Capacity{Service: takes(3)}, Faults: []mockprovider.Fault{from(0, Latency{Factor: 0.5}), from(time.Second, Latency{Factor: 0.1})}}, `
		arrive 1 -> 1 started 2ns
		@1s arrive 2 -> 2 started 0s`)
}

// With streams it is the head that comes late, and the tokens that come slowly.
func TestLatencyOfStreams(t *testing.T) {
	play(t, mockprovider.Config{
		Capacity: mockprovider.Capacity{Service: mockprovider.Service{First: takes(time.Second).First, PerToken: 100 * time.Millisecond}},
		Faults:   []mockprovider.Fault{from(0, Latency{Factor: 2, Plus: time.Second})},
	}, `arrive 1 stream=1 tokens=10 -> 1 started 5s; 1 head in 3s`)
}
