package draw_test

import (
	"fmt"
	"time"

	"herdlab/sim/draw"
)

func Example() {
	service := draw.Expo(2 * time.Second)
	first := draw.New(1).For(7) // the draws of call 7 with seed 1
	again := draw.New(1).For(7)
	fmt.Println(service.Draw(first, 0) == service.Draw(again, 0))
	fmt.Println(draw.Const(time.Second).Draw(first, 1))
	// Output:
	// true
	// 1s
}
