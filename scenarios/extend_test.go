package scenarios_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/dialect"
	"herdlab/scenarios"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
	"herdlab/strategies/presets"
)

// channel is a backoff with a setting that files cannot write.
type channel struct {
	backoffs.Fixed
	Events chan int
}

func TestNewFormatRefuses(t *testing.T) {
	for want, parts := range map[string]scenarios.Parts{
		`layer "retry": the name is taken`:                                      {Layers: []scenarios.Kind{{Name: "retry", Prototype: layers.Retry{}}}},
		`fault "pass": the name is taken`:                                       {Faults: []scenarios.Kind{{Name: "pass"}}},
		`limit "my-gap": the name does not match`:                               {Limits: []scenarios.Kind{{Name: "my-gap"}}},
		`layer "twice": the name is taken`:                                      {Layers: []scenarios.Kind{{Name: "twice", Prototype: layers.Retry{}}, {Name: "twice", Prototype: layers.Retry{}}}},
		`layer "fixed": the prototype backoffs.Fixed is not a strategies.Layer`: {Layers: []scenarios.Kind{{Name: "fixed", Prototype: backoffs.Fixed{}}}},
		`trip "none": the prototype <nil> is not a layers.Trip`:                 {Trips: []scenarios.Kind{{Name: "none"}}},
		`backoff "channel": events: files cannot write the type chan int`:       {Backoffs: []scenarios.Kind{{Name: "channel", Prototype: channel{}}}},
		`dialect "openai": the name is taken`:                                   {Dialects: []dialect.Dialect{{Name: "openai"}}},
		`dialect "code_in_body": the name does not match`:                       {Dialects: []dialect.Dialect{{Name: "code_in_body"}}},
		`strategy "naive": the name is taken`:                                   {Strategies: []presets.Builtin{{Name: "naive"}}},
		`strategy "mine" has no function Define`:                                {Strategies: []presets.Builtin{{Name: "mine"}}},
	} {
		_, err := scenarios.NewFormat(parts)
		require.ErrorContains(t, err, want)
	}
	_, err := scenarios.NewFormat(scenarios.Parts{})
	require.NoError(t, err)
}

var _ strategies.Backoff = channel{}
