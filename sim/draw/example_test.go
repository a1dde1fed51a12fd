package draw_test

import (
	"fmt"
	"time"

	"herdlab/sim/draw"
)

func Example() {
	service := draw.Expo(2 * time.Second)
	call := draw.New(1).For(7) // the draws of call 7 with seed 1
	fmt.Println(service.Draw(call, 0) == service.Draw(call, 0))
	fmt.Println(draw.Const(time.Second).Draw(call, 1))
	// Output:
	// true
	// 1s
}
