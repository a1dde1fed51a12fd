package sim

import "herdlab/sim/des"

// prefetchFrom is the number of clients above which their memory does not fit into
// the caches near the core.
const prefetchFrom = 5_000

// prefetch reads the memory that events due soon refer to, in one loop of
// independent loads, so that the cache misses overlap.
func (r *run) prefetch(events []des.Event) {
	var rows [64]uint32
	n := 0
	for i := range events {
		row := events[i].Ref
		switch events[i].Kind {
		case evWake, evCall:
		case evArrive:
			row = r.attempts[row].call
		case evDone:
			row = r.attempts[r.ticketOf[row]].call
		default:
			continue
		}
		rows[n&63] = row
		n++
	}
	var sum uint32
	calls, slab, stride := r.calls, r.fleets[0].callSlab, int(r.fleets[0].callStride)
	for _, row := range rows[:min(n, 64)] {
		sum += calls[row].attempts
	}
	if len(r.fleets) == 1 && stride > 0 {
		for _, row := range rows[:min(n, 64)] {
			if at := int(row) * stride; at+stride <= len(slab) {
				sum += uint32(slab[at]) + uint32(slab[at+stride-1])
			}
		}
	}
	r.prefetched += sum
}
