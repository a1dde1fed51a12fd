package traffic_test

import (
	"fmt"
	"strings"

	"herdlab/sim/traffic"
)

func ExampleReadTrace() {
	file := strings.NewReader("t,prompt_tokens,output_tokens\n10,100,20\n12.5,300,40\n")
	trace, err := traffic.ReadTrace("calls.csv", file)
	if err != nil {
		fmt.Println(err)
		return
	}
	fast, err := trace.Scale(2)
	fmt.Println(len(fast.Rows), fast.Span(), err)
	// Output: 2 1.25s <nil>
}
