package mockprovider

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/providertest"
	"herdlab/sim/draw"
)

// play plays a script and returns the provider in its last state.
func play(t *testing.T, cfg Config, script string) *Provider {
	t.Helper()
	s := staged(t, cfg)
	s.Run(script)
	return s.Provider
}

// staged returns a stage for scripts with a new provider.
func staged(t *testing.T, cfg Config) *providertest.Stage[*Provider] {
	t.Helper()
	p, err := New(cfg, draw.New(1))
	require.NoError(t, err)
	return providertest.NewStage(t, p)
}

// takes is a service that always takes that time.
func takes(d time.Duration) Service { return Service{First: draw.Const(d)} }
