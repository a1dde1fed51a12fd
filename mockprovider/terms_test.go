package mockprovider

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/mockprovider/wire"
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
