package strategies

// EveryLayer is one of each layer, for tests that run them in the simulator.
func EveryLayer() map[string]Layer { return everyLayer() }

// What the tests of presets share.
var (
	Refusals    = refusals
	ClientCases = clientCases
	SaysNo      = body200
)

// CasesFailed are the cases that a preset fails.
func CasesFailed(preset string) string { return presetFails[preset].cases }
