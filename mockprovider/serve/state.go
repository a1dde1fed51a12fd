package serve

import (
	"fmt"
	"time"

	"herdlab/mockprovider"
	"herdlab/sim/saturating"
)

// State is the current state of a server.
type State struct {
	Title string `json:"title"`
	// Now is the provider's time, in seconds since the start or the last reset.
	Now       float64 `json:"now"`
	TimeScale float64 `json:"time_scale"`
	Seed      uint64  `json:"seed"`
	// InFlight is the number of requests at the provider: Busy of them are in
	// service and Queued in queues, which have Places places. Slots is the current
	// number of slots of all models and regions; null if it is unlimited.
	InFlight int  `json:"in_flight"`
	Busy     int  `json:"busy"`
	Slots    *int `json:"slots"`
	Queued   int  `json:"queued"`
	Places   int  `json:"places"`
	// Capacity is the number of requests per second that one account can have
	// served, with answers of the default length; 0 if it is unlimited.
	Capacity float64 `json:"capacity"`
	// Tenants is the number of API keys with an account.
	Tenants     int      `json:"tenants"`
	Connections int      `json:"connections"`
	Counters    Counters `json:"counters"`
	// HarnessRefusals counts requests and connections that the harness refused to
	// protect itself. They did not reach the provider.
	HarnessRefusals uint64       `json:"harness_refusals"`
	Faults          []FaultState `json:"faults"`
}

// FaultState is an active or scheduled fault.
type FaultState struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
	// From and To are its beginning and end, in seconds on the provider's clock; To
	// is null if it does not end.
	From   float64  `json:"from"`
	To     *float64 `json:"to"`
	Active bool     `json:"active"`
	// Text describes the fault.
	Text string `json:"text"`
}

// SeriesState is the series of the last bins.
type SeriesState struct {
	// Width is the length of a bin, in seconds on the provider's clock.
	Width float64 `json:"bin"`
	Bins  []Bin   `json:"bins"`
}

// State returns the current state.
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

// describe returns the state of a fault; text is its JSON if it was injected.
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

// Series returns the last bins.
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

// Inject adds a fault to the running provider and returns its number. Its From and To
// count from now.
func (s *Server) Inject(f mockprovider.Fault) (id int, err error) { return s.inject(f, "") }

// check reports an error if f cannot be injected.
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

// Clear ends fault id. It reports whether it existed.
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
