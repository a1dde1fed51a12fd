package faults

import (
	"errors"
	"fmt"

	"herdlab/mockprovider"
	"herdlab/mockprovider/wire"
)

// Script is a list of answers that the provider gives one after the other: "the
// first two 429, then fine". It counts the requests that it strikes.
type Script struct {
	// Per is which requests are counted together, all by default;
	// with ByCall it is the attempts of each call.
	Per    mockprovider.Counted `default:"everyone" about:"Which requests are counted together: those that agree in all of these."`
	ByCall bool                 `about:"Whether the attempts of each call are counted by themselves."`
	// Answers are what happens to the first request, to the second, and so on;
	// nil lets one pass. All that strikes single requests will do.
	Answers []mockprovider.Disturbance `required:"[{errors: {class: rate}}, pass]" about:"What happens to the first request, to the second, and so on; all further ones pass."`
	// Repeat begins anew after the last one, where otherwise all that follow
	// pass.
	Repeat bool `about:"Whether the list begins again after its end."`
}

// Name implements Disturbance.
func (Script) Name() string { return "script" }

// Validate implements Disturbance.
func (d Script) Validate() error {
	switch {
	case len(d.Answers) == 0:
		return errors.New("it has no answers; give it some")
	case len(d.Answers) > mockprovider.MaxAnswers:
		return fmt.Errorf("it has %d answers; %d are the most", len(d.Answers), mockprovider.MaxAnswers)
	case d.ByCall && d.Per != mockprovider.Everyone:
		return errors.New("it counts either each call's attempts or per something else; leave one of them out")
	}
	if err := d.Per.Validate(); err != nil {
		return err
	}
	for i, a := range d.Answers {
		if a == nil {
			continue
		}
		if err := a.Validate(); err != nil {
			return fmt.Errorf("answer %d: %s: %w", i+1, a.Name(), err)
		}
		if h := a.Hooks(mockprovider.Space{}); h.Strain != nil || h.Pick != nil {
			return fmt.Errorf("answer %d: %s is not for a single request; make it a fault of its own", i+1, a.Name())
		}
	}
	return nil
}

// CheckConfig implements ConfigChecker.
func (d Script) CheckConfig(c *mockprovider.Config, _ *mockprovider.Match) error {
	if !d.ByCall && d.Per.Counters(c.FullSpace()) > mockprovider.MaxCounters {
		return fmt.Errorf("it distinguishes too many callers; at most %d, so count more of them together", mockprovider.MaxCounters)
	}
	return nil
}

// Hooks implements Disturbance.
func (d Script) Hooks(s mockprovider.Space) mockprovider.Hooks {
	h := mockprovider.Hooks{Answers: make([]mockprovider.Hooks, len(d.Answers))}
	for i, a := range d.Answers {
		if a != nil {
			h.Answers[i] = a.Hooks(s)
		}
	}
	if d.ByCall {
		h.Pick = func(r *wire.Request) int { return d.index(max(r.Attempt, 1) - 1) }
		return h
	}
	index, counts := d.Per.Index(s), make([]uint32, d.Per.Counters(s))
	h.Pick = func(r *wire.Request) int {
		i := index.Of(r)
		if int(i) >= len(counts) {
			return -1 // the provider has no such caller
		}
		n := counts[i]
		if counts[i]++; counts[i] == 0 {
			counts[i]-- // the script is long over
		}
		return d.index(n)
	}
	h.Forget = func(account uint32) { mockprovider.ForgetAccount(&index, account, counts) }
	return h
}

// index returns the index of the answer to the request that n others came before;
// -1 if the script is over.
func (d *Script) index(n uint32) int {
	answers := uint32(len(d.Answers))
	switch {
	case d.Repeat:
		return int(n % answers)
	case n >= answers:
		return -1
	}
	return int(n)
}
