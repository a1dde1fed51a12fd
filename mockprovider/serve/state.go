package serve

import (
	"fmt"
	"time"

	"herdlab/mockprovider"
	"herdlab/sim/saturating"
)

// State is how the server stands.
type State struct {
	Title string `json:"title"`
	// Now is the provider's time, in seconds since the start or the last reset.
	Now       float64 `json:"now"`
	TimeScale float64 `json:"time_scale"`
	Seed      uint64  `json:"seed"`
	// InFlight is how many requests the provider knows of; of those, Busy are in
	// service and Queued in one of the Places of queues. Slots is how many slots
	// there are at the moment, of all models and regions together; null for no bound.
	InFlight int  `json:"in_flight"`
	Busy     int  `json:"busy"`
	Slots    *int `json:"slots"`
	Queued   int  `json:"queued"`
	Places   int  `json:"places"`
	// Capacity is how many requests per second one account can have served, for
	// answers of the usual length; 0 if nothing bounds it.
	Capacity float64 `json:"capacity"`
	// Tenants is how many API keys have an account.
	Tenants     int      `json:"tenants"`
	Connections int      `json:"connections"`
	Counters    Counters `json:"counters"`
	// HarnessRefusals counts requests and connections that the harness turned
	// away for its own protection. The provider never saw them.
	HarnessRefusals uint64       `json:"harness_refusals"`
	Faults          []FaultState `json:"faults"`
}

// FaultState is a fault that is in force or to come.
type FaultState struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
	// From and To are when it is in force, in seconds on the provider's clock; To
	// is null for ever.
	From   float64  `json:"from"`
	To     *float64 `json:"to"`
	Active bool     `json:"active"`
	// Text is the fault in words.
	Text string `json:"text"`
}

// SeriesState is the last bins.
type SeriesState struct {
	// Width is how long a bin is, in seconds on the provider's clock.
	Width float64 `json:"bin"`
	Bins  []Bin   `json:"bins"`
}

// State returns how the server stands.
func (s *Server) State() State {
	w := s.run.Load()
	st := State{
		Title: s.cfg.Title, TimeScale: s.cfg.TimeScale, Seed: s.cfg.Seed,
		Tenants: w.tenants.len(), Connections: int(s.connections.Load()),
		HarnessRefusals: s.metrics.harness.all.Load(),
		Faults:          []FaultState{},
	}
	w.driver.do(func(p *mockprovider.Provider, now time.Duration) {
		st.Now, st.InFlight, st.Busy, st.Queued = seconds(now), w.driver.stats.inFlight, p.Busy(), p.Queued()
		slots, places := p.Room()
		if slots >= 0 {
			st.Slots = &slots
		}
		st.Places, st.Capacity = places, w.capacity
		st.Counters = w.driver.stats.counters
		for _, f := range p.Faults(now) {
			st.Faults = append(st.Faults, describe(&f, now, w.faultTexts[f.ID]))
		}
	})
	return st
}

// describe puts a fault in words; text is how it was injected, if it was.
func describe(f *mockprovider.Injected, now time.Duration, text string) FaultState {
	d := FaultState{ID: f.ID, Name: f.Does.Name(), From: seconds(f.From), Active: f.From <= now, Text: text}
	if f.To != mockprovider.Forever {
		to := seconds(f.To)
		d.To = &to
	}
	if text == "" {
		d.Text = d.Name
	}
	switch {
	case d.To == nil:
		d.Text += fmt.Sprintf(", from %v on", f.From.Round(time.Millisecond))
	default:
		d.Text += fmt.Sprintf(", from %v to %v", f.From.Round(time.Millisecond), f.To.Round(time.Millisecond))
	}
	return d
}

// Series returns the last bins of what happened.
func (s *Server) Series() SeriesState {
	d := s.run.Load().driver
	var out SeriesState
	d.do(func(p *mockprovider.Provider, now time.Duration) {
		d.stats.series.observe(now, d.stats.inFlight, p.Queued())
		out = SeriesState{Width: d.stats.series.width.Seconds(), Bins: d.stats.series.list(now)}
	})
	return out
}

// Decisions returns up to n of the last decisions, the newest first.
func (s *Server) Decisions(n int) []Decision {
	return s.decisions(n, func(*decision) bool { return true })
}

func (s *Server) decisions(n int, pass func(*decision) bool) (list []Decision) {
	d := s.run.Load().driver
	d.do(func(*mockprovider.Provider, time.Duration) { list = d.stats.decisions.latest(n, pass) })
	return list
}

// Inject makes a fault of the running provider and returns its number. Its From
// and To count from now.
func (s *Server) Inject(f mockprovider.Fault) (id int, err error) { return s.inject(f, "") }

// check says whether a fault could be injected.
func (s *Server) check(f mockprovider.Fault) error {
	s.configMu.Lock()
	cfg := s.cfg.Provider
	s.configMu.Unlock()
	cfg.Faults = []mockprovider.Fault{f}
	if err := cfg.Validate(); err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

func (s *Server) inject(f mockprovider.Fault, text string) (id int, err error) {
	w := s.run.Load()
	w.driver.do(func(p *mockprovider.Provider, now time.Duration) {
		f.From = saturating.Add(now, f.From)
		if f.To != mockprovider.Forever {
			f.To = saturating.Add(now, f.To)
		}
		if id, err = p.Inject(now, f); err == nil && text != "" {
			for old := range w.faultTexts {
				if len(w.faultTexts) > 2*maxDecisions && old < id-maxDecisions {
					delete(w.faultTexts, old)
				}
			}
			w.faultTexts[id] = text
		}
	})
	return id, err
}

// Clear ends a fault. It reports whether there was one of that number.
func (s *Server) Clear(id int) (ok bool) {
	s.run.Load().driver.do(func(p *mockprovider.Provider, now time.Duration) { ok = p.Clear(now, id) })
	return ok
}

// ClearAll ends all faults.
func (s *Server) ClearAll() {
	s.run.Load().driver.do(func(p *mockprovider.Provider, now time.Duration) {
		for _, f := range p.Faults(now) {
			p.Clear(now, f.ID)
		}
	})
}
