package mockprovider

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// Two requests share a counter if they agree in all that is told apart, and only
// then; no request is out of range, whatever its numbers are.
func TestCountersAreOfWhoAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		few := func(name string) int { return rapid.IntRange(0, 4).Draw(t, name) }
		space := Space{Accounts: few("accounts"), Keys: few("keys"), Addresses: few("addresses"), Models: few("models"), Regions: few("regions"), OrgSize: few("organisation")}
		require.NoError(t, space.validate())
		per := Counted(rapid.IntRange(0, int(allCounted)).Draw(t, "per"))
		k, n := per.Index(space), per.Counters(space)
		// known draws a number that there is, or any if it is not told apart.
		known := func(name string, size int) uint32 {
			if size == 0 {
				size = 256
			}
			return uint32(rapid.IntRange(0, size-1).Draw(t, name))
		}
		request := func() wire.Request {
			return wire.Request{
				Account: known("account", space.Accounts), Address: rapid.Uint32().Draw(t, "address"),
				Target: wire.Target{Key: uint8(known("key", space.Keys)), Model: uint8(known("model", space.Models)), Region: uint8(known("region", space.Regions))},
			}
		}
		// agree looks at each of them by itself.
		agree := func(a, b wire.Request) bool {
			differ := func(bit Counted, size int, x, y uint32) bool { return per&bit != 0 && size > 0 && x != y }
			org := uint32(max(1, space.OrgSize))
			return !(differ(Account|Key, space.Accounts, a.Account, b.Account) ||
				differ(Key, space.Keys, uint32(a.Target.Key), uint32(b.Target.Key)) ||
				space.Addresses > 0 && differ(Address, space.Addresses, a.Address%uint32(space.Addresses), b.Address%uint32(space.Addresses)) ||
				differ(Model, space.Models, uint32(a.Target.Model), uint32(b.Target.Model)) ||
				differ(Region, space.Regions, uint32(a.Target.Region), uint32(b.Target.Region)) ||
				differ(Organisation, space.Accounts, a.Account/org, b.Account/org))
		}
		for range 10 {
			a, b := request(), request()
			require.Less(t, int(k.Of(&a)), n)
			require.Equal(t, agree(a, b), k.Of(&a) == k.Of(&b), "%v of %+v: %+v, %+v", per, space, a, b)
		}
	})
}

// Nothing is told apart twice: an account has one organisation, and a key one
// account.
func TestCountersAreNoMoreThanNeeded(t *testing.T) {
	space := Space{Accounts: 10, Keys: 3, Addresses: 7, OrgSize: 4}
	for per, want := range map[Counted]int{
		Everyone: 1, Account: 10, Organisation: 3, Account | Organisation: 10, Key: 30, Account | Key: 30, Key | Organisation: 30, Address: 7,
		Address | Organisation: 21, Model: 1, Model | Region: 1,
	} {
		require.Equal(t, want, per.Counters(space), per.String())
	}
}

// Who is not known meets no limit.
func TestStrangers(t *testing.T) {
	cfg := Config{Space: Space{Accounts: 2, Keys: 2, Models: 3, Regions: 2}, RejectKeys: []uint8{1}, Limits: []Limit{
		Window{Limit: 1, Length: 1, Terms: Terms{Per: Account | Key | Address | Model | Region, Keep: KeepAll}},
	}}
	play(t, cfg, `
		arrive 1 account=2 -> 1 401 auth
		arrive 2 account=4294967295 -> 2 401 auth
		arrive 3 key=2 -> 3 401 auth
		arrive 4 key=1 -> 4 401 auth
		arrive 5 model=3 -> 5 400 bad_request
		arrive 6 model=255 region=255 -> 6 400 bad_request
		arrive 7 region=2 -> 7 400 bad_request
		arrive 8 account=2 model=3 -> 8 401 auth
		arrive 9 address=4294967295 -> 9 started 0s
		arrive 10 account=1 model=2 region=1 -> 10 started 0s
		arrive 11 account=1 model=2 region=1 -> 11 429 rate limit=1 left=0`)
	// Where nothing is told apart, everything is known.
	rapid.Check(t, func(t *rapid.T) {
		p, err := New(Config{}, draw.New(1))
		require.NoError(t, err)
		r := wire.Request{Account: rapid.Uint32().Draw(t, "account"), Address: rapid.Uint32().Draw(t, "address"),
			Target: wire.Target{Key: rapid.Uint8().Draw(t, "key"), Model: rapid.Uint8().Draw(t, "model"), Region: rapid.Uint8().Draw(t, "region")}}
		require.Equal(t, wire.Started, p.Step(0, &wire.Input{Request: r}, nil)[0].Kind)
	})
}
