package limits

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/wire"
)

// Who asks all the time from rest gets a geometric series: with a base of 10
// and a growth of 200 %, 10·(2ⁿ⁺¹ − 1) in the n-th second.
func TestRampFromRest(t *testing.T) {
	gate := Ramp{Base: 10, Length: time.Second, Growth: 200}.Gate(mockprovider.Space{})
	ask := func(second int) (n int) {
		for i := range 2000 {
			if gate.Take(time.Duration(second)*time.Second+time.Duration(i)*500*time.Microsecond, &wire.Request{}) {
				n++
			}
		}
		return n
	}
	for n := range 7 {
		require.Equal(t, 10*(1<<(n+1)-1), ask(n))
	}
	require.Equal(t, 2000, ask(7), "no more requests come")
	require.Equal(t, 2000, ask(8), "and steady traffic passes")
	require.Equal(t, 10, ask(10), "after a second of rest it begins again")
}

func TestRamp(t *testing.T) {
	play(t, mockprovider.Config{Limits: []mockprovider.Limit{Ramp{Base: 2, Length: 10 * time.Second, Growth: 150, Terms: mockprovider.Terms{Refusal: mockprovider.Refusal{Hint: mockprovider.Hint{Kind: mockprovider.Exact}}}}}}, `
		@1s arrive 1 -> 1 started 0s
		arrive 2 -> 2 started 0s
		@4s arrive 3 -> 3 429 acceleration after=6s limit=2 left=0
		@10s arrive 4 -> 4 started 0s
		arrive 5 -> 5 started 0s
		arrive 6 -> 6 started 0s
		arrive 7 -> 7 started 0s
		arrive 8 -> 8 started 0s                                   # 2 + 1.5 × 2
		arrive 9 -> 9 429 acceleration after=10s limit=5 left=0
		@20s arrive 10 -> 10 started 0s                            # it may shrink as it likes
		@30s arrive 11 -> 11 started 0s
		arrive 12 -> 12 started 0s
		arrive 13 -> 13 started 0s                                 # 2 + 1.5 × 1
		arrive 14 -> 14 429 acceleration after=10s limit=3 left=0`)
}

// Where what is offered counts, a step is refused once.
func TestRampOfWhatIsOffered(t *testing.T) {
	for keep, want := range map[mockprovider.Keep]int{mockprovider.KeepNone: 30, mockprovider.KeepOthers: 30, mockprovider.KeepAll: 100} {
		gate := Ramp{Base: 10, Length: time.Second, Growth: 200, Terms: mockprovider.Terms{Keep: keep}}.Gate(mockprovider.Space{})
		n := 0
		for i := range 200 {
			if gate.Take(time.Duration(i)*10*time.Millisecond, &wire.Request{}) && i >= 100 {
				n++
			}
		}
		require.Equal(t, want, n)
	}
}

func TestRampValidate(t *testing.T) {
	for want, a := range map[string]Ramp{
		"ramp: the base must be at least 1":                                                 {Growth: 200, Length: 1},
		"ramp: the growth must be at least 100 percent, or steady traffic would be refused": {Base: 1, Growth: 99, Length: 1},
		"ramp: the length must be positive":                                                 {Base: 1, Growth: 100},
	} {
		require.EqualError(t, a.Validate(), want)
	}
	require.NoError(t, Ramp{Base: 1, Growth: 100, Length: 1}.Validate())
	require.Equal(t, mockprovider.Bound{}, Ramp{Base: 1, Growth: 100, Length: 1}.Bound(mockprovider.Load{}))
}
