package limits

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/providertest"
	"herdlab/mockprovider/wire"
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

// keeping is the rule of a limit that keeps what others refuse, or of one that
// does not.
func keeping(yes bool) mockprovider.Keep {
	if yes {
		return mockprovider.KeepOthers
	}
	return mockprovider.KeepNone
}

// serve lets one request arrive and be done.
func serve(p *mockprovider.Provider, now time.Duration, in *wire.Input, out []wire.Effect) []wire.Effect {
	in.Kind = wire.Arrive
	out = p.Step(now, in, out[:0])
	in.Kind, in.Job = wire.Done, out[0].Job
	return p.Step(now, in, out)
}
