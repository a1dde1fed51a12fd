package faults

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/limits"
	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

func TestSilence(t *testing.T) {
	cfg := mockprovider.Config{
		Limits:   []mockprovider.Limit{limits.Window{Limit: 2, Length: time.Minute}},
		Capacity: mockprovider.Capacity{Slots: 1, Service: takes(2 * time.Second)},
	}
	cfg.Faults = []mockprovider.Fault{{From: time.Second, To: 2 * time.Second, Does: Silence{}}}
	play(t, cfg, `
		arrive 1 -> 1 started 2s
		@1s arrive 2 -> 2 dropped
		arrive 3 -> 3 dropped
		@2s done 1 -> 1 200 ok slot=2s   # was there before
		arrive 4 -> 4 started 2s`) // and they cost nothing

	cfg.Faults[0] = mockprovider.Fault{To: time.Second, Does: Silence{AfterWork}}
	play(t, cfg, `
		arrive 1 -> 1 started 2s
		@1s arrive 2 -> 2 503 overloaded      # the slot is taken for nothing
		@2s done 1 -> 1 dropped slot=2s
		arrive 3 -> 3 started 2s
		@4s done 3 -> 3 200 ok slot=2s
		arrive 4 -> 4 429 rate limit=2 left=0 # and quota was spent on it`)
}

// A stream stalls after its head and some tokens: its slot stays taken to the
// end.
func TestStall(t *testing.T) {
	cfg := mockprovider.Config{
		Capacity: mockprovider.Capacity{Slots: 2, Service: mockprovider.Service{First: takes(2 * time.Second).First, PerToken: time.Second}},
		Faults:   []mockprovider.Fault{{To: time.Second, Does: Stall{Tokens: 1}}},
	}
	play(t, cfg, `
		arrive 1 stream=1 tokens=3 -> 1 started 5s; 1 head in 2s
		arrive 2 tokens=3 -> 2 started 5s
		@4s arrive 3 -> 3 503 overloaded
		@5s done 1 -> 1 dropped slot=5s
		done 2 -> 2 dropped slot=5s
		arrive 3 stream=1 tokens=3 -> 3 started 5s; 3 head in 2s
		@10s done 3 -> 3 200 ok slot=5s`)
}

// What is kept back of an answer is said when its work starts, and what has left
// of it when it is over: nothing, unless it is a stream.
func TestWhatHasLeftOfSilence(t *testing.T) {
	for _, c := range []struct {
		does           mockprovider.Disturbance
		stream         bool
		withheld, left uint32
	}{
		{Stall{Tokens: 1}, true, 2, 1}, {Stall{Tokens: 3}, true, 0, 3}, {Stall{Tokens: 9}, true, 0, 3}, {Stall{}, true, 3, 0},
		{Stall{Tokens: 1}, false, 3, 0}, {Silence{AfterWork}, true, 3, 0}, {Silence{AfterWork}, false, 3, 0},
	} {
		p, err := mockprovider.New(mockprovider.Config{Capacity: mockprovider.Capacity{Service: mockprovider.Service{First: takes(1).First, PerToken: 1}}, Faults: []mockprovider.Fault{{To: mockprovider.Forever, Does: c.does}}}, draw.New(1))
		require.NoError(t, err)
		started := p.Step(0, &wire.Input{Request: wire.Request{Stream: c.stream, Demand: wire.Demand{OutputTokens: 3}}}, nil)
		require.Equal(t, []uint32{3, c.withheld}, []uint32{started[0].Reply.Tokens, started[0].Withheld}, "%+v", c)
		require.Equal(t, c.left > 0, len(started) == 2, "a head leaves before what follows it: %+v", c)
		over := p.Step(4, &wire.Input{Kind: wire.Done, Job: started[0].Job}, nil)[0]
		require.Equal(t, wire.Dropped, over.Kind)
		require.Equal(t, c.left, over.Reply.Tokens, "%+v", c)
	}
}
