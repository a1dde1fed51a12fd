package limits

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/mockprovider"
	"herdlab/mockprovider/wire"
)

// Tiers of accounts with limits of their own, and a model with another.
func TestTiered(t *testing.T) {
	each := func(n int32) mockprovider.Limit {
		return Window{Limit: n, Length: time.Minute, Terms: mockprovider.Terms{Per: mockprovider.Account, Refusal: mockprovider.As429.WithHint(mockprovider.Hint{Kind: mockprovider.Exact})}}
	}
	tiers := Tiered{
		{mockprovider.Match{Accounts: mockprovider.Range{To: 2}}, each(1)},
		{mockprovider.Match{Accounts: mockprovider.Range{From: 1, To: 4}}, each(2)},
	}
	model := Only{mockprovider.Match{Models: mockprovider.Just(1)}, Semaphore{Limit: 1}}
	play(t, mockprovider.Config{Space: mockprovider.Space{Accounts: 5}, Limits: []mockprovider.Limit{tiers, model}}, `
		@1s arrive 1 account=0 -> 1 started 0s
		arrive 2 account=0 -> 2 429 rate after=59s limit=1 left=0
		arrive 3 account=1 -> 3 started 0s
		arrive 14 account=1 -> 14 429 rate after=59s limit=1 left=0 # it is in two tiers, and the first decides
		arrive 4 account=2 -> 4 started 0s
		arrive 5 account=2 -> 5 started 0s
		arrive 6 account=2 -> 6 429 rate after=59s limit=2 left=0
		arrive 7 account=4 -> 7 started 0s                        # no tier, no limit
		arrive 8 account=4 -> 8 started 0s
		arrive 9 account=4 model=1 -> 9 started 0s
		arrive 10 account=3 model=1 -> 10 429 concurrency limit=1 left=0
		done 9 -> 9 200 ok
		arrive 11 account=3 model=1 -> 11 started 0s              # the refused one was given back
		arrive 12 account=3 -> 12 started 0s
		arrive 13 account=3 -> 13 429 rate after=59s limit=2 left=0`)
}

// An address is told apart as a fallback, with a larger limit: who has many
// accounts there meets it.
func TestAddressAsAFallback(t *testing.T) {
	window := func(n int32, per mockprovider.Counted) mockprovider.Limit {
		return Window{Limit: n, Length: time.Minute, Terms: mockprovider.Terms{Per: per}}
	}
	play(t, mockprovider.Config{Space: mockprovider.Space{Accounts: 4, Addresses: 2}, Limits: []mockprovider.Limit{window(2, mockprovider.Account), window(3, mockprovider.Address)}}, `
		arrive 1 account=0 address=7 -> 1 started 0s
		arrive 2 account=0 address=7 -> 2 started 0s
		arrive 3 account=0 address=7 -> 3 429 rate limit=2 left=0
		arrive 4 account=1 address=7 -> 4 started 0s
		arrive 5 account=1 address=7 -> 5 429 rate limit=3 left=0
		arrive 6 account=1 address=8 -> 6 started 0s
		arrive 7 account=2 address=4294967295 -> 7 429 rate limit=3 left=0   # odd like 7
		arrive 8 account=2 address=4294967294 -> 8 started 0s`)
}

func TestTieredBound(t *testing.T) {
	const m = time.Minute
	each := func(n int32) mockprovider.Limit {
		return Window{Limit: n, Length: m, Terms: mockprovider.Terms{Per: mockprovider.Account}}
	}
	all := func(n int32) mockprovider.Limit { return Window{Limit: n, Length: m} }
	load := mockprovider.Load{Space: mockprovider.Space{Accounts: 10, Models: 3}, MeanService: time.Second}
	for name, c := range map[string]struct {
		limit mockprovider.Limit
		want  mockprovider.Bound
	}{
		"all accounts have a tier":     {Tiered{{mockprovider.Match{Accounts: mockprovider.Range{To: 4}}, each(1)}, {mockprovider.Match{Accounts: mockprovider.Range{From: 4}}, each(10)}}, mockprovider.Bound{Count: 4 + 60, Per: m}},
		"some are in no tier":          {Tiered{{mockprovider.Match{Accounts: mockprovider.Range{To: 4}}, each(1)}, {mockprovider.Match{Accounts: mockprovider.Range{From: 5}}, each(10)}}, mockprovider.Bound{}},
		"the rest have one":            {Tiered{{mockprovider.Match{Accounts: mockprovider.Range{From: 2, To: 4}}, each(1)}, {mockprovider.Match{}, each(10)}}, mockprovider.Bound{Count: 2 + 80, Per: m}},
		"nobody is left":               {Tiered{{mockprovider.Match{}, each(1)}, {mockprovider.Match{Accounts: mockprovider.Just(3)}, each(10)}}, mockprovider.Bound{Count: 10, Per: m}},
		"nobody is there":              {Tiered{{mockprovider.Match{Accounts: mockprovider.Range{From: 10}}, each(1)}, {mockprovider.Match{}, each(10)}}, mockprovider.Bound{Count: 100, Per: m}},
		"counted together":             {Tiered{{mockprovider.Match{Models: mockprovider.Just(1)}, all(7)}, {mockprovider.Match{}, all(30)}}, mockprovider.Bound{Count: 37, Per: m}},
		"other lengths":                {Tiered{{mockprovider.Match{Models: mockprovider.Just(1)}, Window{Limit: 1, Length: 4 * time.Second}}, {mockprovider.Match{}, Window{Limit: 1, Length: 6 * time.Second}}}, mockprovider.Bound{Count: 5, Per: 12 * time.Second}},
		"one of them bounds nothing":   {Tiered{{mockprovider.Match{Models: mockprovider.Just(1)}, Ramp{Base: 1, Length: m, Growth: 100}}, {mockprovider.Match{}, all(30)}}, mockprovider.Bound{}},
		"in more than one respect":     {Tiered{{mockprovider.Match{Models: mockprovider.Just(1), Accounts: mockprovider.Just(1)}, all(7)}, {mockprovider.Match{}, each(1)}}, mockprovider.Bound{Count: 17, Per: m}},
		"nor all of them":              {Tiered{{mockprovider.Match{Models: mockprovider.Just(1), Accounts: mockprovider.Just(1)}, all(7)}, {mockprovider.Match{Models: mockprovider.Just(2)}, each(1)}}, mockprovider.Bound{}},
		"all priorities":               {Tiered{{mockprovider.Match{Priorities: mockprovider.Just(0)}, all(5)}, {mockprovider.Match{Priorities: mockprovider.Range{From: 1, To: 256}}, all(1)}}, mockprovider.Bound{Count: 6, Per: m}},
		"but the last":                 {Tiered{{mockprovider.Match{Priorities: mockprovider.Just(0)}, all(5)}, {mockprovider.Match{Priorities: mockprovider.Range{From: 1, To: 255}}, all(1)}}, mockprovider.Bound{}},
		"keys that are not told apart": {Tiered{{mockprovider.Match{Keys: mockprovider.Range{To: 100}}, all(5)}, {mockprovider.Match{Keys: mockprovider.Range{From: 100}}, all(1)}}, mockprovider.Bound{Count: 6, Per: m}},
		"only for some":                {Only{mockprovider.Match{Accounts: mockprovider.Range{To: 9}}, each(1)}, mockprovider.Bound{}},
		"only for all":                 {Only{mockprovider.Match{Accounts: mockprovider.Range{To: 10}}, each(1)}, mockprovider.Bound{Count: 10, Per: m}},
		"permits":                      {Tiered{{mockprovider.Match{Models: mockprovider.Just(1)}, Semaphore{Limit: 2}}, {mockprovider.Match{}, Semaphore{Limit: 3}}}, mockprovider.Bound{Count: 5, Per: time.Second, Concurrency: 5}},
		"permits of some are no bound": {Tiered{{mockprovider.Match{Models: mockprovider.Just(1)}, Semaphore{Limit: 2}}, {mockprovider.Match{}, all(60)}}, mockprovider.Bound{Count: 3, Per: time.Second}},
	} {
		got := c.limit.Bound(load)
		require.InDelta(t, c.want.PerSecond(), got.PerSecond(), 1e-12, name)
		require.Equal(t, c.want.Concurrency, got.Concurrency, name)
	}
}

// What a list of ranges leaves is what none of them has.
func TestSpans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		left, naive := spans{{0, 20}}, map[uint32]bool{}
		for n := range uint32(20) {
			naive[n] = true
		}
		for range rapid.IntRange(0, 5).Draw(t, "cuts") {
			x := mockprovider.Range{From: rapid.Uint32Range(0, 22).Draw(t, "from"), To: rapid.Uint32Range(0, 22).Draw(t, "to")}
			if (&mockprovider.Match{Accounts: x}).Validate() != nil {
				continue
			}
			n := uint64(0)
			for i := range uint32(20) {
				if naive[i] && x.Has(i) {
					n++
					delete(naive, i)
				}
			}
			require.Equal(t, n, left.cut(x))
		}
		n := uint64(0)
		for _, s := range left {
			require.Less(t, s.from, s.to)
			n += s.to - s.from
			for i := s.from; i < s.to; i++ {
				require.True(t, naive[uint32(i)])
			}
		}
		require.Len(t, naive, int(n))
	})
}

func TestMatch(t *testing.T) {
	r := wire.Request{Account: 5, Address: 9, Target: wire.Target{Key: 1, Model: 2, Region: 3}, Demand: wire.Demand{Priority: 4}}
	for _, m := range []mockprovider.Match{
		{}, {Accounts: mockprovider.Just(5)}, {Accounts: mockprovider.Range{From: 5}}, {Accounts: mockprovider.Range{To: 6}}, {Addresses: mockprovider.Range{From: 9, To: 10}}, {Keys: mockprovider.Just(1)}, {Models: mockprovider.Just(2)},
		{Regions: mockprovider.Just(3)}, {Priorities: mockprovider.Range{From: 1}}, {Accounts: mockprovider.Just(5), Models: mockprovider.Just(2)},
	} {
		require.True(t, m.Of(&r), "%+v", m)
		require.NoError(t, m.Validate())
	}
	for _, m := range []mockprovider.Match{
		{Accounts: mockprovider.Just(4)}, {Accounts: mockprovider.Range{From: 6}}, {Accounts: mockprovider.Range{To: 5}}, {Addresses: mockprovider.Just(8)}, {Keys: mockprovider.Just(0)}, {Models: mockprovider.Just(0)}, {Regions: mockprovider.Just(0)},
		{Priorities: mockprovider.Just(0)}, {Accounts: mockprovider.Just(5), Models: mockprovider.Just(3)},
	} {
		require.False(t, m.Of(&r), "%+v", m)
	}
	require.EqualError(t, (&mockprovider.Match{Models: mockprovider.Range{From: 3, To: 3}}).Validate(), "match: no models are from 3 to below 3; a range ends after it begins")
}

func TestTieredValidate(t *testing.T) {
	for want, l := range map[string]mockprovider.Limit{
		"tiered: there are no tiers; leave it out":                                       Tiered{},
		"tier 2: only: it has no limit; leave it out":                                    Tiered{{Limit: Semaphore{Limit: 1}}, {}},
		"tier 1: match: no accounts are from 2 to below 1; a range ends after it begins": Tiered{{mockprovider.Match{Accounts: mockprovider.Range{From: 2, To: 1}}, Semaphore{Limit: 1}}},
		"semaphore: the limit must be at least 1":                                        Only{Limit: Semaphore{}},
	} {
		require.EqualError(t, l.Validate(), want)
	}
}
