package mockprovider

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/mockprovider/wire"
)

// Tiers of accounts with limits of their own, and a model with another.
func TestTiered(t *testing.T) {
	each := func(n int32) Limit {
		return Window{Limit: n, Length: time.Minute, Terms: Terms{Per: Account, Refusal: As429.WithHint(Hint{Kind: Exact})}}
	}
	tiers := Tiered{
		{Match{Accounts: Range{To: 2}}, each(1)},
		{Match{Accounts: Range{From: 1, To: 4}}, each(2)},
	}
	model := Only{Match{Models: Just(1)}, Semaphore{Limit: 1}}
	play(t, Config{Space: Space{Accounts: 5}, Limits: []Limit{tiers, model}}, `
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
	window := func(n int32, per Counted) Limit { return Window{Limit: n, Length: time.Minute, Terms: Terms{Per: per}} }
	play(t, Config{Space: Space{Accounts: 4, Addresses: 2}, Limits: []Limit{window(2, Account), window(3, Address)}}, `
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
	each := func(n int32) Limit { return Window{Limit: n, Length: m, Terms: Terms{Per: Account}} }
	all := func(n int32) Limit { return Window{Limit: n, Length: m} }
	load := Load{Space: Space{Accounts: 10, Models: 3}, MeanService: time.Second}
	for name, c := range map[string]struct {
		limit Limit
		want  Bound
	}{
		"all accounts have a tier":     {Tiered{{Match{Accounts: Range{To: 4}}, each(1)}, {Match{Accounts: Range{From: 4}}, each(10)}}, Bound{Count: 4 + 60, Per: m}},
		"some are in no tier":          {Tiered{{Match{Accounts: Range{To: 4}}, each(1)}, {Match{Accounts: Range{From: 5}}, each(10)}}, Bound{}},
		"the rest have one":            {Tiered{{Match{Accounts: Range{From: 2, To: 4}}, each(1)}, {Match{}, each(10)}}, Bound{Count: 2 + 80, Per: m}},
		"nobody is left":               {Tiered{{Match{}, each(1)}, {Match{Accounts: Just(3)}, each(10)}}, Bound{Count: 10, Per: m}},
		"nobody is there":              {Tiered{{Match{Accounts: Range{From: 10}}, each(1)}, {Match{}, each(10)}}, Bound{Count: 100, Per: m}},
		"counted together":             {Tiered{{Match{Models: Just(1)}, all(7)}, {Match{}, all(30)}}, Bound{Count: 37, Per: m}},
		"other lengths":                {Tiered{{Match{Models: Just(1)}, Window{Limit: 1, Length: 4 * time.Second}}, {Match{}, Window{Limit: 1, Length: 6 * time.Second}}}, Bound{Count: 5, Per: 12 * time.Second}},
		"one of them bounds nothing":   {Tiered{{Match{Models: Just(1)}, Ramp{Base: 1, Length: m, Growth: 100}}, {Match{}, all(30)}}, Bound{}},
		"in more than one respect":     {Tiered{{Match{Models: Just(1), Accounts: Just(1)}, all(7)}, {Match{}, each(1)}}, Bound{Count: 17, Per: m}},
		"nor all of them":              {Tiered{{Match{Models: Just(1), Accounts: Just(1)}, all(7)}, {Match{Models: Just(2)}, each(1)}}, Bound{}},
		"all priorities":               {Tiered{{Match{Priorities: Just(0)}, all(5)}, {Match{Priorities: Range{1, 256}}, all(1)}}, Bound{Count: 6, Per: m}},
		"but the last":                 {Tiered{{Match{Priorities: Just(0)}, all(5)}, {Match{Priorities: Range{1, 255}}, all(1)}}, Bound{}},
		"keys that are not told apart": {Tiered{{Match{Keys: Range{To: 100}}, all(5)}, {Match{Keys: Range{From: 100}}, all(1)}}, Bound{Count: 6, Per: m}},
		"only for some":                {Only{Match{Accounts: Range{To: 9}}, each(1)}, Bound{}},
		"only for all":                 {Only{Match{Accounts: Range{To: 10}}, each(1)}, Bound{Count: 10, Per: m}},
		"permits":                      {Tiered{{Match{Models: Just(1)}, Semaphore{Limit: 2}}, {Match{}, Semaphore{Limit: 3}}}, Bound{Count: 5, Per: time.Second, Concurrency: 5}},
		"permits of some are no bound": {Tiered{{Match{Models: Just(1)}, Semaphore{Limit: 2}}, {Match{}, all(60)}}, Bound{Count: 3, Per: time.Second}},
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
			x := Range{rapid.Uint32Range(0, 22).Draw(t, "from"), rapid.Uint32Range(0, 22).Draw(t, "to")}
			if (&Match{Accounts: x}).Validate() != nil {
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
	for _, m := range []Match{
		{}, {Accounts: Just(5)}, {Accounts: Range{From: 5}}, {Accounts: Range{To: 6}}, {Addresses: Range{9, 10}}, {Keys: Just(1)}, {Models: Just(2)},
		{Regions: Just(3)}, {Priorities: Range{From: 1}}, {Accounts: Just(5), Models: Just(2)},
	} {
		require.True(t, m.Of(&r), "%+v", m)
		require.NoError(t, m.Validate())
	}
	for _, m := range []Match{
		{Accounts: Just(4)}, {Accounts: Range{From: 6}}, {Accounts: Range{To: 5}}, {Addresses: Just(8)}, {Keys: Just(0)}, {Models: Just(0)}, {Regions: Just(0)},
		{Priorities: Just(0)}, {Accounts: Just(5), Models: Just(3)},
	} {
		require.False(t, m.Of(&r), "%+v", m)
	}
	require.EqualError(t, (&Match{Models: Range{3, 3}}).Validate(), "match: no models are from 3 to below 3; a range ends after it begins")
}

func TestTieredValidate(t *testing.T) {
	for want, l := range map[string]Limit{
		"tiered: there are no tiers; leave it out":                                       Tiered{},
		"tier 2: only: it has no limit; leave it out":                                    Tiered{{Limit: Semaphore{Limit: 1}}, {}},
		"tier 1: match: no accounts are from 2 to below 1; a range ends after it begins": Tiered{{Match{Accounts: Range{2, 1}}, Semaphore{Limit: 1}}},
		"semaphore: the limit must be at least 1":                                        Only{Limit: Semaphore{}},
	} {
		require.EqualError(t, l.Validate(), want)
	}
}
