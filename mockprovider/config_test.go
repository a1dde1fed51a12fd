package mockprovider

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/sim/draw"
)

func TestZeroConfigAnswersEverything(t *testing.T) {
	p := play(t, Config{}, `
		arrive 1 -> 1 started 0s
		arrive 2 -> 2 started 0s
		done 2 -> 2 200 ok
		done 1 -> 1 200 ok`)
	require.Equal(t, Forever, p.NextTick())
	require.Zero(t, p.Busy())
}

func TestConfigValidate(t *testing.T) {
	for want, cfg := range map[string]Config{
		"limit 2: window: the limit must be at least 1":            {Limits: []Limit{Semaphore{Limit: 1}, Window{Length: 1}}},
		"limit 1: window: the length must be positive":             {Limits: []Limit{Window{Limit: 1}}},
		"limit 1: semaphore: the limit must be at least 1":         {Limits: []Limit{Semaphore{}}},
		"limit 1: semaphore: refusal: a hint must not be negative": {Limits: []Limit{Semaphore{Limit: 1, Terms: Terms{Refusal: Refusal{Hint: Hint{Value: -1}}}}}},
		"limit 1: joint: the limit must be at least 1":             {Limits: []Limit{Joint{Length: 1}}},
		"limit 1: joint: the length must be positive":              {Limits: []Limit{Joint{Limit: 1}}},
		"limit 1: sliding log: the limit must be at least 1":       {Limits: []Limit{SlidingLog{Length: 1}}},
		"limit 1: sliding counter: the length must be positive":    {Limits: []Limit{SlidingCounter{Limit: 1}}},
		"limit 1: sliding log: there is no way counted(0x80) of counting; combine Account, Key, Address, Model, Region and Organisation, or use Everyone": {Limits: []Limit{SlidingLog{Limit: 1, Length: 1, Terms: Terms{Per: 0x80}}}},
		"limit 1: token bucket: the burst must be at least 1":                             {Limits: []Limit{TokenBucket{Limit: 1, Length: 1}}},
		"limit 1: it is nil; leave it out":                                                {Limits: []Limit{nil}},
		"fault 1: it must not begin before 0":                                             {Faults: []Fault{Outage(-1, 1, Refusal{})}},
		"fault 2: it must end after it begins; write Forever for one that does not end":   {Faults: []Fault{Outage(0, 1, Refusal{}), Outage(1, 1, Refusal{})}},
		"fault 1: outage: refusal: status 700 is not a final HTTP status; use 200 to 599": {Faults: []Fault{Outage(0, 1, Refusal{Status: 700})}},
		"bad key: refusal: status 1 is not a final HTTP status; use 200 to 599":           {BadKey: Refusal{Status: 1}},
		"full: refusal: status 1 is not a final HTTP status; use 200 to 599":              {Capacity: Capacity{Full: Refusal{Status: 1}}},
		"service: times must not be negative":                                             {Capacity: Capacity{Service: Service{PerToken: -1}}},
		"capacity: slots and queue must not be negative":                                  {Capacity: Capacity{Slots: -1}},
		"capacity: a queue needs a bounded number of slots":                               {Capacity: Capacity{Queue: 1}},
		"refusal time: it must be 0 to " + Longest.String() + ", not -1ns":                {RefusalTime: -1},
		"space: there must be 0 to 4294967295 of each account, not -1":                    {Space: Space{Accounts: -1}},
	} {
		require.EqualError(t, cfg.Validate(), want)
		_, err := New(cfg, draw.New(1))
		require.EqualError(t, err, "provider: "+want)
	}
	// Everything that is wrong is said at once.
	bad := Config{Capacity: Capacity{Slots: -1}, RefusalTime: -1, Limits: []Limit{Semaphore{}, Window{}}}
	require.Len(t, strings.Split(bad.Validate().Error(), "\n"), 4)
}

func TestFaultSpan(t *testing.T) {
	span := func(faults ...Fault) [2]time.Duration {
		cfg := Config{Faults: faults}
		begin, end := cfg.FaultSpan()
		return [2]time.Duration{begin, end}
	}
	require.Equal(t, [2]time.Duration{0, 0}, span())
	require.Equal(t, [2]time.Duration{0, 300}, span(Outage(0, 300, Refusal{})))
	require.Equal(t, [2]time.Duration{5, 90}, span(Outage(10, 90, Refusal{}), Outage(5, 20, Refusal{})))
	// What never ends is the way the provider is.
	require.Equal(t, [2]time.Duration{0, 0}, span(Outage(10, Forever, Refusal{})))
	require.Equal(t, [2]time.Duration{5, 20}, span(Outage(0, Forever, Refusal{}), Outage(5, 20, Refusal{})))
}
