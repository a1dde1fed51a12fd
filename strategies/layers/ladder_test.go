package layers

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/strategytest"
)

// pointing is an innermost layer that says in a note where an attempt goes, if
// not to the first of each.
type pointing struct {
	inner strategies.Strategy
	notes [3][4]strategies.Signal
}

func (p pointing) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	p.inner = inner
	for i, what := range []string{"model", "region", "key"} {
		for n := range p.notes[i] {
			s, err := b.Note(fmt.Sprint(what, " ", n))
			if err != nil {
				return nil, err
			}
			p.notes[i][n] = s
		}
	}
	return p, nil
}

func (p pointing) Next(now time.Duration, c *strategies.Call, e strategies.Event) strategies.Decision {
	if e.Kind == strategies.Begin {
		for i, n := range []uint8{c.Target.Model, c.Target.Region, c.Target.Key} {
			if n > 0 {
				c.Raise(p.notes[i][n])
			}
		}
	}
	return p.inner.Next(now, c, e)
}

var twoOneOne = []Rung{{Model: 0, Tries: 2}, {Model: 1}, {Model: 2, Tries: 1}}

func TestLadder(t *testing.T) {
	ladder := Ladder{Rungs: twoOneOne, Backoff: backoffs.Exponential{Base: time.Second}}
	t.Run("down to the last rung", func(t *testing.T) {
		strategytest.Play(t, []strategies.Layer{ladder, pointing{}}, `
			begin -> send
			503 after=5s -> wait 5s                 # the same model: its hint counts
			wake -> send
			503 after=1h -> wait 2s                 # the next one's fate is its own
			wake -> send + note model 1
			503 -> wait 4s
			wake -> send + note model 2
			503 -> stop nothing_left overloaded + alarm no_model_left
			begin -> send                           # the next call begins at the top
			200 -> stop succeeded`)
	})
	t.Run("a lesser answer is marked", func(t *testing.T) {
		strategytest.Play(t, []strategies.Layer{Ladder{Rungs: twoOneOne}, pointing{}}, `
			begin -> send
			503 -> wait 0s
			wake -> send
			503 -> wait 0s
			wake -> send + note model 1
			200 -> stop succeeded ok + note degraded`)
		w := strategytest.NewWorld(t, map[string][]strategies.Layer{"": {Ladder{Rungs: twoOneOne}}}, 1)
		c := w.Call("a")
		for rung, degraded := range []bool{false, false, true, true} {
			c.Next(strategies.Event{Kind: strategies.Begin})
			for range rung {
				c.Next(strategies.Event{Kind: strategies.Reply, Attempt: c.Attempts, Outcome: strategytest.Refusal(wire.NoHint)})
				c.Next(strategies.Event{Kind: strategies.Wake})
			}
			o := strategytest.Answered
			require.Equal(t, degraded, c.Next(strategies.Event{Kind: strategies.Reply, Attempt: c.Attempts, Outcome: &o}).End.Degraded)
		}
	})
	t.Run("only capacity leads on", func(t *testing.T) { // cases B11, B22
		for _, class := range []string{"rate", "token_rate", "quota", "auth", "permission", "bad_request", "too_large", "server_error", "lost", "expired"} {
			strategytest.Play(t, []strategies.Layer{ladder, pointing{}}, "begin -> send\n"+class+" -> stop failed")
		}
		wider := ladder
		wider.On.Classes = strategies.Transient
		strategytest.Play(t, []strategies.Layer{wider, pointing{}}, "begin -> send\nrate -> wait 1s\nwake -> send\nlost -> wait 2s\nwake -> send + note model 1\nauth -> stop failed auth")
	})
	t.Run("a loop outside begins at the top", func(t *testing.T) {
		retry := Retry{Backoff: backoffs.Fixed{Every: time.Minute}}
		ladder := Ladder{Rungs: []Rung{{Model: 1}, {Model: 2}}}
		strategytest.Play(t, []strategies.Layer{retry, ladder, pointing{}}, `
			begin -> send + note model 1
			503 -> wait 0s
			wake -> send + note model 2
			rate -> wait 1m
			wake -> send + note model 1
			503 -> wait 0s
			wake -> send + note model 2
			503 -> stop nothing_left + alarm no_model_left`)
	})
}

// Cases B17 and B18: with a chance p of failure at each try, 2/1/1 degrades p²
// of the calls, loses p_f²·p_s·p_l and makes 1 + p_f + p_f² + p_f²·p_s tries; and
// with a wait of U(90 s, 150 s) before each try but the first, 15 % failures
// become 0.05 % and 21 s of waiting.
func TestLadderClosedForms(t *testing.T) {
	for _, p := range [][3]float64{{0.15, 0.15, 0.15}, {math.Sqrt(0.1), 0.2, 0.2}, {0.5, 0.4, 0.3}} {
		const calls = 15_000
		l := strategytest.NewLab(t, Ladder{Rungs: twoOneOne, Backoff: backoffs.Uniform{Low: 90 * time.Second, High: 150 * time.Second}})
		luck := strategies.Purpose(999)
		l.Serve = func(c *strategytest.Caller) (time.Duration, wire.Outcome) {
			if c.Float(luck) < p[c.Target.Model] {
				return 0, strategytest.Refused(wire.Overloaded)
			}
			return 0, strategytest.Answered
		}
		var tries, degraded, lost, waited float64
		l.Settled = func(c *strategytest.Caller, d strategies.Decision) {
			tries += float64(c.Attempts)
			waited += (l.Now - c.Born).Seconds()
			if d.End.Reason == strategies.NothingLeft {
				lost++
			}
			if d.End.Degraded {
				degraded++
			}
		}
		for i := range calls {
			l.Begin("a", i)
		}
		l.Run(time.Hour)
		f, s := p[0], p[1]
		loss := f * f * s * p[2]
		near := func(want, got, sd float64, what string) {
			t.Helper()
			require.InDelta(t, want, got/calls, 4.5*sd/math.Sqrt(calls), what)
		}
		bernoulli := func(p float64) float64 { return math.Sqrt(p * (1 - p)) }
		near(1+f+f*f+f*f*s, tries, 1, "tries")
		near(f*f-loss, degraded, bernoulli(f*f), "degraded answers")
		near(loss, lost, bernoulli(loss), "lost")
		near(120*(f+f*f+f*f*s), waited, 120, "seconds of waiting")
	}
	p := 0.15
	require.InDelta(t, 0.000506, math.Pow(p, 4), 5e-7)
	require.InDelta(t, 21.1, 120*(p+p*p+p*p*p), 0.05)
}
