package mockprovider

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/sim/draw"
)

// A flagship of 1 slot and a light model of 2 with a queue, in two regions of
// which the second has twice as much of everything, but is far and dear.
func fleetOfModels() Config {
	return Config{
		Capacity: Capacity{Slots: 1, Service: takes(10 * time.Second)},
		Models: []ModelConfig{
			{Price: Price{Input: 1000, Output: 5000}},
			{Capacity: &Capacity{Slots: 2, Queue: 1, Service: takes(time.Second)}, Price: Price{Input: 100, Output: 500}},
		},
		Regions:     []RegionConfig{{}, {Scale: 2, Latency: 200 * time.Millisecond, Surcharge: 10}},
		RefusalTime: 50 * time.Millisecond,
	}
}

func TestModelsAndRegions(t *testing.T) {
	play(t, fleetOfModels(), `
		arrive 1 model=0 region=0 input=10 tokens=2 -> 1 started 10s
		arrive 2 model=0 region=0 -> 2 503 overloaded in 50ms
		arrive 3 model=0 region=1 input=10 tokens=2 stream=1 -> 3 started 10s
		arrive 4 model=0 region=1 -> 4 started 10s
		arrive 5 model=0 region=1 -> 5 503 overloaded in 250ms
		arrive 6 model=1 region=0 input=7 tokens=1 -> 6 started 1s
		arrive 7 model=1 region=0 -> 7 started 1s
		arrive 8 model=1 region=0 -> queued
		arrive 9 model=1 region=0 -> 9 503 overloaded in 50ms
		arrive 10 model=2 -> 10 400 bad_request in 50ms
		arrive 11 region=2 -> 11 400 bad_request in 50ms
		@1s done 6 -> 6 200 ok slot=1s cost=1200; 8 started 1s
		@10s done 1 -> 1 200 ok slot=10s cost=20000
		done 3 -> 3 200 ok in 200ms slot=10s cost=22000`)
}

// A head and its end travel equally far.
func TestHeadsTravelToo(t *testing.T) {
	cfg := fleetOfModels()
	cfg.Models[1].Capacity.Service = Service{First: draw.Const(time.Second), PerToken: time.Second}
	play(t, cfg, `
		arrive 1 model=1 region=1 tokens=3 stream=1 -> 1 started 4s; 1 head in 1.2s
		@4s done 1 -> 1 200 ok in 200ms slot=4s cost=1650`)
}

// Who asks for what is not there burns no quota, but is asked who he is.
func TestUnknownModelsComeBeforeLimits(t *testing.T) {
	cfg := fleetOfModels()
	cfg.RejectKeys, cfg.Limits = []uint8{9}, []Limit{few{Limit: 1}}
	play(t, cfg, `
		arrive 1 model=2 -> 1 400 bad_request in 50ms
		arrive 2 model=2 key=9 -> 2 401 auth in 50ms
		arrive 3 model=0 -> 3 started 10s
		arrive 4 model=0 -> 4 429 rate limit=1 left=0 in 50ms`)
}

// Limits count each listed model separately, without a configured number of models.
func TestLimitsPerListedModel(t *testing.T) {
	cfg := fleetOfModels()
	cfg.Limits = []Limit{few{Limit: 1, Terms: Terms{Per: Model | Region}}}
	play(t, cfg, `
		arrive 1 model=1 region=1 -> 1 started 1s
		arrive 2 model=1 region=0 -> 2 started 1s
		arrive 3 model=1 region=1 -> 3 429 rate limit=1 left=0 in 250ms`)
	require.Equal(t, Space{Models: 2, Regions: 2}, cfg.FullSpace())
	require.Equal(t, Space{}, cfg.Space, "the caller's stays as it is")
}

// Models of a space that are not listed are all alike.
func TestModelsOfASpace(t *testing.T) {
	play(t, Config{Space: Space{Models: 2}, Capacity: Capacity{Slots: 1}}, `
		arrive 1 model=0 region=7 -> 1 started 0s
		arrive 2 model=1 region=8 -> 2 started 0s
		arrive 3 model=1 region=9 -> 3 503 overloaded
		arrive 4 model=2 -> 4 400 bad_request`)
}

func TestPrices(t *testing.T) {
	flagship := Price{Input: 1250, Output: 10_000} // $ 1.25 and $ 10 per million
	require.Equal(t, int64(1_250_000_000+10_000_000_000), flagship.of(1_000_000, 1_000_000), "nano-dollars")
	require.Equal(t, Price{Input: 1375, Output: 11_000}, flagship.with(10))
	require.Equal(t, Price{}, flagship.with(-100))
	most := Price{mostPrice, mostPrice}.with(mostSurcharge)
	require.Positive(t, most.of(1<<32-1, 1<<32-1), "the dearest request there can be")
}

func TestModelsValidate(t *testing.T) {
	bounded := Capacity{Slots: 1}
	for want, cfg := range map[string]Config{
		"model 2: service: times must not be negative":                                                           {Models: []ModelConfig{{}, {Capacity: &Capacity{Service: takes(-1)}}}},
		"model 1: price: a token must cost 0 to 100000000 nano-dollars; 1 $ per million tokens is 1000":          {Models: []ModelConfig{{Price: Price{Output: -1}}}},
		"model 1: others: step 1 must be 0 to 1, not 1.5":                                                        {Capacity: bounded, Models: []ModelConfig{{Others: Always(1.5)}}},
		"model 1: others: they need a bounded number of slots to hold":                                           {Models: []ModelConfig{{Others: Always(0.5)}}},
		"region 2: others: they need a bounded number of slots to hold, of model 2 too":                          {Capacity: bounded, Models: []ModelConfig{{}, {Capacity: &Capacity{}}}, Regions: []RegionConfig{{}, {Others: Always(0.5)}}},
		"region 1: scale: it must be above 0, up to 1000, not -1; leave it out for 1":                            {Regions: []RegionConfig{{Scale: -1}}},
		"region 1: latency: it must not be negative, nor beyond all times":                                       {Regions: []RegionConfig{{Latency: -1}}},
		"region 1: surcharge: it must be -100 to 900 per cent, not 901":                                          {Regions: []RegionConfig{{Surcharge: 901}}},
		"models: 2 are listed, but the space has 3; leave the latter out":                                        {Models: make([]ModelConfig, 2), Space: Space{Models: 3}},
		"regions: there must be at most 256":                                                                     {Regions: make([]RegionConfig, 257)},
		"autoscale: it begins with 1 slots: that must be 2 to 3":                                                 {Capacity: Capacity{Slots: 1, Autoscale: &Autoscale{Min: 2, Max: 3}}},
		"capacity: units, an autoscaler and the day's course need a bounded number of slots":                     {Capacity: Capacity{Unit: 1}},
		"capacity: slots and queue must be at most 1000000000":                                                   {Capacity: Capacity{Slots: 1 << 40}},
		"day: step 1 must be 0 to 1000, not -1":                                                                  {Capacity: Capacity{Slots: 1, Day: Always(-1)}},
		"queue: the queue has no places; give it some, or leave its discipline out":                              {Capacity: Capacity{Slots: 1, Discipline: Discipline{Order: LIFO}}},
		"overload: the rated number of slots must not be negative":                                               {Capacity: Capacity{Overload: Overload{Rated: -1}}},
		"abandoned: the delay must be 0 to " + longest.String() + ", and a provider that never notices has none": {Abandoned: Notice{Delay: 1}},
	} {
		require.EqualError(t, cfg.Validate(), want)
		_, err := New(cfg, draw.New(1))
		require.Error(t, err)
	}
	cfg := fleetOfModels()
	require.NoError(t, cfg.Validate())
}

// A provider keeps nothing of the configuration it was made from.
func TestConfigIsCopied(t *testing.T) {
	cfg := fleetOfModels()
	cfg.Day = Always(1)
	cfg.Overload.Latency.Points = []Point{{0, 1}}
	cfg.Models[0].Others, cfg.Regions[1].Others = Always(0), Always(0)
	p, err := New(cfg, draw.New(1))
	require.NoError(t, err)
	cfg.Day.Steps[0].Value, cfg.Overload.Latency.Points[0].Value = 0, 1e6
	cfg.Models[1].Capacity.Slots, cfg.Models[0].Others.Steps[0].Value, cfg.Regions[1].Others.Steps[0].Value = 0, 1, 1
	cfg.Models[0].Price.Input, cfg.Regions[1].Latency = 7, time.Hour
	for i := range p.stations {
		p.stations[i].resize(0, 100)
		require.Equal(t, []int{1, 2, 2, 4}[i], p.stations[i].open)
		require.Equal(t, 1.0, p.stations[i].Overload.Latency.At(1, 1))
	}
	require.Equal(t, int64(1000), p.stations[0].price.Input)
	require.Equal(t, 200*time.Millisecond, p.cfg.Regions[1].Latency)
}

func TestBoundOfStations(t *testing.T) {
	const s = time.Second
	two := Capacity{Slots: 6, Service: takes(2 * s)}
	for name, c := range map[string]struct {
		cfg  Config
		want Bound
	}{
		"regions add up":            {Config{Capacity: two, Regions: []RegionConfig{{}, {Scale: 0.5}}}, Bound{9, 2 * s, 9}},
		"models of a space add up":  {Config{Capacity: two, Space: Space{Models: 2, Regions: 2}}, Bound{24, 2 * s, 24}},
		"models of different speed": {Config{Capacity: two, Models: []ModelConfig{{}, {Capacity: &Capacity{Slots: 1, Service: takes(3 * s)}}}}, Bound{10, 3 * s, 7}},
		"one without bound":         {Config{Capacity: two, Models: []ModelConfig{{}, {Capacity: &Capacity{Service: takes(s)}}}}, Bound{}},
		"others hold some":          {Config{Capacity: two, Models: []ModelConfig{{Others: Always(0.5)}}, Regions: []RegionConfig{{}, {Others: Always(0.5)}}}, Bound{5, 2 * s, 5}},
		"the best of days":          {Config{Capacity: Capacity{Slots: 6, Service: takes(2 * s), Day: Schedule{Steps: []Step{{0, 0.5}, {5, 1.5}}, Every: time.Hour}}}, Bound{9, 2 * s, 9}},
		"an autoscaler at its most": {Config{Capacity: Capacity{Slots: 6, Service: takes(2 * s), Autoscale: &Autoscale{Min: 1, Max: 60, Target: 50, Period: s}}}, Bound{60, 2 * s, 60}},
		"a pool of tokens":          {Config{Capacity: Capacity{Slots: 6, Unit: 1000, Service: takes(2 * s)}}, Bound{6, 6 * s, 6}},
		"a pool of large units":     {Config{Capacity: Capacity{Slots: 6, Unit: 1_000_000, Service: takes(2 * s)}}, Bound{6, 2 * s, 6}},
		"prompts take time":         {Config{Capacity: Capacity{Slots: 6, Service: Service{First: draw.Const(s), PerInput: time.Millisecond, PerToken: 2 * time.Millisecond}}}, Bound{6, 5 * s, 6}},
	} {
		require.NoError(t, c.cfg.Validate(), name)
		require.Equal(t, c.want, c.cfg.Bound(c.cfg.Load(2000, 1000)), name)
	}
}
