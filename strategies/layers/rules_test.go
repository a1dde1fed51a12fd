package layers

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/strategytest"
)

func TestRules(t *testing.T) {
	sdk := []Statuses{Status(408), Status(409), Status(429), {500, 599}}
	for name, c := range map[string]struct {
		on     Rules
		script string
	}{
		"by default, the provider may stop but not start": {Rules{}, `
			begin -> send
			503 says=retry -> wait 1s
			wake -> send
			503 says=stop -> stop failed overloaded
			begin -> send
			400 says=retry -> stop failed bad_request
			begin -> send
			401 -> stop failed auth`},
		"marks decide": {Rules{Marks: MarksDecide}, `
			begin -> send
			503 says=stop -> stop failed
			begin -> send
			400 says=retry -> wait 1s
			wake -> send
			200 says=retry -> stop succeeded`},
		"marks ignored": {Rules{Marks: MarksIgnored}, `
			begin -> send
			503 says=stop -> wait 1s
			wake -> send
			400 says=retry -> stop failed`},
		"classes of one's own": {Rules{Classes: strategies.ClassesOf(wire.Auth)}, `
			begin -> send
			401 -> wait 1s
			wake -> send
			503 -> stop failed overloaded`},
		"statuses decide over classes": {Rules{Statuses: sdk}, `
			begin -> send
			409 -> wait 1s                        # a bad request by its class
			wake -> send
			529 -> wait 1s
			wake -> send
			599 -> wait 1s
			wake -> send
			499 -> stop failed
			begin -> send
			498 -> stop failed
			begin -> send
			600 -> stop failed`},
		"what has no error status goes by its class": {Rules{Statuses: sdk}, `
			begin -> send
			lost -> wait 1s
			wake -> send
			expired -> wait 1s
			wake -> send
			overloaded -> wait 1s                 # a body that says so under a 200
			wake -> send
			quota -> stop failed`},
		"exceptions": {Rules{Statuses: sdk, Except: strategies.ClassesOf(wire.Rate, wire.ConnectionLost)}, `
			begin -> send
			500 -> wait 1s
			wake -> send
			429 -> stop failed rate
			begin -> send
			lost -> stop failed disconnected`},
		"only if asked to": {Rules{Statuses: sdk, AskedOnly: []Statuses{Status(429)}}, `
			begin -> send
			500 -> wait 1s
			wake -> send
			429 after=3s -> wait 3s
			wake -> send
			429 after=0s -> wait 1s
			wake -> send
			429 -> stop failed`},
		"not what has been delivered in part": {Rules{}, `
			begin -> send
			disconnected tokens=0 -> wait 1s      # an error before the first token
			wake -> send
			overloaded tokens=1 -> stop failed`},
		"nothing that has begun": {Rules{Replay: ReplayNothing}, `
			begin -> send
			lost -> wait 1s
			wake -> send
			disconnected tokens=0 -> stop failed`},
		"only what has begun": {Rules{Replay: ReplayOnly}, `
			begin -> send
			disconnected tokens=0 -> wait 1s
			wake -> send
			overloaded tokens=9 -> wait 1s
			wake -> send
			503 -> stop failed`},
		"also, whatever the status": {Rules{Statuses: []Statuses{Status(500)}, Also: strategies.ClassesOf(wire.BadRequest), Except: strategies.ClassesOf(wire.Auth)}, `
			begin -> send
			500 -> wait 1s
			wake -> send
			400 -> wait 1s
			wake -> send
			503 -> stop failed
			begin -> send
			401 -> stop failed`},
		"everything that has begun": {Rules{Replay: ReplayAll}, `
			begin -> send
			disconnected tokens=70 -> wait 1s`},
	} {
		t.Run(name, func(t *testing.T) {
			strategytest.Play(t, []strategies.Layer{Retry{Backoff: backoffs.Fixed{Every: time.Second}, On: c.on}}, c.script)
		})
	}
}

// A loop does not retry what a layer inside has refused unless it is told to.
func TestRulesForRefusals(t *testing.T) {
	retry := Retry{Backoff: backoffs.Fixed{Every: time.Second}, MaxAttempts: 3}
	strategytest.Play(t, []strategies.Layer{retry, fast(1, strategies.PerFleet)}, `
		begin -> send
		503 -> wait 1s
		wake -> stop breaker_open`)
	retry.On.Refusals = true
	strategytest.Play(t, []strategies.Layer{retry, fast(1, strategies.PerFleet)}, `
		begin -> send
		503 -> wait 1s
		wake -> wait 1s
		wake -> stop tries_exhausted overloaded`)
}

func TestRulesRejectsInvalidSettings(t *testing.T) {
	for want, on := range map[string]Rules{
		"retry: 599 to 500 is not a range of HTTP statuses; write 100 to 999, the lower one first": {Statuses: []Statuses{{599, 500}}},
		"retry: 0 to 0 is not a range of HTTP statuses; write 100 to 999, the lower one first":     {AskedOnly: []Statuses{{}}},
		"retry: there is no value 9 of marks or no value 0 of replay":                              {Marks: 9},
		"retry: there is no value 0 of marks or no value 7 of replay":                              {Replay: 7},
	} {
		_, err := strategies.Compile(strategies.Definition{Name: "bad", Layers: []strategies.Layer{Retry{Backoff: backoffs.Fixed{}, On: on}}}, nil)
		require.EqualError(t, err, `strategy "bad": `+want)
	}
}
