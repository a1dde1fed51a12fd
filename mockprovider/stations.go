package mockprovider

import (
	"slices"

	"herdlab/mockprovider/wire"
)

// build sets up the stations, one for each model in each region, and those of
// a model next to each other.
func (p *Provider) build() {
	c := &p.cfg
	models, regions := max(c.Space.Models, 1), max(c.Space.Regions, 1)
	if c.Space.Models > 0 {
		p.byModel = regions
	}
	if c.Space.Regions > 0 {
		p.byRegion = 1
	}
	for m := range models {
		for r := range regions {
			s := c.station(m, r)
			s.shedder.rnd = p.rnd
			p.stations = append(p.stations, &s)
		}
	}
	for i := range c.Regions {
		if c.Regions[i].Latency > 0 {
			p.far = true
		}
	}
	p.watches = c.Abandoned.Noticed
	jobs := 0
	for _, s := range p.stations {
		p.watches, p.pooled = p.watches || s.DropGone, p.pooled || s.unit > 0
		jobs = min(jobs+s.most+s.places, fewJobs+1)
	}
	if jobs <= fewJobs {
		p.jobs, p.places, p.free = make([]job, 0, jobs), make([]place, 0, jobs), make([]uint32, 0, jobs)
	}
}

// fewJobs is how many jobs are made room for at once: growing step by step takes
// some times the memory in the end.
const fewJobs = 1 << 16

// station returns the station of a model in a region.
func (c *Config) station(model, region int) station {
	own := c.CapacityOf(model)
	s := station{
		queue: newQueue(own.Discipline), Capacity: own, service: &own.Service, unit: own.Unit, places: own.Queue,
		plain:  own.Unit == 0 && own.Discipline == Discipline{},
		curved: !own.Overload.Latency.empty() || !own.Overload.Refusal.empty(),
		scale:  1, others: [2]*Schedule{{}, {}},
	}
	if model < len(c.Models) {
		s.price, s.others[0] = c.Models[model].Price, &c.Models[model].Others
	}
	if region < len(c.Regions) {
		r := &c.Regions[region]
		s.price, s.latency, s.others[1] = s.price.with(r.Surcharge), r.Latency, &r.Others
		if r.Scale > 0 {
			s.scale = r.Scale
			s.places = share(s.places, r.Scale, 100)
		}
	}
	if own.Autoscale != nil {
		s.scaler = newScaler(*own.Autoscale, own.Slots)
	}
	s.most = s.atBest()
	return s
}

// stationOf returns the number of the station of a known target. Where models
// or regions are not distinguished, one station serves them all.
func (p *Provider) stationOf(t wire.Target) uint16 {
	return uint16(int(t.Model)*p.byModel + int(t.Region)*p.byRegion)
}

// clone copies what a provider keeps of its configuration.
func (c *Config) clone() Config {
	own := *c
	own.Capacity = c.Capacity.clone()
	own.Models, own.Regions, own.Faults = slices.Clone(c.Models), slices.Clone(c.Regions), slices.Clone(c.Faults)
	for i := range own.Models {
		m := &own.Models[i]
		m.Others = m.Others.clone()
		if m.Capacity != nil {
			capacity := m.Capacity.clone()
			m.Capacity = &capacity
		}
	}
	for i := range own.Regions {
		own.Regions[i].Others = own.Regions[i].Others.clone()
	}
	own.Space = c.FullSpace()
	return own
}

func (c Capacity) clone() Capacity {
	c.Day = c.Day.clone()
	c.Overload.Latency.Points, c.Overload.Refusal.Points = slices.Clone(c.Overload.Latency.Points), slices.Clone(c.Overload.Refusal.Points)
	return c
}

func (s Schedule) clone() Schedule {
	s.Steps = slices.Clone(s.Steps)
	return s
}
