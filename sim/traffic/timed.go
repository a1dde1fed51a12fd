package traffic

import (
	"errors"
	"fmt"
	"math"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// At returns calls at the given ascending times, each with the demand d.
func At(d wire.Demand, times ...time.Duration) Arrivals {
	rows := make([]Row, len(times))
	for i, at := range times {
		rows[i] = Row{at, d}
	}
	return replay(rows)
}

// Bursts are calls in batches, each evenly spaced over its time.
type Bursts struct {
	// Batches follow each other: none begins before the one before it ends.
	Batches []Batch
	// Size is the demand of every call.
	Size wire.Demand
}

// Batch is a number of calls, evenly spaced in From ≤ t < To: the first at From,
// each following one (To − From) ÷ Calls later. If From = To all arrive at once.
type Batch struct {
	From, To time.Duration
	Calls    int
}

// Validate reports an error if the bursts are invalid.
func (b Bursts) Validate() error {
	if len(b.Batches) == 0 {
		return errors.New("there is no burst")
	}
	for i, x := range b.Batches {
		switch {
		case x.Calls < 1:
			return fmt.Errorf("burst %d needs at least 1 call", i+1)
		case x.From < 0 || x.To < x.From:
			return fmt.Errorf("burst %d must not begin before 0, nor end before it begins", i+1)
		case i > 0 && x.From < b.Batches[i-1].To:
			return fmt.Errorf("burst %d begins before burst %d ends; put them in the order of time", i+1, i)
		}
	}
	return nil
}

// Next implements Arrivals.
func (b Bursts) Next(_ draw.Rand, i uint64, _ time.Duration) (time.Duration, bool) {
	for _, x := range b.Batches {
		if n := uint64(x.Calls); i >= n {
			i -= n
			continue
		}
		width, n := x.To-x.From, time.Duration(x.Calls)
		k := time.Duration(i)
		return x.From + width/n*k + width%n*k/n, true // width·k/n without overflow
	}
	return 0, false
}

// Demand implements Arrivals.
func (b Bursts) Demand(draw.Rand, uint64) wire.Demand { return b.Size }

// Periodic is one call of each client in every Period, independent of the calls
// before: cron jobs, probes, heartbeats.
type Periodic struct {
	Clients int
	Period  time.Duration
	// First is the time of the first call. If Spread is 0 all clients begin then,
	// and else at times drawn uniformly from the Spread ≤ Period after it; each
	// client keeps its phase.
	First, Spread time.Duration
	// Until is when the calls end; 0 means never.
	Until time.Duration
	// Size is the demand of every call.
	Size wire.Demand
}

// Validate reports an error if the jobs are invalid.
func (p Periodic) Validate() error {
	switch {
	case p.Clients < 1:
		return errors.New("there must be at least one job")
	case p.Period <= 0:
		return errors.New("the period must be positive")
	case p.First < 0 || p.Spread < 0 || p.Spread > p.Period:
		return errors.New("the phases must lie within one period, and not before 0")
	}
	return nil
}

// Next implements Arrivals. Calls go to clients in turn, so client k has the k-th
// phase in the order of time. The phases are the order statistics of uniform
// draws, each of which follows from the one before: of n phases above u, the
// least is 1 − (1 − u)·V^(1/n).
func (p Periodic) Next(r draw.Rand, i uint64, prev time.Duration) (time.Duration, bool) {
	round, k := i/uint64(p.Clients), i%uint64(p.Clients)
	if round > uint64(math.MaxInt64/4/p.Period) {
		return 0, false
	}
	begin := p.First + time.Duration(round)*p.Period
	at := begin
	if p.Spread > 0 {
		last := begin
		if k > 0 {
			last = prev
		}
		left := float64(begin + p.Spread - last)
		v := math.Pow(1-r.Float(k), 1/float64(uint64(p.Clients)-k))
		at = last + time.Duration(float64(left*(1-v)))
	}
	return at, p.Until == 0 || at < p.Until
}

// Demand implements Arrivals.
func (p Periodic) Demand(draw.Rand, uint64) wire.Demand { return p.Size }
