package limits

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/wire"
)

// 600 a minute as 10 in each second: two bursts of 15 get 10 each, and are told
// that there is plenty.
func TestSliced(t *testing.T) {
	s := Sliced{Limit: 600, Length: time.Minute, Slices: 60, Terms: mockprovider.Terms{Refusal: mockprovider.As429.WithHint(mockprovider.Hint{Kind: mockprovider.Exact})}}
	gate := s.Gate(mockprovider.Space{})
	burst := func(at time.Duration) (n int, last mockprovider.Verdict) {
		for range 15 {
			r := wire.Request{}
			if gate.Take(at, &r) {
				n++
			} else {
				last = gate.Refuse(at, &r)
			}
		}
		return n, last
	}
	n, last := burst(200 * time.Millisecond)
	require.Equal(t, 10, n)
	require.Equal(t, []int32{600, 590}, []int32{last.Limit, last.Remaining})
	require.Equal(t, []time.Duration{800 * time.Millisecond, 59800 * time.Millisecond}, []time.Duration{after(last), last.Reset})
	n, last = burst(time.Second)
	require.Equal(t, 10, n)
	require.Equal(t, int32(580), last.Remaining)
	for second := 2; second < 60; second++ {
		n, _ = burst(time.Duration(second) * time.Second)
		require.Equal(t, 10, n)
	}
	n, last = burst(59999 * time.Millisecond)
	require.Zero(t, n)
	require.Zero(t, last.Remaining)
}

// Where the limit is no multiple, the slices are rounded up and the whole is
// enforced as well.
func TestSlicedUnevenly(t *testing.T) {
	s := Sliced{Limit: 7, Length: 30 * time.Second, Slices: 3, Terms: mockprovider.Terms{Refusal: mockprovider.As429.WithHint(mockprovider.Hint{Kind: mockprovider.Exact})}}
	play(t, mockprovider.Config{Limits: []mockprovider.Limit{s}}, `
		arrive 1 -> 1 started 0s
		arrive 2 -> 2 started 0s
		arrive 3 -> 3 started 0s
		arrive 4 -> 4 429 rate after=10s limit=7 left=4
		@10s arrive 5 -> 5 started 0s
		arrive 6 -> 6 started 0s
		arrive 7 -> 7 started 0s
		arrive 8 -> 8 429 rate after=10s limit=7 left=1
		@20s arrive 9 -> 9 started 0s
		arrive 10 -> 10 429 rate after=10s limit=7 left=0
		@29s arrive 11 -> 11 429 rate after=1s limit=7 left=0
		@30s arrive 12 -> 12 started 0s`)
}

// What nothing is left for of the whole takes nothing of its slice: there is room
// there when an earlier slice gives something back.
func TestSlicedGivesBack(t *testing.T) {
	play(t, mockprovider.Config{Abandoned: mockprovider.Notice{Noticed: true}, Capacity: mockprovider.Capacity{Service: takes(time.Minute)}, Limits: []mockprovider.Limit{
		Sliced{Limit: 3, Length: 20 * time.Second, Slices: 2, Terms: mockprovider.Terms{Charge: mockprovider.Charge{Cancelled: mockprovider.Refunded}}},
	}}, `
		arrive 1 -> 1 started 1m0s
		arrive 2 -> 2 started 1m0s
		arrive 3 -> 3 429 rate limit=3 left=1
		@10s arrive 4 -> 4 started 1m0s
		arrive 5 -> 5 429 rate limit=3 left=0
		@12s abandon 1 -> 1 dropped slot=12s
		arrive 6 -> 6 started 1m0s
		arrive 7 -> 7 429 rate limit=3 left=0`)
}

func TestSlicedValidate(t *testing.T) {
	for want, s := range map[string]Sliced{
		"sliced window: there must be at least 2 slices, not 1":   {Limit: 1, Length: 1, Slices: 1},
		"sliced window: 1s cannot be divided into 3 equal slices": {Limit: 1, Length: time.Second, Slices: 3},
		"sliced window: the length must be positive":              {Limit: 1, Slices: 2},
		"sliced window: the limit must be at least 1":             {Length: 2, Slices: 2},
	} {
		require.EqualError(t, s.Validate(), want)
	}
}

// after returns the time until admission that a verdict states.
func after(v mockprovider.Verdict) time.Duration {
	d, known := v.Admission.After()
	if !known {
		return wire.NoHint
	}
	return d
}
