package faults_test

import (
	"fmt"
	"time"

	"herdlab/mockprovider"
	"herdlab/mockprovider/faults"
	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// An outage of half a minute.
func Example() {
	outage := faults.Outage(10*time.Second, 40*time.Second, mockprovider.As503)
	provider, err := mockprovider.New(mockprovider.Config{Faults: []mockprovider.Fault{outage}}, draw.New(1))
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, at := range []time.Duration{9 * time.Second, 10 * time.Second, 40 * time.Second} {
		effect := provider.Step(at, &wire.Input{Kind: wire.Arrive, Ticket: uint32(i)}, nil)[0]
		fmt.Println(at, effect.Kind == wire.Started, effect.Reply.Status)
	}
	// Output:
	// 9s true 0
	// 10s false 503
	// 40s true 0
}
