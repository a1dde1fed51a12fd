package strategies_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

func TestClasses(t *testing.T) {
	for c := range wire.Class(wire.NumClasses) {
		require.Equal(t, c.Transient(), strategies.Transient.Has(c), c.String())
		require.Equal(t, c != wire.OK && c != wire.Cancelled, strategies.AnyFailure.Has(c), c.String())
		require.True(t, strategies.ClassesOf(c, wire.OK).Has(c))
		require.Equal(t, c == wire.OK, strategies.ClassesOf(wire.OK).Has(c))
	}
	require.Zero(t, strategies.Limits&strategies.Unanswered)
	require.Equal(t, strategies.Limits, strategies.Classes(0).Or(strategies.Limits))
	require.Equal(t, strategies.Unanswered, strategies.Unanswered.Or(strategies.Limits))
}
