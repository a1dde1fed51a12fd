package saturating

import (
	"fmt"
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func ExampleAdd() {
	const never = time.Duration(math.MaxInt64)
	fmt.Println(Add(time.Minute, time.Second), Add(never, time.Second) == never)
	// Output: 1m1s true
}

// Add agrees with arithmetic without bounds, cut at the largest int64.
func TestAddAgreesWithBigNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.Int64Range(0, math.MaxInt64).Draw(t, "a")
		b := rapid.Int64Range(0, math.MaxInt64).Draw(t, "b")
		want := int64(math.MaxInt64)
		if sum := new(big.Int).Add(big.NewInt(a), big.NewInt(b)); sum.IsInt64() {
			want = sum.Int64()
		}
		require.Equal(t, want, Add(a, b))
	})
}

// Mul agrees with arithmetic without bounds, cut at the largest int64.
func TestMulAgreesWithBigNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.Int64Range(0, math.MaxInt64).Draw(t, "a")
		b := rapid.Int64Range(0, math.MaxInt64).Draw(t, "b")
		want := int64(math.MaxInt64)
		if product := new(big.Int).Mul(big.NewInt(a), big.NewInt(b)); product.IsInt64() {
			want = product.Int64()
		}
		require.Equal(t, want, Mul(a, b))
	})
}
