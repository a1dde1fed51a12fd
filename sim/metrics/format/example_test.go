package format_test

import (
	"fmt"

	"herdlab/sim/metrics/format"
)

func Example() {
	fmt.Println(format.Number(1086))
	fmt.Println(format.Percent(0.99997))
	fmt.Println(format.Time(56.16, true))
	// Output:
	// 1,086
	// 99.997 %
	// 56.2 s
}
