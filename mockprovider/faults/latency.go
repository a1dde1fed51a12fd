package faults

import (
	"errors"
	"fmt"
	"time"

	"herdlab/mockprovider"
	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// Latency makes work take longer, or shorter, by a factor and by a delay before
// its first token. Slots are held for as long. Several multiply and add up in
// the order of the list.
type Latency struct {
	// Factor is what times are multiplied by, from the start to the first token
	// and between tokens; 0 stands for 1.
	Factor float64 `unit:"times" default:"1" about:"By what the time to the first token and between tokens is multiplied."`
	// Plus is added once.
	Plus time.Duration `default:"0s" about:"What is added to the time to the first token."`
}

// Name implements Disturbance.
func (Latency) Name() string { return "latency" }

// Validate implements Disturbance.
func (d Latency) Validate() error {
	switch {
	case d == Latency{}:
		return errors.New("it changes nothing; give it a factor or a delay")
	case !(d.Factor >= 0 && d.Factor <= mockprovider.MaxFactor):
		return fmt.Errorf("%g is no factor of times; use a number above 0, up to %g", d.Factor, float64(mockprovider.MaxFactor))
	}
	return mockprovider.ValidateDuration("the delay", d.Plus)
}

// Hooks implements Disturbance.
func (d Latency) Hooks(mockprovider.Space) mockprovider.Hooks {
	return mockprovider.Hooks{Work: func(w *mockprovider.Work, _ *wire.Request, rnd draw.Rand) {
		w.Whole = d.of(w.Whole, rnd)
		if w.Head != mockprovider.NoHead {
			w.Head = d.of(w.Head, rnd)
		}
	}}
}

func (d Latency) of(t time.Duration, rnd draw.Rand) time.Duration {
	if d.Factor != 0 {
		t = rnd.Scale(t, d.Factor)
	}
	return min(t+d.Plus, mockprovider.Longest)
}
