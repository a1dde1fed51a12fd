package traffic

import (
	"errors"
	"fmt"

	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// Mix draws the demand of each call. The draw belongs to the call: its attempts
// all have the same demand, and all strategies see the same calls.
type Mix struct {
	// Sizes are the demands to draw from, 1 or more.
	Sizes []Share
	// Prompts is the number of different prompts, all equally likely, so that
	// caches can answer and calls can share a flight; 0 makes all calls differ.
	// Prompts are numbered from 1.
	Prompts uint32
}

// Share is one of the sizes of a Mix.
type Share struct {
	Demand wire.Demand
	// Weight ÷ the sum of all weights is the probability of the size; ≥ 1.
	Weight uint32
}

// Validate reports an error if the mix is invalid.
func (m *Mix) Validate() error {
	if len(m.Sizes) == 0 {
		return errors.New("a mix needs at least one size")
	}
	for i := range m.Sizes {
		if m.Sizes[i].Weight == 0 {
			return fmt.Errorf("size %d of a mix is never drawn: its weight must be at least 1", i+1)
		}
	}
	return nil
}

// Demand returns the demand of the call that owns the draws r.
func (m *Mix) Demand(r draw.Rand) wire.Demand {
	d := m.Sizes[m.draw(r)].Demand
	if m.Prompts > 0 {
		d.Prompt = 1 + uint32(r.Below(1, uint64(m.Prompts)))
	}
	return d
}

// draw returns the index of a size.
func (m *Mix) draw(r draw.Rand) int {
	if len(m.Sizes) == 1 {
		return 0
	}
	at := r.Below(0, m.weight())
	for i := range m.Sizes {
		w := uint64(m.Sizes[i].Weight)
		if at < w {
			return i
		}
		at -= w
	}
	return len(m.Sizes) - 1
}

func (m *Mix) weight() (sum uint64) {
	for i := range m.Sizes {
		sum += uint64(m.Sizes[i].Weight)
	}
	return sum
}

// Mean returns the mean of a property of the demand, such as its output tokens.
func (m *Mix) Mean(of func(*wire.Demand) uint32) float64 {
	var sum float64
	for i := range m.Sizes {
		sum += float64(float64(m.Sizes[i].Weight) * float64(of(&m.Sizes[i].Demand)))
	}
	return sum / float64(m.weight())
}
