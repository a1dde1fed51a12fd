package metrics

import "time"

// gridCells is the number of cells in which calls are counted by the time at which
// they arrived.
const gridCells = 1000

// arrivalGrid counts calls by the time at which they arrived, in cells of a thousandth
// of the horizon, so that the youngest calls of a run may be left out of a rate at
// its end.
type arrivalGrid struct {
	cell   time.Duration
	calls  [gridCells]uint64
	useful [gridCells]uint64 // calls that were answered usefully, by when they arrived
	over   [gridCells]uint64 // calls that were settled, by when that was

	current int           // the cell of the present
	ends    time.Duration // when it ends
}

func newArrivalGrid(horizon time.Duration) arrivalGrid {
	return arrivalGrid{cell: max(1, (horizon+gridCells-1)/gridCells)}
}

// of returns the number of the cell of a time.
func (b *arrivalGrid) of(born time.Duration) int {
	return int(min(max(born, 0)/b.cell, gridCells-1))
}

// at returns the number of the cell of the present, which never runs backwards.
func (b *arrivalGrid) at(now time.Duration) int {
	if now >= b.ends {
		b.current = b.of(now)
		b.ends = time.Duration(b.current+1) * b.cell
	}
	return b.current
}

// Outcomes are the calls of a run as the success rate counts them. Every call that
// is not left out is one of the first three.
type Outcomes struct {
	// Useful calls were answered, Failed ones were not or wait for ever, and
	// Undetermined ones were still waiting when the run was cut off.
	Useful, Failed, Undetermined uint64
	// Young calls are left out: they arrived too late to be answered for certain.
	Young uint64
	// Stuck is the number of failed calls that were still waiting.
	Stuck uint64
	// Wait is the wait that young calls are measured by: the longest wait that was
	// answered, at most half of the run; 0 if none was.
	Wait time.Duration
}

// Lower and Upper return the bounds of the share of calls that are answered
// usefully. Undetermined calls count as failed in the lower bound and as answered
// in the upper one. Both are Undefined without calls.
func (o *Outcomes) Lower() float64 { return ratio(float64(o.Useful), float64(o.calls())) }

// Upper returns the upper bound; see Lower.
func (o *Outcomes) Upper() float64 {
	return ratio(float64(o.Useful+o.Undetermined), float64(o.calls()))
}

func (o *Outcomes) calls() uint64 { return o.Useful + o.Failed + o.Undetermined }

// forEver is the multiple of the longest answered wait beyond which a waiting call
// counts as one that is never answered.
const forEver = 10

// ending is what is known at the end of a run of the calls that are not settled.
type ending struct {
	at      time.Duration // when the run ended
	longest time.Duration // the longest answered wait
	// all says that every waiting call has failed, so that none is left out: in
	// one-shot fleets, in runs without an answer, where nothing is left to happen, and
	// in backlogs that grow; and also where no call waits.
	all bool
}

// grows reports whether a backlog grows: whether from the middle of the time after
// the last fault that refuses to the end of the run the number of calls that are
// not settled has grown by more than 5 % of those that arrived, and more calls are
// waiting at the end than arrived within the last window of a recovery.
func (b *arrivalGrid) grows(faultEnd, end, window time.Duration) bool {
	middle := min(faultEnd, end)/2 + end/2
	var waiting, grown, arrived, young int64
	for i := range gridCells {
		change := int64(b.calls[i]) - int64(b.over[i])
		waiting += change
		if i >= b.of(middle) {
			grown += change
			arrived += int64(b.calls[i])
		}
		if i >= b.of(end-window) {
			young += int64(b.calls[i])
		}
	}
	return float64(grown) > float64(backlogShare*float64(arrived)) && waiting > young
}

// outcomes counts the calls of a run that ended so. waiting yields the time of
// arrival of each call that was not settled.
func (b *arrivalGrid) outcomes(e ending, waiting func(yield func(born time.Duration))) Outcomes {
	var o Outcomes
	o.Wait = min(e.longest, e.at/2)
	young := gridCells // the first cell that is left out
	if !e.all && o.Wait > 0 {
		young = b.of(e.at - o.Wait)
	}
	var calls uint64
	for i := range gridCells {
		if i >= young {
			o.Young += b.calls[i]
			continue
		}
		calls += b.calls[i]
		o.Useful += b.useful[i]
	}
	waiting(func(born time.Duration) {
		switch age := e.at - born; {
		case b.of(born) >= young: // left out
		case e.all || age/forEver > o.Wait:
			o.Stuck++
		default:
			o.Undetermined++
		}
	})
	o.Failed = calls - o.Useful - o.Undetermined
	return o
}
