package wire

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestClasses(t *testing.T) {
	transient := map[Class]bool{
		OK: false, Rate: true, TokenRate: true, Concurrency: true, Acceleration: true, Overloaded: true,
		Quota: false, Auth: false, Permission: false, BadRequest: false, TooLarge: false,
		ServerError: true, Timeout: true, ConnectionLost: true, Cancelled: false,
	}
	require.Len(t, transient, NumClasses)
	names := map[string]bool{}
	for c := range Class(NumClasses) {
		require.Equal(t, transient[c], c.Transient(), c.String())
		require.NotEmpty(t, c.String())
		require.False(t, names[c.String()], "%s is there twice", c)
		names[c.String()] = true
	}
	// Result files spell them so, and old ones are read again.
	require.Equal(t, [NumClasses]string{
		OK: "ok", Rate: "rate", TokenRate: "token_rate", Concurrency: "concurrency", Acceleration: "acceleration", Overloaded: "overloaded",
		Quota: "quota", Auth: "auth", Permission: "permission", BadRequest: "bad_request", TooLarge: "too_large", ServerError: "server_error",
		Timeout: "timeout", ConnectionLost: "disconnected", Cancelled: "cancelled",
	}, classNames)
	require.Equal(t, "class(15)", Class(NumClasses).String())
	require.False(t, Class(NumClasses).Transient())
}
