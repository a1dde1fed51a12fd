package limits_test

import (
	"fmt"
	"time"

	"herdlab/mockprovider"
	"herdlab/mockprovider/limits"
	"herdlab/mockprovider/wire"
)

// A token bucket of 2 that gets one token each second, alone.
func Example() {
	gate := limits.TokenBucket{Limit: 1, Length: time.Second, Burst: 2}.Gate(mockprovider.Space{})
	var r wire.Request
	for range 3 {
		if gate.Take(0, &r) {
			fmt.Println("admitted")
			continue
		}
		v := gate.Refuse(0, &r)
		wait, known := v.Admission.After()
		fmt.Println("refused:", v.Class, wait, known)
	}
	// Output:
	// admitted
	// admitted
	// refused: rate 1s true
}
