package scenarios

import (
	"herdlab/mockprovider"
	"herdlab/strategies"
)

// knowledge returns what clients know who know what their provider can serve.
// The limits on files leave room to multiply both sides of the rate by ten.
func knowledge(b mockprovider.Bound) strategies.Knowledge {
	return strategies.Knowledge{Rate: b.Count, Per: b.Per, Concurrency: b.Concurrency}
}
