package mockprovider_test

import (
	"fmt"
	"time"

	"herdlab/mockprovider"
	"herdlab/mockprovider/limits"
	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// Two requests meet a limit of one a minute.
func Example() {
	perMinute := limits.Window{Limit: 1, Length: time.Minute}
	perMinute.Refusal = mockprovider.As429.WithHint(mockprovider.Hint{Kind: mockprovider.RoundedUp})
	provider, err := mockprovider.New(mockprovider.Config{
		Limits:   []mockprovider.Limit{perMinute},
		Capacity: mockprovider.Capacity{Slots: 4, Service: mockprovider.Service{First: draw.Const(2 * time.Second)}},
	}, draw.New(1))
	if err != nil {
		fmt.Println(err)
		return
	}
	for ticket := range uint32(2) {
		in := wire.Input{Kind: wire.Arrive, Ticket: ticket, Request: wire.Request{Call: uint64(ticket), Attempt: 1}}
		for _, e := range provider.Step(10*time.Second, &in, nil) {
			switch e.Kind {
			case wire.Started:
				fmt.Println("request", e.Ticket, "is done after", e.After)
			case wire.Replied:
				fmt.Println("request", e.Ticket, "is refused with", e.Reply.Status, "until", e.Reply.Hint.Value, "have passed")
			}
		}
	}
	// Output:
	// request 0 is done after 2s
	// request 1 is refused with 429 until 50s have passed
}
