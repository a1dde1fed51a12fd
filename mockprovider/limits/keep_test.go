package limits

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/providertest"
	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// closedLoop lets clients ask a provider one call after the other, each again
// at once when it is served, after a fifth of a second when too many are in
// flight, and when it is told to otherwise. It returns when calls were served,
// before the end.
func closedLoop(t *testing.T, cfg mockprovider.Config, clients int, end time.Duration) (served []time.Duration) {
	p, err := mockprovider.New(cfg, draw.New(1))
	require.NoError(t, err)
	type event struct {
		at     time.Duration
		in     wire.Input
		client uint32
	}
	var events []event
	for c := range clients {
		events = append(events, event{client: uint32(c)})
	}
	for {
		// The first that is due; work ends before more arrives.
		next := slices.MinFunc(events, func(a, b event) int {
			if a.at != b.at {
				return int(a.at - b.at)
			}
			return int(b.in.Kind) - int(a.in.Kind)
		})
		if next.at >= end {
			return served
		}
		i := slices.Index(events, next)
		e := &events[i]
		e.in.Ticket = e.client
		effects := p.Step(e.at, &e.in, nil)
		require.Len(t, effects, 1)
		switch effect := effects[0]; {
		case effect.Kind == wire.Started:
			e.in, e.at = wire.Input{Kind: wire.Done, Job: effect.Job}, e.at+effect.After
		case effect.Reply.Class == wire.OK:
			served = append(served, e.at)
			e.in = wire.Input{}
		case effect.Reply.Class == wire.Concurrency:
			e.at += 200 * time.Millisecond
		default:
			e.at += effect.Reply.Hint.Value
		}
	}
}

// A limit that keeps what the next one refuses starves those who wait for the
// next one: twenty clients of a provider with 120 a minute, two at a time and
// 5 s each (cases.md 3).
func TestKeepingWhatOthersRefuse(t *testing.T) {
	gate := Semaphore{Limit: 2}
	window := func(k mockprovider.Keep) mockprovider.Limit {
		return Window{Limit: 120, Length: time.Minute, Terms: mockprovider.Terms{Keep: k, Refusal: mockprovider.As429.WithHint(mockprovider.Hint{Kind: mockprovider.Exact})}}
	}
	for _, c := range []struct {
		name   string
		limits []mockprovider.Limit
		want   int
	}{
		{"the gate first", []mockprovider.Limit{gate, window(mockprovider.KeepOthers)}, 238},
		{"the window first, kept", []mockprovider.Limit{window(mockprovider.KeepOthers), gate}, 20},
		{"the window first, given back", []mockprovider.Limit{window(mockprovider.KeepNone), gate}, 238},
	} {
		served := closedLoop(t, mockprovider.Config{Limits: c.limits, Capacity: mockprovider.Capacity{Service: takes(5 * time.Second)}}, 20, 10*time.Minute)
		require.Len(t, served, c.want, c.name)
		perMinute := 0
		for _, at := range served {
			if 5*time.Minute < at && at <= 6*time.Minute {
				perMinute++
			}
		}
		require.Equal(t, map[int]int{238: 24, 20: 2}[c.want], perMinute, c.name)
	}
}

// Where a limit counts what it refuses itself, who retries too often is never
// let in again: a log, a counter and a bucket of 10 a second meet 20 a second.
// Fixed windows do not mind.
func TestKeepingWhatTheLimitItselfRefuses(t *testing.T) {
	at := providertest.Evenly(2000, 0, 100*time.Second)
	for _, c := range []struct {
		limit             func(mockprovider.Terms) mockprovider.Limit
		none, all, slower int
	}{
		{func(terms mockprovider.Terms) mockprovider.Limit {
			return Window{Limit: 10, Length: time.Second, Terms: terms}
		}, 1000, 1000, 800},
		{func(terms mockprovider.Terms) mockprovider.Limit {
			return SlidingLog{Limit: 10, Length: time.Second, Terms: terms}
		}, 1000, 10, 800},
		{func(terms mockprovider.Terms) mockprovider.Limit {
			return TokenBucket{Limit: 10, Length: time.Second, Burst: 10, Terms: terms}
		}, 1009, 19, 800},
		// One less than the limit in each second but the first.
		{func(terms mockprovider.Terms) mockprovider.Limit {
			return SlidingCounter{Limit: 10, Length: time.Second, Terms: terms}
		}, 901, 10, 800},
	} {
		run := func(k mockprovider.Keep, at []time.Duration) int {
			p, err := mockprovider.New(mockprovider.Config{Limits: []mockprovider.Limit{c.limit(mockprovider.Terms{Keep: k})}}, draw.New(1))
			require.NoError(t, err)
			return providertest.Arrivals(t, p, at...)
		}
		require.Equal(t, c.none, run(mockprovider.KeepNone, at), "%T", c.limit(mockprovider.Terms{}))
		require.Equal(t, c.none, run(mockprovider.KeepOthers, at), "%T", c.limit(mockprovider.Terms{}))
		require.Equal(t, c.all, run(mockprovider.KeepAll, at), "%T", c.limit(mockprovider.Terms{}))
		require.Equal(t, c.slower, run(mockprovider.KeepAll, providertest.Evenly(800, 0, 100*time.Second)), "a client under the limit is served")
	}
}
