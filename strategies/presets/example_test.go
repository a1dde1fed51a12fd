package presets_test

import (
	"fmt"

	"herdlab/strategies"
	"herdlab/strategies/presets"
)

// Look up a built-in strategy by its name and compile it.
func Example() {
	definition, err := presets.Lookup("full-jitter", presets.Knowledge{})
	if err != nil {
		panic(err)
	}
	program, err := strategies.Compile(definition, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(program.Name, program.Layers)
	// Output: full-jitter [retry]
}
