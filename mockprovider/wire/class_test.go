package wire

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestClasses(t *testing.T) {
	transient := map[Class]bool{
		OK: false, Rate: true, TokenRate: true, Concurrency: true, Acceleration: true, Overloaded: true,
		Quota: false, Auth: false, Permission: false, BadRequest: false, TooLarge: false,
		ServerError: true, Timeout: true, Disconnected: true, Cancelled: false,
	}
	require.Len(t, transient, NumClasses)
	names := map[string]bool{}
	for c := range Class(NumClasses) {
		require.Equal(t, transient[c], c.Transient(), c.String())
		require.NotEmpty(t, c.String())
		require.False(t, names[c.String()], "%s is there twice", c)
		names[c.String()] = true
	}
	require.Equal(t, "class(15)", Class(NumClasses).String())
	require.False(t, Class(NumClasses).Transient())
}
