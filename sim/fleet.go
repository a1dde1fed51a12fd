package sim

import (
	"math"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/des"
	"herdlab/sim/draw"
	"herdlab/strategies"
)

// fleet is the state of a Fleet.
type fleet struct {
	Fleet
	root   strategies.Strategy
	reader wire.Reader
	byBody bool // it is wire.ByBody
	rand   draw.Rand
	index  uint8
	open   bool
	// If uniform, all calls have the demand size. Otherwise the demand is stored
	// for each call and attempt, and changes reports that layers may change it.
	uniform, changes bool
	size             wire.Demand
	// Requests and replies have no network delay.
	instantUp, instantDown bool
	skewed                 bool   // its clients' clocks differ from the provider's
	base                   uint32 // its first row in calls, if closed

	// Words of calls and of clients: cw and clw of them, callStride and
	// clientStride apart. In a closed fleet a client's words follow those of
	// its call in one slab, so that one cache line or two hold both.
	callSlab, clientSlab                   []int64
	cw, clw                                uint32
	callStride, clientStride, clientOffset uint32
	perFleet                               []int64

	pools  []uint16 // the index of each of its pools among the run's
	tables []uint32 // the number of each of its tables of flights
	signal []int    // the recorder's number of each of its signals
	next   uint64   // the next arrival of an open fleet, and when the last was
	lastAt time.Duration
	crowd  uint64 // number of arrivals at lastAt
}

// init allocates the memory of a fleet.
func (f *fleet) init(spec *Fleet, index uint8, base uint32, rnd draw.Rand) {
	p := spec.Program
	n := spec.Traffic.Clients
	*f = fleet{
		Fleet: *spec, root: p.Root, reader: p.Reader, rand: rnd, index: index,
		open:      spec.Traffic.Arrivals != nil,
		uniform:   spec.Traffic.Arrivals == nil && spec.Traffic.Mix == nil && !p.ChangesDemand,
		changes:   p.ChangesDemand,
		size:      spec.Traffic.Size,
		instantUp: spec.Up == draw.Dist{}, instantDown: spec.Down == draw.Dist{},
		skewed:   spec.Skew != draw.Dist{},
		byBody:   p.Reader == wire.ByBody{},
		perFleet: make([]int64, p.Words[strategies.PerFleet]),
		cw:       uint32(p.Words[strategies.PerCall]),
		clw:      uint32(p.Words[strategies.PerClient]),
	}
	if f.open {
		f.callStride, f.clientStride = f.cw, f.clw
		f.clientSlab = make([]int64, n*int(f.clw))
		return
	}
	f.base = base
	f.callStride, f.clientStride, f.clientOffset = f.cw+f.clw, f.cw+f.clw, f.cw
	f.callSlab = make([]int64, n*int(f.cw+f.clw))
	f.clientSlab = f.callSlab
}

// openFleet schedules the first calls of a fleet.
func (r *run) openFleet(f *fleet) {
	if f.Traffic.Arrivals != nil {
		r.scheduleArrival(f)
		return
	}
	for i := range uint32(f.Traffic.Clients) {
		at := f.Traffic.Start.Draw(f.rand.For(callID(i, 0)), drawStart)
		r.calls[f.base+i] = call{fleet: f.index}
		r.queue.Push(des.Event{At: at, Ref: f.base + i, Kind: evCall})
	}
}

// identify returns the client and the ID of call number seq of row i.
func (f *fleet) identify(i, seq uint32) (client uint32, id uint64) {
	if f.open {
		return uint32(uint64(seq) % uint64(f.Traffic.Clients)), uint64(seq)
	}
	client = i - f.base
	return client, callID(client, seq)
}

// clock returns the time of the clock of row i's client at now. The skew belongs
// to the client: its draw has the ID of a call that does not exist.
func (f *fleet) clock(now time.Duration, i, seq uint32) time.Duration {
	if !f.skewed {
		return now
	}
	return f.skewedClock(now, i, seq)
}

func (f *fleet) skewedClock(now time.Duration, i, seq uint32) time.Duration {
	client, _ := f.identify(i, seq)
	return now + f.Skew.Draw(f.rand.For(callID(client, math.MaxUint32)), drawSkew)
}

// demand returns the demand of call number seq of row i.
func (f *fleet) demand(i, seq uint32) wire.Demand {
	if f.Traffic.Mix != nil {
		_, id := f.identify(i, seq)
		return f.Traffic.Mix.Demand(f.rand.For(id).For(drawDemand))
	}
	if f.open {
		return f.Traffic.Arrivals.Demand(f.rand, uint64(seq))
	}
	return f.size
}

// callWords returns the words of row i, a call of f.
func (f *fleet) callWords(i uint32) []int64 {
	at := (i - f.base) * f.callStride
	return f.callSlab[at : at+f.cw : at+f.cw]
}

// clientWords returns the words of a client of f.
func (f *fleet) clientWords(client uint32) []int64 {
	at := client*f.clientStride + f.clientOffset
	return f.clientSlab[at : at+f.clw : at+f.clw]
}
