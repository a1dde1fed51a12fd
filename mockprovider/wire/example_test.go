package wire_test

import (
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
)

// Two clients read one reply: HTTP 200 around a business code.
func Example() {
	reply := wire.Reply{
		Status: 200, Class: wire.Rate, Shown: wire.Rate, Body: wire.CodeBody, Code: wire.Code14003,
		Hint: wire.Hint{Value: 3 * time.Second, Spelling: wire.BodySeconds},
	}
	for _, reader := range []wire.Reader{wire.ByBody{}, wire.ByStatus{}} {
		var o wire.Outcome
		reader.Read(&reply, 0, &o)
		fmt.Println(o.Class, o.RetryAfter != wire.NoHint)
	}
	// Output:
	// rate true
	// ok false
}
