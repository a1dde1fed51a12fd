package mockprovider

import (
	"errors"
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
)

// Script is a list of answers that the provider gives one after the other: "the
// first two 429, then fine". It counts the requests that it strikes.
type Script struct {
	// Per says whose requests are counted together, Everyone's by default;
	// with ByCall it is the attempts of each call.
	Per    Counted
	ByCall bool
	// Answers are what happens to the first request, to the second, and so on;
	// nil lets one pass. All that strikes single requests will do.
	Answers []Disturbance
	// Repeat begins anew after the last one, where otherwise all that follow
	// pass.
	Repeat bool
}

// Name implements Disturbance.
func (Script) Name() string { return "script" }

// maxAnswers bounds the answers of a script.
const maxAnswers = 60_000

// Validate implements Disturbance.
func (d Script) Validate() error {
	switch {
	case len(d.Answers) == 0:
		return errors.New("it has no answers; give it some")
	case len(d.Answers) > maxAnswers:
		return fmt.Errorf("it has %d answers; %d are the most", len(d.Answers), maxAnswers)
	case d.ByCall && d.Per != Everyone:
		return errors.New("it counts either each call's attempts or per something else; leave one of them out")
	}
	if err := d.Per.validate(); err != nil {
		return err
	}
	for i, a := range d.Answers {
		if a == nil {
			continue
		}
		if err := a.Validate(); err != nil {
			return fmt.Errorf("answer %d: %s: %w", i+1, a.Name(), err)
		}
		if h := a.hooks(Space{}); h.strain != nil || h.answers != nil {
			return fmt.Errorf("answer %d: %s is not for a single request; make it a fault of its own", i+1, a.Name())
		}
	}
	return nil
}

func (d Script) fits(c *Config, _ *Match) error {
	if !d.ByCall && d.Per.keys(c.space()) > maxCounters {
		return fmt.Errorf("it tells apart too many callers; at most %d, so count more of them together", maxCounters)
	}
	return nil
}

func (d Script) hooks(s Space) hooks {
	answers := make([]hooks, len(d.Answers))
	for i, a := range d.Answers {
		if a != nil {
			answers[i] = a.hooks(s)
		}
	}
	var counts []uint32
	if !d.ByCall {
		counts = make([]uint32, d.Per.keys(s))
	}
	played := &script{d.Per.keying(s), counts, answers, d.Repeat}
	return hooks{answers: answers, arrive: played.arrive, forget: played.forget}
}

// script is a Script that is being played.
type script struct {
	keying
	counts  []uint32 // requests so far, by who is counted; nil if calls are
	answers []hooks
	repeat  bool
}

func (s *script) forget(account uint32) { forget(&s.keying, account, s.counts) }

func (s *script) arrive(p *Provider, now time.Duration, f *fault, in *wire.Input, out []wire.Effect) ([]wire.Effect, bool) {
	n := max(in.Request.Attempt, 1) - 1
	if s.counts != nil {
		i := s.of(&in.Request)
		if int(i) >= len(s.counts) {
			return out, false // it is nobody whom the provider knows
		}
		n = s.counts[i]
		if s.counts[i]++; s.counts[i] == 0 {
			s.counts[i]-- // it is long over
		}
	}
	if s.repeat {
		n %= uint32(len(s.answers))
	}
	if n >= uint32(len(s.answers)) {
		return out, false
	}
	h := &s.answers[n]
	if h.arrive != nil {
		return h.arrive(p, now, f, in, out)
	}
	if (h.work != nil || h.end != nil) && p.faults.scripted.slot == 0 {
		p.faults.scripted = mark{slot: f.slot + 1, answer: uint16(n) + 1}
	}
	return out, false
}
