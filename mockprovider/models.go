package mockprovider

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// ModelConfig is one of several models.
type ModelConfig struct {
	// Capacity is what serves it, in each region; nil for the provider's.
	Capacity *Capacity `without:"the provider's" about:"What serves requests for this model, in each region."`
	// Others is the share of its slots that others' requests hold, 0 to 1, by
	// time; 0 if left out.
	Others Schedule `default:"0" about:"The share of its slots that requests of others hold, by time."`
	Price  Price    `without:"nothing" about:"What its tokens cost."`
}

// RegionConfig is one of several regions.
type RegionConfig struct {
	// Scale is a factor on the slots and queue places of each model there; 0
	// stands for 1.
	Scale float64 `unit:"times" default:"1" about:"A factor on slots and queue places of each model there."`
	// Others is the share of all slots there that others' requests hold, 0 to 1,
	// by time; 0 if left out. It is a share of what a model's own leaves.
	Others Schedule `default:"0" about:"The share of all slots there that requests of others hold, by time."`
	// Latency is how much longer each reply from there takes.
	Latency time.Duration `default:"0s" about:"How much longer each reply from there takes."`
	// Surcharge is what a token costs more there, in per cent; less if negative.
	Surcharge int `unit:"%" least:"-100" most:"900" default:"0%" about:"How much more a token costs there; less if negative."`
}

// validate passes every error of the model to report.
func (m *ModelConfig) validate(report func(what string, err error)) {
	if m.Capacity != nil {
		m.Capacity.validate(report)
	}
	report("others", m.Others.validate(0, 1))
	report("price", m.Price.validate())
}

// validate passes every error of the region to report.
func (r *RegionConfig) validate(report func(what string, err error)) {
	report("others", r.Others.validate(0, 1))
	switch {
	case !(r.Scale >= 0 && r.Scale <= mostFactor):
		report("scale", fmt.Errorf("it must be above 0, up to %g, not %g; leave it out for 1", mostFactor, r.Scale))
	case r.Latency < 0 || r.Latency > longest:
		report("latency", errors.New("it must not be negative, nor beyond all times"))
	case r.Surcharge < -100 || r.Surcharge > mostSurcharge:
		report("surcharge", fmt.Errorf("it must be -100 to %d per cent, not %d", mostSurcharge, r.Surcharge))
	}
}

// validateModels passes every error of the models and regions to report.
func (c *Config) validateModels(report func(what string, err error)) {
	each := func(kind string, i int) func(string, error) {
		return func(what string, err error) { report(fmt.Sprintf("%s %d: %s", kind, i+1, what), err) }
	}
	for i := range c.Models {
		c.Models[i].validate(each("model", i))
		if c.CapacityOf(i).Slots == 0 && len(c.Models[i].Others.Steps) > 0 {
			each("model", i)("others", errors.New("they need a bounded number of slots to hold"))
		}
	}
	for i := range c.Regions {
		c.Regions[i].validate(each("region", i))
		for m := range max(len(c.Models), 1) {
			if c.CapacityOf(m).Slots == 0 && len(c.Regions[i].Others.Steps) > 0 {
				each("region", i)("others", fmt.Errorf("they need a bounded number of slots to hold, of model %d too", m+1))
				break
			}
		}
	}
	for _, x := range []struct {
		what            string
		listed, inSpace int
	}{{"models", len(c.Models), c.Space.Models}, {"regions", len(c.Regions), c.Space.Regions}} {
		switch {
		case x.listed > math.MaxUint8+1:
			report(x.what, fmt.Errorf("there must be at most %d", math.MaxUint8+1))
		case x.listed > 0 && x.inSpace > 0 && x.inSpace != x.listed:
			report(x.what, fmt.Errorf("%d are listed, but the space has %d; leave the latter out", x.listed, x.inSpace))
		}
	}
}

// CapacityOf returns what serves a model, in each region.
func (c *Config) CapacityOf(model int) *Capacity {
	if model < len(c.Models) && c.Models[model].Capacity != nil {
		return c.Models[model].Capacity
	}
	return &c.Capacity
}

// FullSpace returns c.Space with the models and regions that are listed.
func (c *Config) FullSpace() Space {
	s := c.Space
	if len(c.Models) > 0 {
		s.Models = len(c.Models)
	}
	if len(c.Regions) > 0 {
		s.Regions = len(c.Regions)
	}
	return s
}
