package mockprovider

import (
	"time"

	"herdlab/mockprovider/wire"
)

// Joint is the rule in two dimensions that the founding article inferred: a
// request is refused when those started in this window and those in flight are
// Limit together. It is stricter than a window and a semaphore of that size
// side by side: a fresh burst is counted twice, so that only half of it passes,
// while requests one after the other may start nearly Limit times in a window.
// Requests it refuses are not counted and begin no window.
type Joint struct {
	Limit  int32
	Length time.Duration
	// Anchored windows begin with the first request that is let in after the
	// last one is over; others are aligned to the provider's clock.
	Anchored bool
	// The class of a refusal is the dimension that decided: Rate if the window is
	// full by itself, so that only its end helps; Concurrency if there would be
	// room but for what is in flight.
	Terms
}

// Validate implements Limit.
func (j Joint) Validate() error {
	return validateCount("joint", j.Limit, j.Length, j.Terms)
}

// Bound implements Limit. No window sees more than Limit starts and no instant
// more than Limit in flight, so it is the lower of the two rates. How near a
// load comes depends on how it overlaps.
func (j Joint) Bound(load Load) Bound {
	n := int64(j.Limit) * int64(j.Per.keys(load.Space))
	return Bound{Count: n, Per: j.Length}.And(parallel(n, load.MeanService))
}

// Gate implements Limit.
func (j Joint) Gate(space Space) Gate {
	return &joint{Joint: j, keying: j.Per.keying(space), keys: make([]jointKey, j.Per.keys(space))}
}

// jointKey is the window of one key, and how many of its requests are in flight.
type jointKey struct {
	windowKey
	inFlight int32
}

type joint struct {
	Joint
	keying
	keys []jointKey
}

// Take implements Gate.
func (j *joint) Take(now time.Duration, r *wire.Request) bool {
	k := &j.keys[j.of(r)]
	over := now >= k.end
	if over {
		k.used = 0
	}
	if int64(k.used)+int64(k.inFlight) >= int64(j.Limit) {
		return false
	}
	if over {
		k.end = windowEnd(now, j.Length, j.Anchored)
	}
	k.used++
	k.inFlight++
	return true
}

// Refuse implements Gate. Nobody knows when what is in flight will be over, so
// hints other than constant ones are left out.
func (j *joint) Refuse(now time.Duration, r *wire.Request, to *wire.Reply) {
	class := wire.Concurrency
	if j.keys[j.of(r)].used >= j.Limit {
		class = wire.Rate
	}
	j.Refusal.reply(to, class, wire.NoHint, j.Limit, 0)
}

// Undo implements Gate. What is kept is the start; nothing is in flight.
func (j *joint) Undo(_ time.Duration, r *wire.Request, keep bool) {
	k := &j.keys[j.of(r)]
	k.inFlight--
	if keep {
		return
	}
	if k.used--; k.used == 0 {
		k.end = 0
	}
}

// Release implements Gate.
func (j *joint) Release(_ time.Duration, r *wire.Request, _ Ended) {
	j.keys[j.of(r)].inFlight--
}
