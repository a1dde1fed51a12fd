package layers

import (
	"errors"
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// Quality checks degraded answers: those of a ladder's lower rungs, of shrunk
// requests, and those that the provider itself marks as coming from a lesser model.
// Each is marked as degraded and counted. One that fails the rule is counted as
// poor and, with Reject, ends the call with NotGoodEnough.
//
// Use it around every layer that degrades answers. It sends nothing: it only makes
// visible that a fallback turns an outage into a loss of quality. It cannot judge
// whether an answer is true; Accept stands for such a judgement, as a probability
// for each model.
type Quality struct {
	// Percent is the share of the requested output that an answer must have, 0 to
	// 100 %. It is for the simulator, where the requested output is known; a real
	// request contains only a cap.
	Percent int64 `unit:"%" most:"100" default:"0%" about:"Which share of the output asked for an answer must have."`
	// Accept is the probability that a degraded answer of each model is good
	// enough, 0 to 1, by model number; answers of models that are not listed always
	// are.
	Accept []float64 `unit:"share" without:"all are good enough" about:"The probability that a degraded answer is good enough, for each model in their order."`
	// Reject makes a call with a poor answer fail.
	Reject bool `about:"Whether a call with a poor answer fails."`
	// All makes the layer check every answer, not only degraded ones.
	All bool `about:"Whether all answers are checked, not only degraded ones."`
}

// Build implements Layer.
func (q Quality) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	if q.Percent < 0 || q.Percent > 100 {
		return nil, fmt.Errorf("quality: percent must be 0 to 100, not %d", q.Percent)
	}
	for _, p := range q.Accept {
		if !(p >= 0 && p <= 1) {
			return nil, errors.New("quality: accept must contain probabilities from 0 to 1")
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

// quality checks the answers of the inner strategy.
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

// good reports whether an answer passes the rule.
func (q *quality) good(c *strategies.Call, o *wire.Outcome) bool {
	if o != nil && uint64(o.Tokens)*100 < uint64(c.Demand.Output())*uint64(q.Percent) {
		return false
	}
	m := int(c.Target.Model)
	return m >= len(q.Accept) || c.Float(q.purpose) < q.Accept[m]
}
