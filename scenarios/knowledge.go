package scenarios

import (
	"herdlab/mockprovider"
	"herdlab/strategies/presets"
)

// knowledge returns the provider's capacity in the form that strategies are built
// for. The bounds on values of files allow both sides of the rate to be multiplied
// by ten without overflow.
func knowledge(b mockprovider.Bound) presets.Knowledge {
	return presets.Knowledge{Rate: b.Count, Per: b.Per, Concurrency: b.Concurrency}
}
