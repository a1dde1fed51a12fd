package metrics

import (
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/mockprovider/wire"
)

// Totals are exact, however long: beside a sum of math/big.
func TestTotals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		duration := rapid.Int64Range(0, math.MaxInt64)
		sum := func(label string) (Sum128, *big.Int) {
			var total Sum128
			exact := new(big.Int)
			for range rapid.IntRange(0, 5).Draw(t, label) {
				d, n := duration.Draw(t, "d"), rapid.Uint64().Draw(t, "n")
				total.Add(time.Duration(d))
				total.addTimes(n, time.Duration(d))
				one := big.NewInt(d)
				exact.Add(exact, one)
				exact.Add(exact, one.Mul(one, new(big.Int).SetUint64(n)))
			}
			return total, exact.Mod(exact, new(big.Int).Lsh(big.NewInt(1), 128))
		}
		a, exactA := sum("a")
		b, exactB := sum("b")
		require.Equal(t, exactA.Cmp(exactB), a.Compare(b))
		want, _ := new(big.Float).SetInt(exactA).Float64()
		require.InEpsilon(t, 1+want/1e9, 1+a.Seconds(), 1e-15)
		if exactA.IsInt64() {
			require.EqualValues(t, exactA.Int64(), a.Duration())
		} else {
			require.EqualValues(t, math.MaxInt64, a.Duration())
		}
	})
}

// Ten million slots that were held for a thousand seconds each are more than
// 292 years.
func TestSlotTimeDoesNotOverflow(t *testing.T) {
	r := NewRecorder(Plan{Horizon: time.Hour})
	for range 10 {
		r.Replied(wire.OK, 1e6*1000*s)
		r.Dropped(0)
		r.Wasted(1e6 * 1000 * s)
	}
	rep := r.Finish(0, 0, nil)
	v := rep.Values()
	assert.Equal(t, 1e10, v[SlotTime])
	assert.Equal(t, 1e10, v[WastedSlotTime])
	require.NoError(t, rep.Check())
}
