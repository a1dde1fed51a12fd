package faults

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/providertest"
	"herdlab/sim/draw"
)

// play plays a script and returns the provider in its last state.
func play(t *testing.T, cfg mockprovider.Config, script string) *mockprovider.Provider {
	t.Helper()
	s := staged(t, cfg)
	s.Run(script)
	return s.Provider
}

// staged returns a stage for scripts with a new provider.
func staged(t *testing.T, cfg mockprovider.Config) *providertest.Stage[*mockprovider.Provider] {
	t.Helper()
	p, err := mockprovider.New(cfg, draw.New(1))
	require.NoError(t, err)
	return providertest.NewStage(t, p)
}

// takes is a service that always takes that time.
func takes(d time.Duration) mockprovider.Service { return mockprovider.Service{First: draw.Const(d)} }

// from is a fault that is in force from then on.
func from(t time.Duration, d mockprovider.Disturbance) mockprovider.Fault {
	return mockprovider.Fault{From: t, To: mockprovider.Forever, Does: d}
}
