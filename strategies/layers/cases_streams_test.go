package layers_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
	"herdlab/strategies/presets"
	"herdlab/strategies/strategytest"
)

// broken is the outcome of a stream that ends in an error event after the given number
// of tokens.
func broken(class wire.Class, tokens uint32) wire.Outcome {
	return wire.Outcome{Status: 200, Class: class, Begun: true, Tokens: tokens, RetryAfter: wire.NoHint}
}

// neverTwice is the law of case 14 for loops: a call of whose answer something has been
// delivered ends with that, and leaves nothing under way; one of which nothing has been
// is tried again.
func (x passing) neverTwice(t *testing.T) error {
	for _, tokens := range []uint32{0, 20} {
		l := strategytest.NewLab(t, append([]strategies.Layer{theSame()}, x.stack...)...)
		l.Serve = func(*strategytest.Caller) (time.Duration, wire.Outcome) {
			if len(l.Sent) == 1 {
				return time.Second, broken(x.class, tokens)
			}
			return time.Second, strategytest.Answered
		}
		over := strategies.Never
		l.Settled = func(*strategytest.Caller, strategies.Decision) { over = l.Now }
		l.Begin("a", 0)
		l.Run(time.Hour)
		last := l.Sent[len(l.Sent)-1]
		switch {
		case tokens == 0 && len(l.Sent) < 2:
			return fmt.Errorf("what broke before the first token is not tried again")
		case tokens > 0 && (last >= time.Second || over != time.Second):
			return fmt.Errorf("tokens were delivered at 1s; the last attempt is sent at %v, and the call over at %v", last, over)
		}
	}
	return nil
}

// heardAlike is the law of case 14 for what goes by failures: an error event under a
// status of 200 leaves behind what a 503 does.
func heardAlike(tokens []uint32, stack ...strategies.Layer) func(*testing.T) error {
	return func(t *testing.T) error {
		memory := func(fail wire.Outcome) []int64 {
			l := strategytest.NewLab(t, append([]strategies.Layer{theSame()}, stack...)...)
			l.Serve = func(*strategytest.Caller) (time.Duration, wire.Outcome) {
				if len(l.Sent) > 3 {
					return 5 * time.Millisecond, fail
				}
				return time.Millisecond, strategytest.Answered
			}
			for i := range 20 {
				l.At(time.Duration(i)*10*time.Millisecond, func() { l.Begin("a", i) })
			}
			l.Run(time.Second)
			f := l.Fleets[""]
			return slices.Concat(f.Words, f.Clients["a"])
		}
		refused := strategytest.Refused(wire.Overloaded)
		refused.Status = 503
		for _, n := range tokens {
			if want, got := memory(refused), memory(broken(wire.Overloaded, n)); !slices.Equal(want, got) {
				return fmt.Errorf("after %d tokens: %v, not %v", n, got, want)
			}
		}
		return nil
	}
}

// midStream is case 14.
func midStream(t *testing.T) fieldCase {
	again, shares := ofKind(t, goesAgain), ofKind(t, sharesMemory)
	c := fieldCase{name: "case-14", law: "nothing is delivered twice, and an error under a 200 is an error", about: append(again, shares...)}
	for _, x := range loopsThatGoOn() {
		c.trials = append(c.trials, layer(x.stack[0], x.how+" delivering", x.neverTwice))
	}
	for r := range layers.Replay(layers.NumReplays) {
		x := passing{"", []strategies.Layer{layers.Retry{Backoff: backoffs.Fixed{Every: time.Second}, On: layers.Rules{Replay: r}}}, wire.Overloaded}
		c.about = append(c.about, r.String())
		c.trials = append(c.trials, trial{of: r.String(), holds: x.neverTwice, breaks: map[layers.Replay]string{
			layers.ReplayNothing: "it tries nothing again that had begun",
			layers.ReplayAll:     "it is for those who keep back what they are given",
			layers.ReplayOnly:    "it is for those who keep back what they are given",
		}[r]})
	}
	for how, l := range byName(everyLayer()) {
		if name := typeName(l); slices.Contains(shares, name) {
			tokens := []uint32{0, 20}
			if slices.Contains(again, name) {
				tokens = tokens[:1] // with 20 it does not go on
			}
			x := layer(l, how+" hearing", heardAlike(tokens, l))
			if name == "GRPCBudget" {
				x.breaks = "gRPC's own rule: once there is a response, its failure costs nothing"
			}
			c.trials = append(c.trials, x)
		}
	}
	for _, b := range presets.Builtins() {
		d := b.Define(sixSlots)
		x := trial{of: b.Name, holds: func(t *testing.T) error {
			n, answered := answering(t, d, wire.Reply{Status: 200, Shown: wire.Overloaded, Body: wire.StreamError, Tokens: 20, Hint: wire.Hint{Value: wire.NoHint}})
			return wrong(n != 1 || answered, "%d attempts, taken for an answer: %v", n, answered)
		}}
		if b.Name == "status-only" {
			x.breaks = "it takes a 200 for an answer"
		}
		c.about, c.trials = append(c.about, b.Name), append(c.trials, x)
	}
	return c
}
