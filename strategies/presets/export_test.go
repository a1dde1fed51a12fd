package presets

// What the tests of presets share.
var (
	Refusals    = refusals
	ClientCases = clientCases
	SaysNo      = body200
)

// CasesFailed are the cases that a preset fails.
func CasesFailed(preset string) string { return presetFails[preset].cases }
