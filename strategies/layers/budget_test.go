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

// ledger is a budget that records its calls and allows a fixed number of extra attempts.
type ledger struct {
	heard *[]string
	left  *int
}

func (l ledger) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	return withBudget(b, l, inner)
}

func (l ledger) note(s string) { *l.heard = append(*l.heard, s) }

func (l ledger) began(time.Duration, *strategies.Call) { l.note("began") }
func (l ledger) waited(*strategies.Call)               { l.note("waited") }
func (l ledger) allow(_ time.Duration, _ *strategies.Call, class wire.Class) (int64, bool) {
	if *l.left--; *l.left < 0 {
		l.note("refused after " + class.String())
		return 0, false
	}
	l.note("allowed after " + class.String())
	return 7, true
}

func (l ledger) ended(_ *strategies.Call, o *wire.Outcome, charged int64) {
	if charged > 0 {
		l.note("charged ended " + o.Class.String())
		return
	}
	l.note("ended " + o.Class.String())
}

func (l ledger) over(_ *strategies.Call, charged int64) {
	if charged > 0 {
		l.note("over unheard")
		return
	}
	l.note("over")
}

// budgeting plays a script with a ledger that allows the given number of extra
// attempts, and compares the calls that it recorded.
func budgeting(t *testing.T, allowed int, stack func(strategies.Layer) []strategies.Layer, script string, want ...string) {
	t.Helper()
	var heard []string
	left := 0
	for range 2 { // as play plays it, with and without grants of pools
		heard, left = nil, allowed
		l := ledger{&heard, &left}
		w := strategytest.NewWorld(t, map[string][]strategies.Layer{"": stack(l)}, 1)
		w.Script(script)
		require.Equal(t, want, heard)
	}
}

func TestBudgetOutsideALoopDecidesAtScheduleTime(t *testing.T) {
	retry := Retry{Backoff: backoffs.Fixed{Every: time.Second}, MaxAttempts: 3}
	outside := func(l strategies.Layer) []strategies.Layer { return []strategies.Layer{l, retry} }
	budgeting(t, 9, outside, `
		begin -> send
		503 -> wait 1s
		wake -> send
		429 -> wait 1s
		wake -> send
		500 -> stop tries_exhausted`, // no fourth attempt is asked for
		"began", "ended overloaded", "allowed after overloaded", "waited",
		"charged ended rate", "allowed after rate", "waited", "charged ended server_error", "over")
	budgeting(t, 0, outside, `
		begin -> send
		503 -> stop budget_spent overloaded
		begin -> send
		200 -> stop succeeded
		begin -> send
		401 -> stop failed auth`,
		"began", "ended overloaded", "refused after overloaded", "over",
		"began", "ended ok", "over", "began", "ended auth", "over")
	budgeting(t, 9, outside, `
		begin -> send
		503 -> wait 1s
		cancelled -> stop withdrawn`,
		"began", "ended overloaded", "allowed after overloaded", "waited", "over unheard")
	budgeting(t, 9, outside, `
		begin -> send
		503 -> wait 1s
		wake -> send
		settled -> stop failed cancelled          # its call is over
		cancelled -> stop withdrawn`,
		"began", "ended overloaded", "allowed after overloaded", "waited", "over unheard")
}

func TestBudgetInsideALoopDecidesAtSendTime(t *testing.T) {
	retry := Retry{Backoff: backoffs.Fixed{Every: time.Second}, MaxAttempts: 3}
	inside := func(l strategies.Layer) []strategies.Layer { return []strategies.Layer{retry, l} }
	budgeting(t, 1, inside, `
		begin -> send
		503 -> wait 1s
		wake -> send
		429 -> wait 1s
		wake -> stop budget_spent rate`,
		"began", "ended overloaded", "over", "began", "allowed after overloaded", "waited",
		"charged ended rate", "over", "began", "refused after rate", "over")
}

// A wait that a guard asks for is no retry; a retry is charged once, however
// many loops and guards it passes.
func TestBudgetChargesOnce(t *testing.T) {
	retry := Retry{Backoff: backoffs.Fixed{Every: time.Second}, MaxAttempts: 2}
	breaker := Breaker{Failures: 1, OpenFor: 5 * time.Second, MinWait: time.Second, Scope: strategies.PerFleet}
	budgeting(t, 1, func(l strategies.Layer) []strategies.Layer { return []strategies.Layer{retry, l, retry, breaker} }, `
		begin -> send
		503 -> wait 1s
		wake -> wait 4s                           # the breaker's
		wake -> send
		503 -> wait 1s                            # the outer loop's
		wake -> stop budget_spent overloaded`,
		"began", "ended overloaded", "allowed after overloaded", "waited", "charged ended overloaded", "over",
		"began", "refused after overloaded", "over")
}

// A loop that sends again at once, or that waits in a line, is charged as well.
func TestBudgetChargesEveryKindOfLoop(t *testing.T) {
	budgeting(t, 1, func(l strategies.Layer) []strategies.Layer {
		return []strategies.Layer{l, Concurrency{Permits: 1, Scope: strategies.PerFleet}, resender{}}
	}, `
		a: begin -> send
		b: begin -> queued
		a: 503 -> send
		a: 429 -> stop budget_spent rate
		b: admitted -> send`,
		"began", "began", "ended overloaded", "allowed after overloaded", "waited", "charged ended rate", "refused after rate", "over")
	budgeting(t, 1, func(l strategies.Layer) []strategies.Layer { return []strategies.Layer{l, cooling()} }, `
		a: begin -> send
		b: begin -> send
		a: 429 -> queued until 5m
		b: 429 -> stop budget_spent
		@5m a: admitted -> send
		a: 200 -> stop succeeded`,
		"began", "began", "ended rate", "allowed after rate", "ended rate", "refused after rate", "over", "waited", "charged ended ok", "over")
}

// What a layer between the budget and its loop holds is given back when a wait
// becomes the end.
func TestBudgetGivesBackWhatIsHeld(t *testing.T) {
	var heard []string
	left := 0
	strategytest.Play(t, []strategies.Layer{ledger{&heard, &left}, Concurrency{Permits: 1, Scope: strategies.PerFleet}, Retry{Backoff: backoffs.Fixed{Every: time.Second}}}, `
		a: begin -> send
		b: begin -> queued
		a: 503 -> stop budget_spent
		b: admitted -> send`)
}

func TestBudgetsRejectsInvalidSettings(t *testing.T) {
	for want, layer := range map[string]strategies.Layer{
		"grpc budget: max_tokens must be 1 to 1000 and ratio 1 to 1000·max_tokens, not 0 and 100":                 GRPCBudget{Ratio: 100, Scope: strategies.PerClient},
		"grpc budget: it cannot be shared per call; use client, fleet or everyone":                                GRPCBudget{MaxTokens: 10, Ratio: 100},
		"finagle budget: percent or min_per_second must be positive; to allow no retry, leave out the retry loop": FinagleBudget{Scope: strategies.PerClient},
		"finagle budget: ttl must be 10ns to 1h, not 2h0m0s":                                                      FinagleBudget{Percent: 20, TTL: 2 * time.Hour, Scope: strategies.PerClient},
		"finagle budget: percent must be 0 to 1000 and min_per_second 0 to 1000000, not -1 and 0":                 FinagleBudget{Percent: -1, Scope: strategies.PerClient},
		"envoy budget: percent must be 0 to 1000 and floor at least 0, and one of them positive, not 0 and 0":     EnvoyBudget{Scope: strategies.PerClient},
		"envoy budget: what everyone shares needs a name":                                                         EnvoyBudget{Percent: 20, Scope: strategies.PerEveryone},
		"aws budget: capacity must be 1 to 1000000000, not 0":                                                     AWSBudget{Scope: strategies.PerClient},
		"aws budget: cost must be 1 to the capacity, not 501":                                                     AWSBudget{Capacity: 500, Cost: 501, Scope: strategies.PerClient},
		"aws budget: other_cost must be 1 to the capacity, not 0":                                                 AWSBudget{Capacity: 500, Cost: 5, Other: strategies.Limits, Scope: strategies.PerClient},
		"brooker budget: size must be 1 to 1000000 and deposit 0 to 1000000000, not 0 and 0":                      BrookerBudget{Scope: strategies.PerClient},
	} {
		_, err := strategies.Compile(strategies.Definition{Name: "bad", Layers: []strategies.Layer{layer}}, nil)
		require.EqualError(t, err, `strategy "bad": `+want)
	}
	// Layers that share a budget must have the same settings.
	commons := strategies.NewSharedMemory()
	_, err := strategies.Compile(strategies.Definition{Name: "one", Layers: []strategies.Layer{AWSBudget{Capacity: 500, Cost: 5, Scope: strategies.PerEveryone, Name: "b"}}}, commons)
	require.NoError(t, err)
	_, err = strategies.Compile(strategies.Definition{Name: "two", Layers: []strategies.Layer{AWSBudget{Capacity: 500, Cost: 14, Scope: strategies.PerEveryone, Name: "b"}}}, commons)
	require.ErrorContains(t, err, `two layers share "aws budget b" but differ`)
}
