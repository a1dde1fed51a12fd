package main

import (
	"herdlab/mockprovider/dialect"
	"herdlab/scenarios"
	"herdlab/strategies"
	"herdlab/strategies/presets"
)

// parts returns the parts that this program adds to those of herdlab, one line each.
func parts() scenarios.Parts {
	return scenarios.Parts{
		Layers: []scenarios.Kind{
			{Name: "spread", Summary: "Retries as far apart as the call is old.", Prototype: Spread{}},
			{Name: "truce", Summary: "Sends nothing for a time after failures in a row.", Prototype: Truce{Scope: strategies.PerFleet}},
			{Name: "metronome", Summary: "Sends one attempt per beat.", Prototype: Metronome{Scope: strategies.PerFleet}},
		},
		Backoffs:   []scenarios.Kind{{Name: "fibonacci", Summary: "A wait that grows as the Fibonacci numbers.", Prototype: Fibonacci{}}},
		Limits:     []scenarios.Kind{{Name: "gap", Summary: "Requests are at least a gap apart.", Prototype: Gap{}}},
		Faults:     []scenarios.Kind{{Name: "every_nth", Summary: "Every n-th request fails.", Prototype: EveryNth{}}},
		Dialects:   []dialect.Dialect{acme()},
		Strategies: []presets.Builtin{Spread{}.builtin()},
	}
}
