package presets

// Names for the tests in package presets_test.
var (
	Refusals    = refusals
	ClientCases = clientCases
	SaysNo      = body200
)

// CasesFailed returns the numbers of the cases that a preset fails.
func CasesFailed(preset string) string { return presetFails[preset].cases }
