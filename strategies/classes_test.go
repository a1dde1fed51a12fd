package strategies

import (
	"testing"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
)

func TestClasses(t *testing.T) {
	for c := range wire.Class(wire.NumClasses) {
		require.Equal(t, c.Transient(), Transient.Has(c), c.String())
		require.Equal(t, c != wire.OK && c != wire.Cancelled, AnyFailure.Has(c), c.String())
		require.True(t, ClassesOf(c, wire.OK).Has(c))
		require.Equal(t, c == wire.OK, ClassesOf(wire.OK).Has(c))
	}
	require.Zero(t, Limits&Unanswered)
	require.Equal(t, Limits, Classes(0).Or(Limits))
	require.Equal(t, Unanswered, Unanswered.Or(Limits))
}
