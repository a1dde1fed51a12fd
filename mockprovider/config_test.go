package mockprovider_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/faults"
	"herdlab/mockprovider/limits"
	"herdlab/sim/draw"
)

func TestZeroConfigAnswersEverything(t *testing.T) {
	p := play(t, mockprovider.Config{}, `
		arrive 1 -> 1 started 0s
		arrive 2 -> 2 started 0s
		done 2 -> 2 200 ok
		done 1 -> 1 200 ok`)
	require.Equal(t, mockprovider.Forever, p.NextTick())
	require.Zero(t, p.Busy())
}

func TestConfigValidate(t *testing.T) {
	for want, cfg := range map[string]mockprovider.Config{
		"limit 2: window: the limit must be at least 1":            {Limits: []mockprovider.Limit{limits.Semaphore{Limit: 1}, limits.Window{Length: 1}}},
		"limit 1: window: the length must be positive":             {Limits: []mockprovider.Limit{limits.Window{Limit: 1}}},
		"limit 1: semaphore: the limit must be at least 1":         {Limits: []mockprovider.Limit{limits.Semaphore{}}},
		"limit 1: semaphore: refusal: a hint must not be negative": {Limits: []mockprovider.Limit{limits.Semaphore{Limit: 1, Terms: mockprovider.Terms{Refusal: mockprovider.Refusal{Hint: mockprovider.Hint{Value: -1}}}}}},
		"limit 1: joint: the limit must be at least 1":             {Limits: []mockprovider.Limit{limits.Joint{Length: 1}}},
		"limit 1: joint: the length must be positive":              {Limits: []mockprovider.Limit{limits.Joint{Limit: 1}}},
		"limit 1: sliding log: the limit must be at least 1":       {Limits: []mockprovider.Limit{limits.SlidingLog{Length: 1}}},
		"limit 1: sliding counter: the length must be positive":    {Limits: []mockprovider.Limit{limits.SlidingCounter{Limit: 1}}},
		"limit 1: sliding log: there is no way counted(0x80) of counting; combine Account, Key, Address, Model, Region and Organisation, or use Everyone": {Limits: []mockprovider.Limit{limits.SlidingLog{Limit: 1, Length: 1, Terms: mockprovider.Terms{Per: 0x80}}}},
		"limit 1: token bucket: the burst must be at least 1":                             {Limits: []mockprovider.Limit{limits.TokenBucket{Limit: 1, Length: 1}}},
		"limit 1: it is nil; leave it out":                                                {Limits: []mockprovider.Limit{nil}},
		"fault 1: it must not begin before 0":                                             {Faults: []mockprovider.Fault{faults.Outage(-1, 1, mockprovider.Refusal{})}},
		"fault 2: it must end after it begins; write Forever for one that does not end":   {Faults: []mockprovider.Fault{faults.Outage(0, 1, mockprovider.Refusal{}), faults.Outage(1, 1, mockprovider.Refusal{})}},
		"fault 1: outage: refusal: status 700 is not a final HTTP status; use 200 to 599": {Faults: []mockprovider.Fault{faults.Outage(0, 1, mockprovider.Refusal{Status: 700})}},
		"bad key: refusal: status 1 is not a final HTTP status; use 200 to 599":           {BadKey: mockprovider.Refusal{Status: 1}},
		"full: refusal: status 1 is not a final HTTP status; use 200 to 599":              {Capacity: mockprovider.Capacity{Full: mockprovider.Refusal{Status: 1}}},
		"service: times must not be negative":                                             {Capacity: mockprovider.Capacity{Service: mockprovider.Service{PerToken: -1}}},
		"capacity: slots and queue must not be negative":                                  {Capacity: mockprovider.Capacity{Slots: -1}},
		"capacity: a queue needs a bounded number of slots":                               {Capacity: mockprovider.Capacity{Queue: 1}},
		"refusal time: it must be 0 to " + mockprovider.Longest.String() + ", not -1ns":   {RefusalTime: -1},
		"space: there must be 0 to 4294967295 of each account, not -1":                    {Space: mockprovider.Space{Accounts: -1}},
	} {
		require.EqualError(t, cfg.Validate(), want)
		_, err := mockprovider.New(cfg, draw.New(1))
		require.EqualError(t, err, "provider: "+want)
	}
	// Everything that is wrong is said at once.
	bad := mockprovider.Config{Capacity: mockprovider.Capacity{Slots: -1}, RefusalTime: -1, Limits: []mockprovider.Limit{limits.Semaphore{}, limits.Window{}}}
	require.Len(t, strings.Split(bad.Validate().Error(), "\n"), 4)
}

func TestFaultSpan(t *testing.T) {
	span := func(faults ...mockprovider.Fault) [2]time.Duration {
		cfg := mockprovider.Config{Faults: faults}
		begin, end := cfg.FaultSpan()
		return [2]time.Duration{begin, end}
	}
	require.Equal(t, [2]time.Duration{0, 0}, span())
	require.Equal(t, [2]time.Duration{0, 300}, span(faults.Outage(0, 300, mockprovider.Refusal{})))
	require.Equal(t, [2]time.Duration{5, 90}, span(faults.Outage(10, 90, mockprovider.Refusal{}), faults.Outage(5, 20, mockprovider.Refusal{})))
	// What never ends is the way the provider is.
	require.Equal(t, [2]time.Duration{0, 0}, span(faults.Outage(10, mockprovider.Forever, mockprovider.Refusal{})))
	require.Equal(t, [2]time.Duration{5, 20}, span(faults.Outage(0, mockprovider.Forever, mockprovider.Refusal{}), faults.Outage(5, 20, mockprovider.Refusal{})))
}
