package live_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"herdlab/mockprovider"
	"herdlab/mockprovider/faults"
	"herdlab/mockprovider/serve"
	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
	"herdlab/strategies/live"
)

// attempts records the number of attempts of the latest call.
type attempts struct{ last uint32 }

func (a *attempts) Attempt(live.Attempt)         {}
func (a *attempts) Call(c live.Call)             { a.last = c.Attempts }
func (a *attempts) Signal(strategies.SignalSpec) {}

// The provider is out for half a second and refuses with status 200 and a business
// code. A plain client takes the refusal for an answer; a client with a strategy
// waits as long as the reply asks for, and gets an answer.
func Example() {
	provider := serve.Must(serve.Config{})
	_, err := provider.Inject(faults.Outage(0, 500*time.Millisecond, mockprovider.Refusal{
		Status: 200, Body: wire.CodeBody, Code: wire.Code14003, Hint: mockprovider.Hint{Kind: mockprovider.Exact},
	}))
	if err != nil {
		panic(err)
	}
	plain := provider.Client()

	count := &attempts{}
	transport := live.Must(live.Config{
		Base: plain.Transport,
		Strategy: strategies.Definition{Name: "mine", Layers: []strategies.Layer{
			layers.Retry{Backoff: backoffs.FullJitter{Base: time.Second, Cap: time.Minute}, MaxAttempts: 6},
			layers.TokenBucket{Rate: 84, Per: time.Minute, Burst: 3, Scope: strategies.PerFleet},
		}},
		Recorder: count, // or live.NewMetrics() for Prometheus, or live.Log(slog.Default())
	})
	defer transport.Close()

	for _, client := range []*http.Client{plain, {Transport: transport}} {
		req, err := http.NewRequest(http.MethodPost, "http://api.example.com/codybuddy/v1/chat",
			strings.NewReader(`{"model":"demo","messages":[{"role":"user","content":"How are you?"}],"max_tokens":8}`))
		if err != nil {
			panic(err)
		}
		req.Header.Set("Authorization", "Bearer sk-production")
		resp, err := client.Do(req)
		if err != nil {
			panic(err)
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil {
			panic(err)
		}
		fmt.Println(resp.StatusCode, "14003:", strings.Contains(string(text), "14003"))
	}
	fmt.Println(count.last, "attempts")
	// Output:
	// 200 14003: true
	// 200 14003: false
	// 2 attempts
}
