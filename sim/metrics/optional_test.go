package metrics

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
)

// A bill by hand: an answer for 3 n$, a refusal for 1, an answer for 5 that
// came too late, and half an answer that was repeated.
func TestBill(t *testing.T) {
	r := NewRecorder(Plan{Horizon: 10 * s})
	call(r, 0, s)
	r.Charged(3, 100)
	r.CallBegan(s)
	for n, how := range []Ending{Refused, TimedOut, Refused, Answered} {
		attempt(r, s, uint32(n+1))
		r.AttemptEnded(how)
	}
	r.Replied(wire.Overloaded, 0)
	r.Charged(1, 0)
	r.WastedCharge(1, 0)
	r.Replied(wire.OK, 0)
	r.Charged(5, 80)
	r.WastedCharge(5, 80)
	r.Replied(wire.Overloaded, 0)
	r.Charged(2, 50)
	r.WastedCharge(2, 50)
	r.Replied(wire.OK, 0)
	r.Charged(4, 90)
	r.Repeated(50)
	r.CallSettled(2*s, useful(s))
	rep := r.Finish(2*s, 0, nil)
	require.NoError(t, rep.Check())
	v := rep.Values()
	for m, want := range map[Metric]float64{
		Spent: 15e-9, WastedSpent: 8e-9, CostPerAnswer: 7.5e-9, OutputTokens: 320, WastedTokens: 130, RepeatedTokens: 50,
	} {
		assert.InDelta(t, want, v[m], 1e-18, m.Info().Name)
	}
	for _, damage := range []func(r *Report){
		func(r *Report) { r.Truth.WastedSpent.Add(8) },
		func(r *Report) { r.Truth.WastedTokens = 321 },
		func(r *Report) { r.Truth.RepeatedTokens = 321 },
		func(r *Report) { r.DegradedBy = []uint64{0, 1} },
		func(r *Report) { r.Belief.Degraded = 1 },
	} {
		broken := *rep
		damage(&broken)
		assert.ErrorContains(t, broken.Check(), "conservation: ")
	}
}

// What was spent without an answer has no price for each: it is never worth it.
func TestNoAnswerIsNeverWorthItsCost(t *testing.T) {
	r := NewRecorder(Plan{Horizon: 10 * s})
	r.CallBegan(0)
	r.Charged(7, 0)
	v := r.Finish(s, 0, nil).Values()
	assert.Equal(t, Never, v[CostPerAnswer])
	assert.Zero(t, NewRecorder(Plan{Horizon: 10 * s}).Finish(s, 0, nil).Values()[CostPerAnswer], "nothing spent, nothing to ask")
}

// Answers of each kind are told apart, lesser ones by their model; what other
// calls' attempts brought needs no reply of one's own.
func TestAnswersThatAreNotLikeOthers(t *testing.T) {
	r := NewRecorder(Plan{Horizon: 10 * s})
	call(r, 0, s)
	for _, how := range []Settlement{
		{Shared: true}, {FromMemory: true}, {FromMemory: true, Degraded: true, Model: 2},
		{Shared: true, Degraded: true}, {Shared: true, Degraded: true, Model: 2},
	} {
		r.CallBegan(s)
		how.Born, how.Succeeded, how.Useful = s, true, true
		r.CallSettled(s, how)
	}
	rep := r.Finish(s, 0, nil)
	require.NoError(t, rep.Check())
	assert.Equal(t, []uint64{1, 0, 2}, rep.DegradedBy)
	v := rep.Values()
	assert.Equal(t, []float64{3, 2, 3}, []float64{v[DegradedAnswers], v[AnswersFromMemory], v[SharedAnswers]})
	rep.Belief.Shared--
	require.ErrorContains(t, rep.Check(), "other calls' attempts 2")
}

// Signals of one reason are one, whoever raises them; what was never raised is
// in the report and not in results.
func TestSignals(t *testing.T) {
	r := NewRecorder(Plan{Horizon: 10 * s})
	full, note, silent := r.Signal("full", true), r.Signal("full", false), r.Signal("silent", true)
	require.Equal(t, full, r.Signal("full", true))
	r.Raised(3*s, note)
	r.Raised(4*s, full)
	r.Raised(5*s, full)
	rep := r.Finish(9*s, 0, nil)
	want := []Signal{{"full", true, 2, 4 * s}, {"full", false, 1, 3 * s}, {"silent", true, 0, 0}}
	assert.Equal(t, want, rep.Signals)
	v := rep.Values()
	assert.Equal(t, []float64{2, 4}, []float64{v[Alarms], v[FirstAlarm]}, "a note is no alarm")
	results := SummariseSignals([][]Signal{rep.Signals, nil})
	require.Len(t, results, 2)
	assert.Equal(t, []uint64{1, 0}, results[0].Count)
	assert.Equal(t, []uint64{2, 0}, results[1].Count)
	assert.True(t, results[1].Alarm)
	assert.Equal(t, 4.0, *results[1].First[0])
	assert.Nil(t, results[1].First[1])
	r.Raised(6*s, silent)
	assert.Len(t, SummariseSignals([][]Signal{r.Finish(9*s, 0, nil).Signals}), 3)
}

// Of n failures at most 8 + log(n/8)/log(5/4) + 1 are kept: the first eight, and
// between two neighbours a quarter of the number at most.
func TestSampleOfFailures(t *testing.T) {
	r := NewRecorder(Plan{Horizon: s})
	var kept []int
	const n = 1_000_000
	for i := 1; i <= n; i++ {
		if r.Sampled() {
			r.Sample(Failure{At: time.Duration(i)})
			kept = append(kept, i)
		}
	}
	rep := r.Finish(s, 0, nil)
	require.EqualValues(t, n, rep.Failed)
	require.Len(t, rep.Failures, len(kept))
	require.LessOrEqual(t, float64(len(kept)), 9+math.Log(n/8)/math.Log(1.2))
	for i, at := range kept {
		require.Equal(t, time.Duration(at), rep.Failures[i].At)
		if i < 8 {
			require.Equal(t, i+1, at)
		} else {
			require.LessOrEqual(t, at-kept[i-1], kept[i-1]/4)
		}
	}
	require.Greater(t, kept[len(kept)-1], n*4/5)
}
