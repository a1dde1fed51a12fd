package serve

import (
	"time"

	"herdlab/mockprovider"
	"herdlab/mockprovider/limits"
	"herdlab/sim/draw"
)

// Default returns a provider of the size of a small hosted model, to start with.
// Each account may send 60 requests per minute, 10 of them at once, and have 8 in
// flight. All accounts share 32 slots with a short queue. The first token takes 0.4 s
// on average, each further token 15 ms.
func Default() mockprovider.Config {
	refusal := mockprovider.Refusal{Hint: mockprovider.Hint{Kind: mockprovider.Exact}}
	return mockprovider.Config{
		Limits: []mockprovider.Limit{
			limits.TokenBucket{Limit: 60, Length: time.Minute, Burst: 10, Terms: mockprovider.Terms{Per: mockprovider.Account, Refusal: refusal}},
			limits.Semaphore{Limit: 8, Terms: mockprovider.Terms{Per: mockprovider.Account}},
		},
		ReportedLimit: 1,
		Capacity: mockprovider.Capacity{
			Slots: 32, Queue: 64,
			Service: mockprovider.Service{First: draw.Dist{Kind: draw.Lognormal, Mean: 400 * time.Millisecond, CV: 0.4}, PerToken: 15 * time.Millisecond},
		},
		RefusalTime: 5 * time.Millisecond,
	}
}
