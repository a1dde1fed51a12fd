package mockprovider

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Discipline is how a queue is served: in which order, and which requests are
// dropped instead. A dropped request is refused as if there had been no room,
// without a reply if its client has hung up. The zero value is first in, first out,
// and drops none.
type Discipline struct {
	Order Order `about:"Which waiting request is served next."`
	// Turns is how many must wait for an AdaptiveLIFO to turn from the oldest to
	// the newest.
	Turns int `unit:"requests" without:"the order does not turn" about:"From how many waiting requests on the newest is served first, at least 2; required for adaptive_lifo, and only for it."`
	// MaxWait drops those that have waited for longer when a slot is free; 0
	// lets them wait.
	MaxWait time.Duration `without:"they wait" about:"Requests that have waited longer are dropped when a slot is free."`
	// DropGone looks before a job starts whether its client is still there, and
	// drops it if not.
	DropGone bool  `about:"Whether a request whose client has hung up is dropped before it is served."`
	CoDel    CoDel `key:"codel" about:"Drops requests while all wait too long (controlled delay, RFC 8289)."`
}

// Order is which of the waiting requests is next.
type Order uint8

// The orders. Among equals the oldest is next.
const (
	FIFO          Order = iota // first in, first out
	LIFO                       // last in, first out
	AdaptiveLIFO               // the oldest while few wait, the newest while many do (Maurer, "Fail at Scale", 2015)
	ShortestFirst              // what takes the least time, by its size; luck and load aside
	UrgentFirst                // by Demand.Priority, 0 first
	numOrders     = iota
)

// validate reports an error if the discipline is invalid for a queue with that
// number of places.
func (d *Discipline) validate(places int) error {
	switch {
	case d.Order >= numOrders:
		return fmt.Errorf("there is no order %d", d.Order)
	case d.MaxWait < 0:
		return errors.New("the longest wait must not be negative; 0 means no bound")
	case d.Order == AdaptiveLIFO && d.Turns < 2:
		return errors.New("an adaptive LIFO must not turn before two wait; use LIFO for one that always serves the newest")
	case d.Order != AdaptiveLIFO && d.Turns != 0:
		return errors.New("only an adaptive LIFO turns; leave that out")
	case places == 0 && *d != Discipline{}:
		return errors.New("the queue has no places; give it some, or leave its discipline out")
	}
	return d.CoDel.validate()
}

// place is where a job stands in its queue: between which two, and where in the
// ranking if there is one.
type place struct {
	older, newer uint32
	rank         uint32
}

// noJob is not the number of any job.
const noJob = math.MaxUint32

// queue is the jobs that wait, in the order in which they came and, where that
// is not the order in which they go, ranked. It has their numbers only; their
// places are kept beside the jobs and passed in.
type queue struct {
	oldest, newest uint32
	n              int
	Discipline
	ranking ranking
	shedder shedder
}

func newQueue(d Discipline) queue {
	return queue{Discipline: d, oldest: noJob, newest: noJob, shedder: shedder{CoDel: d.CoDel}}
}

// ranked reports whether jobs go in another order than that in which they came.
func (q *queue) ranked() bool { return q.Order >= ShortestFirst }

// join puts a job at the end of the queue. Where jobs are ranked, it must be put
// into the ranking too; the lowest key is next.
func (q *queue) join(places []place, job uint32) {
	places[job].older, places[job].newer = q.newest, noJob
	if q.n == 0 {
		q.oldest = job
	} else {
		places[q.newest].newer = job
	}
	q.newest = job
	q.n++
}

// next returns the job that is next; the queue must not be empty.
func (q *queue) next() uint32 {
	switch {
	case q.ranked():
		return q.ranking.heap[0].job
	case q.Order == LIFO || q.Order == AdaptiveLIFO && q.n >= q.Turns:
		return q.newest
	}
	return q.oldest
}

// pop takes the oldest out; the queue must not be empty, nor ranked.
func (q *queue) pop(places []place) uint32 {
	job := q.oldest
	q.oldest = places[job].newer
	if q.n--; q.n > 0 {
		places[q.oldest].older = noJob
	} else {
		q.newest = noJob
	}
	return job
}

// remove takes a job out of the queue, wherever it stands.
func (q *queue) remove(places []place, job uint32) {
	at := places[job]
	if at.older == noJob {
		q.oldest = at.newer
	} else {
		places[at.older].newer = at.newer
	}
	if at.newer == noJob {
		q.newest = at.older
	} else {
		places[at.newer].older = at.older
	}
	q.n--
	if q.ranked() {
		q.ranking.remove(places, at.rank)
	}
}
