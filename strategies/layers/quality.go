package layers

import (
	"errors"
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// Quality checks lesser answers: those of a ladder's lower rungs, of shrunk
// requests, and those that the provider itself says come from a lesser model.
// Each is marked as degraded and counted; one that fails the rule is counted as
// poor and, with Reject, ends the call with NotGoodEnough instead of passing for
// an answer.
//
// It is right around whatever degrades. It costs nothing but honesty: a fallback
// that nobody looks at turns an outage into a quiet loss of quality. What it
// cannot judge is whether the answer is true; Accept stands for whoever can, with
// a chance for each model.
type Quality struct {
	// Percent of the output asked for must be there, 0 to 100. It is for the
	// simulator, where that is known: a real request says only what is too much.
	Percent int64 `unit:"%" most:"100" default:"0%" about:"Which share of the output asked for an answer must have."`
	// Accept is the chance that a lesser answer of each model is good enough,
	// 0 to 1, by the model's number; those that are not listed always are.
	Accept []float64 `unit:"share" without:"all are good enough" about:"The probability that a degraded answer is good enough, for each model in their order."`
	// Reject fails the call whose answer is poor.
	Reject bool `about:"Whether a call with a poor answer fails."`
	// All checks every answer, not only the lesser ones.
	All bool `about:"Whether all answers are checked, not only degraded ones."`
}

// Build implements Layer.
func (q Quality) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	if q.Percent < 0 || q.Percent > 100 {
		return nil, fmt.Errorf("quality: 0 to 100 percent of an output can be asked for, not %d", q.Percent)
	}
	for _, p := range q.Accept {
		if !(p >= 0 && p <= 1) {
			return nil, errors.New("quality: the chance that an answer is good enough must lie between 0 and 1")
		}
	}
	if q.Percent > 0 {
		b.AsksDemand()
	}
	g := &quality{Quality: q, inner: inner, purpose: b.Purpose()}
	var err error
	if g.lesser, err = b.Note("lesser_answer"); err != nil {
		return nil, err
	}
	g.poor, err = b.Alarm("poor_answer")
	return g, err
}

// quality judges the Stops of what is inside.
type quality struct {
	Quality
	inner        strategies.Strategy
	lesser, poor strategies.Signal
	purpose      strategies.Purpose
}

// Next implements Strategy.
func (q *quality) Next(now time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
	d := q.inner.Next(now, c, e)
	if d.Kind != strategies.Stop || d.End.Reason != strategies.Succeeded {
		return d
	}
	if e.Outcome != nil && e.Outcome.Marks&wire.DegradedReply != 0 {
		d.End.Degraded = true
	}
	if d.End.Degraded {
		c.Raise(q.lesser)
	} else if !q.All {
		return d
	}
	if !q.good(c, e.Outcome) {
		c.Raise(q.poor)
		if q.Reject {
			d.End.Reason = strategies.NotGoodEnough
		}
	}
	return d
}

// good applies the rule to an answer.
func (q *quality) good(c *strategies.Call, o *wire.Outcome) bool {
	if o != nil && uint64(o.Tokens)*100 < uint64(c.Demand.Output())*uint64(q.Percent) {
		return false
	}
	m := int(c.Target.Model)
	return m >= len(q.Accept) || c.Float(q.purpose) < q.Accept[m]
}
