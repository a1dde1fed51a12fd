package metrics

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
)

const s = time.Second

// useful is how a call ends that was answered.
func useful(born time.Duration) Settlement {
	return Settlement{Born: born, Succeeded: true, Useful: true}
}

// attempt records the number-th attempt of a call, which arrives at once.
func attempt(r *Recorder, now time.Duration, number uint32) {
	r.AttemptSent(number, false)
	r.AttemptArrived(now)
}

// call records a call with one attempt that is answered at the end.
func call(r *Recorder, born, answered time.Duration) {
	r.CallBegan(born)
	attempt(r, born, 1)
	answer(r, born, answered)
}

func answer(r *Recorder, born, at time.Duration) {
	r.Replied(wire.OK, 0)
	r.AttemptEnded(Answered)
	r.CallSettled(at, useful(born))
}

// Three jobs: one answered before the fault ends, one 2.5 s after it, and the
// last, after three retries at one instant, 4 s after it.
func TestDrainAndPeakByHand(t *testing.T) {
	r := NewRecorder(Plan{FaultBegin: 0, FaultEnd: 10 * s, Horizon: 100 * s, Capacity: 1, OneShot: true})
	for range 3 {
		r.CallBegan(0)
		attempt(r, 0, 1)
	}
	answer(r, 0, 9*s)
	r.Replied(wire.Overloaded, 0)
	r.AttemptEnded(Refused)
	for n := range uint32(3) {
		attempt(r, 12*s, n+2)
	}
	r.Replied(wire.Overloaded, 0)
	r.AttemptEnded(Refused)
	r.Replied(wire.Overloaded, 0)
	r.AttemptEnded(Refused)
	answer(r, 0, 12*s+s/2)
	answer(r, 0, 14*s)
	rep := r.Finish(14*s, 0, nil)
	require.NoError(t, rep.Check())
	v := rep.Values()
	for m, want := range map[Metric]float64{
		Calls: 3, Attempts: 6, AttemptsInFault: 3, Amplification: 2, SuccessRate: 1, Refusals: 3,
		Peak: 3, PeakAfter: 3, PeakAfterOfCapacity: 3, SecondPeak: 3, SecondPeakTime: 2,
		DrainTime: 4, SilentLosses: 0, FailedCalls: 0, PendingCalls: 0,
		LatencyP99: 14,
	} {
		assert.Equal(t, want, v[m], m.Info().Name)
	}
	assert.True(t, math.IsNaN(v[RecoveryTime]), "a one-shot fleet does not recover")
	assert.True(t, math.IsNaN(v[Goodput]), "whoever gives up would be done sooner")
	assert.InDelta(t, (9+12.5+14)/3.0, rep.MeanSojourn(), 1e-9)
	assert.InDelta(t, (9+12.5+14)/14.0, rep.MeanCalls(), 1e-9)

	line := rep.Timeline(42)
	assert.Equal(t, []uint32{3, 0, 0}, line.Attempts[:3])
	assert.EqualValues(t, 3, line.Attempts[12])
	assert.EqualValues(t, []any{uint64(42), 0.0, 1.0}, []any{line.Seed, line.Start, line.Width})
	line.Attempts[12] = 0
	peak, at := rep.Peak(true)
	assert.EqualValues(t, 3, peak, "a timeline shares no memory with its report")
	assert.Equal(t, 12*s, at)
}

// One of two calls is more than may be lost, and a call that is pending never
// drains; with a bound that allows it, a lost call drains when it is settled.
func TestDrainCountsSettledCalls(t *testing.T) {
	for name, test := range map[string]struct {
		how        *Settlement
		minSuccess float64
		want       float64
	}{
		"failed":       {&Settlement{}, 0, Never},
		"lost":         {&Settlement{Succeeded: true}, 0, Never},
		"failed, half": {&Settlement{}, 0.5, 40},
		"lost, half":   {&Settlement{Succeeded: true}, 0.5, 40},
		"pending":      {nil, 0.5, Never},
	} {
		r := NewRecorder(Plan{FaultEnd: 10 * s, Horizon: 100 * s, OneShot: true, MinSuccess: test.minSuccess})
		call(r, 0, 1*s)
		r.CallBegan(2 * s)
		if test.how != nil {
			test.how.Born = 2 * s
			r.CallSettled(50*s, *test.how)
		}
		rep := r.Finish(100*s, 0, func(yield func(time.Duration)) {
			if test.how == nil {
				yield(2 * s)
			}
		})
		require.NoError(t, rep.Check(), name)
		assert.Equal(t, test.want, rep.Drain(), name)
		assert.Equal(t, 0.5, rep.Values()[SuccessRate], name)
		assert.Equal(t, []float64{0.5, 0.5}, []float64{rep.Outcomes.Lower(), rep.Outcomes.Upper()}, name)
	}
}

// Bins are aligned to the end of the last fault: 4 attempts just before and
// just after 2.5 s do not share one.
func TestBinsAreAlignedToTheFault(t *testing.T) {
	r := NewRecorder(Plan{FaultEnd: 2*s + s/2, Horizon: 10 * s})
	for range 4 {
		call(r, 2*s+s/2-1, 2*s+s/2-1)
	}
	for range 3 {
		call(r, 2*s+s/2, 2*s+s/2)
	}
	rep := r.Finish(3*s, 0, nil)
	require.NoError(t, rep.Check())
	assert.Equal(t, -s/2, rep.Series.Start)
	overall, at := rep.Peak(false)
	assert.EqualValues(t, 4, overall)
	assert.Equal(t, s+s/2, at)
	after, at := rep.Peak(true)
	assert.EqualValues(t, 3, after)
	assert.Equal(t, 2*s+s/2, at)
}

// Attempts are first tries, retries and hedges; an attempt whose connection was
// lost on its way up has never arrived; what a client answers itself needs no
// provider, and is not degraded for that.
func TestAttemptsAndAnswersOfEachKind(t *testing.T) {
	r := NewRecorder(Plan{Horizon: 10 * s})
	r.CallBegan(0)
	r.AttemptSent(1, false)
	r.AttemptEnded(ConnectionLost)
	attempt(r, s, 2)
	r.Replied(wire.Overloaded, 0)
	r.AttemptEnded(Refused)
	attempt(r, s, 3)
	r.AttemptSent(4, true)
	r.AttemptArrived(s)
	answer(r, 0, 2*s)
	r.Replied(wire.Overloaded, 0)
	r.AttemptEnded(Refused)
	r.CallBegan(2 * s)
	r.CallSettled(2*s, Settlement{Born: 2 * s, Succeeded: true, Useful: true, FromMemory: true})
	for range 2 {
		r.CallBegan(2 * s)
		attempt(r, 2*s, 1)
		r.Replied(wire.OK, 0)
		r.AttemptEnded(Answered)
		r.CallSettled(2*s, Settlement{Born: 2 * s, Succeeded: true, Useful: true, Degraded: true})
	}
	rep := r.Finish(2*s, 0, nil)
	require.NoError(t, rep.Check())
	assert.Equal(t, Tries{FirstTries: 3, Retries: 2, Hedges: 1}, rep.Tries)
	assert.EqualValues(t, 1, rep.Belief.FromMemory)
	assert.EqualValues(t, 2, rep.Belief.Degraded)
	assert.EqualValues(t, 5, rep.Arrived)
}

// Check catches each way in which a ledger can be broken.
func TestCheckCatchesABrokenLedger(t *testing.T) {
	sound := func() *Report {
		r := NewRecorder(Plan{FaultEnd: 2 * s, Horizon: 10 * s})
		call(r, 0, s)
		call(r, s, 3*s)
		return r.Finish(3*s, 0, nil)
	}
	require.NoError(t, sound().Check())
	for name, damage := range map[string]func(r *Report){
		"an attempt without an end":      func(r *Report) { r.Belief.Attempts++; r.Series.Attempts[0]++ },
		"an end too many":                func(r *Report) { r.Belief.Endings[Refused]++ },
		"an attempt in flight too many":  func(r *Report) { r.InFlight++ },
		"a call settled twice":           func(r *Report) { r.Belief.Failed++; r.Series.Settled[0]++ },
		"a success neither true nor not": func(r *Report) { r.Belief.Lost++ },
		"a bin that lost a call":         func(r *Report) { r.Series.Calls[0]-- },
		"a bin that lost an attempt":     func(r *Report) { r.Series.Attempts[0]-- },
		"a bin that lost an answer":      func(r *Report) { r.Series.Useful[1]-- },
		"a retry nobody made":            func(r *Report) { r.Retries++ },
		"a hedge nobody made":            func(r *Report) { r.Hedges++ },
		"a first try without a call":     func(r *Report) { r.Belief.Calls--; r.Belief.Useful--; r.Belief.Succeeded-- },
		"an answer of a client's own":    func(r *Report) { r.Truth.Replies[wire.OK] = 1; r.Belief.Degraded = 1 },
		"more waste than work":           func(r *Report) { r.Truth.WastedSlotTime.Add(1) },
		"more answers than were given":   func(r *Report) { r.Truth.Replies[wire.OK] = 1 },
		"time spent outside the system":  func(r *Report) { r.sojourn.Add(1) },
	} {
		r := sound()
		damage(r)
		assert.ErrorContains(t, r.Check(), "conservation: ", name)
	}
}
