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

func TestQuality(t *testing.T) {
	ladder := Ladder{Rungs: []Rung{{Model: 0}, {Model: 1}}}
	strategytest.Play(t, []strategies.Layer{Quality{Percent: 50}, ladder}, `
		begin -> send
		200 -> stop succeeded                     # what was asked for is not checked
		begin -> send
		503 -> wait 0s
		wake -> send
		200 -> stop succeeded ok + note degraded + note lesser_answer`)
	strategytest.Play(t, []strategies.Layer{Retry{Backoff: backoffs.Fixed{}}, Quality{Accept: []float64{1, 0}, Reject: true}, ladder}, `
		begin -> send
		503 -> wait 0s
		wake -> send
		200 -> stop not_good_enough ok + note degraded + note lesser_answer + alarm poor_answer
		begin -> send
		503 -> wait 0s
		wake -> send
		503 -> stop nothing_left + alarm no_model_left`)
}

// Marks, length and chance, one by one.
func TestQualityOfAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		quality  Quality
		outcome  wire.Outcome
		want     strategies.End
		poor     int
		asksFor  uint32
		limitsTo uint32
	}{
		"whole":                 {Quality{Percent: 100}, wire.Outcome{Tokens: 9}, strategies.End{Reason: strategies.Succeeded}, 0, 10, 0},
		"said to be less":       {Quality{}, wire.Outcome{Marks: wire.DegradedReply}, strategies.End{Reason: strategies.Succeeded, Degraded: true}, 0, 10, 0},
		"short":                 {Quality{Percent: 90}, wire.Outcome{Marks: wire.DegradedReply, Tokens: 8}, strategies.End{Reason: strategies.Succeeded, Degraded: true}, 1, 10, 0},
		"long enough":           {Quality{Percent: 90}, wire.Outcome{Marks: wire.DegradedReply, Tokens: 9}, strategies.End{Reason: strategies.Succeeded, Degraded: true}, 0, 10, 0},
		"as short as was asked": {Quality{Percent: 90}, wire.Outcome{Marks: wire.DegradedReply, Tokens: 5}, strategies.End{Reason: strategies.Succeeded, Degraded: true}, 0, 10, 5},
		"all are checked":       {Quality{Percent: 90, All: true, Reject: true}, wire.Outcome{Tokens: 8}, strategies.End{Reason: strategies.NotGoodEnough}, 1, 10, 0},
	} {
		t.Run(name, func(t *testing.T) {
			l := strategytest.NewLab(t, strategytest.Asking{Demand: wire.Demand{OutputTokens: c.asksFor, MaxTokens: c.limitsTo}}, c.quality)
			l.Serve = func(*strategytest.Caller) (time.Duration, wire.Outcome) { return 0, c.outcome }
			var end strategies.End
			l.Settled = func(_ *strategytest.Caller, d strategies.Decision) { end = d.End }
			l.Begin("a", 0)
			l.Run(1)
			require.Equal(t, c.want, end)
			require.Equal(t, c.poor, l.Raised["alarm poor_answer"])
		})
	}
}

// The chance that an answer is good enough is that of its model.
func TestQualityIsAChance(t *testing.T) {
	l := strategytest.NewLab(t, Quality{Accept: []float64{1, 0.8}, All: true}, Ladder{Rungs: []Rung{{Model: 1}}})
	for i := range 4000 {
		l.Begin("a", i)
	}
	l.Run(time.Second)
	require.InDelta(t, 800, l.Raised["alarm poor_answer"], 4.5*25.3)
}
