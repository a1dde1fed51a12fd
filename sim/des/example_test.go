package des_test

import (
	"fmt"
	"time"

	"herdlab/sim/des"
)

func Example() {
	const reply, timeout = 0, 1 // at one instant a reply fires before a timeout
	var q des.Queue
	q.Push(des.Event{At: 2 * time.Second, Kind: timeout, Ref: 1})
	q.Push(des.Event{At: 2 * time.Second, Kind: reply, Ref: 2})
	q.Push(des.Event{At: time.Second, Kind: timeout, Ref: 3})
	for e, ok := q.Pop(); ok; e, ok = q.Pop() {
		fmt.Println(e.At, e.Ref)
	}
	// Output:
	// 1s 3
	// 2s 2
	// 2s 1
}
